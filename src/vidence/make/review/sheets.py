"""Sheets: a review as spreadsheets, to write and to import."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Final

import msgspec

from vidence.ask.files import FieldError, csv_rows, read
from vidence.errors import DataError
from vidence.make.review.files import Reviews
from vidence.make.review.protocol import ROLES, Check, Protocol, Stage, StageRole
from vidence.make.review.recording import Filled, Recorder, held, said_before, shown_to
from vidence.make.review.revisions import Event, Kind
from vidence.make.review.sample import letters_of
from vidence.tables.export import csv_text
from vidence.text import first_lines

ITEM_ID, CHECK = "item_id", "check"
ANSWER, WITNESS = "your answer", "witnesses"
MINUTES, VERDICT, NOTE = "minutes", "verdict", "note"
ACCEPT, RETURN, REJECT = "accept", "return", "reject"
_IN: Final = "item."
_BEFORE: Final = ("stage", "revision", "said before")
_VERDICTS: Final[Mapping[str, Kind]] = {ACCEPT: "accept", RETURN: "return", REJECT: "reject"}


def sheet(reviews: Reviews, *, by: str, role: StageRole) -> bytes:
    """Return the sheet of the items that this person reviews."""
    stage = reviews.protocol.stages[ROLES.index(role)]
    entries = [(state, shown_to(reviews, state, by=by)) for state in held(reviews, by=by, role=role)]
    fields = tuple(dict.fromkeys(name for _, content in entries for name in content if name != ITEM_ID))
    lines = [[ITEM_ID, CHECK, *_BEFORE, *(_IN + name for name in fields), *filled_in(stage)]]
    for state, content in entries:
        before = [f"{event.by}: {event.message}" for event in said_before(reviews, state, by=by)]
        lines.append(
            [
                *(state.item_id, letters_of(state.revision), stage.role, str(state.n), "\n".join(before)),
                *(_cell(name, content.get(name)) for name in fields),
                *([""] * len(filled_in(stage))),
            ]
        )
    return sheet_bytes(lines)


def sheet_bytes(lines: Sequence[Sequence[str]]) -> bytes:
    """Return a sheet as CSV in UTF-8 for spreadsheets, without executable formulas."""
    return b"\xef\xbb\xbf" + csv_text(lines).encode()


def has_writing(path: Path, template: bytes, *, filled: Sequence[str]) -> bool:
    """Whether a person has written in a sheet, so that it must not be overwritten.

    Args:
        path: the sheet; one that cannot be read has writing in it, too.
        template: as it would be written now.
        filled: the columns that are empty in a template; none where any change is a person's.
    """
    if not path.exists() or path.read_bytes() == template:
        return False
    try:
        rows = csv_rows(read(path, what="a sheet"), needed=filled, delimiters=",;\t")
    except DataError:
        return True
    return not filled or any(isinstance(row, FieldError) or any(map(row.get, filled)) for _, row in rows)


def filled_in(stage: Stage) -> tuple[str, ...]:
    """Return the columns of a sheet that a person fills in."""
    return (
        *([ANSWER] if stage.solves else []),
        *([WITNESS] if stage.witnesses else []),
        MINUTES,
        *_verdict_columns(stage),
    )


def _verdict_columns(stage: Stage) -> tuple[str, ...]:
    return (*(check.id for check in stage.checks), *(score.id for score in stage.scores), VERDICT, NOTE)


def _cell(name: str, value: object) -> str:
    if isinstance(value, list | tuple):
        lettered = name == "choices" and len(value) <= len(ascii_uppercase)
        heads = [f"{letter}. " for letter in ascii_uppercase] if lettered else [""] * len(value)
        return "\n".join(head + _cell("", entry) for head, entry in zip(heads, value, strict=False))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_cell('', entry)}" for key, entry in value.items())
    return "" if value is None else value if isinstance(value, str) else msgspec.json.encode(value).decode()


# --------------------------------------------------------------------------- taken in


def verdicts_of(protocol: Protocol) -> tuple[str, ...]:
    """Return the permitted verdicts of a sheet."""
    return (ACCEPT, RETURN, REJECT) if protocol.returns else (ACCEPT, REJECT)


@dataclass(frozen=True, kw_only=True)
class SheetContent:
    """The content of a sheet: verdicts, earlier answers, and lines imported before."""

    n_decided: int
    n_solved: int
    n_known: int


def take_in(
    reviews: Reviews, recorder: Recorder, paths: Sequence[Path], *, by: str, role: StageRole
) -> SheetContent:
    """Import a person's sheets, skipping lines imported before.

    Args:
        reviews: the review.
        recorder: where the events go.
        paths: the sheets.
        by: who filled them in.
        role: at which stage.

    Raises:
        DataError: lines cannot be used, or the guards refuse what they say; all are named by file and line,
            and nothing is recorded.
    """
    protocol = reviews.protocol
    stage = protocol.stages[ROLES.index(role)]
    done = {
        event.item_id: event
        for event in reviews.events
        if event.by == by and event.kind in _VERDICTS.values()
    }
    holding = {state.item_id: state for state in held(reviews, by=by, role=role)}
    known = {name: letters_of(event.revision) for name, event in done.items() if event.role == role}
    known |= {name: letters_of(state.revision) for name, state in holding.items()}
    faults: list[str] = []
    n_decided = n_solved = n_known = 0
    for entry in read_filled(paths, known, stage=stage, verdicts=verdicts_of(protocol)):
        if entry.item_id not in holding:
            n_known += 1
            last = done[entry.item_id]
            fault = (
                "" if _is_said(last, entry) else f"{entry.item_id} was decided already: {last.kind} by {by}"
            )
        elif stage.solves and by not in holding[entry.item_id].solved:
            n_solved += 1
            fault = _solved(recorder, entry)
        elif not entry.verdict:
            n_known += 1
            fault = ""
        else:
            n_decided += 1
            fault = _decided(recorder, entry)
        if fault:
            where = f"{paths[0]}, " if len(paths) == 1 else ""
            faults.append(f"{where}line {entry.line}: {fault}")
    refuse(paths, faults)
    return SheetContent(n_decided=n_decided, n_solved=n_solved, n_known=n_known)


def _solved(recorder: Recorder, entry: Filled) -> str:
    if entry.verdict:
        return (
            f"{entry.item_id} has a verdict before its key was shown; leave it out, read the answer in, "
            "and draw the sheet again"
        )
    return recorder.add("solve", entry.item_id, said=entry)


def _decided(recorder: Recorder, entry: Filled) -> str:
    if entry.witness and (fault := recorder.add("witness", entry.item_id, message=entry.witness)):
        return fault
    return recorder.add(_VERDICTS[entry.verdict], entry.item_id, said=entry)


def _is_said(event: Event, entry: Filled) -> bool:
    """Return whether a line repeats what was imported before."""
    return (event.kind, event.checks, event.scores, event.message) == (
        *(entry.verdict, dict(entry.checks), dict(entry.scores)),
        entry.note.strip(),
    )


# --------------------------------------------------------------------------- read


def read_filled(
    paths: Sequence[Path], known: Mapping[str, str], *, stage: Stage, verdicts: Sequence[str]
) -> tuple[Filled, ...]:
    """Return people's entries, in the order of `known`. Our own columns may be missing, except ids.

    An item without a line, or with an empty one, waits for a person and is not among them.

    Args:
        paths: the sheets.
        known: by item the letters that change with what is asked.
        stage: its checks and scores.
        verdicts: the words available.

    Raises:
        DataError: a file cannot be read, lacks a column, or lines of it cannot be used: an item that is not
            asked for, one that was changed since, two verdicts for one, no verdict beside checks or a note,
            words that are no verdict or no answer to a check, or a failed check with the verdict ``accept``.
            The first twenty such lines are named.
    """
    faults: list[str] = []
    values: dict[str, Filled] = {}
    for path in paths:
        where = f"{path.name}, line" if len(paths) > 1 else "line"
        content = read(path, what="a sheet")
        for line, cells in csv_rows(content, needed=(ITEM_ID, VERDICT), delimiters=",;\t"):
            word = (
                str(cells)
                if isinstance(cells, FieldError)
                else _filled(line, cells, known, stage=stage, verdicts=verdicts)
            )
            if isinstance(word, str):
                faults.append(f"{where} {line}: {word}")
            elif word is not None and word.item_id in values:
                before = values[word.item_id].line
                faults.append(
                    f"{where} {line}: a second line for {word.item_id}, after line {before}; keep one"
                )
            elif word is not None:
                values[word.item_id] = word
    refuse(paths, faults)
    return tuple(values[name] for name in known if name in values)


def refuse(paths: Sequence[Path], faults: Sequence[str]) -> None:
    """Reject faulty sheets, listing the first twenty faults.

    Raises:
        DataError: there are some.
    """
    if faults:
        refuse = ", ".join(map(str, paths))
        raise DataError(f"{refuse}: {len(faults)} faults in the filled sheet\n{first_lines(faults)}")


def _filled(
    line: str, cells: Mapping[str, str], known: Mapping[str, str], *, stage: Stage, verdicts: Sequence[str]
) -> Filled | str | None:
    """Return a line's entry, or its fault starting with the item's id; None if it is empty."""
    item_id = cells.get(ITEM_ID, "")
    if item_id not in known:
        named = item_id or "an empty id"
        return f"{named} is not in the sheet of --role {stage.role}, or changed since; take this line out"
    if cells.get(CHECK, known[item_id]) != known[item_id]:
        return f"{item_id} was changed after the sheet was written; look at it again in the new sheet"
    verdict = cells.get(VERDICT, "").strip().casefold()
    answer = cells.get(ANSWER, "").strip() if stage.solves else ""
    if not any(cells.get(name, "").strip() for name in _verdict_columns(stage)) and not answer:
        return None
    if verdict not in verdicts and (verdict or not answer):
        text = f"the verdict {verdict!r}" if verdict else "no verdict"
        return f"{item_id} has {text}; expected {' or '.join(verdicts)}"
    checks = {check.id: cell for check in stage.checks if (cell := cells.get(check.id, "").casefold())}
    by_id = {check.id: check for check in stage.checks}
    if fault := next(filter(None, (by_id[name].fault(check) for name, check in checks.items())), ""):
        return f"{item_id} has {fault} or nothing"
    failed = [by_id[name] for name, check in checks.items() if by_id[name].is_failed(check)]
    numbers = _numbers(cells, stage)
    if isinstance(numbers, str):
        return f"{item_id} {numbers}"
    if fault := _contradiction(verdict, failed, checks):
        return f"{item_id} {fault}"
    scores, minutes = numbers
    return Filled(
        item_id=item_id,
        verdict=verdict,
        checks=checks,
        scores=scores,
        failed_checks=tuple(check.id for check in failed),
        note=cells.get(NOTE, ""),
        answer=answer,
        witness=cells.get(WITNESS, "") if stage.witnesses else "",
        minutes=minutes,
        line=line,
    )


def _contradiction(verdict: str, failed: Sequence[Check], checks: Mapping[str, str]) -> str:
    blocking = [check.id for check in failed if check.blocks]
    if verdict != ACCEPT or not blocking:
        return ""
    return f"is accepted, and {blocking[0]!r} is {checks[blocking[0]]}; one of them is wrong"


def _numbers(cells: Mapping[str, str], stage: Stage) -> tuple[dict[str, int], float | None] | str:
    """Return a line's scores and minutes, or its fault."""
    scores: dict[str, int] = {}
    for scale in stage.scores:
        if not (cell := cells.get(scale.id, "")):
            continue
        if not (cell.isascii() and cell.isdecimal()):
            return f"has {cell!r} under {scale.id!r}; expected {scale.low} to {scale.high}"
        if fault := scale.fault(int(cell)):
            return f"has {fault}"
        scores[scale.id] = int(cell)
    if not (cell := cells.get(MINUTES, "")):
        return scores, None
    minutes = minutes_of(cell)
    if minutes is None:
        return f"has {cell!r} under {MINUTES!r}; expected minutes such as 4.2, or 4:12"
    return scores, minutes


def minutes_of(text: str) -> float | None:
    """Parse minutes such as ``4.2`` or ``4:12``; None if the text is neither.

    >>> minutes_of("4:12"), minutes_of("4.2"), minutes_of("long")
    (4.2, 4.2, None)
    """
    whole, colon, seconds = text.partition(":")
    try:
        value = float(whole) + (float(seconds) / 60 if colon else 0.0)
    except ValueError:
        return None
    fits = math.isfinite(value) and value >= 0 and (not colon or 0 <= float(seconds) < 60)
    return value if fits else None
