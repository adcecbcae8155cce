"""PerceptionComp: composed perceptual conditions in long videos, five choices each.

The release has 1,114 questions; the paper describes the first 500 (split ``seed500``).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec

from vidence.ask import files
from vidence.ask.benchmarks.paper_facts import OfPaper, known_names
from vidence.ask.benchmarks.question_files import (
    QuestionReader,
    check_split,
    checked,
    find,
    listed,
    locate,
    several,
    twins,
)
from vidence.ask.files import FieldError, decoded
from vidence.contracts import Benchmark, Loaded
from vidence.records import Item, Media

_N_CHOICES = 5
_LAST_OF_PAPER = 500
_CATEGORIES = {"show": "variety show", "sports": "sport"}
_CIRCLED = re.compile("[\u2460-\u2473]")
_NUMBERED = re.compile(r"^\s*(?:\((\d+)\)|(\d+)\.(?!\d))", re.MULTILINE)
_TIME = r"(?:\d+|(?=\d)(?:\d+h)?(?:\d+m)?(?:\d+s)?)"
_CLIP = re.compile(rf"(?P<film>.+)_{_TIME}-{_TIME}")
_NAMES = (
    "annotations_1-1114.json",
    "1-1114.json",
    "annotations/1-1114.json",
    "benchmark/annotations/1-1114.json",
    "annotations/official/1-1114.json",
    "benchmark/annotations/official/1-1114.json",
)
_EXPECTED = (
    "benchmark/annotations/1-1114.json of github.com/hrinnnn/PerceptionComp, or a folder that holds it "
    "together with the videos"
)
# The labels are a language model's, one list for each step of a question; people did not check them.
_SKILL_TAG = "skill:"
_SKILL_FILE = "step_ability_results.json"
_SKILL_PLACES = (_SKILL_FILE, f"evaluate/results/archive/step_analysis/{_SKILL_FILE}")


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """A question as released."""

    key: str
    video_id: str
    question: str
    answer_id: int | None = None
    answer: str = ""
    category: str
    difficulty: int
    answer_choice_0: str
    answer_choice_1: str
    answer_choice_2: str
    answer_choice_3: str
    answer_choice_4: str
    answer_choice_5: str | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the five choices that the released runners offer."""
        return tuple(getattr(self, f"answer_choice_{i}") for i in range(_N_CHOICES))


class _Step(msgspec.Struct, frozen=True):
    abilities: tuple[str, ...] = ()


