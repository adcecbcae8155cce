"""ActPLD in our folder format, on a sample written by hand."""

import json
import shutil
from pathlib import Path

import pytest

from vidence.ask.benchmarks import actpld
from vidence.ask.prompting.templates import Templates
from vidence.contracts import Loaded
from vidence.errors import DataError

SAMPLE = Path(__file__).parents[3] / "golden" / "actpld"
HEADER = "clip_id,path,set,label,intention"
GOOD = "hop-1,hop.mp4,single,hop_on_one_leg,to serve a guest"


def load(data: Path, *, split: str = "3afc", strict: bool = False) -> Loaded:
    return actpld.create().load(data, split=split, strict=strict)


def folder(tmp_path: Path, *clips: str, header: str = HEADER, labels: str | None = None) -> Path:
    """A folder with these lines for clips, and the labels of the sample or these."""
    (tmp_path / "clips.csv").write_text("\n".join([header, *clips]), encoding="utf-8")
    if labels is None:
        shutil.copy(SAMPLE / "labels.csv", tmp_path)
    else:
        (tmp_path / "labels.csv").write_text(labels, encoding="utf-8")
    return tmp_path


def test_each_clip_gives_two_questions_and_two_descriptions() -> None:
    found = load(SAMPLE, split="all", strict=True)
    assert [item.item_id for item in found.items[:4]] == [
        "hop-1/label",
        "hop-1/intention",
        "hop-1/label/description",
        "hop-1/intention/description",
    ]
    label, intention, said, meant = found.items[:4]
    assert len(label.choices) == len(intention.choices) == 3
    assert label.choices[ord(label.answer) - ord("A")] == "hop_on_one_leg"
    assert intention.choices[ord(intention.answer) - ord("A")] == "to keep one's balance"
    assert (said.answer, said.answer_kind, said.choices) == ("hop_on_one_leg", "text", ())
    assert meant.answer == "to keep one's balance"
    assert len({item.question for item in (label, intention, said, meant)}) == 4
    assert found.problems == found.notes == ()


@pytest.mark.parametrize(
    ("split", "endings"),
    [
        ("3afc", {"label", "intention"}),
        ("label", {"label"}),
        ("intention", {"intention"}),
        ("description", {"label/description", "intention/description"}),
        ("all", {"label", "intention", "label/description", "intention/description"}),
    ],
)
def test_splits_ask_for_parts(split: str, endings: set[str]) -> None:
    items = load(SAMPLE, split=split).items
    assert {item.item_id.partition("/")[2] for item in items} == endings
    assert len(items) == 3 * len(endings)


def test_tags_give_the_cells_and_a_label_is_shown_by_its_text() -> None:
    items = {item.item_id: item for item in load(SAMPLE, split="all").items}
    assert items["toss-1/label"].tags == {
        "set": "social",
        "task": "3afc",
        "target": "label",
        "cell": "social/3afc/label",
        "group": "throwing",
        "label": "toss_a_hat",
        "intention": "to amuse the other",
    }
    assert items["toss-1/intention/description"].tags["cell"] == "social/description/intention"
    assert items["toss-1/intention"].tags["group"] == "play"
    assert items["rake-1/label"].media[0].kind == "frames"
    assert items["rake-1/label"].provenance.licence == "CC0-1.0"
    assert items["rake-1/label/description"].answer == "rake leaves"
    assert items["rake-1/label"].tags["label"] == "rake_leaves"
    words = json.loads(items["rake-1/label/description"].knowledge[0])
    assert words["forms"] == ["rake the lawn", "rake_leaves"]
    assert words["features"] == ["pulls tool toward body"]


def test_distractors_follow_from_the_clips_id_and_come_from_other_groups(tmp_path: Path) -> None:
    hop = load(SAMPLE, split="label").items[0]
    assert "stand_on_one_leg" not in hop.choices
    rivals = {json.loads(entry)["text"] for entry in load(SAMPLE, split="description").items[0].knowledge[1:]}
    assert rivals == {"rake leaves", "dig_a_hole", "toss_a_hat", "carry_a_tray"}
    toss = load(SAMPLE, split="label").items[2]
    assert set(toss.choices) == {"toss_a_hat", "hop_on_one_leg", "rake leaves"}
    # Worked out with hashlib on its own: ranks are SHA-256 of id, target, purpose and name.
    (item,) = load(folder(tmp_path, GOOD), split="label").items
    assert item.choices == load(SAMPLE, split="label").items[0].choices
    assert item.choices == ("carry_a_tray", "hop_on_one_leg", "dig_a_hole")
    more = folder(tmp_path, GOOD.replace("hop-1", "other"), GOOD)
    assert load(more, split="label").items[1].choices == item.choices


def test_the_content_hash_covers_both_files(tmp_path: Path) -> None:
    before = load(folder(tmp_path, GOOD)).content_hash
    labels = tmp_path / "labels.csv"
    labels.write_text(labels.read_text("utf-8") + "label,wave,greeting,,,\n", "utf-8")
    assert load(tmp_path).content_hash != before
    assert load(tmp_path / "clips.csv").content_hash == load(tmp_path).content_hash


