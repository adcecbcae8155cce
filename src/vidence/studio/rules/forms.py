"""The forms of the papers' items: which parts each has, and how their fields are read."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.errors import UsageError
from vidence.records import Record
from vidence.studio.rules.wording import BOX, HINTS, Condition, EvidenceKind, Knowledge, Mark, Option, Wording

Kind: TypeAlias = Literal["open", "mcq", "3afc", "made"]
Part: TypeAlias = Literal[
    "category", "clip", "concept", "conditions", "evidence", "hints", "knowledge", "reasoning", "steps"
]
MOST_ROWS: Final = 40
MOST_SIGNS: Final = 10_000
MOST_MEDIA: Final = 6
KINDS: Final[Mapping[Kind, str]] = {
    "open": "open question",
    "mcq": "options",
    "3afc": "three options",
    "made": "made by a program",
}


class Form(Record, omit_defaults=True):
    """One form. `wrong` is how many wrong options there are, `per_video` how many items a video is good for.

    `least_evidence` and `least_proactive` are of pieces of evidence; with `tied` each piece names a step.
    Pieces of the kind ``oracle`` are neither counted nor tied: they are frames to show. 0 stands
    for no bound.
    """

    name: str
    title: str
    kinds: tuple[Kind, ...]
    parts: tuple[Part, ...]
    wrong: int = 0
    least_evidence: int = 0
    least_proactive: int = 0
    tied: bool = False
    per_video: int = 0
    most_words: int = 0
    categories: str = "Category of the answer"


FORMS: Final[Mapping[str, Form]] = {
    form.name: form
    for form in (
        Form(
            name="humanpcr-r",
            title="Reasoning over several pieces of evidence (HumanPCR-R)",
            kinds=("open",),
            parts=("clip", "reasoning", "steps", "evidence", "hints", "knowledge"),
            least_evidence=2,
            least_proactive=1,
            tied=True,
        ),
        Form(
            name="humanpcr-pc",
            title="Perception and comprehension (HumanPCR-P&C)",
            kinds=("mcq",),
            parts=("clip", "category", "evidence"),
            wrong=3,
        ),
        Form(
            name="mmvu",
            title="Questions of experts (MMVU)",
            kinds=("mcq", "open"),
            parts=("clip", "concept", "steps", "knowledge", "evidence", "hints"),
            wrong=4,
            per_video=3,
        ),
        Form(
            name="perceptioncomp",
            title="Composed questions (PerceptionComp)",
            kinds=("mcq",),
            parts=("category", "conditions", "evidence"),
            wrong=4,
            most_words=4,
        ),
        Form(
            name="actpld",
            title="Which action is it? (ActPLD)",
            kinds=("3afc",),
            parts=("clip", "category"),
            wrong=2,
            categories="Group of actions",
        ),
        Form(
            name="herbench",
            title="Made by a program (HERBench)",
            kinds=("made",),
            parts=("evidence",),
            wrong=4,
        ),
    )
}
"""Source: HumanPCR, appendix B.3 (two pieces of evidence, one of them proactive); MMVU, section 3.2 (one
right and four wrong options, two or three questions for each video); PerceptionComp, section 3.4 (five
options of a word or a short phrase); ActPLD, section 2.5 (three options).

