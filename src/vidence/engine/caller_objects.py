"""What a program gives in place of names: functions and objects as parts of a run, questions in memory."""

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
from vidence.errors import DataError, StoreError, UsageError
from vidence.media.whole import PRIVATE, write_whole
from vidence.records import Item

AnyModel: TypeAlias = str | Callable[..., object] | Model | VouchedName
AnySelector: TypeAlias = str | Callable[..., object] | Selector | VouchedName
AnyParser: TypeAlias = str | Callable[..., object] | Scorer | VouchedName
AnyStrategy: TypeAlias = str | Callable[..., object] | Strategy | VouchedName
AnyThing: TypeAlias = Callable[..., object] | Model | Selector | Scorer | Strategy
AnyQuestions: TypeAlias = str | Path | Iterable[Item | Mapping[str, object]]


class AnyOverrides(PlainOverrides, total=False):
    """`PlanOverrides` as a program gives them: the typed keywords of `vidence.evaluate`."""

    selector: AnySelector | None
    strategy: AnyStrategy | None
    parser: AnyParser | None


_DECODER = msgspec.json.Decoder(Item)
TABLE = Table.name
QUESTIONS = Path("runs") / "questions"  # where questions are written whose run has no folder yet


def spec_of(thing: object, *, chance: str, threads: int = 1) -> str:
    """The spec of a thing: a text is one; what else is given becomes known to this process under one.

    Args:
        thing: a text, a function, an object.
        chance: drawn by chance (`functions.give`).
        threads: how many calls of a model may run at the same time.
    """
    if thing is None:
        raise UsageError("model= is None; give a function, an object or a spec such as 'openai:gpt-4.1'")
    return thing if isinstance(thing, str) else give(thing, chance=chance, threads=threads)


def with_specs(overrides: Mapping[str, object], *, chance: str) -> PlanOverrides:
    """The overrides of a program as a plan names them: specs for objects, texts for paths."""
    given: dict[str, object] = {k: str(v) if isinstance(v, Path) else v for k, v in overrides.items()}
    for name in ("selector", "parser", "strategy"):
        if given.get(name) is not None:
            given[name] = spec_of(given[name], chance=f"{chance}-{name}")
    return read_overrides(given)


def threads_of(settings: PlanOverrides) -> int:
    """How many calls of a plain function may run at the same time: what the user says, or one."""
    return max(settings.get("concurrency") or 1, 1)


def benchmark_of(questions: AnyQuestions, data: Path | str | None) -> tuple[str, Path | str | None]:
    """The name of a benchmark, and where its questions are: what was given, taken for what it is.

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
    """The questions in memory that were given as the data of a benchmark; only ``table`` has such.

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
    """The file of questions that a program holds in memory; a table with columns is read row by row.

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
        raise StoreError(f"cannot write the questions to {path}: {error}") from error
    return path


def _rows(questions: object) -> Iterable[object]:
    """The questions one by one; those of a data frame of pandas or polars without its empty cells."""
    for name, arguments in (("to_dicts", ()), ("to_dict", ("records",))):
        make = getattr(questions, name, None)
        if make is not None:
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
    """What a path, a number of numpy or an array is in JSON."""
    if isinstance(value, Path):
        return str(value)
    plain = getattr(value, "tolist", None)
    if plain is None:
        raise TypeError(f"{type(value).__name__} {repr(value)[:40]} cannot be a value of a question")
    return plain()
