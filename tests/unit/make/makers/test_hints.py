"""Hints written by a model: what is asked, what is refused and listed, what a reader of words alone finds."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from subjects.making import Making
from vidence import catalog
from vidence.errors import DataError, UsageError
from vidence.make.pipeline.session import MakeOverrides

FAIR = "1. Look for a cause.\n2. **Something else comes close.**\n3. Mind the left edge."
READER = '''
"""A reader that takes the second choice where it is told of an edge, and of ball 1 in any case."""


def reads(prompt):
    return "B" if "left edge" in prompt or "ball 1" in prompt else "A"
'''


def question(number: int, **changes: object) -> dict[str, object]:
    return {
        "item_id": f"q{number}",
        "media": [{"path": f"v{number}.mp4"}],
        "question": f"Why does ball {number} fall?",
        "choices": ["It slipped", "It was pushed"],
        "answer": "It was pushed",
        "rationale": "A tall figure with a hat walks in and the ball drops.",
        "evidence": [{"kind": "proactive", "start_s": 1, "end_s": 2.5, "note": "a figure comes"}],
    } | changes


def configured(
    folder: Path, questions: list[dict[str, object]], *, says: str = FAIR, more: str = ""
) -> Making:
    (folder / "reader.py").write_text(READER)
    models = f'writer = "scripted:{quote(says)}"\nreader = "python:{folder}/reader.py:reads"\n'
    one = Making(folder, "hints", f'name = "set"\ndata = "items.jsonl"\n{more}\n[models]\n{models}')
    (one.root / "items.jsonl").write_text("\n".join(json.dumps(one) for one in questions))
    return one


def made(one: Making):
    return one.make(), one.lines("hinted.jsonl"), one.dropped()


def test_hints_stand_on_the_items_and_the_table_reads_them(tmp_path):
    built, hinted, dropped = made(configured(tmp_path, [question(0), question(1)]))
    assert [one["item_id"] for one in hinted] == ["q0", "q1"]
    assert hinted[0]["hints"] == ["Look for a cause.", "Something else comes close.", "Mind the left edge."]
    assert dropped == {}
    assert built.account.questions == {"hints": 2}
    loaded = catalog.create("benchmark", "table").load(tmp_path / "out" / "hinted.jsonl", split="all")
    assert [len(item.hints) for item in loaded.items] == [3, 3]
    assert "No reader is named" in " ".join(built.sentences)


def test_what_cannot_have_hints_is_left_out_by_name(tmp_path):
    questions = [
        question(0),
        question(1, rationale=""),
        question(2, evidence=[{"start_s": 1, "end_s": 2}]),
        question(3, hints=["Look."]),
    ]
    work = configured(tmp_path, questions)
    assert work.maker.foresee(work.config, overrides=MakeOverrides(), context=None).sentences == (
        "1 of 4 questions have a rationale and noted evidence, and no hints",
    )
    _, hinted, dropped = made(work)
    assert [one["item_id"] for one in hinted] == ["q0"]
    assert dropped == {
        "q1": ("questions", "no-rationale"),
        "q2": ("questions", "no-noted-evidence"),
        "q3": ("questions", "has-hints"),
    }


@pytest.mark.parametrize(
    ("says", "stage", "reason"),
    [
        ("1. Look.\n2. It was pushed.\n3. Mind the edge.", "words", "answer"),
        ("1. Look.\n2. A figure with a hat walks here.\n3. Mind the edge.", "words", "step"),
        ("1. Look.\n2. Look again.", "written", "misshapen"),
        ("I am sorry, I cannot do that.", "written", "refused"),
    ],
)
def test_a_leak_or_nonsense_is_listed_and_never_mended(tmp_path, says, stage, reason):
    built, hinted, dropped = made(configured(tmp_path, [question(0)], says=says))
    assert hinted == []
    assert dropped == {"q0": (stage, reason)}
    assert built.is_empty


def test_a_hint_that_a_reader_without_the_video_reads_the_answer_off_is_refused(tmp_path):
    more = '[hints]\nreader = "reader"\n'
    # The reader knows the answer to the second question anyway: the hint does not give it away.
    open_one = question(2, choices=[], answer="a push", answer_kind="text")
    built, hinted, dropped = made(configured(tmp_path, [question(0), question(1), open_one], more=more))
    assert dropped == {"q0": ("readers", "read-off")}
    assert [one["item_id"] for one in hinted] == ["q1", "q2"]
    assert "1 open questions were checked by words alone" in " ".join(built.sentences)
    lines = (tmp_path / "out" / "dropped.jsonl").read_text()
    assert "right without the video in 3 of 3 tries with the hints, in 0 without" in lines


def test_bad_configurations_are_refused(tmp_path):
    work = configured(tmp_path, [question(0)], more='[hints]\nreader = "nobody"\n')
    with pytest.raises(UsageError, match=r"hints\.reader is 'nobody'; \[models\] has writer, reader"):
        work.maker.foresee(work.config, overrides=MakeOverrides(), context=None)
    work = configured(tmp_path, [question(0)], more="[hints]\nat_least = 4\n")
    with pytest.raises(UsageError, match="at_least is 4 of 3 tries; expected no more"):
        work.maker.foresee(work.config, overrides=MakeOverrides(), context=None)
    work = configured(tmp_path, [question(0, rationale="")])
    with pytest.raises(DataError, match="no question has a rationale and evidence with notes"):
        made(work)