Departs: HumanPCR-P&C and HERBench give no number of options for a form: four and five; a short phrase has
four words at most."""

_ROW: Final = re.compile(r"(wrong|step|evidence|condition|knowledge|hint)-(\d{1,2})(?:-([a-z][a-z0-9_]*))?")
_ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    "wrong": ("id", "text", "category", "why"),
    "step": ("",),
    "evidence": ("medium", "kind", "start", "end", "frames", *BOX, "text", "steps"),
    "condition": ("text", "skill", "depends", "hands_on", "at", "note", "otherwise"),
    "knowledge": ("title", "url"),
    "hint": ("",),
}
_PLAIN: Final = (
    *("question", "language", "answer", "category", "reasoning", "subject", "textbook", "chapter", "concept"),
    *("start", "end", "program", "changed"),
)
_RIGHT: Final = ("right-id", "right-text", "right-category")
_ID: Final = re.compile(r"[0-9a-f]{12}")
_EVIDENCE: Final[tuple[EvidenceKind, ...]] = ("referred", "proactive", "oracle")


def read_form(fields: Mapping[str, str], *, new_id: Callable[[], str]) -> Wording:
    """What was written, out of the fields of a form; rows without a word are left out.

    Args:
        fields: by their names; line ends become those of Unix.
        new_id: draws twelve letters of an option that has none.

    Raises:
        UsageError: a field has no such name, or is too long, or there are too many rows.
    """
    plain = {name: _told(fields.get(name, ""), name) for name in _PLAIN}
    rows: dict[str, dict[int, dict[str, str]]] = {name: {} for name in _ROWS}
    for name, field in fields.items():
        if name in _PLAIN or name in _RIGHT:
            continue
        match = _ROW.fullmatch(name)
        if match is None or (match[3] or "") not in _ROWS[match[1]] or int(match[2]) >= MOST_ROWS:
            raise UsageError(f"the field {name!r:.60}; no form has it")
        rows[match[1]].setdefault(int(match[2]), {})[match[3] or ""] = _told(field, name)
    values = {name: [row[n] for n in sorted(row)] for name, row in rows.items()}
    right = {name.removeprefix("right-"): _told(fields.get(name, ""), name) for name in _RIGHT}
    hints = [row.get("", "") for row in values["hint"]][:HINTS]
    while hints and not hints[-1]:
        hints.pop()
    return Wording(
        right=_option(right, new_id),
        wrong=tuple(_option(row, new_id) for row in values["wrong"] if _has_words(row, "text", "why")),
        steps=tuple(row[""] for row in values["step"] if row.get("")),
        evidence=tuple(_mark(row) for row in values["evidence"] if _has_words(row, *_ROWS["evidence"][2:])),
        conditions=tuple(
            _condition(row) for row in values["condition"] if _has_words(row, *_ROWS["condition"])
        ),
        knowledge=tuple(
            msgspec.convert(row, Knowledge) for row in values["knowledge"] if _has_words(row, "title", "url")
        ),
        hints=tuple(hints),
        **plain,
    )


def fields_of(written: Wording) -> dict[str, str]:
    """The fields of a form that `read_form` reads as this; those that are empty are left out."""
    fields = {name: getattr(written, name) for name in _PLAIN}
    fields |= {f"right-{name}": getattr(written.right, name) for name in ("id", "text", "category")}
    for name, rows in (
        ("wrong", [msgspec.structs.asdict(option) for option in written.wrong]),
        ("step", [{"": step} for step in written.steps]),
        ("evidence", [msgspec.structs.asdict(mark) for mark in written.evidence]),
        ("condition", [msgspec.structs.asdict(condition) for condition in written.conditions]),
        ("knowledge", [msgspec.structs.asdict(knowledge) for knowledge in written.knowledge]),
        ("hint", [{"": hint} for hint in written.hints]),
    ):
        for number, row in enumerate(rows):
            for part, result in row.items():
                fields[f"{name}-{number}{'-' if part else ''}{part}"] = str(result)
    return {name: outcome for name, outcome in fields.items() if outcome}


def form_named(name: str) -> Form:
    """The form of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in FORMS:
        raise UsageError(f"there is no form {name!r:.60}; expected {', '.join(FORMS)}")
    return FORMS[name]


def _told(message: str, name: str) -> str:
    if len(message) > MOST_SIGNS:
        raise UsageError(f"{name} has {len(message):,} characters; {MOST_SIGNS:,} at most")
    return message.replace("\r\n", "\n").replace("\r", "\n").strip()


def _has_words(row: Mapping[str, str], *names: str) -> bool:
    return any(row.get(name) for name in names)


def _option(row: Mapping[str, str], new_id: Callable[[], str]) -> Option:
    option = row.get("id", "")
    kept = {name: row.get(name, "") for name in ("text", "category", "why")}
    return Option(id=option if _ID.fullmatch(option) else new_id(), **kept)


def _mark(row: Mapping[str, str]) -> Mark:
    medium, kind = row.get("medium", ""), row.get("kind", "")
    return Mark(
        medium=int(medium) if medium.isascii() and medium.isdecimal() and len(medium) < 3 else 0,
        kind=next((name for name in _EVIDENCE if name == kind), "referred"),
        **{name: row.get(name, "") for name in _ROWS["evidence"][2:]},
    )


def _condition(row: Mapping[str, str]) -> Condition:
    return Condition(**{name: row.get(name, "") for name in _ROWS["condition"]})


def position_balance(answers: Iterable[str], *, n_options: int) -> tuple[int, ...]:
    """How often the right option stands at each place.

    >>> position_balance(["A", "C", "A"], n_options=3)
    (2, 0, 1)
    """
    places = [ord(answer) - ord("A") for answer in answers if len(answer) == 1]
    return tuple(sum(number == place for number in places) for place in range(n_options))


def rows_to_show(rows: Sequence[object], *, spare: int, least: int = 0) -> int:
    """How many rows a form shows: those that there are and some to write in, no more than are read."""
    return min(max(len(rows) + spare, least), MOST_ROWS)
