"""A folder for the Hugging Face hub: one Parquet file per split, and the dataset card."""

import importlib
import io
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

import msgspec

from vidence.ask.benchmarks.question_files import said_answer
from vidence.ask.benchmarks.table import create as table
from vidence.errors import UsageError
from vidence.installation import adding
from vidence.make.release.exporters.exporting import SPLIT, Exporter, ExportSet
from vidence.records import Item, by_key

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER: Final = Path("huggingface")
_DATA: Final = FOLDER / "data"
_OF_THE_ANSWER: Final = frozenset({"answer", "evidence", "rationale", "steps", "hints", "knowledge"})


class HuggingFaceFolder:
    """``huggingface/data/SPLIT-00000-of-00001.parquet``: the hub's naming, one file per split.

    Tags and provenance are JSON texts, for a column of the hub has the same fields in every row.
    """

    name = "huggingface"
    about = "a folder for the Hugging Face hub: Parquet, and the card of the data set"
    own_tags: frozenset[str] = frozenset()

    def fault(self, item: Item) -> str:
        """Always empty: every field of a question has a column."""
        del item
        return ""

    def files(self, exported: ExportSet) -> dict[Path, bytes]:
        """One Parquet file per split.

        Raises:
            UsageError: pyarrow is not installed.
        """
        by_split = by_key((item.tags[SPLIT], item) for item in exported.open_ones)
        files = {path_of(split): _parquet(mine, exported) for split, mine in by_split.items()}
        for split, mine in exported.hidden_splits.items():
            files[path_of(split)] = _parquet(mine, exported, is_hidden=True)
        return files

    def read(self, folder: Path) -> tuple[Item, ...]:
        """Read with the benchmark ``table``, split by split, without unanswered questions."""
        items: list[Item] = []
        for path in sorted((folder / _DATA).glob("*.parquet")):
            if "answer" in _pyarrow_parquet().read_schema(path).names:
                items += table().load(path, split="all", strict=True).items
        return tuple(items)


def create() -> Exporter:
    """The exporter ``huggingface``."""
    return HuggingFaceFolder()


def path_of(split: str) -> Path:
    """The file of a split in a release."""
    return _DATA / f"{split}-00000-of-00001.parquet"


def _parquet(items: Sequence[Item], exported: ExportSet, *, is_hidden: bool = False) -> bytes:
    parquet = _pyarrow_parquet()
    import pyarrow as pa

    rows = [_row(item) for item in items]
    left_out = _OF_THE_ANSWER if is_hidden else frozenset()
    fields = [field for field in _schema() if field.name not in left_out]
    columns = {field.name: pa.array([row.get(field.name) for row in rows], field.type) for field in fields}
    metadata = {f"vidence.{name}": text for name, text in exported.marked.items()}
    schema = pa.schema(fields, metadata=metadata or None)
    held = io.BytesIO()
    parquet.write_table(pa.table(columns, schema=schema), held)
    return held.getvalue()


def _row(item: Item) -> dict[str, object]:
    row: dict[str, object] = msgspec.json.decode(msgspec.json.encode(item))
    row |= {"answer": said_answer(item), "answer_kind": item.answer_kind}
    row["tags"] = msgspec.json.encode(item.tags).decode()
    if item.provenance is not None:
        row["provenance"] = msgspec.json.encode(item.provenance).decode()
    row["media"] = [{"kind": "video", **builtin} for builtin in msgspec.to_builtins(item.media)]
    usual = {"kind": "referred", "frames": [], "note": ""}
    row["evidence"] = [usual | builtin for builtin in msgspec.to_builtins(item.evidence)]
    return row


def _schema() -> "list[pa.Field[pa.DataType]]":
    import pyarrow as pa

    text, seconds = pa.string(), pa.float64()
    frames = pa.list_(pa.int64())
    times = {"start_s": seconds, "end_s": seconds}
    medium = pa.struct({"kind": text, "path": text, "url": text, **times, "sha256": text})
    span = pa.struct({"kind": text, **times, "frames": frames, "note": text, "step": pa.int64()})
    kinds = {
        **dict.fromkeys(("item_id", "benchmark", "source_id", "question"), text),
        "choices": pa.list_(text),
        **dict.fromkeys(("answer", "answer_kind", "tags"), text),
        "media": pa.list_(medium),
        "evidence": pa.list_(span),
        "rationale": text,
        **dict.fromkeys(("steps", "hints", "knowledge"), pa.list_(text)),
        "provenance": text,
    }
    return [pa.field(name, kind) for name, kind in kinds.items()]


def _pyarrow_parquet() -> ModuleType:
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            f"the format huggingface is written with pyarrow; run: {adding('parquet')}"
        ) from error
