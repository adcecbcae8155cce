"""Our own item format, `items.jsonl`, with everything known about a question."""

from pathlib import Path

import msgspec

from vidence.ask.benchmarks.question_files import said_answer
from vidence.ask.benchmarks.table import create as table
from vidence.make.pipeline.output import ITEMS_FILE, json_lines
from vidence.make.release.exporters.exporting import CANARY, Exporter, ExportSet
from vidence.records import Item


class Items:
    """The item format; hidden splits go to ``questions-SPLIT.jsonl`` without answers."""

    name = "items"
    about = "our item format, everything that is known of a question"
    own_tags: frozenset[str] = frozenset()

    def fault(self, item: Item) -> str:
        """Always empty: every question is already in this format."""
        del item
        return ""

    def files(self, exported: ExportSet) -> dict[Path, bytes]:
        """One file for all questions with answers, and one per hidden split."""
        files = {}
        if exported.open_ones:
            files[Path(ITEMS_FILE)] = json_lines([_marked(o, exported) for o in exported.open_ones])
        for split, mine in exported.hidden_splits.items():
            rows = [msgspec.to_builtins(_marked(item, exported)) for item in mine]
            for row in rows:
                row.pop("answer", None)
            files[Path(f"questions-{split}.jsonl")] = json_lines(rows)
        return files

    def read(self, folder: Path) -> tuple[Item, ...]:
        """Read with the benchmark ``table``."""
        return tuple(table().load(folder / ITEMS_FILE, split="all", strict=True).items)


def create() -> Exporter:
    """The exporter ``items``."""
    return Items()


def _marked(item: Item, exported: ExportSet) -> Item:
    item = msgspec.structs.replace(item, answer=said_answer(item))
    if exported.canary is None:
        return item
    return msgspec.structs.replace(item, tags=item.tags | {CANARY: exported.canary})
