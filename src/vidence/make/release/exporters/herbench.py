"""HERBench's task files: `data/tasks/*.json`."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from vidence.ask.benchmarks.herbench import create as herbench
from vidence.ask.benchmarks.paper_facts import group_of, paper_facts
from vidence.make.pipeline.output import TASKS_FOLDER, herbench_row_of, json_file, task_files
from vidence.make.release.exporters.exporting import SPLIT, Exporter, ExportSet, same_medium
from vidence.records import Item


class HerbenchFiles:
    """One file per task; hidden splits go to ``data/questions-SPLIT.json``."""

    name = "herbench"
    about = "HERBench's task files"
    own_tags = frozenset({"n_evidence", "source"})

    def fault(self, item: Item) -> str:
        """Why a question has no row in a task file; empty if it has one."""
        if item.answer_kind != "choice":
            return "an open question; tasks of HERBench have choices"
        family_of = group_of(self.name, "families")
        if item.tags.get("task") not in family_of:
            return f"its tag task is none of {', '.join(family_of)}"
        family = family_of[item.tags["task"]]
        if item.tags.get("family", family) != family:
            return f"its tag family is {item.tags['family']!r}, and the task is of another one"
        return same_medium(item)

    def files(self, exported: ExportSet) -> dict[Path, bytes]:
        """Return the task files, with the split in each row."""
        rows = _rows(exported.open_ones, exported)
        files = task_files(zip(map(_title, exported.open_ones), rows, strict=True))
        for split, mine in exported.hidden_splits.items():
            files[TASKS_FOLDER.parent / f"questions-{split}.json"] = json_file(_rows(mine, exported))
        return files

    def read(self, folder: Path) -> tuple[Item, ...]:
        """Read with the benchmark ``herbench``."""
        return tuple(herbench().load(folder / TASKS_FOLDER.parent, split="all", strict=True).items)


def create() -> Exporter:
    """The exporter ``herbench``."""
    return HerbenchFiles()


def _title(item: Item) -> str:
    return paper_facts(HerbenchFiles.name).lists["tasks"][item.tags["task"]][0]


def _rows(items: Sequence[Item], exported: ExportSet) -> list[dict[str, object]]:
    rows = []
    for item in items:
        video_id = PurePosixPath(item.media[0].path or "").stem
        row = herbench_row_of(item, video_id=video_id, task_type=_title(item))
        metadata = row["metadata"]
        if isinstance(metadata, dict):
            row["metadata"] = {**metadata, SPLIT: item.tags[SPLIT], **exported.marked}
        rows.append(row)
    return rows
