"""Which replies of a run can be drawn, as what, and how findings of a diagnostic become kinds."""

from pathlib import Path

import pytest

from subjects.planted_errors import item
from vidence.errors import UsageError
from vidence.explain.errors.packet import Draw
from vidence.records import (
    Answered,
    Failed,
    FrameRef,
    Prompt,
    Refused,
    Reply,
    Score,
    Selection,
    Trial,
    Unreadable,
)
from vidence.report.error_kinds import candidate, draw
from vidence.report.results import WAITING, Row, Run

FAILED = Failed(stage="model", error="ServerDownError", message="no connection")


def row(outcome, value, *, scorer="robust", prompt=None, selection=None):
    score = Score(outcome=outcome, value=value, scorer=scorer, scorer_version=1)
    reply = None if isinstance(outcome, Failed) else Reply(text="It is B.", reasoning="I saw it.")
    trial = Trial(item_id="q0001", reply=reply, score=score, prompt=prompt, selection=selection)
    return Row(item=item(1), trial=trial, score=score)


@pytest.mark.parametrize(
    ("outcome", "value", "scorer", "standing"),
    [
        (Answered(answer="A"), 1.0, "robust", "right"),
        (Answered(answer="B"), 0.0, "robust", "wrong"),
        (Answered(answer="so"), 0.5, "humanpcr", "wrong"),
        (Unreadable(reason="no letter"), 0.0, "robust", "wrong"),
        (Refused(reason="policy"), 0.0, "robust", "wrong"),
        (Answered(answer="so"), None, WAITING, "none"),
        (FAILED, 0.0, "robust", "none"),
    ],
)
def test_what_has_no_mark_is_not_drawn(outcome, value, scorer, standing):
    found = candidate(row(outcome, value, scorer=scorer))
    assert found.standing == standing
    assert found.reply == ("" if outcome is FAILED else "It is B.")


def test_a_refusal_says_why_and_frames_have_times_alone():
    selection = Selection(
        selector="bolt", version=1, frames=(FrameRef(frame_index=3, time_s=1.5),), n_candidates=9
    )
    found = candidate(row(Refused(reason="policy"), 0.0, prompt=Prompt(parts=()), selection=selection))
    assert (found.outcome, found.frames_note) == ("refused: policy", "1 frame, at 1.50 s.")
    assert candidate(row(Answered(answer="B"), 0.0)).frames_note == "Which frames were shown is not recorded."
    seen_none = candidate(row(Answered(answer="B"), 0.0, prompt=Prompt(parts=())))
    assert seen_none.frames_note == "No frames were shown."


def test_two_runs_of_one_name_are_refused():
    runs = [
        Run(folder=Path(folder) / "one", name="one", plan=None, facts=None, rows=(), parser="robust")
        for folder in ("a", "b")
    ]
    with pytest.raises(UsageError, match="two runs are called 'one'"):
        draw(runs, Draw(taxonomy="mmvu", rule="same", n=1, seed=0), cache_root=None)
