"""A set of expert drafts in words of our own, without a fault; tests spoil one cell at a time."""

import json
import shutil
from datetime import date
from pathlib import Path

from subjects.samples import GOLDEN
from vidence.make.writing.draft_files import COLUMNS, DraftRow, ExpertDraft, read_cell
from vidence.make.writing.expert_checking import Shelf
from vidence.make.writing.expert_config import DraftRules, Form
from vidence.make.writing.expert_films import Film
from vidence.make.writing.subjects import Concept, Subject

WIKI = "https://en.wikipedia.org/wiki/"
BOOK = "A First Course in Motion, 2nd Edition"

CHOICE: dict[str, object] = {
    "draft_id": "a",
    "video": "wheel",
    "concept_id": "precession",
    "question": "Why does the wheel stay up?",
    "kind": "choice",
    "choices": ["Its spin turns under a torque", "Lift", "Tension", "It weighs nothing", "A hand"],
    "answer": "A",
    "misconception": ["air", "rope", "spin", "habit"],
    "start_s": 12,
    "end_s": 40.5,
    "steps": ["It hangs by one end.", "Its weight gives a torque.", "The spin follows the torque."],
    "knowledge": [{"title": "Precession", "url": WIKI + "Precession"}],
    "evidence": [
        {"kind": "referred", "start_s": 12, "end_s": 20, "note": "it hangs", "step": 0},
        {"kind": "proactive", "start_s": 20, "end_s": 30, "note": "a finger lets go", "step": 1},
    ],
    "reasoning": "causal",
    "author": "ann",
    "date": "2026-03-02",
    "minutes": 20.3,
}
OPEN = CHOICE | {"kind": "open", "choices": [], "misconception": [], "answer": "precession"}


def row(**changes: object) -> DraftRow:
    """A row of the set with some cells changed; an open one with ``kind="open"``."""
    cells = (OPEN if changes.get("kind") == "open" else CHOICE) | changes
    read = {name: read_cell(name, cells[name]) for name in COLUMNS}
    return DraftRow(row_id=str(cells["draft_id"]), place="row", cells={}, draft=ExpertDraft(**read))


def shelf(form: Form = "mmvu", **changes: object) -> Shelf:
    """What the rows are held against."""
    known: dict[str, object] = {
        "rules": DraftRules().of(form),
        "form": form,
        "subjects": {"Mechanics": Subject(subject="Mechanics", textbooks=(BOOK,), authors=("ann",))},
        "concepts": {
            "precession": Concept(
                concept_id="precession",
                subject="Mechanics",
                textbook=BOOK,
                chapter="11",
                why_moving="It moves.",
            ),
            "bookless": Concept(concept_id="bookless", subject="Mechanics", textbook="Notes", chapter="1"),
            "chapterless": Concept(concept_id="chapterless", subject="Mechanics", textbook=BOOK),
        },
        "concepts_gone": {"beats": "dropped-by-people, no video"},
        "films": {
            "wheel": Film(video_id="wheel", path="wheel.mp4"),
            "long": Film(video_id="long", path="l.mp4"),
        },
        "films_gone": {"shut": "licence-refused, youtube"},
        "lengths_s": {"wheel": 120.0},
    }
    if form == "humanpcr-r":
        known |= {"lengths_s": {"wheel": 400.0}, "published": {"wheel": date(2025, 6, 1)}}
    return Shelf(**(known | changes))


def set_in(folder: Path) -> Path:
    """A copy of the sample of the maker; its configuration."""
    shutil.copytree(GOLDEN / "makers" / "expert", folder)
    return folder / "config.toml"


def drafts_of(folder: Path) -> list[dict[str, object]]:
    """The drafts of a copy."""
    return [json.loads(line) for line in (folder / "drafts.jsonl").read_text().splitlines()]


def write_drafts(folder: Path, drafts: list[dict[str, object]]) -> None:
    """Put other drafts into a copy."""
    (folder / "drafts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in drafts))
