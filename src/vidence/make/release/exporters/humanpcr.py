"""Our format for HumanPCR: `human-p.jsonl`, `human-c.jsonl`, `human-r.jsonl`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.benchmarks.humanpcr import create as humanpcr
from vidence.make.pipeline.output import json_lines
from vidence.make.release.exporters.exporting import SPLIT, Exporter, ExportSet
from vidence.records import Item, Provenance, by_key

_FOLDER = Path("humanpcr")
_FILES: Final = {"perception": "human-p", "comprehension": "human-c", "reasoning": "human-r"}
_NEEDED: Final = {
    "perception": ("dimension", "task"),
    "comprehension": ("dimension", "task"),
    "reasoning": ("reasoning", "domain"),
}


class HumanpcrFiles:
    """One file per level; hidden splits go to ``questions-SPLIT.jsonl``."""

    name = "humanpcr"
    about = "our format for HumanPCR, a file for each level"
    own_tags = frozenset({"media_type", "n_evidence", "n_proactive", "evidence_group"})

    def fault(self, item: Item) -> str:
        """Why a question has no row in these files; empty if it has one."""
        level = item.tags.get("level", "")
        if level not in _FILES:
            return f"its tag level is none of {', '.join(_FILES)}"
        if absent := [tag for tag in _NEEDED[level] if not item.tags.get(tag)]:
            return f"a question of {level} has a tag {absent[0]}"
        if (item.answer_kind == "text") != (level == "reasoning"):
            return f"a question of {level} {'is open' if level == 'reasoning' else 'has choices'}"
        n_images = sum(medium.kind == "image" for medium in item.media)
        if not item.media or (len(item.media) > 1 and n_images < len(item.media)):
            return "the format has one video, or one or several images"
        return ""

    def files(self, exported: ExportSet) -> dict[Path, bytes]:
        """The files of the levels present."""
        by_level = by_key((item.tags["level"], item) for item in exported.open_ones)
        files = {
            _FOLDER / f"{name}.jsonl": _lines(by_level[level], exported)
            for level, name in _FILES.items()
            if level in by_level
        }
        for split, mine in exported.hidden_splits.items():
            files[_FOLDER / f"questions-{split}.jsonl"] = _lines(mine, exported)
        return files

    def read(self, folder: Path) -> tuple[Item, ...]:
        """Read with the benchmark ``humanpcr``."""
        return tuple(humanpcr().load(folder / _FOLDER, split="all", strict=True).items)


def create() -> Exporter:
    """The exporter ``humanpcr``."""
    return HumanpcrFiles()


def _lines(items: Sequence[Item], exported: ExportSet) -> bytes:
    return json_lines([_row(item, exported) for item in items])


def _row(item: Item, exported: ExportSet) -> dict[str, object]:
    origin = item.provenance or Provenance()
    reasons: dict[str, object] = {}
    if item.answer:
        evidence = [msgspec.structs.replace(entry, step=None) for entry in item.evidence]
        counts = {name: item.tags.get(name, "") for name in ("n_evidence", "n_proactive")}
        reasons = {
            "answer": item.answer,
            "rationale": item.rationale,
            "hints": item.hints,
            "evidence": evidence,
        }
        if all(text.isdecimal() for text in counts.values()):
            n_proactive = int(counts["n_proactive"])
            reasons |= {"n_proactive": n_proactive, "n_referred": int(counts["n_evidence"]) - n_proactive}
    known = {name: item.tags[name] for name in (SPLIT, *_NEEDED[item.tags["level"]])}
    row = {
        "id": item.item_id,
        "level": item.tags["level"],
        "media": item.media,
        "question": item.question,
        "options": item.choices,
        **reasons,
        **known,
        "source": origin.source,
        "source_id": item.source,
        **exported.marked,
    }
    return {name: value for name, value in row.items() if value not in ("", (), [])}