class _Labels(msgspec.Struct, frozen=True):
    """A question's labels as released."""

    key: str
    video_id: str
    step_abilities: tuple[_Step, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Skills:
    """The skills of each question by key and video, from the file `source`; empty without a file."""

    by_question: Mapping[tuple[str, str], frozenset[str]]
    source: str = ""
    trouble: tuple[str, ...] = ()

    def tags(self, key: str, video_id: str) -> dict[str, str]:
        """Return a tag ``skill:NAME`` with the value ``yes`` for each skill of a question."""
        skills = self.by_question.get((key, video_id), frozenset())
        return {f"{_SKILL_TAG}{skill}": "yes" for skill in sorted(skills)}

    def notes(self, items: Sequence[Item]) -> tuple[str, ...]:
        """Say how many questions have skills, their source, and irregularities of the file."""
        if not self.source:
            return ()
        n_labelled = sum(any(tag.startswith(_SKILL_TAG) for tag in item.tags) for item in items)
        origin = f"skills of {n_labelled} of {len(items)} question(s) come from {self.source}"
        return (f"{origin}; they were labelled by a language model", *self.trouble)


class PerceptionComp(OfPaper):
    """The released questions, by their `key`."""

    name = "perceptioncomp"
    version = 2
    splits: tuple[str, ...] = ("all", "seed500")

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read the annotation file, or find it in the folder `data`.

        `answer_id` decides the answer; a note lists items whose answer text disagrees.

        Raises:
            DataError: no annotation file, nothing usable in it, or with `strict` a bad entry.
            UsageError: the split does not exist.
        """
        check_split(self.name, split, self.splits)
        file = files.read(locate(data, _NAMES, what=_EXPECTED))
        skills = read_skills(_roots(data, file.path))
        gathering = QuestionReader(file, strict=strict, id_field="key")
        decoder = msgspec.json.Decoder(_Row)
        kept: list[_Row] = []
        for line, text in files.elements(file):
            with gathering.row(line, text):
                row = decoded(text, decoder)
                if split == "all" or _is_of_paper(row.key):
                    kept.append(row)
                    gathering.keep(_item(row, skills))
        gathering.notes.extend((*_notes(kept), *skills.notes(gathering.items)))
        gathering.items = _with_twins(gathering.items)
        return gathering.loaded(media_root=_video_folder(data, file.path, gathering.items))


def create() -> Benchmark:
    """Create the benchmark ``perceptioncomp``."""
    return PerceptionComp()


def _is_of_paper(key: str) -> bool:
    return key.isdecimal() and 1 <= int(key) <= _LAST_OF_PAPER


def _item(row: _Row, skills: Skills) -> Item:
    if row.answer_id is not None and not 0 <= row.answer_id < _N_CHOICES:
        raise FieldError("answer_id", f"{row.answer_id} found; expected 0 to {_N_CHOICES - 1}")
    if row.difficulty not in (1, 2, 3):
        raise FieldError("difficulty", f"{row.difficulty} found; expected 1, 2 or 3")
    tags = {
        "category": _CATEGORIES.get(row.category, row.category),
        "difficulty": str(row.difficulty),
        "n_conditions": str(len(conditions(row.question))),
        "split": "seed500" if _is_of_paper(row.key) else "added",
    }
    if row.answer_choice_5 is not None:
        tags["has_extra_option"] = "yes"
    tags |= skills.tags(row.key, row.video_id)
    item = Item(
        item_id=row.key,
        benchmark=PerceptionComp.name,
        media=(Media(path=f"{row.video_id}.mp4"),),
        source=film_of(row.video_id),
        question=row.question,
        choices=row.choices,
        answer="" if row.answer_id is None else chr(ord("A") + row.answer_id),
        tags=tags,
    )
    return checked(item)


def film_of(video_id: str) -> str:
    """Return the film that a clip was cut from, if its name ends in a time span.

    The release has no field for it: spans are part of names, in minutes by default. Numbered names
    (``paris1``, ``elden ring 2``) do not imply a common film.

    >>> film_of("Chicago_1h14m-1h18m"), film_of("London_2-4"), film_of("paris1")
    ('Chicago', 'London', 'paris1')
    """
    match = _CLIP.fullmatch(video_id)
    return match["film"].strip() if match else video_id


def conditions(question: str) -> tuple[str, ...]:
    r"""The sub-conditions that a question marks, with circled digits or with numbers at line starts.

    A mark that comes again refers to the same condition and counts once: each condition reaches from where
    its mark first comes to the next mark that is new.

    >>> conditions("\u2460 A man waves. \u2461 The man of \u2460 sits. Where?")
    ('\u2460 A man waves.', '\u2461 The man of \u2460 sits. Where?')
    """
    marks = list(_CIRCLED.finditer(question)) or list(_NUMBERED.finditer(question))
    first: dict[str, int] = {}
    for mark in marks:
        first.setdefault(mark.group(mark.lastindex or 0), mark.start())
    return tuple(question[start:end].strip() for start, end in pairwise((*first.values(), len(question))))


def _with_twins(items: Sequence[Item]) -> list[Item]:
    original = twins(items)
    return [
        msgspec.structs.replace(item, tags={**item.tags, "duplicate_of": original[item.item_id]})
        if item.item_id in original
        else item
        for item in items
    ]


def _notes(rows: Sequence[_Row]) -> tuple[str, ...]:
    differing = [row.key for row in rows if _differs(row)]
    extra = [row.key for row in rows if row.answer_choice_5 is not None]
    return (
        *several(differing, "have an answer text other than the choice of answer_id, which is used"),
        *several(extra, "have a sixth choice, which is left out as in the released runners"),
    )


def _differs(row: _Row) -> bool:
    if row.answer_id is None or not 0 <= row.answer_id < _N_CHOICES:
        return False
    return bool(row.answer) and row.answer != row.choices[row.answer_id]


def _video_folder(data: Path, annotations: Path, items: Sequence[Item]) -> Path:
    """Return the folder with most of the videos; without any, the one to put them in."""
    roots = _roots(data, annotations)
    folders = [folder for root in roots for folder in (root / "videos", root / "data", root)]
    wanted = {media.path for item in items for media in item.media}
    n_found = {folder: len(wanted & _names_in(folder)) for folder in folders}
    best = max(folders, key=lambda folder: n_found[folder])
    return best if n_found[best] else roots[0] / "videos"


def _roots(data: Path, annotations: Path) -> tuple[Path, ...]:
    """Return the folders in which to look for the rest of a download."""
    return (data, data / "benchmark") if data.is_dir() else tuple(annotations.absolute().parents[:4])


def _names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


# --------------------------------------------------------------------------- skills


def read_skills(folders: Iterable[Path]) -> Skills:
    """Return the labels from the first of these folders, or clones in them, that has the file.

    Some questions occur twice in the file, once without labels: all labels count.

    Raises:
        DataError: the file is not a JSON list.
    """
    path = find(folder / place for folder in folders for place in _SKILL_PLACES)
    if path is None:
        return Skills(by_question={})
    file = files.read(path)
    decoder, skills = msgspec.json.Decoder(_Labels), known_names(PerceptionComp.name, "skills")
    values: dict[tuple[str, str], frozenset[str]] = {}
    bad: list[str] = []
    unknown: dict[str, None] = {}
    for line, text in files.elements(file):
        try:
            row = decoded(text, decoder)
        except FieldError:
            bad.append(line)
            continue
        names = {name: skills.find(name) for step in row.step_abilities for name in step.abilities}
        unknown.update(dict.fromkeys(name for name, skill in names.items() if skill is None))
        place = (row.key, row.video_id)
        values[place] = values.get(place, frozenset()) | {skill for skill in names.values() if skill}
    trouble = []
    if bad:
        trouble.append(f"{len(bad)} entries of {path.name} cannot be read; they begin on line {listed(bad)}")
    if unknown:
        trouble.append(f"{path.name} names skills that are not known and not used: {listed(list(unknown))}")
    source = f"{path.name} (SHA-256 {file.content_hash[:12]})"
    return Skills(by_question=values, source=source, trouble=tuple(trouble))
