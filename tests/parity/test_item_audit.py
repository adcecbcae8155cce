"""The audit of real sets against figures that were worked out when they were studied, and by other means."""

import gzip
import itertools
import json

import numpy as np
import pytest

from conftest import need
from vidence.ask.benchmarks import perceptioncomp, table
from vidence.ask.benchmarks.question_files import twins
from vidence.explain.audit.audit import audit_items
from vidence.explain.audit.blind import blind_test, board_of
from vidence.explain.audit.key import beats_guessing
from vidence.report.item_card import make_card
from vidence.statistics.chance import NUMBER

pytestmark = pytest.mark.parity


def rule_of(items, name):
    boards = [board for item in items if (board := board_of(item)) is not None]
    scores = blind_test(boards, rng=np.random.default_rng(0), level=0.95, n_draws=0).scores
    return next(one for one in scores if one.key == name)


@pytest.fixture(scope="module")
def perception(checks_dir):
    path = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    if len(json.loads(path.read_bytes())) != 1114:
        pytest.skip(f"{path} holds other questions than the 1,114 that the figures are of")
    loaded = perceptioncomp.create().load(path, split="all")
    return audit_items(loaded.items, problems=loaded.problems, notes=loaded.notes)


def test_the_median_of_bare_numbers_is_right_on_47_percent_of_168(perception):
    bare = [
        item
        for item in perception.items
        if item.choices and all(NUMBER.fullmatch(choice.strip()) for choice in item.choices)
    ]
    rule = rule_of(bare, "median")
    assert rule.n == 168
    assert round(100 * rule.score) == 47
    assert beats_guessing(rule)


def test_five_questions_of_perceptioncomp_are_asked_twice(perception):
    assert twins(perception.items) == {str(k): str(k - 5) for k in range(609, 614)}
    flagged = {one.item_id for one in perception.suspects() if any(r.kind == "repeat" for r in one.reasons)}
    assert flagged == {str(k) for k in range(604, 614)}
    assert any("382" in note for note in perception.notes)


def test_the_groups_of_perceptioncomp_are_those_of_comparing_every_two(perception):
    """Over the questions about each video, by the definition of resemblance."""

    def pieces(item):
        words = "".join(c.casefold() if c.isalnum() else " " for c in item.question)
        text = " ".join(words.split())
        return {text[i : i + 5] for i in range(len(text) - 4)}

    by_video = {}
    for item in perception.items:
        by_video.setdefault(item.video_id, []).append(item)
    near = {
        frozenset((a.item_id, b.item_id))
        for items in by_video.values()
        for a, b in itertools.combinations(items, 2)
        # Question and choices together are what is compared; far above the limit both agree.
        if set(a.choices) == set(b.choices)
        and len(pieces(a) & pieces(b)) >= 0.95 * len(pieces(a) | pieces(b))
    }
    grouped = {
        frozenset(pair) for group in perception.twins.groups for pair in itertools.combinations(group, 2)
    }
    assert near
    assert near <= grouped


def test_the_longest_choice_of_vlm4d_by_other_means(data_dir, tmp_path):
    rows = json.loads(
        gzip.decompress(need(data_dir / "predictions" / "vlm4d" / "real_mc.json.gz").read_bytes())
    )
    lines = []
    for row in rows:
        choices = [str(choice) for choice in row["choices"].values()]
        media = [{"url": row["video"]}]
        asked = {"item_id": row["id"], "media": media, "question": row["question"], "choices": choices}
        lines.append(asked | {"answer": str(row["answer"])})
    path = tmp_path / "vlm4d.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    loaded = table.create().load(path, split="all")
    assert len(loaded.items) + len(loaded.problems) == len(rows)
    used = {item.item_id for item in loaded.items}
    hits = total = 0
    for line in lines:
        if line["item_id"] not in used:
            continue
        lengths = [len(choice.strip()) for choice in line["choices"]]
        if lengths.count(max(lengths)) > 1:
            continue
        total += 1
        longest = max(line["choices"], key=lambda c: len(c.strip()))
        right = line["answer"] if line["answer"] in line["choices"] else ""
        hits += longest.strip() == (right or line["choices"]["ABCDEFGH".index(line["answer"])]).strip()
    rule = rule_of(loaded.items, "longest")
    assert rule.n == total
    assert rule.score == pytest.approx(hits / total)


def test_the_questions_over_real_clips_are_sound(data_dir):
    loaded = table.create().load(need(data_dir / "questions.jsonl"), split="all")
    card = make_card("set", audit_items(loaded.items), seed=0, level=0.95)
    assert card.n_severe == 0
    assert all(one.severity == "note" for one in card.suspects)
