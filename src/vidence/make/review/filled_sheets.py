"""Reading the sheets that people filled in; every line that cannot be used is named."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vidence.errors import DataError
from vidence.make.review.protocol import Check, Stage
from vidence.make.sources.logs.files import Fault, csv_lines
from vidence.text import first_lines

ITEM_ID, CHECK = "item_id", "check"
ANSWER, WITNESS = "your answer", "witnesses"
MINUTES, VERDICT, NOTE = "minutes", "verdict", "note"
ACCEPT, RETURN, REJECT = "accept", "return", "reject"


@dataclass(frozen=True, kw_only=True)
class Filled:
    """What a person wrote into the row that begins on `line`; without `verdict` only an answer was given."""

    item_id: str
    verdict: str
    checks: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, int] = field(default_factory=dict)
    failed_checks: tuple[str, ...] = ()
    note: str = ""
    answer: str = ""
    witness: str = ""
    minutes: float | None = None
    line: int = 0


def columns_to_fill(stage: Stage) -> tuple[str, ...]:
    """The columns that a person fills in at this stage: checks, scores, verdict, note."""
    return (*(one.id for one in stage.checks), *(one.id for one in stage.scores), VERDICT, NOTE)


def read_filled(
    paths: Sequence[Path],
    known: Mapping[str, str],
    *,
    stage: Stage,
    verdicts: Sequence[str],
) -> tuple[Filled, ...]:
    """What people filled in, in the order of `known`. Columns that we wrote may be left out, but not the ids.

    An item without a line, or with an empty one, waits for a person and is not among them.

    Args:
        paths: the sheets.
        known: by item the letters that change with what is asked.
        stage: its checks and scores.
        verdicts: the words that there are.

    Raises:
        DataError: a file cannot be read, lacks a column, or lines of it cannot be used: an item that is not
            asked for, one that was changed since, two verdicts for one, no verdict beside checks or a note,
            words that are no verdict or no answer to a check, or a failed check with the verdict ``accept``.
            The first twenty such lines are named.
    """
    faults: list[str] = []
    found: dict[str, Filled] = {}
    for path in paths:
        where = f"{path.name}, line" if len(paths) > 1 else "line"
        for line, cells in sheet_lines(path):
            one = (
                f"{cells.field}: {cells.reason}"
                if isinstance(cells, Fault)
                else _filled(line, cells, known, stage=stage, verdicts=verdicts)
            )
            if isinstance(one, str):
                faults.append(f"{where} {line}: {one}")
            elif one is not None and one.item_id in found:
                before = found[one.item_id].line
                faults.append(
                    f"{where} {line}: a second line for {one.item_id}, after line {before}; keep one"
                )
            elif one is not None:
                found[one.item_id] = one
    refuse(paths, faults)
    return tuple(found[name] for name in known if name in found)


def refuse(paths: Sequence[Path], faults: Sequence[str]) -> None:
    """Refuse sheets with faults, of which the first twenty are named.

    Raises:
        DataError: there are some.
    """
    if faults:
        told = ", ".join(map(str, paths))
        raise DataError(f"{told}: {len(faults)} faults in the filled sheet\n{first_lines(faults)}")


def sheet_lines(path: Path) -> Iterator[tuple[int, Mapping[str, str] | Fault]]:
    """The rows of a sheet, or what is wrong with them, each with the line that it begins on.

    Raises:
        DataError: it cannot be read, is no CSV in UTF-8, or has no columns for items and verdicts.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is no CSV in UTF-8 ({error}); save the sheet once more, as 'CSV UTF-8'"
        ) from error
    rows = csv_lines(text)
    _, heading = next(rows, (1, list[str]()))
    named = () if isinstance(heading, Fault) else heading
    if missing := [name for name in (ITEM_ID, VERDICT) if name not in named]:
        raise DataError(
            f"{path}: line 1: no column {missing[0]!r}; expected those of the sheet that was written"
        )
    for line, cells in rows:
        yield line, cells if isinstance(cells, Fault) else dict(zip(named, cells, strict=False))


def has_writing(path: Path, to_fill: Sequence[str]) -> bool:
    """Whether somebody has written into a sheet, so that it must not be written again.

    A file that cannot be read as one is somebody's, too.
    """
    if not path.exists():
        return False
    try:
        rows = [cells for _, cells in sheet_lines(path)]
    except DataError:
        return True
    return any(isinstance(cells, Fault) or any(map(cells.get, to_fill)) for cells in rows)


def _filled(
    line: int,
    cells: Mapping[str, str],
    known: Mapping[str, str],
    *,
    stage: Stage,
    verdicts: Sequence[str],
) -> Filled | str | None:
    """One line, or what is wrong with it, beginning with the id of the item; None where it is empty."""
    item_id = cells.get(ITEM_ID, "")
    if item_id not in known:
        return f"{item_id or 'an empty id'} is not in the sheet that was written; take this line out"
    if cells.get(CHECK, known[item_id]) != known[item_id]:
        return f"{item_id} was changed after the sheet was written; look at it again in the new sheet"
    verdict = cells.get(VERDICT, "").strip().casefold()
    answer = cells.get(ANSWER, "").strip() if stage.solves else ""
    if not any(cells.get(name, "").strip() for name in columns_to_fill(stage)) and not answer:
        return None
    if verdict not in verdicts and (verdict or not answer):
        found = f"the verdict {verdict!r}" if verdict else "no verdict"
        return f"{item_id} has {found}; expected {' or '.join(verdicts)}"
    checks = {one.id: said for one in stage.checks if (said := cells.get(one.id, "").casefold())}
    by_id = {one.id: one for one in stage.checks}
    if fault := next(filter(None, (by_id[name].fault(said) for name, said in checks.items())), ""):
        return f"{item_id} has {fault} or nothing"
    failed = [by_id[name] for name, said in checks.items() if by_id[name].is_failed(said)]
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
        failed_checks=tuple(one.id for one in failed),
        note=cells.get(NOTE, ""),
        answer=answer,
        witness=cells.get(WITNESS, "") if stage.witnesses else "",
        minutes=minutes,
        line=line,
    )


def _contradiction(verdict: str, failed: Sequence[Check], checks: Mapping[str, str]) -> str:
    blocking = [one.id for one in failed if one.blocks]
    if verdict != ACCEPT or not blocking:
        return ""
    return f"is accepted, and {blocking[0]!r} is {checks[blocking[0]]}; one of them is wrong"


def _numbers(cells: Mapping[str, str], stage: Stage) -> tuple[dict[str, int], float | None] | str:
    """The scores and the minutes of a line, or what is wrong with them."""
    scores: dict[str, int] = {}
    for scale in stage.scores:
        if not (said := cells.get(scale.id, "")):
            continue
        if not (said.isascii() and said.isdecimal()):
            return f"has {said!r} under {scale.id!r}; expected {scale.low} to {scale.high}"
        if fault := scale.fault(int(said)):
            return f"has {fault}"
        scores[scale.id] = int(said)
    if not (said := cells.get(MINUTES, "")):
        return scores, None
    minutes = minutes_of(said)
    if minutes is None:
        return f"has {said!r} under {MINUTES!r}; expected minutes such as 4.2, or 4:12"
    return scores, minutes


def minutes_of(text: str) -> float | None:
    """Minutes out of ``4.2`` or ``4:12``; None where the text is neither.

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
