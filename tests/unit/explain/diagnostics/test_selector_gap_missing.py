"""Questions without evidence, and the options of the diagnostic `selector-gap`."""

import pytest

from subjects import evidenced
from subjects.evidenced import INSIDE, estimate, examine_all, frames, fuser, item, said_by, sheet, value
from subjects.simulated import Simulated, drive
from vidence.contracts import Diagnostic, Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.selector_gap import ORACLE, PLAN, GapFinding
from vidence.records import Failed, Item, Reply
from vidence.tables.findings import Statement


def diagnostic(**options: str) -> Diagnostic:
    return evidenced.diagnostic("selector-gap", options)


def examined(
    items: list[Item], views: evidenced.Views, parser: evidenced.Reader, **options: str
) -> list[Examined]:
    return examine_all(diagnostic(**options), items, views, parser)


def said(found: list[Examined], **options: str) -> dict[str, Statement]:
    return said_by(diagnostic(**options), found)


def views(number: int) -> dict[str, tuple[float, ...]]:
    return {PLAN: frames(1), ORACLE: INSIDE}


# ------------------------------------------------------------------------------ without evidence


def test_without_evidence_a_question_is_refused_by_the_view() -> None:
    # The selector of the evidence refuses the question, and the view cannot be shown.
    subject = Simulated(item(has_evidence=False), {PLAN: frames(1)})
    with pytest.raises(KeyError, match=ORACLE):
        drive(diagnostic().examine(subject), lambda ask: Reply(text="A"))


def test_without_evidence_a_question_can_be_skipped() -> None:
    asked = [item(0), item(1, has_evidence=False)]
    found = examined(asked, views, fuser, missing="skip")
    assert isinstance(found[1].finding, GapFinding)
    assert found[1].finding.marks == {}
    headline = sheet(said(found, missing="skip"), "selector-gap")
    assert headline.value(PLAN, "questions") == 1
    assert "1 were not asked" in headline.note


def test_without_evidence_the_frames_of_the_plan_can_stand_in() -> None:
    asked = [item(0), item(1, has_evidence=False)]

    def shown(number: int) -> dict[str, tuple[float, ...]]:
        found = {PLAN: frames(1), ORACLE: INSIDE}
        return found if number == 0 else {PLAN: frames(1)}

    found = examined(asked, shown, fuser, missing="fill")
    assert isinstance(found[1].finding, GapFinding)
    assert found[1].finding.is_filled
    assert found[1].finding.marks[ORACLE] == found[1].finding.marks[PLAN]
    statements = said(found, missing="fill")
    assert value(statements, "selector-gap", PLAN, "retrieval") == 0.5
    assert "1 questions have no evidence" in sheet(statements, "selector-gap").note
    # It has no recall either.
    assert value(statements, "recall", PLAN, "questions") == 1


def test_nothing_to_say_is_said_without_numbers() -> None:
    failed = Failed(stage="selection", error="DataError", message="no evidence")
    found = said([Examined(item=item(), finding=failed)])
    assert sheet(found, "selector-gap").entries == ()
    assert "1 failed" in sheet(found, "selector-gap").note
    assert set(found) == {"selector-gap"}


# ------------------------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selectors": "plan|frag"}, "'plan' is shown anyway"),
        ({"selectors": "frag|frag"}, "different values"),
        ({"missing": "ignore"}, "expected one of fill, refuse, skip"),
        ({"slack_s": "-1"}, "0 or above"),
        ({"slack_s": "inf"}, "0 or above"),
        ({"slack_s": "some"}, "cannot be read"),
        ({"selector": "frag"}, "Did you mean 'selectors'"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        diagnostic(**options)


def test_slack_reaches_the_recall() -> None:
    subject = Simulated(item(), {PLAN: (9.9, 19.9, 29.9), ORACLE: INSIDE})
    for slack, share in (("0", 0.0), ("0.2", 1.0)):
        driven = drive(diagnostic(slack_s=slack).examine(subject), lambda ask: Reply(text="A"))
        assert driven.made.recall[PLAN] == share


def test_shares_end_at_nothing_and_everything_and_gaps_do_not() -> None:
    # One of ten questions on five videos is lost: Student's t reaches beyond both ends.
    def shown(number: int) -> dict[str, tuple[float, ...]]:
        return {PLAN: frames(0 if number == 0 else 3), ORACLE: INSIDE}

    items = [item(n, kind="odd" if n % 2 else "even") for n in range(20)]
    found = said(examined(items, shown, fuser))
    recall = estimate(found, "recall", PLAN, "recall")
    assert (recall.value, recall.high) == (0.95, 1.0)
    assert recall.low > 0
    gap = estimate(found, "selector-gap:kind", "even", "retrieval:plan")
    assert gap.value == 0.1
    assert gap.low < 0
