"""PerceptionComp's annotation file: `key`, `answer_choice_0` to `4`, `answer_id`."""

from pathlib import Path, PurePosixPath

from vidence.ask.benchmarks.perceptioncomp import create as perceptioncomp
from vidence.make.release.exporters.exporting import SPLIT, Exporter, ExportSet, one_list, same_medium
from vidence.records import Item

_FOLDER = Path("perceptioncomp")
_FILE = _FOLDER / "annotations.json"
_N_CHOICES = 5
_LEVELS = ("1", "2", "3")


class PerceptionCompFile:
    """One list of all questions; hidden splits go to ``questions-SPLIT.json``."""

    name = "perceptioncomp"
    about = "PerceptionComp's annotation file"
    own_tags = frozenset({SPLIT, "n_conditions", "has_extra_option", "duplicate_of"})

    def fault(self, item: Item) -> str:
        """Why a question has no row in the file; empty if it has one."""
        if item.answer_kind != "choice" or len(item.choices) != _N_CHOICES:
            return f"it has not {_N_CHOICES} choices"
        if item.tags.get("difficulty") not in _LEVELS:
            return f"its tag difficulty is none of {', '.join(_LEVELS)}"
        if not item.tags.get("category"):
            return "it has no tag category"
        if fault := same_medium(item):
            return fault
        path = PurePosixPath(item.media[0].path or "")
        return (
            "" if path.suffix == ".mp4" else "the format names videos without .mp4, and this is another file"
        )

    def files(self, exported: ExportSet) -> dict[Path, bytes]:
        """The annotation file."""
        return one_list(exported, _FILE, _row)

    def read(self, folder: Path) -> tuple[Item, ...]:
        """Read with the benchmark ``perceptioncomp``."""
        return tuple(perceptioncomp().load(folder / _FILE, split="all", strict=True).items)


def create() -> Exporter:
    """The exporter ``perceptioncomp``."""
    return PerceptionCompFile()


def _row(item: Item, exported: ExportSet) -> dict[str, object]:
    right: dict[str, object] = {}
    if item.answer:
        place = item.letters.index(item.answer)
        right = {"answer_id": place, "answer": item.choices[place]}
    return {
        "key": item.item_id,
        "video_id": (item.media[0].path or "").removesuffix(".mp4"),
        "question": item.question,
        **{f"answer_choice_{i}": text for i, text in enumerate(item.choices)},
        **right,
        "category": item.tags["category"],
        "difficulty": int(item.tags["difficulty"]),
        SPLIT: item.tags[SPLIT],
        **exported.marked,
    }
