"""``vidence items prove`` as a user runs it."""

import json
import shutil
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "compose"
MINE = """scene = "lane"
question = "The first who appears after the person whose hand is shaken, with such a bag: which hair?"
E = the(event(kind == "shake hands"))  # 1 semantic
B = first(person(bag == E.whom.bag, appears_after(E.whom)), "appears")  # 2 correspondence, 3, 4
answer = B.hair
options = ["short", "braided", "long", "curly", "bald"]
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("lane.jsonl", "street.toml", "examples.txt"):
        shutil.copy(GOLDEN / name, tmp_path / name)
    return tmp_path


def test_a_composition_of_a_person(vidence, folder):
    (folder / "mine.txt").write_text(MINE)
    done = vidence("items", "prove", "mine.txt", "--scenes", "lane.jsonl", "--out", "proofs.jsonl")
    assert done.code == 0, done.err
    assert "mine.txt/0001: proven: short; 4 conditions, 15 subsets" in done.out
    assert "c2 (correspondence) left out: braided (E = e1, B = p3)" in done.out
    assert "1 of 1 proven" in done.out
    (proof,) = map(json.loads, (folder / "proofs.jsonl").read_text().splitlines())
    assert proof["checker"] == "prove/1"
    assert proof["answer"] == {"type": "attribute", "domain": "hair", "value": "short"}


def test_some_are_not_proven(vidence, folder):
    done = vidence("items", "prove", "examples.txt", "--scenes", "lane.jsonl", "--json", "said.json")
    assert done.code == 1
    assert "examples.txt:48: 12: unneeded:c2: step B: " in done.out
    assert "warning, weak-condition:c1" in done.out
    said = json.loads((folder / "said.json").read_text())
    refused = [one["composition"] for one in said["verdicts"] if one.get("problems")]
    assert refused == ["11", "12"]


def test_the_same_as_json_lines_gives_the_same_proofs(vidence, folder):
    from vidence.make.compose.program import read_compositions
    from vidence.make.sources.composition import canonical
    from vidence.make.sources.scene_files import read_scenes

    read = read_compositions(folder / "examples.txt", read_scenes(folder / "lane.jsonl"))
    (folder / "examples.jsonl").write_bytes(b"".join(canonical(one) + b"\n" for one, _ in read))
    proofs = []
    for name in ("examples.txt", "examples.jsonl"):
        vidence("items", "prove", name, "--scenes", "lane.jsonl", "--out", "proofs.jsonl")
        proofs.append((folder / "proofs.jsonl").read_bytes())
    assert proofs[0] == proofs[1]
    assert proofs[0].count(b"\n") == 10


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('scene = "lane"\n__import__("os").remove("lane.jsonl")', "mine.txt:2:1: "),
        ('scene = "lame"\ncount(person())', "there is no scene 'lame'. Did you mean 'lane'?"),
        ("{}", "mine.txt:1: no composition: Object missing required field `composition`"),
        ("Here is the program you asked for:\n", "mine.txt:1: no program"),
        ("", "no composition is in it"),
    ],
)
def test_bad_input_ends_with_2(vidence, folder, text, says):
    (folder / "mine.txt").write_text(text)
    done = vidence("items", "prove", "mine.txt", "--scenes", "lane.jsonl")
    assert done.code == 2
    assert says in done.err
    assert (folder / "lane.jsonl").exists()
