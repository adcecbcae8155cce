"""Why a question looks suspicious: the kinds of reasons, and how bad each is."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, get_args

from vidence.records import Record

Severity = Literal["severe", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

DOUBTFUL_KEY: Final = "doubtful-key"
# What each kind of reason means. Their order is that of the report.
KINDS: dict[str, str] = {
    DOUBTFUL_KEY: "right answers fall as the ability of models rises; the key may be wrong",
    "unusable": "a line that cannot be used as a question",
    "contradiction": "the same question, video and choices with another right answer",
    "identical-choices": "two choices say the same",
    "overlapping-choices": "a choice that is true wherever another one is, or ranges that overlap",
    "evidence-outside": "evidence outside what is shown of the video",
    "answer-in-question": "the question holds the words of the right choice and of no other",
    "choices-in-question": "the question lists choices of its own",
    "letter-in-question": "the question names the letter of a choice, which moves when choices are shuffled",
    "letters-as-names": "letters name things in the question, and may be taken for those of choices",
    "refers-to-choices": "a choice is about the other choices",
    "placeholder": "text that a template or a program has left behind",
    "garbled": "text that was decoded wrongly",
    "invisible": "characters that cannot be seen",
    "markup": "remains of HTML",
    "mixed-script": "a word with letters of two scripts that look alike",
    "repeat": "the same question about the same video, with the same choices in any order",
    "near-repeat": "nearly the same question and choices about the same video",
    "same-elsewhere": "the same question, choices and answer with another video",
    "near-elsewhere": "nearly the same question and choices, and the same answer, with another video",
    "odd-length": "the right choice is much longer or shorter than all others",
    "odd-kind": "one choice is of another kind than all others",
    "contained-choices": "the words of one choice are part of another",
    "many-choices": "more than ten choices",
    "no-evidence": "no evidence, where most questions of the set have some",
    "no-media": "no video or image",
    "missing-media": "a file that is not there, where others are",
}


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
    kinds = list(KINDS)
    ordered = sorted(reasons, key=lambda r: (SEVERITIES.index(r.severity), kinds.index(r.kind)))
    return Suspect(item_id=item_id, video_id=video_id, severity=ordered[0].severity, reasons=tuple(ordered))


def is_doubtful(one: Suspect) -> bool:
    """Whether the replies of runs speak against the key of a question."""
    return any(reason.kind == DOUBTFUL_KEY for reason in one.reasons)


def count_severity(suspects: Iterable[Suspect], severity: Severity) -> int:
    """How many suspects are of this severity by their worst reason."""
    return sum(one.severity == severity for one in suspects)


def quoted(text: str, *, most: int = 60) -> str:
    """A foreign text in quotes, on one line and not too long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= most else line[: most - 1] + '…'}”"
