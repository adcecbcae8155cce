"""MMVU: expert questions in 27 subjects, the validation split of 1,000 questions.

625 questions have five choices; 375 are open and need a judge. The test split is hidden.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import msgspec

from vidence.benchmarks import _files
from vidence.benchmarks._checks import Fault, checked, listed
from vidence.benchmarks._decode import decoded
from vidence.benchmarks._gather import Gathering
from vidence.contracts import AskingRules, Benchmark, Loaded
from vidence.errors import UsageError
from vidence.records import Item, Media, Provenance, Sampling

_SUBJECTS = {
    "Science": (
        "Astronomy",
        "Biology",
        "Chemistry",
        "Electromagnetism",
        "Geography",
        "Mechanics",
        "Modern Physics",
        "Neurobiology",
        "Thermodynamics",
    ),
    "Engineering": (
        "Biomedical Engineering",
        "Civil Engineering",
        "Computer Science",
        "Electrical Engineering",
        "Electronics and Communication",
        "Materials Science",
        "Mechanical Engineering",
    ),
    "Healthcare": (
        "Basic Medicine",
        "Clinical Medicine",
        "Dentistry",
        "Pharmacy",
        "Preventive Medicine",
    ),
    "Humanities & Social Sciences": (
        "Art",
        "Economics",
        "History",
        "Law",
        "Literature",
        "Management",
    ),
}
_DISCIPLINE_OF = {subject: discipline for discipline, subjects in _SUBJECTS.items() for subject in subjects}

# Questions whose answer changed between the two releases: the letter in the first, then in the second.
_CHANGED_ANSWERS = {
    "validation_319": ("E", "D"),
    "validation_542": ("E", "B"),
    "validation_738": ("A", "D"),
    "validation_744": ("A", "E"),
    "validation_840": ("C", "B"),
}
_REVISIONS = ("2025-01-21", "2025-02-27 or later")
_LETTERS = "ABCDE"
_EXPECTED = (
    "validation.json of the dataset yale-nlp/MMVU or of github.com/yale-nlp/MMVU (folder data), or a "
    "folder that holds it together with the folder videos"
)


class _Metadata(msgspec.Struct, frozen=True):
    subject: str
    textbook: str = ""
    knowledge: tuple[str, ...] = ()
    rationale: str = ""


class _Row(msgspec.Struct, frozen=True):
    """One question as it was released."""

    id: str
    video: str
    question_type: Literal["multiple-choice", "open-ended"]
    metadata: _Metadata
    question: str
    choices: dict[str, str]
    answer: str
    youtube_url: str = ""


_PAPER = AskingRules(
    selector="mmvu-api",
    n_frames=32,
    style="cot",
    prompts="mmvu",
    size="native",
    jpeg_quality=95,
    reader="robust",
    headline="micro",
    sampling=Sampling(temperature=1.0, max_tokens=1024),
)


class Mmvu:
    """The released validation questions, by their `id`."""

    name = "mmvu"
    version = 1
    citation = (
        "Zhao et al. MMVU: Measuring Expert-Level Multi-Discipline Video Understanding. "
        "arXiv:2501.12380, 2025."
    )
    licence = "none stated for the questions; the videos are Creative Commons on YouTube, by the paper"
    terms = (
        "For research. The videos are Creative Commons on YouTube, by the paper; no licence is stated for "
        "the questions: ask the authors before other use."
    )
    splits: tuple[str, ...] = ("validation",)
    protocols: Mapping[str, AskingRules] = MappingProxyType({"paper": _PAPER})

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read ``validation.json``, or find it in the folder `data`.

        `revision` is the date of the release that the answers belong to, or ``unknown``.

        Raises:
            DataError: no such file there or nothing usable in it, or with `strict` a bad entry.
            UsageError: a split that does not exist, or the hidden test split.
        """
        if split == "test":
            raise UsageError(
                "the test split of mmvu is hidden: its authors grade the answers sent to them; "
                "expected split 'validation'"
            )
        _files.check_split(self.name, split, self.splits)
        file = _files.read(_files.locate(data, ("validation.json", "data/validation.json"), what=_EXPECTED))
        gathering = Gathering(file, strict=strict)
        decoder = msgspec.json.Decoder(_Row)
        rows: list[tuple[str, _Row]] = []
        for line, text in _files.elements(file):
            row = decoded(text, decoder)
            if isinstance(row, Fault):
                gathering.add(line, row)
            else:
                rows.append((line, row))
        revision = _revision({row.id: row.answer for _, row in rows})
        for line, row in rows:
            gathering.add(line, _item(row, revision))
        gathering.notes.extend(_notes([row for _, row in rows], revision))
        return gathering.loaded(media_root=_media_root(data, file.path), revision=revision)


def create() -> Benchmark:
    """The benchmark ``mmvu``."""
    return Mmvu()


def _item(row: _Row, revision: str) -> Item | Fault:
    subject = row.metadata.subject
    if subject not in _DISCIPLINE_OF:
        return Fault("metadata.subject", f"{subject!r} found; expected one of the paper's 27 subjects")
    path = _video_path(row.video)
    if not path:
        return Fault(
            "video", f"{row.video!r} found; expected an address that ends in videos/SUBJECT/NUMBER.mp4"
        )
    is_choice = row.question_type == "multiple-choice"
    if is_choice and "".join(sorted(row.choices)) != _LETTERS:
        return Fault("choices", f"the letters {', '.join(row.choices)} found; expected A to E")
    item = Item(
        item_id=row.id,
        benchmark=Mmvu.name,
        media=(Media(path=path, url=row.video if "://" in row.video else None),),
        question=row.question,
        choices=tuple(row.choices[letter] for letter in _LETTERS) if is_choice else (),
        answer=row.answer.strip(),
        answer_kind="choice" if is_choice else "text",
        tags={
            "subject": subject,
            "discipline": _DISCIPLINE_OF[subject],
            "textbook": row.metadata.textbook,
            "question_type": row.question_type,
        },
        rationale=row.metadata.rationale,
        knowledge=row.metadata.knowledge,
        provenance=Provenance(source=row.youtube_url.strip(), revision=revision),
    )
    return checked(item)


def _video_path(video: str) -> str:
    _, found, rest = f"/{video}".rpartition("/videos/")
    return f"videos/{rest}" if found and rest else ""


def _revision(answers: Mapping[str, str]) -> str:
    for which, revision in enumerate(_REVISIONS):
        if all(answers.get(item_id) == letters[which] for item_id, letters in _CHANGED_ANSWERS.items()):
            return revision
    return "unknown"


def _notes(rows: Sequence[_Row], revision: str) -> list[str]:
    notes = []
    if revision == "unknown":
        notes.append(
            f"the answers are those of neither known release ({' and '.join(_REVISIONS)}): scores may not "
            "compare with published ones"
        )
    moved = [row.id for row in rows if _folder(row) != row.metadata.subject]
    if moved:
        notes.append(
            f"the folder of the video names another subject in {len(moved)} question(s); metadata.subject "
            f"is used: {listed(moved)}"
        )
    return notes


def _folder(row: _Row) -> str:
    return Path(_video_path(row.video)).parent.name.replace("_", " ")


def _media_root(data: Path, questions: Path) -> Path:
    """The folder in which the folder ``videos`` lies; where there is none, the one to put it into."""
    start = data if data.is_dir() else questions.parent
    for root in (start, questions.parent, questions.parent.parent):
        if (root / "videos").is_dir():
            return root
    return start
