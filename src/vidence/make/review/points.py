"""Points: what a decision says of the fields of an item, and what a new wording left as it was."""

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

from vidence.make.review.protocol import Protocol, Stage
from vidence.make.review.revisions import Event
from vidence.make.review.states import failed_checks


def field_verdicts(event: Event, stage: Stage) -> dict[str, str]:
    """What a decision says of each field, in the order of the checks: the answer, of a failed check first.

    Only fields that a check of the protocol is about (`Check.field`) have a verdict.
    """
    failed = set(failed_checks(event, stage))
    said: dict[str, str] = {}
    for check in sorted(stage.checks, key=lambda one: one.id not in failed):
        if check.field and check.id in event.checks:
            said.setdefault(check.field, event.checks[check.id])
    return {one.field: said[one.field] for one in stage.checks if one.field in said}


def marked_fields(event: Event, stage: Stage) -> tuple[str, ...]:
    """The fields of the item that a decision finds fault with."""
    failed = failed_checks(event, stage)
    return tuple(dict.fromkeys(one.field for one in stage.checks if one.id in failed and one.field))


def last_return(events: Iterable[Event], revision: str) -> Event | None:
    """The last event that asks to mend a revision; None where nobody does."""
    found = [one for one in events if one.kind == "return" and one.revision == revision]
    return found[-1] if found else None


def untouched(
    before: Mapping[str, object], after: Mapping[str, object], fields: Sequence[str]
) -> tuple[str, ...]:
    """The fields among these that are the same in two wordings; a letter stands for the words of its choice.

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
    """The stage at which an event decides; None of an author or an operator."""
    return next((one for one in protocol.stages if one.role == event.role), None)
