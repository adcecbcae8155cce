"""The maker ``choices``, session by session: which rule drops what, media of all kinds, people, going on."""

import json
from pathlib import Path

import pytest

from subjects.making import Making, contents, lines
from vidence import catalog
from vidence.errors import UsageError
from vidence.make.makers.choices import STAGES, create
from vidence.make.pipeline.session import MakeOverrides
from vidence.make.writing.choices_session import ChoicesSession

THINGS = ("mug", "spoon", "plate", "knife", "bottle", "towel", "pan", "bowl")
FAIR = "What does the person hold in the hand?"
# What the scripted writer says of the records with these numbers instead of `FAIR`.
QUESTIONS = {
    1: "Does the person hold the {label} in the hand?",
    2: "What does the person beside the window hold?",
    3: "What does the caption say the person holds?",
    4: "**What does the person hold?**",
    5: "What does the person hold? Where is the hand?",
    6: "What does the smiling person hold in the hand?",
}
WRONG = {
    8: ["{label}", "fork", "sponge", "jar"],
    9: ["fork", "sponge", "jar"],
    11: ["the {label}", "fork", "sponge", "jar"],
    12: ["fork", "sponge", "glove", "jar"],
    13: [f"a thing of glass that holds {n} litres" for n in ("two", "three", "four", "nine")],
    14: ["3", "4", "5", "6"],
    15: ["{label} or cup", "fork", "sponge", "jar"],
    16: ["none of the above", "fork", "sponge", "jar"],
}
EXPECTED = {
    1: ("questions", "label-in-question"),
    2: ("questions", "caption-detail"),
    3: ("questions", "names-caption"),
    4: ("questions", "not-plain"),
    5: ("questions", "not-one-question"),
    7: ("pointing", "points-elsewhere"),
    8: ("options", "truth-among-wrong"),
    9: ("options", "wrong-number"),
    10: ("options", "question-changed"),
    11: ("options", "paraphrase"),
    12: ("options", "also-true"),
    13: ("options", "odd-length"),
    14: ("options", "odd-kind"),
    15: ("options", "overlapping"),
    16: ("options", "refers-to-choices"),
    17: ("meaning", "paraphrase"),
}
N_RECORDS = 24
WRITERS = f'''
"""Writers that break one rule for each of some records, and none for the others."""

import json
import re

QUESTIONS, WRONG, FAIR = {QUESTIONS!r}, {WRONG!r}, {FAIR!r}


def told(prompt):
    return next(json.loads(line) for line in prompt.splitlines() if line.startswith(("[", "{{")))


def number(text):
    return int(re.search(r"scene (\\d+)", text)[1])


def asks(prompt):
    notes = told(prompt)
    said = [QUESTIONS.get(number(one["text"]), FAIR).format(label=one["label"]) for one in notes]
    return "\\n".join(f"{{one['number']}}. {{text}}" for one, text in zip(notes, said, strict=True))


def points(prompt):
    text = told(prompt)["text"]
    return "a ladder" if number(text) == 7 else text.split(" holds a ")[1].split()[0]


def opts(prompt):
    notes = told(prompt)
    n = number(notes["text"])
    wrong = [one.format(label=notes["right"]) for one in WRONG.get(n, ["fork", "sponge", "jar", "brush"])]
    question = notes["question"] + (" " if n == 10 else "")
    return json.dumps({{"question": question, "wrong": wrong}})


def judges(prompt):
    # The notes of a judge have no caption: the record 17 is the one that holds a drum.
    return "2" if told(prompt)["right"] == "drum" else "none"
'''
CONFIG = """
name = "hands"

[[records]]
name = "a"
format = "jsonl"
path = "records.jsonl"
split = "val"
licence = "CC BY 4.0"

[models]
writer = "python:{writers}:asks"
options = "python:{writers}:opts"
checker = "python:{writers}:points"
judge = "python:{writers}:judges"

[tasks.held]
records = "a"
way = "model"
options = "model"
dimension = "Contact"
aspect = "what a person holds in the hand"
"""


def record(number: int, **changes: object) -> dict[str, object]:
    label = "drum" if number == 17 else THINGS[number % len(THINGS)]
    return {
        "record_id": f"r{number}",
        "media": [{"path": f"{number}.jpg", "kind": "image"}],
        "caption": f"someone holds a {label} beside the window in scene {number}",
        "label": label,
        "also_true": ["glove"],
    } | changes


