"""Accept Python objects in place of names: functions and objects as parts of a run, questions in memory."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from vidence.ask.benchmarks.question_files import lettered
from vidence.ask.benchmarks.table import Table
from vidence.ask.files import FieldError, decoded
from vidence.ask.functions import VouchedName, give
from vidence.contracts import Model, Scorer, Selector, Strategy
from vidence.engine.evaluate import own_run
from vidence.engine.plan import PlainOverrides, PlanOverrides, read_overrides
from vidence.errors import DataError, StoreError, UsageError, cause
from vidence.media.whole import PRIVATE, write_whole
from vidence.records import Item

AnyModel: TypeAlias = str | Callable[..., object] | Model | VouchedName
AnySelector: TypeAlias = str | Callable[..., object] | Selector | VouchedName
AnyParser: TypeAlias = str | Callable[..., object] | Scorer | VouchedName
AnyStrategy: TypeAlias = str | Callable[..., object] | Strategy | VouchedName
AnyThing: TypeAlias = Callable[..., object] | Model | Selector | Scorer | Strategy
AnyQuestions: TypeAlias = str | Path | Iterable[Item | Mapping[str, object]]


class AnyOverrides(PlainOverrides, total=False):
    """`PlanOverrides` as Python callers give them: the typed keywords of `vidence.evaluate`."""

    selector: AnySelector | None
    strategy: AnyStrategy | None
    parser: AnyParser | None


_DECODER = msgspec.json.Decoder(Item)
TABLE = Table.name
QUESTIONS = Path("runs") / "questions"  # where questions are written whose run has no folder yet


def spec_of(thing: object, *, chance: str, threads: int = 1) -> str:
    """Return a spec for a text, function or object; functions and objects are registered in this process.

    Args:
        thing: a text (used as it is), a function, or an object.
        chance: source of the random part of the name (`functions.give`).
        threads: how many calls of a model may run concurrently.
    """
    if thing is None:
        raise UsageError("model= is None; give a function, an object or a spec such as 'openai:gpt-4.1'")
    return thing if isinstance(thing, str) else give(thing, chance=chance, threads=threads)


def with_specs(overrides: Mapping[str, object], *, chance: str) -> PlanOverrides:
    """Return a caller's overrides as plan overrides: objects become specs, paths become texts."""
    given: dict[str, object] = {k: str(v) if isinstance(v, Path) else v for k, v in overrides.items()}
    for name in ("selector", "parser", "strategy"):
        if given.get(name) is not None:
            given[name] = spec_of(given[name], chance=f"{chance}-{name}")
    return read_overrides(given)


def threads_of(settings: PlanOverrides) -> int:
    """Return how many calls of a plain function may run concurrently; 1 unless the user sets it."""
    return max(settings.get("concurrency") or 1, 1)


def benchmark_of(questions: AnyQuestions, data: Path | str | None) -> tuple[str, Path | str | None]:
    """Return the benchmark's name and the location of its questions.

    A text is what `make_plan` makes of it; a path is that of questions of the user's own.

    Raises:
        UsageError: questions beside `data`.
    """
    if isinstance(questions, str):
        return questions, data
    if data is not None:
        raise UsageError("questions and data= are both given; give a benchmark with data=, or only questions")
    if isinstance(questions, Path):
        return TABLE, questions
    raise UsageError(f"{type(questions).__name__} is neither a benchmark nor a path nor questions")


def questions_of(benchmark: AnyQuestions, data: AnyQuestions) -> AnyQuestions:
    """Return questions given in memory as a benchmark's data; only ``table`` accepts them.

    Raises:
        UsageError: the benchmark reads the files of its release, or `benchmark` holds questions, too.
    """
    if benchmark != TABLE:
        message = repr(benchmark) if isinstance(benchmark, str) else type(benchmark).__name__
        raise UsageError(
            f"data= is {type(data).__name__} beside {message}; expected evaluate(questions, model=...)"
        )
    return data


def written(questions: Iterable[Item | Mapping[str, object]], folder: Path) -> Path:
    """Write questions held in memory to a file, and return its path; data frames are read row by row.

    The name of the file follows from what it holds, so that the same questions make the same run.

    Args:
        questions: items, or mappings with the fields of the item format.
        folder: `QUESTIONS`, or that of the run.

    Raises:
        DataError: one is no question; the message says which and why.
        UsageError: the folder holds something else than a run.
        StoreError: the file cannot be written.
    """
    lines: dict[str, bytes] = {}
    for place, row in enumerate(_rows(questions)):
        item = _item(row, place)
        if item.item_id in lines:
            raise DataError(
                f"questions[{place}]: item_id: {item.item_id!r} was used before; expected a unique id"
            )
        lines[item.item_id] = msgspec.json.encode(item)
    if not lines:
        raise DataError(
            "there are no questions; expected items, or mappings with item_id, question, answer, ..."
        )
    content = b"".join(line + b"\n" for line in lines.values())
    path = folder / f"questions-{hashlib.sha256(content).hexdigest()[:12]}.jsonl"
    if folder != QUESTIONS:
        own_run(folder)
    try:
        if not path.exists():
            write_whole(path, content, mode=PRIVATE)
    except OSError as error:
        raise StoreError(f"cannot write the questions to {path}: {cause(error)}") from error
    return path


def _rows(questions: object) -> Iterable[object]:
    """Yield the questions; rows of a pandas or polars data frame come without empty cells."""
    for name, arguments in (("to_dicts", ()), ("to_dict", ("records",))):
        if (make := getattr(questions, name, None)) is not None:
            return [{k: v for k, v in row.items() if not _is_empty(v)} for row in make(*arguments)]
    if isinstance(questions, Mapping) or not isinstance(questions, Iterable):
        raise DataError(
            f"{type(questions).__name__} holds no questions; expected a list of items or mappings"
        )
    return questions


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _item(question: object, place: int) -> Item:
    if not isinstance(question, Item | Mapping):
        raise DataError(
            f"questions[{place}] is {type(question).__name__}; expected a vidence.Item or a mapping"
        )
    try:
        return lettered(decoded(msgspec.json.encode(question, enc_hook=_plain), _DECODER))
    except (FieldError, TypeError, msgspec.DecodeError) as error:
        raise DataError(f"questions[{place}]: {error}") from error


def _plain(value: object) -> object:
    """Convert paths, NumPy numbers and arrays to JSON types."""
    if isinstance(value, Path):
        return str(value)
    plain = getattr(value, "tolist", None)
    if plain is None:
        raise TypeError(f"{type(value).__name__} {repr(value)[:40]} cannot be a value of a question")
    return plain()
