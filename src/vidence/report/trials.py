"""All fields of each trial, a row per trial: as JSON lines, Parquet or CSV.

The columns are the same in all three. Lists and objects are kept in JSON lines and Parquet, and are JSON
texts in CSV; tags are one object in JSON lines, and a column each elsewhere.
"""

import functools
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import msgspec

from vidence.errors import UsageError
from vidence.installation import adding, packaged
from vidence.records import (
    Evidence,
    Failed,
    ImagePart,
    Media,
    Prompt,
    Provenance,
    Record,
    Refused,
    TextPart,
    Unreadable,
    Verdict,
    VideoPart,
)
from vidence.report.results import Row, Run, with_prompts
from vidence.tables.export import csv_text

if TYPE_CHECKING:
    import pyarrow as pa

TRIALS_FORMAT = "vidence-trials/1"
TAGS: Final = "tags"
Plain: TypeAlias = "str | int | float | bool | tuple[object, ...] | Mapping[str, object] | None"
Kind: TypeAlias = Literal[
    "text", "whole", "number", "truth", "texts", "wholes", "numbers", "lists", "logps",
    "object", "objects",
]  # fmt: skip


class Column(Record):
    """A column of ``trials.toml``: the path of its value from a `TrialPlace`, and its type.

    In a path, ``[]`` maps over several, and ``?`` marks what only some outcomes have. Objects have the fields
    of the record `holds`.
    """

    kind: Kind
    of: str
    note: str = ""
    holds: str = ""

    def value(self, run: Run, row: Row) -> Plain:
        """Return a trial's value; None if part of its path is missing."""
        value = _at(TrialPlace(run=run, row=row), self.of.split("."))
        match value:
            case msgspec.Struct():
                return msgspec.structs.asdict(value)
            case tuple() if self.holds:
                return tuple(map(msgspec.structs.asdict, value))
            case _:
                return cast("Plain", value)


def _at(value: object, path: Sequence[str]) -> object:
    for i, step in enumerate(path):
        name = step.rstrip("[]?")
        value = getattr(value, name, None) if step.endswith("?") else getattr(value, name)
        if value is None:
            return None
        if step.endswith("[]"):
            return tuple(_at(part, path[i + 1 :]) for part in cast("Sequence[object]", value))
    return value


@functools.cache
def columns() -> Mapping[str, Column]:
    """Return all columns by name, in order; those of tags take the place of ``tags``."""
    return MappingProxyType(packaged("vidence.report", "trials.toml", dict[str, Column]))


# --------------------------------------------------------------------------- the parts of a trial


class StepRow(Record):
    """One reply on the way to an answer, as in `records.Step`; `model` is empty for the model under test."""

    role: str
    model: str
    sample: int
    about: int | None
    is_remembered: bool
    reply: str
    reasoning: str
    finish: str
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, kw_only=True)
class TrialPlace:
    """A trial and its run, the root of column paths."""

    run: Run
    row: Row

    @property
    def prompt_text(self) -> str | None:
        """Return the prompt's text, see `marked_text`."""
        prompt = self.row.trial.prompt
        return None if prompt is None else marked_text(prompt)

    @property
    def images(self) -> list[ImagePart] | None:
        """Return the prompt's pictures, in order."""
        prompt = self.row.trial.prompt
        return None if prompt is None else [part for part in prompt.parts if isinstance(part, ImagePart)]

    @property
    def steps(self) -> tuple[StepRow, ...]:
        """Return the replies on the way to the answer."""
        return tuple(
            StepRow(
                role=step.role,
                model=step.model,
                sample=step.sample,
                about=step.about,
                is_remembered=step.is_remembered,
                reply=step.reply.text,
                reasoning=step.reply.reasoning,
                finish=step.reply.finish,
                input_tokens=step.reply.usage.input_tokens,
                output_tokens=step.reply.usage.output_tokens,
            )
            for step in self.row.trial.steps
        )

    @property
    def n_asked(self) -> int:
        """Return the number of replies, including the last."""
        return len(self.row.trial.replies)

    @property
    def cost_usd(self) -> float | None:
        """See `cost_usd`."""
        return cost_usd(self.run, self.row)

    @property
    def reason(self) -> str:
        """See `reason`."""
        return reason(self.row)


def marked_text(prompt: Prompt) -> str:
    """Return a prompt's text, with ``<image>`` and ``<video>`` for pictures and files."""
    values = {ImagePart: "<image>", VideoPart: "<video>"}
    return "\n".join(p.text if isinstance(p, TextPart) else values[type(p)] for p in prompt.parts)


def cost_usd(run: Run, row: Row) -> float | None:
    """Return the cost of a trial's replies at the plan's prices; None without prices or known tokens."""
    prices, total = run.plan.prices, row.trial.usage
    if prices is None or (total.input_tokens is None and total.output_tokens is None):
        return None
    return sum(prices.cost(reply.usage) for reply in row.trial.replies)


