"""Verdicts by field: a decision's remarks on fields, and fields a new wording left unchanged."""

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

from vidence.make.review.protocol import Protocol, Stage
from vidence.make.review.revisions import Event
from vidence.make.review.states import failed_checks


def field_verdicts(event: Event, stage: Stage) -> dict[str, str]:
    """Return a decision's verdict on each field, in the order of checks; failed checks take precedence.

    Only fields that a check of the protocol is about (`Check.field`) have a verdict.
    """
    failed = set(failed_checks(event, stage))
    verdicts: dict[str, str] = {}
    for check in sorted(stage.checks, key=lambda entry: entry.id not in failed):
        if check.field and check.id in event.checks:
            verdicts.setdefault(check.field, event.checks[check.id])
    return {entry.field: verdicts[entry.field] for entry in stage.checks if entry.field in verdicts}


def marked_fields(event: Event, stage: Stage) -> tuple[str, ...]:
    """Return the fields that a decision objects to."""
    failed = failed_checks(event, stage)
    return tuple(dict.fromkeys(check.field for check in stage.checks if check.id in failed and check.field))


def last_return(events: Iterable[Event], revision: str) -> Event | None:
    """Return the last event that requests a revision; None if there is no request."""
    entries = [event for event in events if event.kind == "return" and event.revision == revision]
    return entries[-1] if entries else None


def untouched(
    before: Mapping[str, object], after: Mapping[str, object], fields: Sequence[str]
) -> tuple[str, ...]:
    """Return which of these fields are equal in two wordings; letters stand for their choices' texts.

    >>> untouched({"question": "Who?", "answer": "A"}, {"question": "Who?", "answer": "B"}, ["question"])
    ('question',)
    """
    return tuple(name for name in fields if _meant(before, name) == _meant(after, name))


def _meant(content: Mapping[str, object], name: str) -> object:
    value, choices = content.get(name), content.get("choices")
    if (
        name == "answer"
        and isinstance(choices, list | tuple)
        and value in (*ascii_uppercase[: len(choices)],)
    ):
        return value, choices[ascii_uppercase.index(str(value))]
    return value


def stage_of(event: Event, protocol: Protocol) -> Stage | None:
    """Return the stage of a deciding event; None for authors and operators."""
    return next((stage for stage in protocol.stages if stage.role == event.role), None)
