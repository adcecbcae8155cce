"""Reasons why a question looks suspicious, by kind and severity."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final, Literal, get_args

from vidence.installation import packaged
from vidence.records import Record

Severity = Literal["severe", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

DOUBTFUL_KEY: Final = "doubtful-key"


@cache
def kinds() -> Mapping[str, str]:
    """Return the meaning of each kind of reason, in report order."""
    return packaged("vidence.explain.audit", "reasons.toml", dict[str, str])


class Reason(Record, omit_defaults=True):
    """An objection to a question. `others` are ids of other questions involved."""

    kind: str
    severity: Severity
    says: str
    others: tuple[str, ...] = ()


def severe(kind: str, says: str) -> Reason:
    """Return a reason that requires a change."""
    return Reason(kind=kind, severity="severe", says=says)


def warning(kind: str, says: str) -> Reason:
    """Return a reason to check the question."""
    return Reason(kind=kind, severity="warning", says=says)


def note(kind: str, says: str) -> Reason:
    """Return a reason that is often harmless."""
    return Reason(kind=kind, severity="note", says=says)


class Suspect(Record):
    """A question, or an unusable line, with its reasons, the worst first."""

    item_id: str
    video_id: str
    severity: Severity
    reasons: tuple[Reason, ...]


def suspect(item_id: str, video_id: str, reasons: Sequence[Reason]) -> Suspect:
    """Return a suspect with its one or more reasons sorted."""
    order = list(kinds())
    ordered = sorted(reasons, key=lambda r: (SEVERITIES.index(r.severity), order.index(r.kind)))
    return Suspect(item_id=item_id, video_id=video_id, severity=ordered[0].severity, reasons=tuple(ordered))


def is_doubtful(suspect: Suspect) -> bool:
    """Whether runs' replies cast doubt on a question's key."""
    return any(reason.kind == DOUBTFUL_KEY for reason in suspect.reasons)


def count_severity(suspects: Iterable[Suspect], severity: Severity) -> int:
    """Return how many suspects have this as their worst severity."""
    return sum(suspect.severity == severity for suspect in suspects)


def quoted(text: str, *, most: int = 60) -> str:
    """Return a text in quotes, on one line and truncated."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= most else line[: most - 1] + '…'}”"