@pytest.mark.parametrize(
    ("clip", "said"),
    [
        (
            "hop-2,hop.mp4,solo,hop_on_one_leg,to serve a guest",
            "set: Invalid enum value 'solo'; expected single or social",
        ),
        ("hop-2,hop.mp4,single,skip,to serve a guest", "label: 'skip' is not in labels.csv as label"),
        (
            "hop-2,hop.mp4,single,hop_on_one_leg,hop_on_one_leg",
            "intention: 'hop_on_one_leg' is not in labels.csv as intention",
        ),
        ("hop-2,,single,hop_on_one_leg,to serve a guest", "path: empty"),
        ("hop-1,else.mp4,single,hop_on_one_leg,to serve a guest", "clip_id: 'hop-1' was used on line 2"),
    ],
)
def test_a_bad_clip_is_left_out_whole_and_named(tmp_path: Path, clip: str, said: str) -> None:
    data = folder(tmp_path, GOOD, clip)
    found = load(data, split="label")
    assert [item.item_id for item in found.items] == ["hop-1/label"]
    (problem,) = found.problems
    assert problem.startswith(f"clips.csv:3: {said}")
    with pytest.raises(DataError, match=r"clips\.csv:3: .*strict"):
        load(data, strict=True)


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("kind", "gif", "kind: Invalid enum value 'gif'; expected video or frames"),
        ("label_distractors", "dig_a_hole", "label_distractors: 'dig_a_hole' found; expected 2 names"),
        ("label_distractors", "dig_a_hole|dig_a_hole", "label_distractors: 'dig_a_hole|dig_a_hole' found"),
        ("label_distractors", "dig_a_hole|swim", "label_distractors: 'swim' is not in labels.csv as label"),
        (
            "label_distractors",
            "dig_a_hole|stand_on_one_leg",
            "label_distractors: 'stand_on_one_leg' is in the group 'balance' of the right one",
        ),
        ("intention_distractors", "to rest|to serve a guest", "intention_distractors: 'to rest' is not in"),
    ],
)
def test_optional_cells_are_checked(tmp_path: Path, column: str, cell: str, said: str) -> None:
    data = folder(tmp_path, f"{GOOD},", f"x,{GOOD.partition(',')[2]},{cell}", header=f"{HEADER},{column}")
    (problem,) = load(data, split="intention").problems
    assert problem.startswith(f"clips.csv:3: {said}")


def test_too_few_labels_of_other_groups_are_said(tmp_path: Path) -> None:
    labels = (
        "target,name,group\nlabel,a,g\nlabel,b,g\nlabel,c,h\nintention,d,i\nintention,e,j\nintention,f,k\n"
    )
    data = folder(tmp_path, "x,x.mp4,single,a,d", labels=labels)
    with pytest.raises(DataError, match=r"labels\.csv has 1 of other groups than 'g'; expected 2"):
        load(data)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("target,name\nlabel,a\n", r"labels\.csv:1: no column group"),
        ("target,name,group,txt\n", r"labels\.csv:1: 'txt': unknown column; did you mean 'text'"),
        ("target,name,group,Δ\n", r"'Δ': unknown column; known"),
        ("target,name,group\naim,a,g\n", r"labels\.csv:2: target: 'aim' found; expected label or intention"),
        ("target,name,group\nlabel,a,\n", r"labels\.csv:2: group: empty"),
        ("target,name,group\nlabel,a,g\n\nlabel,a,h\n", r"labels\.csv:4: 'a' is there twice as label"),
        ("target,name,group,text\nlabel,a,g,Hop\nlabel,b,h,hop\n", r"labels\.csv:3: 'b' .*shown like"),
    ],
)
def test_a_bad_list_of_labels_is_refused(tmp_path: Path, labels: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        load(folder(tmp_path, GOOD, labels=labels))


def test_protocols_differ_in_what_they_are_named_for() -> None:
    rules = actpld.create().protocols
    paper = rules["paper"]
    assert (paper.frames, paper.size, paper.shuffle_choices) == (8, "long:128", True)
    assert paper.strategy == "retry?tries=3"
    assert (paper.selector, paper.headline, paper.text_parser) == ("actpld", "answered", "description-match")
    assert next(iter(rules)) == "paper"
    changed = {
        name: {f for f in paper.__struct_fields__ if getattr(other, f) != getattr(paper, f)}
        for name, other in rules.items()
    }
    one_each = {"montage": {"layout"}, "thought-log": {"parser"}, "stride-4": {"selector"}}
    assert changed == {"paper": set(), **one_each}


def test_choices_are_shown_but_what_else_is_known_of_labels_is_not() -> None:
    item = load(SAMPLE, split="label").items[1]
    said = Templates.load("actpld").fill("choice-cot", item, n_frames=8, duration_s=1.0)
    assert all(choice in said for choice in item.choices)
    assert "rake the lawn" not in said
    assert "gardening" not in said


def test_clips_of_one_subject_are_one_source(tmp_path: Path) -> None:
    rows = [GOOD + ",subject 18", GOOD.replace("hop-1,hop", "hop-2,hop2") + ",subject 18"]
    found = load(folder(tmp_path, *rows, header=HEADER + ",source_id"), strict=True)
    assert {item.source_id for item in found.items} == {"subject 18"}
    assert len({item.video_id for item in found.items}) == 2
