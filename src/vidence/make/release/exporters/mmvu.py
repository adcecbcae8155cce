"""MMVU's `validation.json`: choices by letter, subject, textbook, rationale, knowledge."""

from pathlib import Path

from vidence.ask.benchmarks.mmvu import create as mmvu
from vidence.ask.benchmarks.paper_facts import group_of
from vidence.make.release.exporters.exporting import SPLIT, Exporter, ExportSet, one_list, same_medium
from vidence.records import Item, Provenance

_FOLDER = Path("mmvu")
_FILE = _FOLDER / "validation.json"
_N_CHOICES = 5
_TYPES = {"choice": "multiple-choice", "text": "open-ended"}


class MmvuFile:
    """One list of all questions; hidden splits go to ``questions-SPLIT.json``."""

    name = "mmvu"
    about = "MMVU's validation.json"
    own_tags: frozenset[str] = frozenset()

    def fault(self, item: Item) -> str:
        """Why a question has no row in the file; empty if it has one."""
        subject, disciplines = item.tags.get("subject", ""), group_of(self.name, "disciplines")
        if item.answer_kind == "choice" and len(item.choices) != _N_CHOICES:
            return f"it has {len(item.choices)} choices; the format has {_N_CHOICES} or none"
        if subject not in disciplines:
            return "its tag subject is none of the paper's 27"
        if item.tags.get("discipline", disciplines[subject]) != disciplines[subject]:
            return "its tag discipline is not the one of its subject"
        if item.tags.get("question_type", _TYPES[item.answer_kind]) != _TYPES[item.answer_kind]:
            return "its tag question_type is not how it is answered"
        if item.item_id.startswith("test_"):
            return "its id begins with test_, by which the loader knows the hidden split of the release"
        fault = same_medium(item)
        if not fault and not _path(item):
            fault = "the format names videos by a path with a folder videos, and this one lies elsewhere"
        return fault

    def files(self, exported: ExportSet) -> dict[Path, bytes]:
        """The file of all questions with answers."""
        return one_list(exported, _FILE, _row)

    def read(self, folder: Path) -> tuple[Item, ...]:
        """Read with the benchmark ``mmvu``."""
        return tuple(mmvu().load(folder / _FILE, split="validation", strict=True).items)


def create() -> Exporter:
    """The exporter ``mmvu``."""
    return MmvuFile()


def _path(item: Item) -> str:
    medium = item.media[0]
    address = medium.url if medium.url and "/videos/" in f"/{medium.url}" else medium.path or ""
    return address if "/videos/" in f"/{address}" else ""


def _row(item: Item, exported: ExportSet) -> dict[str, object]:
    is_open = bool(item.answer)
    origin = item.provenance or Provenance()
    reasons = {"knowledge": list(item.knowledge), "rationale": item.rationale} if is_open else {}
    return {
        "id": item.item_id,
        "video": _path(item),
        "youtube_url": origin.source or item.source,
        "question_type": _TYPES[item.answer_kind],
        "metadata": {"subject": item.tags["subject"], "textbook": item.tags.get("textbook", ""), **reasons},
        "question": item.question,
        "choices": dict(zip(item.letters, item.choices, strict=True)),
        **({"answer": item.answer} if is_open else {}),
        SPLIT: item.tags[SPLIT],
        **exported.marked,
    }