class Set(Making):
    """A configuration with its records, and what is made of it."""

    def __init__(self, folder: Path, records: list[dict[str, object]], text: str = "", **values: str) -> None:
        (folder / "set").mkdir(parents=True)
        (folder / "set" / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
        (folder / "set" / "writers.py").write_text(WRITERS)
        values = {"writers": str(folder / "set" / "writers.py")} | values
        super().__init__(folder, "choices", (text or CONFIG).format(**values))


SEEDED = """
name = "seen"

[[records]]
name = "a"
format = "jsonl"
path = "records.jsonl"
split = "val"
licence = "CC BY 4.0"
{more}
[tasks.held]
records = "a"
way = "template"
dimension = "Contact"
aspect = "what is held"
seeds = ["What does the person hold?"]
{task}
"""
SPACE = {"space": "thing", "labels": list(THINGS)}


def seeded(number: int, **changes: object) -> dict[str, object]:
    return record(number, space="thing", also_true=[], n_people=1, **changes)


def templated(folder: Path, lines: list[dict[str, object]], *, more: str = "", task: str = "") -> Set:
    return Set(folder, [SPACE, *lines], SEEDED, more=more, task=task)


def test_each_rule_that_a_writer_breaks_drops_its_question_and_no_other(tmp_path):
    one = Set(tmp_path, [record(n) for n in range(N_RECORDS)])
    built = one.make()
    assert one.dropped() == {f"held/a/r{n}": why for n, why in EXPECTED.items()}
    kept = [n for n in range(N_RECORDS) if n not in EXPECTED]
    items = {item["item_id"]: item for item in one.lines("items.jsonl")}
    assert list(items) == [f"held/a/r{n}" for n in kept]
    assert built.account.questions == {"held": len(kept)}
    # What nothing says is no reason to drop a question, but to look at it.
    doubts = {
        name: item["tags"]["for_people"] for name, item in items.items() if "for_people" in item["tags"]
    }
    assert doubts == {"held/a/r6": "imagined: smil"}
    for n in kept:
        item = items[f"held/a/r{n}"]
        assert item["choices"][ord(item["answer"]) - ord("A")] == THINGS[n % len(THINGS)]
        assert len(item["choices"]) == 5
        assert item["tags"]["truth"] == "labels by a"
    calls = {call["item_id"]: call for call in one.lines("calls.jsonl")}
    assert calls["held/a/r0"]["n_together"] == 3
    assert calls["held/a/r0"]["written_by"].endswith(":asks")
    assert calls["held/a/r0"]["options_by"].endswith(":opts")


def test_a_part_of_a_person_is_ambiguous_among_several_and_an_idle_task_is_named(tmp_path):
    fair = {"n_people": 1, "caption": "someone holds a mug beside the window in scene 18", "label": "mug"}
    one = Set(tmp_path, [record(18) | fair, record(19) | {"n_people": 4}])
    writers = one.root / "writers.py"
    writers.write_text(writers.read_text().replace(repr(FAIR), repr("What does the left hand hold?")))
    one.make()
    assert [item["item_id"] for item in one.lines("items.jsonl")] == ["held/a/r18"]
    assert one.dropped() == {"held/a/r19": ("questions", "several-people")}
    (one.root / "records.jsonl").write_text(json.dumps(record(19) | {"n_people": 4}) + "\n")
    assert "held has no question: 1 several-people." in one.make().sentences


def test_a_set_is_released_as_any_other(tmp_path):
    release = '\n[release]\nversion = "1"\nlicence = "CC-BY-4.0"\nunreviewed = true\n'
    one = templated(tmp_path, [seeded(n) for n in range(6)], task=release)
    built = one.make()
    released = lines(one.out / "release" / "seen-1" / "items.jsonl")
    assert {item["item_id"] for item in released} == {item["item_id"] for item in one.lines("items.jsonl")}
    assert {"canary", "split"} <= set(released[0]["tags"])
    assert built.account.stages[-1].n_out == len(released)
    before = contents(one.out)
    one.make()
    assert contents(one.out) == before


def test_a_session_ends_behind_the_stage_that_is_wanted(tmp_path):
    one = templated(tmp_path, [seeded(1)])
    for row in STAGES:
        assert row.do is getattr(ChoicesSession, row.do.__name__)
        stage, built = row.name, one.make(until=row.name)
        assert (tmp_path / "out" / "items.jsonl").exists() is (stage in ("items", "release"))
        assert not built.is_empty


def test_a_set_that_was_killed_is_the_same_byte_for_byte(tmp_path):
    whole = Set(tmp_path / "whole", [record(n) for n in range(N_RECORDS)], writers=str(tmp_path / "w.py"))
    (tmp_path / "w.py").write_text(WRITERS)
    whole.make()
    killed = Set(tmp_path / "killed", [record(n) for n in range(N_RECORDS)], writers=str(tmp_path / "w.py"))
    killed.stop_after = 13
    with pytest.raises(KeyboardInterrupt):
        killed.make()
    assert not (killed.folder / "out" / "items.jsonl").exists()
    killed.make()
    assert contents(killed.out) == contents(whole.out)
    again = contents(killed.out)
    killed.make()
    assert contents(killed.out) == again


def test_images_several_images_and_clips_are_asked_about_and_read_back(tmp_path):
    clip = [{"path": "a.mp4", "start_s": 1.5, "end_s": 4.0}]
    images = [{"path": f"{n}.png", "kind": "image"} for n in (1, 2, 3)]
    one = templated(tmp_path, [seeded(1), seeded(2, media=images), seeded(3, media=clip)])
    one.make()
    loaded = catalog.create("benchmark", "humanpcr").load(tmp_path / "out", split="human-pc")
    assert loaded.problems == ()
    assert [item.tags["media_type"] for item in loaded.items] == ["image", "images", "video"]
    assert loaded.items[1].media[2].path == "media/a/3.png"
    table = catalog.create("benchmark", "table").load(tmp_path / "out" / "items.jsonl", split="all")
    for mine, theirs in zip(table.items, loaded.items, strict=True):
        assert (mine.question, mine.choices, mine.answer) == (theirs.question, theirs.choices, theirs.answer)
    assert table.items[2].media[0].start_s == 1.5


def test_a_record_that_cannot_be_used_has_a_reason(tmp_path):
    unusable = [
        ({"media": []}, "no-medium"),
        ({"media": [{"path": f"{n}.jpg", "kind": "image"} for n in range(7)]}, "no-medium"),
        ({"media": [{"path": "a.mp4"}, {"path": "b.jpg", "kind": "image"}]}, "no-medium"),
        ({"source_split": "train"}, "train-split"),
        ({"label": "ladder"}, "label-not-in-space"),
        ({"space": "nothing"}, "label-not-in-space"),
        ({"record_id": "r1"}, "twice"),
    ]
    one = templated(tmp_path, [seeded(1), *(seeded(n) | c for n, (c, _) in enumerate(unusable, start=2))])
    one.make()
    assert list(one.dropped().values()) == [("records", reason) for _, reason in unusable]
    assert len(one.lines("items.jsonl")) == 1


def test_records_that_contradict_each_other_go_and_what_agrees_stays(tmp_path):
    media = [{"path": "x.jpg", "kind": "image"}]
    lines = [seeded(1, media=media), seeded(2, media=media), seeded(3), seeded(4, record_id="r9")]
    one = templated(tmp_path, lines)
    one.make()
    assert one.dropped() == {f"a/r{n}": ("records", "contradiction") for n in (1, 2)}


def test_media_that_are_not_there_or_cannot_be_read_are_told_apart(tmp_path):
    one = templated(tmp_path, [seeded(1), seeded(2)], more='media = "shown"')
    (one.root / "shown").mkdir()
    (one.root / "shown" / "1.jpg").write_bytes(b"no picture")
    built = one.make()
    assert one.dropped() == {"a/r1": ("records", "unreadable"), "a/r2": ("records", "missing")}
    assert built.is_empty


def test_the_person_is_named_only_where_it_is_clear_who_that_is(tmp_path):
    def box(left: int, *, target: bool) -> dict[str, object]:
        return {"label": "person", "box_px": [left, 0, left + 40, 90], "is_target": target}

    apart = {"n_people": 2, "boxes": [box(10, target=True), box(400, target=False)]}
    lines = [seeded(1), seeded(2) | apart, seeded(3) | {"n_people": 3}]
    one = templated(tmp_path, lines)
    one.make()
    asked = {item["item_id"]: item["question"] for item in one.lines("items.jsonl")}
    assert asked == {
        "held/a/r1": "What does the person hold?",
        "held/a/r2": "What does the person furthest to the left hold?",
    }
    assert one.dropped() == {"held/a/r3": ("questions", "ambiguous")}
    sheet = (tmp_path / "out" / "templates.csv").read_text()
    assert "held,What does the person hold?,1,held/a/r3,," in sheet
    (one.root / "filled.csv").write_text(sheet.replace(",,", ",rewrite,What does somebody hold?"))
    one.config.write_text('sheet = "filled.csv"\n' + one.config.read_text())
    one.make()
    assert one.dropped() == {}
    assert {item["question"] for item in one.lines("items.jsonl")} == {"What does somebody hold?"}


def test_labels_and_numbers_that_are_too_many_are_thinned_by_the_seed(tmp_path):
    lines = [seeded(n) for n in range(16)]
    one = templated(tmp_path, lines, task="per_label = 1\nmost = 5")
    one.make()
    calls = one.lines("calls.jsonl")
    assert len({call["label"] for call in calls}) == len(calls) == 5
    assert {reason for _, reason in one.dropped().values()} == {"over-label", "over-most"}
    one.make(limit=2)
    assert len(one.lines("items.jsonl")) == 2


def test_people_write_what_no_source_annotates(tmp_path):
    text = """
name = "own"
[[records]]
name = "sheet"
format = "csv"
path = "sheet.csv"
split = "own"
licence = "CC0"
[tasks.held]
records = "sheet"
way = "people"
options = "people"
dimension = "Contact"
aspect = "what is held"
"""
    one = Set(tmp_path, [], text)
    foreseen = create().foresee(one.config, overrides=MakeOverrides(), context=None)
    assert not foreseen.can_make
    one.make(sheets=str(tmp_path / "sheets"))
    header = (tmp_path / "sheets" / "sheet.csv").read_text()
    rows = (
        "q1,1.jpg,image,,,,What is on the table?,a cup,a pan,a jar,a lid,,\n"
        "q2,2.jpg,image,,,,What is on the table?,a cup,a pan,A cup,a lid,,\n"
        "q3,3.jpg,image,,,,,,,,,,\n"
    )
    (one.root / "sheet.csv").write_text(header + rows)
    one.make()
    (item,) = one.lines("items.jsonl")
    assert sorted(item["choices"]) == ["a cup", "a jar", "a lid", "a pan"]
    assert item["tags"]["truth"] == "people"
    assert one.dropped() == {"held/sheet/q2": ("options", "truth-among-wrong")}


def test_a_gate_of_blind_readers_drops_what_words_give_away(tmp_path):
    (tmp_path / "k.py").write_text(
        "def knows(choices):\n    return chr(65 + choices.index('mug')) if 'mug' in choices else 'A'\n"
    )
    more = f'[models]\nblind = "python:{tmp_path}/k.py:knows"\n'
    task = '[gates.text_only]\nmodels = ["blind"]\nat_least = 1\nruns = "auto"\n'
    one = templated(tmp_path, [seeded(n) for n in range(8)])
    one.add(more + task)
    one.make()
    assert one.dropped() == {"held/a/r0": ("text-only", "solved-blind")}
    assert (tmp_path / "out" / "verdicts.jsonl").is_file()


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('dimension = "Contact"', 'dimension = "Nowhere"', "of the dimension 'Nowhere'"),
        ('dimension = "Contact"', "", "the taxonomy has no task 'held'"),
        ('records = "a"', 'records = "b"', "wants the records 'b'"),
        ('format = "jsonl"', 'format = "xml"', "xml"),
        ('way = "template"', 'way = "model"', r"asks the model 'writer'; \[models\] has none"),
        ('way = "template"', 'way = "people"', "people write both or neither"),
        ('seeds = ["What does the person hold?"]', "", "there are no seeds"),
        (
            "[tasks.held]",
            '[gates.text_only]\nmodels = ["blind"]\nat_least = 1\n[tasks.held]',
            "gates.models is 'blind'",
        ),
    ],
)
def test_configurations_that_make_no_sense_are_refused(tmp_path, old, new, match):
    one = templated(tmp_path, [seeded(1)])
    text = one.config.read_text()
    assert old in text
    one.config.write_text(text.replace(old, new))
    with pytest.raises(UsageError, match=match):
        create().foresee(one.config, overrides=MakeOverrides(), context=None)
