"""Question templates: seeds, variations by a model, and the reference of "the person"."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from vidence.ask.files import FieldError
from vidence.errors import DataError, UsageError, cause
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.writer import Objection
from vidence.make.sources.annotations.annotation_records import PERSON, AnnotationRecord, Box
from vidence.make.sources.logs.files import csv_rows
from vidence.make.writing.choices_rules import form_of
from vidence.records import Record
from vidence.statistics.near_duplicates import near_pairs
from vidence.tables.export import csv_text
from vidence.text import normal_form

SHEET_FILE: Final = "templates.csv"
COLUMNS: Final = ("task", "template", "n_records", "example", "verdict", "rewrite")
_SLOT: Final = re.compile(r"\{([a-z_]+)\}")
_THE_PERSON: Final = re.compile(
    r"\b(?:the|this|that)\s+(?:person|man|woman|boy|girl|individual)\b", re.IGNORECASE
)
_A_PART: Final = re.compile(
    r"\b(?:the|this|that|which)\s+(?:(?:left|right|other)\s+)?(?:hands?|arms?|fingers?|thumbs?|palms?|wrists?|elbows?"
    r"|legs?|foot|feet|knees?|heads?|faces?|eyes?)\b(?!\s+of\b)",
    re.IGNORECASE,
)
_CLEAR: Final = 0.2
_LINE: Final = re.compile(r"^\W{0,3}(\d{1,2})\s*[.):]\s*(\S.*)$")


class Phrase(Record, omit_defaults=True):
    """A template: its text with slots in braces, whether it is a seed, and whether a person accepted it."""

    text: str
    is_seed: bool = True
    is_accepted: bool = False

    @property
    def slots(self) -> frozenset[str]:
        """Return the names in braces."""
        return frozenset(_SLOT.findall(self.text))

    @property
    def names_one(self) -> bool:
        """Whether it refers to one person, or a part of one, as if there were no other."""
        return any(pattern.search(self.text) for pattern in (_THE_PERSON, _A_PART))


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A person's verdict on a template."""

    verdict: Literal["accept", "rewrite", "refuse"]
    rewrite: str = ""


def read_seeds(seeds: str | tuple[str, ...], root: Path) -> tuple[Phrase, ...]:
    """Return a task's templates from a list, or from a file's lines; ``#`` starts a comment.

    Raises:
        UsageError: the file cannot be read, or has none.
    """
    lines: Sequence[str] = seeds if isinstance(seeds, tuple) else ()
    if isinstance(seeds, str):
        try:
            lines = (root / seeds).read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the templates {root / seeds} cannot be read: {cause(error)}") from error
    texts = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not texts:
        raise UsageError(f"{seeds}: no template; expected one in each line, such as 'What is {{noun}} for?'")
    return tuple(Phrase(text=text) for text in dict.fromkeys(texts))


def read_list(text: str, *, least: int) -> tuple[str, ...] | Objection:
    """Return the numbered lines of a reply with at least `least` of them."""
    entries = [match[2].strip() for line in text.splitlines() if (match := _LINE.match(line)) is not None]
    if len(entries) < least:
        detail = f"it has {len(entries)} numbered lines; wanted are {least} or more"
        return Objection(reason="misshapen", detail=detail)
    return tuple(entries)


def choose_phrases(
    task: str, seeds: Sequence[Phrase], more: Sequence[str], *, near: float
) -> tuple[tuple[Phrase, ...], tuple[Dropped, ...]]:
    """Return the seeds, and a model's new templates with a seed's slots and the form of a question.

    Reasons: ``slots-changed``, ``near-repeat``, and those of `rules.form_of`. Seeds are checked too.

    Source: HumanPCR, appendix B.1 and figure 13 (seeds that a model expands, 24 for one task).
    """
    kept: list[Phrase] = []
    dropped: list[Dropped] = []
    slots = {seed.slots for seed in seeds}

    def drop(text: str, reason: str, detail: str) -> None:
        dropped.append(Dropped(what=f"{task}: {text}", stage="templates", reason=reason, detail=detail))

    known: set[str] = set()
    for phrase in (*seeds, *(Phrase(text=text, is_seed=False) for text in more)):
        if phrase.text in known:
            continue
        known.add(phrase.text)
        fault = form_of(_SLOT.sub(r"\1", phrase.text))
        if fault is not None:
            drop(phrase.text, fault.reason, fault.detail)
        elif phrase.slots not in slots:
            drop(phrase.text, "slots-changed", f"slots {', '.join(sorted(phrase.slots)) or 'none'}")
        else:
            pairs = near_pairs([*(entry.text for entry in kept), phrase.text], least=near)
            twin = next((pair.first for pair in pairs if pair.second == len(kept)), None)
            if twin is None:
                kept.append(phrase)
            else:
                drop(phrase.text, "near-repeat", f"nearly {kept[twin].text!r}")
    return tuple(kept), tuple(dropped)


