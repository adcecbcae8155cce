"""Sixty released questions of PerceptionComp as programs: drawn by seed, typed, and without scenes.

The fixture holds programs and keys; the questions stay in the released file.
"""

import json
import random
import re
from collections import defaultdict
from pathlib import Path

import pytest

from conftest import need
from vidence.make.compose.parsing import parse_compositions
from vidence.make.compose.types import Typed, check_types, with_skills
from vidence.make.sources.vocabulary import read_vocabulary

pytestmark = pytest.mark.parity
GOLDEN = Path(__file__).parents[1] / "golden" / "compose"
N_DRAWN, SEED = 60, 19
OTHERWISE = {"295": "a walk of so many metres that nobody takes", "476": "where somebody will be who goes on"}
"""Questions that are no program, each with the reason."""
NUMBER = re.compile(r"(\d+|zero|one|two|three|four|five)( |$)", re.IGNORECASE)
DIRECTION = re.compile(r"front|rear|behind|left|right|ahead", re.IGNORECASE)


@pytest.fixture(scope="module")
def released(checks_dir):
    path = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    return {one["key"]: one for one in json.loads(path.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def programs():
    text = (GOLDEN / "released.txt").read_text(encoding="utf-8")
    return {part.split('"')[1]: part for part in text.split("\n---\n")}


def drawn(released):
    """So many of keys 1 to 500 by category and level, at least one of each."""
    groups = defaultdict(list)
    for one in released.values():
        if int(one["key"]) <= 500:
            groups[one["category"], one["difficulty"]].append(one["key"])
    total = sum(map(len, groups.values()))
    shares = {group: N_DRAWN * len(keys) / total for group, keys in groups.items()}
    quota = {group: max(1, int(share)) for group, share in shares.items()}
    for group in sorted(shares, key=lambda one: -(shares[one] % 1)):
        if sum(quota.values()) < N_DRAWN and quota[group] == int(shares[group]):
            quota[group] += 1
    rng = random.Random(SEED)
    return {
        key for group in sorted(groups) for key in rng.sample(sorted(groups[group], key=int), quota[group])
    }


def test_each_that_is_drawn_is_a_program_or_has_a_reason(released, programs):
    assert set(programs) | set(OTHERWISE) == drawn(released)
    assert not set(programs) & set(OTHERWISE)
    assert (len(programs), len(OTHERWISE)) == (58, 2)


def typed(program):
    words = read_vocabulary(GOLDEN / "released.toml")
    (written,) = parse_compositions(program, source="released.txt")
    found = check_types(with_skills(written, words), words)
    assert isinstance(found, Typed), found
    return found


def test_every_program_is_typed_and_has_what_is_circled_and_the_type_of_the_options(released, programs):
    for key, program in programs.items():
        found = typed(program)
        circled = {ord(one) - 0x245F for one in re.findall("[\u2460-\u2469]", released[key]["question"])}
        named = {int(n) for line in re.findall(r"# circled ([\d ]+)", program) for n in line.split()}
        assert named == circled, (key, named, circled)
        assert len(found.composition.conditions) >= len(circled), key
        domain = found.domain
        options = [released[key][f"answer_choice_{n}"] for n in range(5)]
        is_number = all(NUMBER.match(one) for one in options) and domain != "number"
        is_year = all(re.fullmatch(r"\d{4}", one) for one in options)
        is_direction = all(DIRECTION.search(one) for one in options)
        if is_direction:
            assert domain == "direction", (key, domain)
        elif is_number and not is_year:
            assert domain in ("count", "n_bags", "number"), (key, domain)
        else:
            assert domain not in ("direction", "count"), (key, domain)
