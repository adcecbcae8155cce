"""Everything that is known of each trial, one row for each: as JSON lines, Parquet or CSV.

The columns are the same in all three. Lists and objects are such in JSON lines and Parquet, and JSON texts in
CSV; tags are one object in JSON lines, and a column for each elsewhere.
"""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from vidence.errors import UsageError
from vidence.records import (
    Answered,
    Evidence,
    Failed,
    ImagePart,
    Media,
    Prompt,
    Provenance,
    Record,
    Refused,
    Reply,
    Selection,
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
Plain: TypeAlias = "str | int | float | bool | tuple[object, ...] | Mapping[str, object] | None"
Kind: TypeAlias = Literal[
    "text", "whole", "number", "truth", "texts", "wholes", "numbers", "lists", "logps",
    "object", "objects",
]  # fmt: skip


@dataclass(frozen=True)
class Column:
    """One column: its name, what stands in it, and what that is."""

    name: str
    kind: Kind
    of: Callable[[Run, Row], Plain]
    note: str = ""
    holds: type[msgspec.Struct] | None = field(default=None, kw_only=True)
    """The record whose fields an object has."""


# --------------------------------------------------------------------------- the parts of a trial


def _from_selection(of: Callable[[Selection], Plain]) -> Callable[[Run, Row], Plain]:
    return lambda run, row: None if (selection := row.trial.selection) is None else of(selection)


def _from_prompt(of: Callable[[Prompt], Plain]) -> Callable[[Run, Row], Plain]:
    return lambda run, row: None if (prompt := row.trial.prompt) is None else of(prompt)


def _from_reply(of: Callable[[Reply], Plain]) -> Callable[[Run, Row], Plain]:
    return lambda run, row: None if (reply := row.trial.reply) is None else of(reply)


def marked_text(prompt: Prompt) -> str:
    """The words of a prompt, with ``<image>`` and ``<video>`` where pictures and files stand."""
    values = {ImagePart: "<image>", VideoPart: "<video>"}
    return "\n".join(p.text if isinstance(p, TextPart) else values[type(p)] for p in prompt.parts)


def _from_images(of: Callable[[ImagePart], "str | int | tuple[int, ...]"]) -> Callable[[Run, Row], Plain]:
    """What is known of each picture of a prompt, in their order."""
    return _from_prompt(
        lambda prompt: tuple([of(part) for part in prompt.parts if isinstance(part, ImagePart)])
    )


def cost_usd(run: Run, row: Row) -> float | None:
    """What all replies of a trial cost at the prices of the plan; None without prices or known tokens."""
    prices, total = run.plan.prices, row.trial.usage
    if prices is None or (total.input_tokens is None and total.output_tokens is None):
        return None
    return sum(prices.cost(reply.usage) for reply in row.trial.replies)


def reason(row: Row) -> str:
    """Why a reply was not usable; empty if it was."""
    match row.score.outcome:
        case Unreadable(reason=said) | Refused(reason=said) | Failed(message=said):
            return said
        case _:
            return ""


def _failed(of: Callable[[Failed], str]) -> Callable[[Run, Row], Plain]:
    def found(run: Run, row: Row) -> Plain:
        outcome = row.score.outcome
        return of(outcome) if isinstance(outcome, Failed) else None

    return found


def _all(records: Sequence[msgspec.Struct]) -> tuple[object, ...]:
    return tuple(msgspec.structs.asdict(record) for record in records)


class StepRow(Record):
    """One reply on the way to an answer, as in `records.Step`; `model` is empty for the one under test."""

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


def _steps(run: Run, row: Row) -> Plain:
    return _all(
        [
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
            for step in row.trial.steps
        ]
    )


def _rule(run: Run, row: Row) -> Plain:
    outcome = row.score.outcome
    return outcome.rule if isinstance(outcome, Answered) else None


def _provenance(run: Run, row: Row) -> Plain:
    known = row.item.provenance
    return None if known is None else msgspec.structs.asdict(known)


FIRST: tuple[Column, ...] = (
    Column("item_id", "text", lambda run, row: row.item.item_id),
    Column("model", "text", lambda run, row: run.plan.model),
    Column("parser", "text", lambda run, row: row.score.scorer, "who scored it: a parser, or a judge"),
    Column("outcome", "text", lambda run, row: row.outcome, "answered, unreadable, refused or failed"),
    Column("read", "text", lambda run, row: row.read, "the answer that was read"),
    Column("gold", "text", lambda run, row: row.item.answer),
    Column(
        "correct",
        "number",
        lambda run, row: row.correct,
        "1 or 0, or between for partial scores; nothing while a judge is still to be asked",
    ),
)
REST: tuple[Column, ...] = (
    Column("run", "text", lambda run, row: run.name, "the name of the run folder"),
    Column("benchmark", "text", lambda run, row: run.plan.benchmark),
    Column("split", "text", lambda run, row: run.plan.split),
    Column("repeat", "whole", lambda run, row: row.trial.repeat, "from 0"),
    Column("video", "text", lambda run, row: row.item.video_id),
    Column("source_id", "text", lambda run, row: row.item.source_id, "the unit of the intervals"),
    Column("media", "objects", lambda run, row: _all(row.item.media), holds=Media),
    Column("question", "text", lambda run, row: row.item.question),
    Column("choices", "texts", lambda run, row: row.item.choices, "in the order shown"),
    Column("choice_order", "wholes", lambda run, row: row.trial.choice_order, "empty: the item's own"),
    Column("answer_kind", "text", lambda run, row: row.item.answer_kind),
    Column("evidence", "objects", lambda run, row: _all(row.item.evidence), holds=Evidence),
    Column("rationale", "text", lambda run, row: row.item.rationale),
    Column("hints", "texts", lambda run, row: row.item.hints),
    Column("knowledge", "texts", lambda run, row: row.item.knowledge),
    Column("provenance", "object", _provenance, holds=Provenance),
    Column("selector", "text", _from_selection(lambda selection: selection.selector)),
    Column("selector_version", "whole", _from_selection(lambda selection: selection.version)),
    Column("n_candidates", "whole", _from_selection(lambda selection: selection.n_candidates)),
    Column(
        "frame_index",
        "wholes",
        _from_selection(lambda selection: tuple(f.frame_index for f in selection.frames)),
    ),
    Column(
        "frame_time_s",
        "numbers",
        _from_selection(lambda selection: tuple(f.time_s for f in selection.frames)),
    ),
    Column(
        "frame_media",
        "wholes",
        _from_selection(lambda selection: tuple(f.media_index for f in selection.frames)),
    ),
    Column("selection_note", "text", _from_selection(lambda selection: selection.note)),
    Column("system", "text", _from_prompt(lambda prompt: prompt.system)),
    Column("prompt", "text", _from_prompt(marked_text), "with <image> and <video> where these stand"),
    Column("template", "text", _from_prompt(lambda prompt: prompt.template)),
    Column("images", "texts", _from_images(lambda part: part.digest), "SHA-256"),
    Column("image_width_px", "wholes", _from_images(lambda part: part.width_px)),
    Column("image_height_px", "wholes", _from_images(lambda part: part.height_px)),
    Column(
        "image_frames",
        "lists",
        _from_images(lambda part: part.frames),
        "positions in frame_index; several in a montage",
    ),
    Column("reply", "text", _from_reply(lambda reply: reply.text)),
    Column("reasoning", "text", _from_reply(lambda reply: reply.reasoning)),
    Column("finish", "text", _from_reply(lambda reply: reply.finish), "length: cut off"),
    Column("refusal", "text", _from_reply(lambda reply: reply.refusal)),
    Column("reply_model", "text", _from_reply(lambda reply: reply.model), "as the server calls it"),
    Column("is_guess", "truth", _from_reply(lambda reply: reply.is_guess)),
    Column("logged", "number", _from_reply(lambda reply: reply.logged)),
    Column("n_asked", "whole", lambda run, row: len(row.trial.replies), "replies on the way, this included"),
    Column(
        "steps", "objects", _steps, "those replies, of a strategy that asks more than once", holds=StepRow
    ),
    Column("input_tokens", "whole", lambda run, row: row.trial.usage.input_tokens, "of all replies"),
    Column("output_tokens", "whole", lambda run, row: row.trial.usage.output_tokens, "of all replies"),
    Column("cost_usd", "number", cost_usd, "of all replies, at the prices of the plan"),
    Column("latency_s", "number", _from_reply(lambda reply: reply.latency_s)),
    Column("is_remembered", "truth", lambda run, row: row.trial.is_remembered, "not paid again"),
    Column("choice_logps", "logps", _from_reply(lambda reply: reply.choice_logps), "natural logarithms"),
    Column("parser_version", "whole", lambda run, row: row.score.scorer_version),
    Column("rule", "text", _rule, "how the answer was found"),
    Column("reason", "text", lambda run, row: reason(row), "why there is no answer"),
    Column("stage", "text", _failed(lambda failed: failed.stage), "where a failed trial failed"),
    Column("error", "text", _failed(lambda failed: failed.error)),
    Column("points", "number", lambda run, row: row.score.points, "on the scorer's own scale"),
    Column("verdicts", "objects", lambda run, row: _all(row.score.verdicts), holds=Verdict),
    Column("unanswered", "objects", lambda run, row: _all(row.score.unanswered), holds=Verdict),
)
NAMES: frozenset[str] = frozenset(column.name for column in (*FIRST, *REST)) | {"tags"}


# --------------------------------------------------------------------------- rows


def tag_columns(runs: Sequence[Run]) -> Mapping[str, str]:
    """The column of each tag of some runs; one with the name of another column becomes ``tag_NAME``."""
    names = dict.fromkeys(tag for run in runs for row in run.rows for tag in row.item.tags)
    columns: dict[str, str] = {}
    for name in names:
        column = name
        while column in NAMES or (column != name and column in {*names, *columns.values()}):
            column = f"tag_{column}"
        columns[name] = column
    return columns


def trial_records(run: Run) -> Iterator[dict[str, Plain]]:
    """Every trial of a run as an object of plain values, its tags as one object.

    Raises:
        StoreError: the run folder cannot be read any more.
    """
    for row in with_prompts(run, run.rows):
        record = {column.name: column.of(run, row) for column in FIRST}
        record["tags"] = dict(row.item.tags)
        record.update((column.name, column.of(run, row)) for column in REST)
        yield record


def _all_columns(runs: Sequence[Run]) -> tuple[Column, ...]:
    """All columns, with one for each tag between."""

    def of(tag: str) -> Callable[[Run, Row], Plain]:
        return lambda run, row: row.item.tags.get(tag)

    between = (Column(column, "text", of(tag)) for tag, column in tag_columns(runs).items())
    return (*FIRST, *between, *REST)


def trials_as_csv(runs: Sequence[Run]) -> str:
    """One line per trial, in the order of runs and questions; the first line has the names.

    A text that a spreadsheet would run as a formula gets an apostrophe in front; plain numbers stay.
    """
    columns = _all_columns(runs)
    lines = (
        [_cell(column.of(run, row)) for column in columns]
        for run in runs
        for row in with_prompts(run, run.rows)
    )
    return csv_text(chain([[column.name for column in columns]], lines))


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
            "Parquet is written with pyarrow, which is not installed; run: pip install 'vidence[parquet]', "
            "or say --jsonl, which holds the same"
        ) from error
    columns = _all_columns(runs)
    rows = [(run, row) for run in runs for row in with_prompts(run, run.rows)]
    fields, arrays = [], []
    for column in columns:
        held = _arrow_type(column)
        entries = [column.of(run, row) for run, row in rows]
        arrays.append(pa.array(_entries(entries) if column.kind == "logps" else entries, type=held))
        fields.append((column.name, held))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"format": TRIALS_FORMAT}))
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def _entries(objects: Sequence[Plain]) -> list[Plain]:
    """Objects as Arrow takes maps: as lists of keys and values."""
    return [tuple(value.items()) if isinstance(value, dict) else None for value in objects]


_FIELDS: Mapping[str, Kind] = {
    "start_s": "number", "end_s": "number", "frames": "wholes", "value": "number", "points": "number",
    "sample": "whole", "about": "whole", "is_remembered": "truth", "input_tokens": "whole",
    "output_tokens": "whole", "temperature": "number", "said": "texts",
}  # fmt: skip


def _arrow_type(column: Column) -> "pa.DataType":
    import pyarrow as pa

    simple = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "truth": pa.bool_()}
    listed = {
        "texts": pa.list_(pa.string()),
        "wholes": pa.list_(pa.int64()),
        "numbers": pa.list_(pa.float64()),
        "lists": pa.list_(pa.list_(pa.int64())),
        "logps": pa.map_(pa.string(), pa.float64()),
    }
    known = {**simple, **listed}
    if column.holds is None:
        return known[column.kind]
    fields = column.holds.__struct_fields__
    held = pa.struct([(name, known[_FIELDS.get(name, "text")]) for name in fields])
    return pa.list_(held) if column.kind == "objects" else held
