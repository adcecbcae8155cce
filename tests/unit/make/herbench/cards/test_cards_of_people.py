"""The maker ``herbench`` with cards that people wrote: JSON lines, CSV, false ones by rules, wrong lines."""

import json
import re

import pytest

from subjects import drawn_street as street
from vidence.errors import DataError, UsageError
from vidence.make.herbench.config import read_herbench
from vidence.make.makers import herbench
from vidence.make.pipeline.session import BuildContext, MakeOverrides

# One description for each ground, of the six shots that begin at 0, 3, ... 15 s.
SENTENCES = (
    "Two tall people in red jackets pass a dark table in an empty street.",
    "A young man in a black coat reads a book beside the door.",
    "Three dogs lie under a green bench near a white car.",
    "An elderly woman in a blue dress holds a candle at the window.",
    "A cat sleeps on a yellow chair while a brown horse eats.",
    "Four boys with short hair push a purple bicycle up the road.",
)
CONFIG = """
name = "street"
seed = 1
videos = "videos"

[[sources]]
path = "*.mp4"
scene_cards = "scenes{ending}"

[shots]
detector = "content"

[tasks.sva]

[tasks.tso]
"""
BY_RULES = '\n[scenes]\nfalse_model = "rules"\n'


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    street.write_street(folder / "videos")
    return folder


def make(folder, *, ending: str, more: str = "", **overrides: object):
    config = folder / "config.toml"
    config.write_text(CONFIG.replace("{ending}", ending) + more)
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
    out = folder / "out"
    herbench.create().make(config, out=out, overrides=MakeOverrides(**overrides), context=context)
    drafts = [json.loads(line) for line in (out / "drafts.jsonl").read_text().splitlines()]
    return drafts, json.loads((out / "account.json").read_text())


def listed(draft: dict[str, object]) -> dict[str, str]:
    """The numbered descriptions of a question."""
    return dict(re.findall(r"^(\d)\. (.*)$", str(draft["question"]), re.MULTILINE))


def write_rows(folder, *rows: dict[str, object]) -> None:
    (folder / "scenes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def true_rows() -> list[dict[str, object]]:
    return [{"at_s": 3 * i + 1.5, "text": text} for i, text in enumerate(SENTENCES)]


def test_a_table_of_sentences_becomes_questions_of_their_order(videos):
    lines = [f'{3 * i + 1.5},"{text}"' for i, text in enumerate(SENTENCES)]
    (videos / "scenes.csv").write_text("at_s,text\n" + "\n".join(lines) + "\n")
    drafts, account = make(videos, ending=".csv")
    orders = [one for one in drafts if one["task"] == "TSO" and one["structure"] == "order"]
    assert orders
    for one in orders:
        asked = listed(one)
        right = one["choices"][one["answer_index"]].split(" -> ")
        assert set(right) == set(asked)
        places = [SENTENCES.index(asked[number]) for number in right]
        assert places == sorted(places)
    assert not any(stage["stage"] == "false-scenes" for stage in account["stages"])


def test_rules_falsify_what_people_described_and_nobody_is_asked(videos):
    write_rows(videos, *true_rows())
    drafts, account = make(videos, ending=".jsonl", more=BY_RULES)
    false = next(stage for stage in account["stages"] if stage["stage"] == "false-scenes")
    assert (false["n_in"], false["n_out"]) == (6, 6)
    which = [one for one in drafts if one["structure"] == "which"]
    assert which
    for one in which:
        asked = listed(one)
        true = [number for number, text in asked.items() if text in SENTENCES]
        said = one["choices"][one["answer_index"]]
        if len(true) == len(asked):
            assert said == "All four of them"
        else:
            assert re.findall(r"\d", said) == true
    wrong = {t for one in drafts for t in listed(one).values() if t not in SENTENCES}
    assert wrong
    for text in wrong:  # every wrong sentence is one of ours with a few words changed
        words = set(text.lower().split())
        shared = max(len(words & set(one.lower().split())) for one in SENTENCES)
        assert 2 <= len(words) - shared <= 6
    again, _ = make(videos, ending=".jsonl", more=BY_RULES)
    assert again == drafts


def test_false_cards_of_people_stay_as_they_are(videos):
    changes = [("Three", "Two"), ("green", "red")]
    false = "Two dogs lie under a red bench near a white car."
    listed = [{"kind": "modification", "before": a, "after": b} for a, b in changes]
    write_rows(videos, *true_rows(), {"at_s": 7, "text": false, "changes": listed})
    _, account = make(videos, ending=".jsonl", more=BY_RULES)
    assert not any(stage["stage"] == "false-scenes" for stage in account["stages"])


def test_a_wrong_line_stops_the_making_with_its_number(videos):
    write_rows(videos, *true_rows(), {"at_s": 99, "text": "A cat sleeps on a mat."})
    with pytest.raises(DataError, match=r"street: .*scenes\.jsonl:7: .*no shot .* 99\.0 s"):
        make(videos, ending=".jsonl")


@pytest.mark.parametrize(
    ("scenes", "said"),
    [
        ("[scenes]", "names nobody"),
        ('[scenes]\nfalse_model = "rules"\n[models]\nrules = "scripted:x"', "another name"),
        ('[scenes]\nfalse_model = "other"', "'other'"),
    ],
)
def test_who_falsifies_must_be_somebody(tmp_path, scenes, said):
    (tmp_path / "config.toml").write_text(CONFIG + scenes)
    with pytest.raises(UsageError, match=said):
        read_herbench(tmp_path / "config.toml")


PEOPLE = """
name = "people"
videos = "videos"

[[sources]]
path = "*.mp4"
detections = "videos/boxes.txt"
cards = "people.csv"

[tracking]
tracker = "deepsort"

[tracking.refine.filter]
least_area_px = 1000.0

[tasks.aglt]
per_video = 40

[tasks.rlpc]
"""


def test_a_track_that_people_call_different_people_is_asked_about_by_nobody(videos):
    colours = ("red", "green", "blue", "yellow", "purple", "orange")
    rows = [f'{i},A,"A very tall person all in {colour}."' for i, colour in enumerate(colours, 1)]
    rows[2] = '3,A,"DIFFERENT PEOPLE: the last two pictures"'
    (videos / "people.csv").write_text("track_id,kind,text\n" + "\n".join(rows) + "\n")
    config = videos / "people.toml"
    config.write_text(PEOPLE)
    context = BuildContext(cache_root=videos / "cache", memory=videos / "replies.sqlite")
    herbench.create().make(config, out=videos / "people", overrides=MakeOverrides(), context=context)
    gone = [json.loads(line) for line in (videos / "people" / "dropped.jsonl").read_text().splitlines()]
    said = {one["what"]: one["reason"] for one in gone if one["stage"] == "cards"}
    assert said == {"street: 3/A": "not-one-person"}
    drafts = [json.loads(line) for line in (videos / "people" / "drafts.jsonl").read_text().splitlines()]
    asked = {one["facts"]["person"].split(",")[0] for one in drafts if one["task"] == "AGLT"}
    assert asked
    assert "track 3" not in asked
    assert not any("no-a-card" in one["reason"] for one in gone)  # it is no person any more