def decided(
    phrases: Sequence[Phrase], values: Mapping[str, Decision]
) -> tuple[tuple[Phrase, ...], tuple[str, ...]]:
    """Return the templates after people's decisions, and the rejected texts."""
    kept: list[Phrase] = []
    refused: list[str] = []
    for phrase in phrases:
        decision = values.get(phrase.text)
        if decision is None:
            kept.append(phrase)
        elif decision.verdict == "refuse":
            refused.append(phrase.text)
        else:
            text = decision.rewrite if decision.verdict == "rewrite" else phrase.text
            kept.append(Phrase(text=text, is_seed=phrase.is_seed, is_accepted=True))
    return tuple(kept), tuple(refused)


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A filled template, and the record's words used in it."""

    text: str
    phrase: Phrase
    given: tuple[str, ...]


def fill(phrase: Phrase, record: AnnotationRecord) -> Filled | str:
    """Fill a template; return the question or the reason ``no-slot`` or ``ambiguous``.

    "The person" stands where the record says that there is one; of several, the one that the boxes tell
    apart is named by what they say, or by its place.
    """
    if not phrase.slots <= record.fields.keys():
        return "no-slot"
    given = tuple(record.fields[name] for name in sorted(phrase.slots))
    text = _SLOT.sub(lambda match: record.fields[match[1]], phrase.text)
    if phrase.names_one and not phrase.is_accepted and record.people != 1:
        named = referring(record.boxes)
        if not named:
            return "ambiguous"
        given = (*given, named)
        text, n_named = _THE_PERSON.subn(named, text, count=1)
        text = text if n_named else _A_PART.sub(rf"\g<0> of {named}", text, count=1)
        text = f"{text[:1].upper()}{text[1:]}"
    return Filled(text=text, phrase=phrase, given=given)


def referring(boxes: Sequence[Box]) -> str:
    """Return an unambiguous name for the labelled person; empty if there is no such name.

    >>> one, other = (Box(label="person", box_px=(x, 0, x + 9, 20), is_target=x == 0) for x in (0, 90))
    >>> referring([other, one])
    'the person furthest to the left'
    """
    people = [box for box in boxes if box.label == PERSON]
    target = [box for box in people if box.is_target]
    if len(target) != 1:
        return ""
    phrase = target[0].phrase
    if phrase and sum(normal_form(box.phrase) == normal_form(phrase) for box in people) == 1:
        return phrase
    middles = sorted((box.box_px[0] + box.box_px[2]) / 2 for box in people)
    gap = _CLEAR * (max(box.box_px[2] for box in people) - min(box.box_px[0] for box in people))
    mine = (target[0].box_px[0] + target[0].box_px[2]) / 2
    if len(middles) < 2:
        return ""
    if mine == middles[0] and middles[1] - mine >= gap:
        return "the person furthest to the left"
    if mine == middles[-1] and mine - middles[-2] >= gap:
        return "the person furthest to the right"
    return ""


def pick(phrases: Sequence[Phrase], record: AnnotationRecord, rng: np.random.Generator) -> Filled | str:
    """Return a drawn template that fits a record, or the reason that none does."""
    why = "no-slot"
    for place in rng.permutation(len(phrases)):
        result = fill(phrases[int(place)], record)
        if isinstance(result, Filled):
            return result
        why = "ambiguous" if "ambiguous" in (why, result) else result
    return why


def sheet(rows: Sequence[tuple[str, str, int, str]]) -> bytes:
    """Return the sheet of ambiguous templates: task, text, number of records, and an example."""
    lines = [COLUMNS, *((task, text, str(n), example, "", "") for task, text, n, example in rows)]
    return csv_text(lines, is_data=True).encode()


def read_sheet(path: Path) -> dict[tuple[str, str], Decision]:
    """Return verdicts on templates by task and text; lines without a verdict are pending.

    Raises:
        DataError: a line cannot be used; all of these are named.
    """
    values: dict[tuple[str, str], Decision] = {}
    faults: list[str] = []
    for where, row in csv_rows(path, needs=("task", "template", "verdict")):
        if isinstance(row, FieldError):
            faults.append(f"{where}: {row}")
            continue
        verdict, rewrite = row["verdict"].casefold(), row.get("rewrite", "")
        match verdict:
            case "":
                continue
            case "accept" | "refuse":
                values[row["task"], row["template"]] = Decision(verdict=verdict)
            case "rewrite" if rewrite:
                values[row["task"], row["template"]] = Decision(verdict="rewrite", rewrite=rewrite)
            case _:
                wanted = "expected accept, refuse, or rewrite with a text under 'rewrite'"
                faults.append(f"{where}: verdict {row['verdict']!r}; {wanted}")
    if faults:
        raise DataError(f"{path} cannot be used: " + "; ".join(faults))
    return values