def reason(row: Row) -> str:
    """Return why a reply was not usable; empty if it was."""
    match row.score.outcome:
        case Unreadable(reason=said) | Refused(reason=said) | Failed(message=said):
            return said
        case _:
            return ""


# --------------------------------------------------------------------------- rows


def tag_columns(runs: Sequence[Run]) -> Mapping[str, str]:
    """Return the column of each tag; one with the name of another column becomes ``tag_NAME``."""
    names = dict.fromkeys(tag for run in runs for row in run.rows for tag in row.item.tags)
    known, renamed = columns(), dict[str, str]()
    for name in names:
        column = name
        while column in known or (column != name and column in {*names, *renamed.values()}):
            column = f"tag_{column}"
        renamed[name] = column
    return renamed


def trial_records(run: Run) -> Iterator[dict[str, Plain]]:
    """Yield every trial of a run as an object of plain values, its tags as one object.

    Raises:
        StoreError: the run folder can no longer be read.
    """
    for row in with_prompts(run, run.rows):
        yield {name: column.value(run, row) for name, column in columns().items()}


@dataclass(frozen=True, kw_only=True)
class _FlatColumn:
    """A column of a file with a column per tag."""

    name: str
    column: Column
    of: Callable[[Run, Row], Plain]


def _flat_columns(runs: Sequence[Run]) -> list[_FlatColumn]:
    def of(tag: str) -> Callable[[Run, Row], Plain]:
        return lambda run, row: row.item.tags.get(tag)

    flat, text = [], Column(kind="text", of="")
    for name, column in columns().items():
        if name == TAGS:
            pairs = tag_columns(runs).items()
            flat += [_FlatColumn(name=own, column=text, of=of(tag)) for tag, own in pairs]
        else:
            flat.append(_FlatColumn(name=name, column=column, of=column.value))
    return flat


def trials_as_csv(runs: Sequence[Run]) -> str:
    """One line per trial, in the order of runs and questions; the first line has the names.

    A text that a spreadsheet would run as a formula gets an apostrophe in front; plain numbers stay.
    """
    flat = _flat_columns(runs)
    lines = ([_cell(c.of(run, row)) for c in flat] for run in runs for row in with_prompts(run, run.rows))
    return csv_text(chain([[column.name for column in flat]], lines))


def _cell(value: Plain) -> str | int | float | None:
    match value:
        case bool():
            return int(value)
        case tuple() | Mapping():
            return msgspec.json.encode(value, order="sorted").decode() if value else ""
        case _:
            return value


def trials_as_jsonl(runs: Sequence[Run]) -> bytes:
    """One JSON object per line and trial, in the order of runs and questions."""
    encoder = msgspec.json.Encoder()
    return b"".join(encoder.encode(record) + b"\n" for run in runs for record in trial_records(run))


# --------------------------------------------------------------------------- Parquet


def trials_as_parquet(runs: Sequence[Run]) -> bytes:
    """The trials of some runs as one Parquet file, in the order of runs and questions.

    Raises:
        UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise UsageError(
            f"Parquet is written with pyarrow, which is not installed; run: {adding('parquet')}, or say "
            "--jsonl, which holds the same"
        ) from error
    rows = [(run, row) for run in runs for row in with_prompts(run, run.rows)]
    fields, arrays = [], []
    for flat in _flat_columns(runs):
        held = _arrow_type(flat.column)
        entries = [flat.of(run, row) for run, row in rows]
        arrays.append(pa.array(_entries(entries) if flat.column.kind == "logps" else entries, type=held))
        fields.append((flat.name, held))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"format": TRIALS_FORMAT}))
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def _entries(objects: Sequence[Plain]) -> list[Plain]:
    """Return objects as Arrow's maps: lists of keys and values."""
    return [tuple(value.items()) if isinstance(value, dict) else None for value in objects]


_HOLDS: Mapping[str, type[Record]] = {
    kind.__name__: kind for kind in (Evidence, Media, Provenance, StepRow, Verdict)
}
_FIELDS: Mapping[str, Kind] = {
    "start_s": "number", "end_s": "number", "frames": "wholes", "value": "number", "points": "number",
    "sample": "whole", "about": "whole", "is_remembered": "truth", "input_tokens": "whole",
    "output_tokens": "whole", "temperature": "number", "said": "texts",
}  # fmt: skip


def _arrow_type(column: Column) -> "pa.DataType":
    import pyarrow as pa

    known = {
        **{"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "truth": pa.bool_()},
        "texts": pa.list_(pa.string()),
        "wholes": pa.list_(pa.int64()),
        "numbers": pa.list_(pa.float64()),
        "lists": pa.list_(pa.list_(pa.int64())),
        "logps": pa.map_(pa.string(), pa.float64()),
    }
    if not column.holds:
        return known[column.kind]
    fields = _HOLDS[column.holds].__struct_fields__
    held = pa.struct([(name, known[_FIELDS.get(name, "text")]) for name in fields])
    return pa.list_(held) if column.kind == "objects" else held
