"""Why a question looks suspicious: the kinds of reasons, and how bad each is."""

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
    """What each kind of reason means, in the order of the report."""
    return packaged("vidence.explain.audit", "reasons.toml", dict[str, str])


class Reason(Record, omit_defaults=True):
    """One thing that speaks against a question. `others` are ids of the questions it is about, too."""

    kind: str
    severity: Severity
    says: str
    others: tuple[str, ...] = ()


def severe(kind: str, says: str) -> Reason:
    """A reason that the question cannot stay as it is."""
    return Reason(kind=kind, severity="severe", says=says)


def warning(kind: str, says: str) -> Reason:
    """A reason to have a look."""
    return Reason(kind=kind, severity="warning", says=says)


def note(kind: str, says: str) -> Reason:
    """A reason that is often harmless."""
    return Reason(kind=kind, severity="note", says=says)


class Suspect(Record):
    """A question, or a line that is none, with what speaks against it, the worst first."""

    item_id: str
    video_id: str
    severity: Severity
    reasons: tuple[Reason, ...]


def suspect(item_id: str, video_id: str, reasons: Sequence[Reason]) -> Suspect:
    """A suspect with its reasons in order; there is at least one."""
    order = list(kinds())
    ordered = sorted(reasons, key=lambda r: (SEVERITIES.index(r.severity), order.index(r.kind)))
    return Suspect(item_id=item_id, video_id=video_id, severity=ordered[0].severity, reasons=tuple(ordered))


def is_doubtful(suspect: Suspect) -> bool:
    """Whether the replies of runs speak against the key of a question."""
    return any(reason.kind == DOUBTFUL_KEY for reason in suspect.reasons)


def count_severity(suspects: Iterable[Suspect], severity: Severity) -> int:
    """How many suspects are of this severity by their worst reason."""
    return sum(suspect.severity == severity for suspect in suspects)


def quoted(text: str, *, most: int = 60) -> str:
    """A foreign text in quotes, on one line and not too long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= most else line[: most - 1] + '…'}”"
