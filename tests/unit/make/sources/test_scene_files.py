"""Scenes that are read, and lines that are refused."""

import json
import pickle
import re
from pathlib import Path

import pytest

from vidence.errors import DataError
from vidence.make.sources.scene_files import MOST_ENTITIES, read_scenes

GOLDEN = Path(__file__).parents[3] / "golden" / "compose"
HEAD = {"scene": "s", "vocabulary": "street.toml", "duration_s": 60}
P1 = {"entity": "p1", "category": "person", "spans": [[0, 9]]}


@pytest.fixture
def read(tmp_path):
    (tmp_path / "street.toml").write_text((GOLDEN / "street.toml").read_text())

    def from_lines(*lines):
        path = tmp_path / "s.jsonl"
        path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
        return read_scenes(path)

    return from_lines


def fact(**said):
    return {"fact": "attribute", "of": "p1", "name": "top", "value": "black", **said}


def test_the_order_of_lines_does_not_matter_for_the_hash(read):
    one = read(HEAD, P1, {"entity": "p2", "category": "person"}, fact(), {"complete": "top"})["s"]
    other = read(HEAD, {"complete": "top"}, fact(), {"entity": "p2", "category": "person"}, P1)["s"]
    changed = read(HEAD, P1, {"entity": "p2", "category": "person"}, fact(value="red"), {"complete": "top"})[
        "s"
    ]
    assert one.sha256 == other.sha256 != changed.sha256
    assert one.members["person"] == ("p1", "p2")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((P1,), "s.jsonl:1: this belongs to no scene"),
        ((HEAD, "{"), "s.jsonl:2:"),
        ((HEAD, {"x": 1}), "s.jsonl:2: expected an object with one of scene, entity, complete, fact"),
        ((HEAD, P1, P1), "s.jsonl:3: the entity 'p1' is there twice"),
        (
            (HEAD, P1, fact(value="blak")),
            "s.jsonl:3: p1.top: there is no value 'blak'. Did you mean 'black'?",
        ),
        ((HEAD, P1, fact(of="p2")), "s.jsonl:3: p2.top=black: there is no entity 'p2'"),
        ((HEAD, P1, fact(name="tp")), "there is no attribute 'tp'. Did you mean 'top'?"),
        (
            (HEAD, P1, fact(span=[50, 61])),
            "s.jsonl:3: the span [50, 61] ends after the video, which has 60 s",
        ),
        ((HEAD, P1, fact(span=[9, 5])), "the span [9, 5] is none"),
        ((HEAD, P1, fact(colour="red")), "s.jsonl:3: Object contains unknown field `colour`"),
        ((HEAD, P1, fact(name="number", value=3)), "a person has no 'number'; only shop"),
        ((HEAD, {**P1, "category": "persn"}), "Did you mean 'person'?"),
        ((HEAD, P1, {"complete": "tp"}), "complete: there is no word 'tp'"),
        ((HEAD, {"fact": "event", "id": "e", "kind": "tlak", "span": [1, 2]}), "Did you mean 'talk'?"),
        ((HEAD, HEAD), "the scene 's' is there twice"),
        ((), "no scene found"),
    ],
)
def test_what_is_refused_with_its_line(read, lines, says):
    with pytest.raises(DataError) as error:
        read(*lines)
    assert says in str(error.value)


def test_a_scene_that_is_too_large(read):
    people = [{"entity": f"p{n}", "category": "person"} for n in range(MOST_ENTITIES + 1)]
    with pytest.raises(DataError, match="2,001 entities and events in 2,002 lines; at most 2,000"):
        read(HEAD, *people)


def test_copies_have_the_hash_of_their_originals(read):
    """What equals a default counts as the default, whether it is the same object or not."""
    scene = read(HEAD, P1, {"fact": "place", "of": "p1", "at": [1, 2]})["s"]
    said = read(HEAD, P1, {"fact": "place", "of": "p1", "at": [1, 2], "plan": "plan"})["s"]
    other = read(HEAD, P1, {"fact": "place", "of": "p1", "at": [1, 2], "plan": "cellar"})["s"]
    copied = pickle.loads(pickle.dumps(scene))  # noqa: S301 - our own
    assert copied.facts[0].plan is not scene.facts[0].plan
    assert scene.sha256 == said.sha256 == copied.sha256 != other.sha256


TABLE = "of,value,link\nred disc,Japan,https://en.wikipedia.org/wiki/Flag_of_Japan\n"


def test_a_table_of_the_vocabulary_is_known_in_every_scene(read, tmp_path):
    words, table = tmp_path / "street.toml", tmp_path / "flags.csv"
    words.write_text(words.read_text().replace("[known.country]", '[known.country]\nfile = "flags.csv"'))
    with pytest.raises(DataError, match=r"flags\.csv cannot be read"):
        read(HEAD)
    table.write_text(TABLE)
    scenes = read(HEAD, P1, {**HEAD, "scene": "other"})
    for scene in scenes.values():
        (known,) = [one for one in scene.facts if hasattr(one, "table")]
        assert (known.table, known.of, known.value) == ("country", "red disc", "Japan")
        assert known.link.endswith("Flag_of_Japan")
    for rows, says in (
        ("of,value\nred disc,Japan\n", "flags.csv:1: columns: no column link"),
        (TABLE + "maple leaf,Canada\n", "flags.csv:3: CSV: 2 cells found; expected 3"),
        (
            TABLE + "maple leaf,Canada,\n",
            "flags.csv:3: an empty cell; known.country needs of, value and link",
        ),
    ):
        table.write_text(rows)
        with pytest.raises(DataError, match=re.escape(says)):
            read(HEAD)
    table.write_text(TABLE + "red disc,Bangladesh,https://example.org\n")
    assert any("Bangladesh" in one.says for one in read(HEAD)["s"].contradictions)
