"""Statistics of a set, counted by hand."""

import csv
import json

import msgspec
import pytest

from vidence.errors import UsageError
from vidence.records import Evidence, Item, Media
from vidence.report.set_statistics import JSON_FORMAT, describe, evidence_span_s, section, write_described_csv


def item(name, **changes):
    settings = {
        "item_id": name,
        "media": (Media(path="a.mp4"),),
        "question": "Who is first?",
        "choices": ("the man", "a tall woman"),
        "answer": "B",
        "tags": {"task": "order"},
    }
    return Item(**settings | changes)


SET = (
    item("1", evidence=(Evidence(start_s=1, end_s=2), Evidence(start_s=8, end_s=9.5))),
    item("2", question="Who is last, the man?", answer="A", tags={"task": "end", "level": "2"}),
    item(
        "3",
        media=(Media(path="b.mp4", start_s=10.0, end_s=30.0),),
        source="film",
        choices=(),
        answer_kind="text",
        answer="nobody at all",
        rationale="They stay.",
        knowledge=("page", "book"),
        evidence=(Evidence(kind="proactive", start_s=12, end_s=40),),
    ),
    item("4", media=(Media(path="c.mp4"),), source="film"),
)


def values(found, table, row):
    (one,) = (one for one in found.tables if one.name == table)
    return one.row(row).values


def test_words_are_counted_between_blanks():
    with pytest.raises(UsageError, match="there is no question to describe"):
        describe([], name="set")
    found = describe(SET, name="set")
    assert values(found, "words", "question")[:4] == (4, (3 + 5 + 3 + 3) / 4, 3, 5)
    assert values(found, "words", "choice-question")[:4] == (3, (3 + 5 + 3) / 3, 3, 5)
    assert values(found, "words", "open-question")[:4] == (1, 3, 3, 3)
    assert values(found, "words", "option")[:4] == (6, 2.5, 2, 3)
    assert values(found, "words", "choice-answer")[:4] == (3, (3 + 2 + 3) / 3, 2, 3)
    assert values(found, "words", "open-answer")[:4] == (1, 3, 3, 3)
    assert values(found, "words", "rationale")[:4] == (1, 2, 2, 2)
    # "Who is first?" has three words and a sign, "Who is last, the man?" five and two
    assert values(found, "words", "question")[4] == (4 + 7 + 4 + 4) / 4


def test_what_a_question_has_is_counted_where_it_has_any():
    found = describe(SET, name="set")
    assert values(found, "counts", "options") == (3, 2, 2, 2, 2)
    assert values(found, "counts", "evidence") == (2, 1.5, 1, 2, 3)
    assert values(found, "counts", "knowledge") == (1, 2, 2, 2, 2)


def test_videos_sources_and_what_was_measured():
    found = describe(SET, name="set", durations_s={"a.mp4": 50.0})
    assert values(found, "videos", "videos") == (3, 4 / 3, 1, 2, 4)
    assert values(found, "videos", "sources") == (2, 2.0, 2, 2, 4)  # a.mp4, and the film of b and c
    assert values(found, "videos", "seconds") == (2, 35.0, 20.0, 50.0, 70.0)
    (table,) = (one for one in found.tables if one.name == "videos")
    assert table.note.startswith("2 of 3 videos measured")
    assert found.sentences[0] == "4 questions about 3 videos from 2 sources; 1.3 questions a video."
    assert "Videos last 35.0 s on average, 20.0 to 50.0 s (2 of 3 measured)." in found.sentences


def test_evidence_by_kind_and_by_length_and_what_lies_beyond():
    found = describe(SET, name="set", durations_s={"a.mp4": 50.0})
    assert values(found, "evidence", "all") == (2, 3, 1.5, 2, (8.5 + 28) / 2, 28)
    assert values(found, "evidence", "proactive") == (1, 1, 1, 1, 28, 28)
    assert found.problems == ("3: evidence until 40.0 s, and what is shown ends at 30.0 s",)
    assert section(found).paragraphs[-1].startswith("Evidence outside of the video: 3: evidence until")
    long = describe(SET, name="set", durations_s={"a.mp4": 200.0})
    assert values(long, "evidence", "180 to 600 s")[0] == 1
    assert values(long, "evidence", "under 60 s")[0] == 1
    assert evidence_span_s([Evidence(frames=(3,))]) is None


