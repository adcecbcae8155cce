"""Everything that is known of each trial, one row for each: as JSON lines, Parquet or CSV.

The columns are the same in all three. Lists and objects are such in JSON lines and Parquet, and JSON texts in
CSV; tags are one object in JSON lines, and a column for each elsewhere.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

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
    Refused,
    Reply,
    Selection,
    TextLogp,
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
Plain: TypeAlias = "str | int | float | bool | list[Any] | dict[str, Any] | None"
Kind: TypeAlias = Literal[
    "text", "whole", "number", "truth", "texts", "wholes", "numbers", "lists", "logps", "text_logps", "object",
    "objects",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrialColumn:
    """One column: its name, what stands in it, and what that is."""

    name: str
    kind: Kind
    of: Callable[[Run, Row], Plain]
    holds: type[msgspec.Struct] | None = None
    """The record whose fields an object has."""
    note: str = ""


# --------------------------------------------------------------------------- the parts of a trial


def _from_selection(of: Callable[[Selection], Plain]) -> Callable[[Run, Row], Plain]:
    return lambda run, row: None if (found := row.trial.selection) is None else of(found)


def _from_prompt(of: Callable[[Prompt], Plain]) -> Callable[[Run, Row], Plain]:
    return lambda run, row: None if (found := row.trial.prompt) is None else of(found)


def _from_reply(of: Callable[[Reply], Plain]) -> Callable[[Run, Row], Plain]:
    return lambda run, row: None if (found := row.trial.reply) is None else of(found)


def marked_text(prompt: Prompt) -> str:
    """The words of a prompt, with ``<image>`` and ``<video>`` where pictures and files stand."""
    shown = {ImagePart: "<image>", VideoPart: "<video>"}
    return "\n".join(p.text if isinstance(p, TextPart) else shown[type(p)] for p in prompt.parts)


def images(prompt: Prompt) -> list[ImagePart]:
    """The pictures of a prompt, in their order."""
    return [part for part in prompt.parts if isinstance(part, ImagePart)]


def cost_usd(run: Run, row: Row) -> float | None:
    """What a reply costs at the prices of the plan; None without prices, or where no tokens are known."""
    plan, reply = run.plan, row.trial.reply
    if reply is None or not (plan.price_in or plan.price_out):
        return None
    read, written = reply.usage.input_tokens, reply.usage.output_tokens
    if read is None and written is None:
        return None
    return ((read or 0) * plan.price_in + (written or 0) * plan.price_out) / 1e6


def reason(row: Row) -> str:
    """Why nothing could be used of a reply, or why there is none."""
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


def _all(records: Sequence[msgspec.Struct]) -> list[Any]:
    return [msgspec.structs.asdict(one) for one in records]


def _text_logps(reply: Reply) -> Plain:
    known = reply.choice_text_logps
    return None if known is None else {key: msgspec.structs.asdict(one) for key, one in known.items()}


def _rule(run: Run, row: Row) -> Plain:
    outcome = row.score.outcome
    return outcome.rule if isinstance(outcome, Answered) else None


def _provenance(run: Run, row: Row) -> Plain:
    known = row.item.provenance
    return None if known is None else msgspec.structs.asdict(known)


def _column(
    name: str,
    kind: Kind,
    of: Callable[[Run, Row], Plain],
    note: str = "",
    *,
    holds: type[msgspec.Struct] | None = None,
) -> TrialColumn:
    return TrialColumn(name=name, kind=kind, of=of, holds=holds, note=note)


FIRST: tuple[TrialColumn, ...] = (
    _column("item_id", "text", lambda run, row: row.item.item_id),
    _column("model", "text", lambda run, row: run.plan.model),
    _column("parser", "text", lambda run, row: row.score.scorer, "who scored it: a parser, or a judge"),
    _column("outcome", "text", lambda run, row: row.outcome, "answered, unreadable, refused or failed"),
    _column("read", "text", lambda run, row: row.read, "the answer that was read"),
    _column("gold", "text", lambda run, row: row.item.answer),
    _column(
        "correct",
        "number",
        lambda run, row: row.correct,
        "1 or 0, or between for partial scores; nothing while a judge is still to be asked",
    ),
)
REST: tuple[TrialColumn, ...] = (
    _column("run", "text", lambda run, row: run.name, "the name of the run folder"),
    _column("benchmark", "text", lambda run, row: run.plan.benchmark),
    _column("split", "text", lambda run, row: run.plan.split),
    _column("repeat", "whole", lambda run, row: row.trial.repeat, "from 0"),
    _column("video", "text", lambda run, row: row.item.video_id),
    _column("source_id", "text", lambda run, row: row.item.source_id, "the unit of the intervals"),
    _column("media", "objects", lambda run, row: _all(row.item.media), holds=Media),
    _column("question", "text", lambda run, row: row.item.question),
    _column("choices", "texts", lambda run, row: list(row.item.choices), "in the order shown"),
    _column("choice_order", "wholes", lambda run, row: list(row.trial.choice_order), "empty: the item's own"),
    _column("answer_kind", "text", lambda run, row: row.item.answer_kind),
    _column("evidence", "objects", lambda run, row: _all(row.item.evidence), holds=Evidence),
    _column("rationale", "text", lambda run, row: row.item.rationale),
    _column("hints", "texts", lambda run, row: list(row.item.hints)),
    _column("knowledge", "texts", lambda run, row: list(row.item.knowledge)),
    _column("provenance", "object", _provenance, holds=Provenance),
    _column("selector", "text", _from_selection(lambda one: one.selector)),
    _column("selector_version", "whole", _from_selection(lambda one: one.version)),
    _column("n_candidates", "whole", _from_selection(lambda one: one.n_candidates)),
    _column("frame_index", "wholes", _from_selection(lambda one: [f.frame_index for f in one.frames])),
    _column("frame_time_s", "numbers", _from_selection(lambda one: [f.time_s for f in one.frames])),
    _column("frame_media", "wholes", _from_selection(lambda one: [f.media_index for f in one.frames])),
    _column("selection_note", "text", _from_selection(lambda one: one.note)),
    _column("system", "text", _from_prompt(lambda one: one.system)),
    _column("prompt", "text", _from_prompt(marked_text), "with <image> and <video> where these stand"),
    _column("template", "text", _from_prompt(lambda one: one.template)),
    _column("images", "texts", _from_prompt(lambda one: [p.digest for p in images(one)]), "SHA-256"),
    _column("image_width_px", "wholes", _from_prompt(lambda one: [p.width_px for p in images(one)])),
    _column("image_height_px", "wholes", _from_prompt(lambda one: [p.height_px for p in images(one)])),
    _column(
        "image_frames",
        "lists",
        _from_prompt(lambda one: [list(p.frames) for p in images(one)]),
        "positions in frame_index; several in a montage",
    ),
    _column("reply", "text", _from_reply(lambda one: one.text)),
    _column("reasoning", "text", _from_reply(lambda one: one.reasoning)),
    _column("finish", "text", _from_reply(lambda one: one.finish), "length: cut off"),
    _column("refusal", "text", _from_reply(lambda one: one.refusal)),
    _column("reply_model", "text", _from_reply(lambda one: one.model), "as the server calls it"),
    _column("is_guess", "truth", _from_reply(lambda one: one.is_guess)),
    _column("input_tokens", "whole", _from_reply(lambda one: one.usage.input_tokens)),
    _column("output_tokens", "whole", _from_reply(lambda one: one.usage.output_tokens)),
    _column("cost_usd", "number", cost_usd, "at the prices of the plan"),
    _column("latency_s", "number", _from_reply(lambda one: one.latency_s)),
    _column("is_remembered", "truth", lambda run, row: row.trial.is_remembered, "not paid again"),
    _column("choice_logps", "logps", _from_reply(lambda one: one.choice_logps), "natural logarithms"),
    _column("choice_text_logps", "text_logps", _from_reply(_text_logps), holds=TextLogp),
    _column("parser_version", "whole", lambda run, row: row.score.scorer_version),
    _column("rule", "text", _rule, "how the answer was found"),
    _column("reason", "text", lambda run, row: reason(row), "why there is no answer"),
    _column("stage", "text", _failed(lambda one: one.stage), "where a failed trial failed"),
    _column("error", "text", _failed(lambda one: one.error)),
    _column("points", "number", lambda run, row: row.score.points, "on the scorer's own scale"),
    _column("verdicts", "objects", lambda run, row: _all(row.score.verdicts), holds=Verdict),
    _column("unanswered", "objects", lambda run, row: _all(row.score.unanswered), holds=Verdict),
)
NAMES: frozenset[str] = frozenset(column.name for column in (*FIRST, *REST)) | {"tags"}


# --------------------------------------------------------------------------- rows


def tag_columns(runs: Sequence[Run]) -> Mapping[str, str]:
    """The column of each tag of some runs; one with the name of another column becomes ``tag_NAME``."""
    names = dict.fromkeys(tag for run in runs for row in run.rows for tag in row.item.tags)
    found: dict[str, str] = {}
    for name in names:
        column = name
        while column in NAMES or (column != name and column in {*names, *found.values()}):
            column = f"tag_{column}"
        found[name] = column
    return found


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


def _flat(runs: Sequence[Run]) -> tuple[tuple[TrialColumn, ...], Iterator[Sequence[Plain]]]:
    """All columns with those of the tags between, and the values of each trial."""
    tags = tag_columns(runs)
    between = tuple(
        _column(column, "text", lambda run, row, tag=tag: row.item.tags.get(tag))  # type: ignore[misc]
        for tag, column in tags.items()
    )
    columns = (*FIRST, *between, *REST)

    def values() -> Iterator[Sequence[Plain]]:
        for run in runs:
            for row in with_prompts(run, run.rows):
                yield [column.of(run, row) for column in columns]

    return columns, values()


def trials_as_csv(runs: Sequence[Run]) -> str:
    """One line per trial, in the order of runs and questions; the first line has the names.

    A text that a spreadsheet would run as a formula gets an apostrophe in front; plain numbers stay.
    """
    columns, values = _flat(runs)
    lines = ([_cell(value) for value in row] for row in values)
    return csv_text([[column.name for column in columns], *lines])


def _cell(value: Plain) -> str | int | float | None:
    match value:
        case bool():
            return int(value)
        case list() | dict():
            return msgspec.json.encode(value, order="sorted").decode() if value else ""
        case _:
            return value


def trials_as_jsonl(runs: Sequence[Run]) -> bytes:
    """One JSON object per line and trial, in the order of runs and questions."""
    encoder = msgspec.json.Encoder()
    return b"".join(encoder.encode(record) + b"\n" for run in runs for record in trial_records(run))


# --------------------------------------------------------------------------- Parquet


def write_parquet(runs: Sequence[Run], path: Path) -> None:
    """Write the trials of some runs as one Parquet file.

    Raises:
        UsageError: pyarrow is not installed.
        OSError: it cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise UsageError(
            "Parquet is written with pyarrow, which is not installed; run: pip install 'vidence[parquet]', or "
            "say --jsonl, which holds the same"
        ) from error
    columns, values = _flat(runs)
    by_column = list(zip(*values, strict=True)) or [()] * len(columns)
    schema = pa.schema(
        [(column.name, _arrow_type(column)) for column in columns], metadata={"format": TRIALS_FORMAT}
    )
    arrays = [pa.array(found, type=schema.field(i).type) for i, found in enumerate(by_column)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


_FIELDS: Mapping[str, Kind] = {
    "start_s": "number", "end_s": "number", "frames": "wholes", "value": "number", "points": "number",
    "temperature": "number", "said": "texts", "logp": "number", "n_tokens": "whole", "n_bytes": "whole",
}  # fmt: skip


def _arrow_type(column: TrialColumn) -> "pa.DataType":
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
    match column.kind:
        case "objects":
            return pa.list_(held)
        case "text_logps":
            return pa.map_(pa.string(), held)
        case _:
            return held