def test_letters_vocabulary_and_tags():
    found = describe(SET, name="set")
    assert values(found, "letters", "A") == (1, 1 / 3)
    assert values(found, "letters", "B") == (2, 2 / 3)
    # who is first, who is last the man, who is first, who is first
    assert values(found, "vocabulary", "questions") == (14, 6, 3)
    assert values(found, "tag-task", "end") == (1, 0.25, 1, None, 5.0, None)
    assert values(found, "tag-task", "order")[5] == 1.5  # two pieces and one
    skilled = describe(
        [*SET[:3], item("5", tags={"skill": "yes"}), item("6", tags={"skill": "yes"})], name="s"
    )
    assert values(skilled, "tag-skill", "yes")[:2] == (2, 1.0)
    names = [one.name for one in found.tables if one.name.startswith("tag-")]
    assert names == ["tag-answer_kind", "tag-task"]
    image = item("1", media=(Media(path="a.png", kind="image"),))
    found = describe([image], name="set", durations_s={"a.png": 4.0})  # images have no length
    assert "How long the videos are was not measured." in found.sentences
    assert values(found, "counts", "images") == (1, 1, 1, 1, 1)


def test_two_tags_are_counted_together():
    found = describe(SET, name="set", crossed=[("task", "answer_kind")])
    assert values(found, "crossed-task-answer_kind", "order") == (2, 1)
    assert values(found, "crossed-task-answer_kind-shares", "order") == (2 / 3, 1 / 3)
    with pytest.raises(UsageError, match="no question has the tag 'colour'; there are answer_kind, duration"):
        describe(SET, name="set", crossed=[("colour", "task")])


def test_files_hold_what_is_said(tmp_path):
    found = describe(SET, name="<b>set</b>", durations_s={"a.mp4": 50.0})
    write_described_csv(found, tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [row["seconds"] for row in rows] == ["50", "50", "20", ""]
    assert [row["evidence_span_s"] for row in rows] == ["8.5", "", "28", ""]
    assert [row["tag:level"] for row in rows] == ["", "2", "", ""]
    section(found).write_json(tmp_path / "a.json", JSON_FORMAT, problems=found.problems)
    whole = json.loads((tmp_path / "a.json").read_text())
    assert whole["format"] == "vidence-described/1"
    assert [one["name"] for one in whole["tables"]] == [one.name for one in found.tables]
    assert msgspec.json.decode((tmp_path / "a.json").read_bytes())["problems"] == list(found.problems)
    section(found).write_page(
        tmp_path / "a.html", eyebrow="vidence items describe", facts=(("Set", {"questions": "x"}),)
    )
    page = (tmp_path / "a.html").read_text()
    assert "&lt;b&gt;set" in page
    assert "Vocabulary" in page


def test_questions_of_each_textbook_with_their_chapters_and_concepts():
    mechanics = {"subject": "Mechanics", "textbook": "Motion"}
    items = [
        Item(item_id=str(i), question="Why?", choices=("a", "b"), answer="A", source=str(i % 2), tags=tags)
        for i, tags in enumerate(
            [
                mechanics | {"chapter": "1", "concept": "torque"},
                mechanics | {"chapter": "2", "concept": "spin"},
                mechanics | {"chapter": "2", "concept": "spin"},
                {"subject": "Art", "textbook": "Motion"},
                {},
            ]
        )
    ]
    (table,) = (one for one in describe(items, name="set").tables if one.name == "textbooks")
    assert {row.key: row.values for row in table.rows} == {
        "Art/Motion": (1, 1, None, None),
        "Mechanics/Motion": (3, 3, 2, 2),
    }
    assert table.note == "1 questions name no textbook."
