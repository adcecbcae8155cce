"""ActPLD: which action, and which intention, does a point-light display show?

The authors released nothing. The folder format is ours: ``clips.csv`` and ``labels.csv``, and the clips as
videos or folders of frames (docs/benchmarks/actpld.md).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from vidence.ask import files
from vidence.ask.benchmarks.paper_facts import OfPaper
from vidence.ask.benchmarks.question_files import QuestionReader, check_split, checked, locate
from vidence.ask.files import DataFile, FieldError, explained, usable
from vidence.ask.scoring.label_words import LabelWords
from vidence.contracts import Benchmark, Loaded
from vidence.errors import DataError
from vidence.records import Item, Media, Provenance, Record

Target: TypeAlias = Literal["label", "intention"]
TARGETS: tuple[Target, ...] = ("label", "intention")
Set: TypeAlias = Literal["single", "social"]
N_DISTRACTORS = 2

LABEL_COLUMNS = ("target", "name", "group")
MORE_LABEL_COLUMNS = ("text", "synonyms", "features")
_ALL_LABEL_COLUMNS = (*LABEL_COLUMNS, *MORE_LABEL_COLUMNS)

CLIPS, LABELS = "clips.csv", "labels.csv"
_EXPECTED = f"{CLIPS}, or a folder that holds it, with {LABELS} beside it (vidence help benchmarks/actpld)"
_TASKS = ("3afc", "description")
_ACTION = "Which action do the moving points of light show?"
_INTENTION = "Which intention is behind the action that the moving points of light show?"
_QUESTIONS: Mapping[tuple[str, Target], str] = {
    ("3afc", "label"): _ACTION,
    ("3afc", "intention"): _INTENTION,
    ("description", "label"): f"{_ACTION} Describe what is done.",
    ("description", "intention"): f"{_INTENTION} Describe what it is meant to achieve.",
}
# What each split asks.
_SPLITS: Mapping[str, tuple[tuple[str, Target], ...]] = {
    "3afc": (("3afc", "label"), ("3afc", "intention")),
    "label": (("3afc", "label"),),
    "intention": (("3afc", "intention"),),
    "description": (("description", "label"), ("description", "intention")),
    "all": tuple((task, target) for task in _TASKS for target in TARGETS),
}


class LabelRow(Record):
    """A label or intention: its name, semantic group, and words."""

    target: Target
    name: str
    group: str
    words: LabelWords


class ClipRow(Record):
    """A clip and its right label and intention, by the columns of ``clips.csv``.

    `subject` and `take` are informative; clusters and splits use `source_id`. `condition` is how the motion
    is shown, and a tag.
    """

    clip_id: str
    path: str
    set: Set
    label: str
    intention: str
    kind: Literal["video", "frames"] = "video"
    label_distractors: tuple[str, ...] = ()
    intention_distractors: tuple[str, ...] = ()
    source: str = ""
    source_id: str = ""
    licence: str = ""
    sha256: str = ""
    subject: str = ""
    take: str = ""
    condition: str = ""

    def name(self, target: Target) -> str:
        """Return the right label or intention."""
        return self.label if target == "label" else self.intention

    def distractors(self, target: Target) -> tuple[str, ...]:
        """Return the wrong choices that the folder specifies; empty if it specifies none."""
        return self.label_distractors if target == "label" else self.intention_distractors


CLIP_COLUMNS = tuple(field.name for field in msgspec.structs.fields(ClipRow) if field.required)
ALL_CLIP_COLUMNS = ClipRow.__struct_fields__


class Labels:
    """All labels and intentions of a folder, by target and name, in file order.

    Raises:
        DataError: a bad line; with an incomplete list, other distractors would be sampled.
    """

    def __init__(self, file: DataFile) -> None:
        named: dict[Target, dict[str, LabelRow]] = {target: {} for target in TARGETS}
        for line, cells in files.csv_rows(file, needed=LABEL_COLUMNS, known=_ALL_LABEL_COLUMNS):
            where = f"{file.path}:{line}"
            try:
                row = _label(_filled(usable(cells), LABEL_COLUMNS))
            except FieldError as error:
                raise DataError(f"{where}: {error}") from error
            texts = {other.words.text.casefold() for other in named[row.target].values()}
            if row.name in named[row.target] or row.words.text.casefold() in texts:
                raise DataError(
                    f"{where}: {row.name!r} is there twice as {row.target}, or shown like another one; "
                    "expected each once"
                )
            named[row.target][row.name] = row
        self.of: Mapping[Target, Mapping[str, LabelRow]] = MappingProxyType(named)


class Actpld(OfPaper):
    """The clips of a folder, with two three-choice questions and two free descriptions each."""

    name = "actpld"
    version = 1
    splits: tuple[str, ...] = tuple(_SPLITS)

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read ``clips.csv``, or find it in the folder `data`, with ``labels.csv`` next to it.

        Raises:
            DataError: no such files, nothing usable in them, a bad line in ``labels.csv``, or with `strict` a
                bad clip.
            UsageError: the split does not exist.
        """
        check_split(self.name, split, self.splits)
        file = files.read(locate(data, (CLIPS,), what=_EXPECTED))
        label_file = files.read(locate(file.path.parent, (LABELS,), what=_EXPECTED))
        labels = Labels(label_file)
        gathering = QuestionReader(file, strict=strict)
        line_of: dict[str, str] = {}
        for line, cells in files.csv_rows(file, needed=CLIP_COLUMNS, known=ALL_CLIP_COLUMNS):
            with gathering.row(line):
                clip = _clip(_filled(usable(cells), CLIP_COLUMNS))
                if (first := line_of.setdefault(clip.clip_id, line)) != line:
                    reason = f"{clip.clip_id!r} was used on line {first} before; expected an id of its own"
                    raise FieldError("clip_id", reason)
                # Whatever the split, the first thing wrong with a clip leaves it out.
                values = {what: _item(clip, labels, task=what[0], target=what[1]) for what in _SPLITS["all"]}
                for what in _SPLITS[split]:
                    gathering.keep(values[what])
        loaded = gathering.loaded(media_root=file.path.parent)
        both = f"{file.content_hash} {label_file.content_hash}"
        return replace(loaded, content_hash=hashlib.sha256(both.encode()).hexdigest())

    def tags_as_read(self, item: Item, *, parser: str) -> Mapping[str, str]:
        """Return a question's tags; those of a description if the log of a choice was scored.

        Source: ActPLD, section 2.5 (Chain-of-Thought Description Matching).
        """
        if parser != "description-match" or item.tags.get("task") != "3afc":
            return item.tags
        cell = f"{item.tags['set']}/description/{item.tags['target']}"
        return {**item.tags, "task": "description", "cell": cell}


def create() -> Benchmark:
    """Create the benchmark ``actpld``."""
    return Actpld()


def _item(clip: ClipRow, labels: Labels, *, task: str, target: Target) -> Item:
    rows = choices_for(clip, target, labels)
    known = labels.of[target]
    truth = known[clip.name(target)]
    is_choice = task == "3afc"
    item = Item(
        item_id=f"{clip.clip_id}/{target}" if is_choice else f"{clip.clip_id}/{target}/description",
        benchmark=Actpld.name,
        media=(Media(path=clip.path, kind=clip.kind, sha256=clip.sha256 or None),),
        source=clip.source_id,
        question=_QUESTIONS[task, target],
        choices=tuple(row.words.text for row in rows) if is_choice else (),
        answer=chr(ord("A") + rows.index(truth)) if is_choice else truth.words.text,
        answer_kind="choice" if is_choice else "text",
        tags={
            "set": clip.set,
            "task": task,
            "target": target,
            "cell": f"{clip.set}/{task}/{target}",
            "group": truth.group,
            "label": clip.label,
            "intention": clip.intention,
            **({"condition": clip.condition} if clip.condition else {}),
        },
        knowledge=_words(rows if is_choice else (truth, *eligible(known.values(), truth))),
        provenance=Provenance(source=clip.source, licence=clip.licence),
    )
    return checked(item)


def _words(labels: tuple[LabelRow, ...]) -> tuple[str, ...]:
    """Return the competing labels as JSON, for the scorer of descriptions."""
    return tuple(msgspec.json.encode(label.words).decode() for label in labels)


# --------------------------------------------------------------------------- the two tables of a folder


def _split(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in cell.split("|"))))


def _filled(cells: Mapping[str, str], needed: Sequence[str]) -> dict[str, str]:
    """Return the non-empty cells of a row; all in `needed` must be present."""
    for name in needed:
        if not cells[name]:
            raise FieldError(name, "empty; expected a text")
    return {name: cell for name, cell in cells.items() if cell}


def _label(row: Mapping[str, str]) -> LabelRow:
    target = next((t for t in TARGETS if t == row["target"]), None)
    if target is None:
        raise FieldError("target", f"{row['target']!r} found; expected {' or '.join(TARGETS)}")
    text = row.get("text", row["name"])
    words = LabelWords(
        text=text,
        forms=_split(row.get("synonyms", "")) + ((row["name"],) if text != row["name"] else ()),
        features=_split(row.get("features", "")),
    )
    return LabelRow(target=target, name=row["name"], group=row["group"], words=words)


def _clip(row: Mapping[str, str]) -> ClipRow:
    fixed = {field: _split(row.get(field, "")) for field in (f"{t}_distractors" for t in TARGETS)}
    for field, names in fixed.items():
        if names and len(set(names)) != N_DISTRACTORS:
            raise FieldError(field, f"{'|'.join(names)!r} found; expected {N_DISTRACTORS} names, or nothing")
    try:
        return msgspec.convert({**row, **fixed}, ClipRow)
    except msgspec.ValidationError as error:
        raise explained(error, record=ClipRow) from error


# --------------------------------------------------------------------------- wrong choices


def _rank(*words: str) -> bytes:
    """Return a hash of these words, equal on every machine."""
    return hashlib.sha256("\n".join(words).encode()).digest()


def eligible(labels: Iterable[LabelRow], truth: LabelRow) -> list[LabelRow]:
    """Return the labels that may be distractors: those outside the right one's semantic group."""
    return [label for label in labels if label.group != truth.group]


def choices_for(clip: ClipRow, target: Target, labels: Labels) -> tuple[LabelRow, ...]:
    """Return the three choices of a clip, including the right one, in a fixed order.

    The distractors are those that the folder specifies for the clip, or two sampled from the labels of both
    sets outside the right one's semantic group. Sample and order are determined by hashes of the clip's id
    and the names.

    Raises:
        FieldError: a name that is not in ``labels.csv``, or too few eligible labels.

    Source: ActPLD, section 2.5 (3AFC).
    Departs: the paper does not describe its sampling, and prints its choices for 60 of 228 clips only.
    """
    known = labels.of[target]
    truth = known.get(clip.name(target))
    if truth is None:
        raise FieldError(target, f"{clip.name(target)!r} is not in labels.csv as {target}; add it there")
    others = eligible(known.values(), truth)
    field = f"{target}_distractors"
    for name in clip.distractors(target):
        if name not in known:
            raise FieldError(field, f"{name!r} is not in labels.csv as {target}; add it there")
        if known[name] not in others:
            reason = f"{name!r} is in the group {truth.group!r} of the right one; expected others"
            raise FieldError(field, reason)
    sampled = [known[name] for name in clip.distractors(target)] or sorted(
        others, key=lambda r: _rank(clip.clip_id, target, "distractor", r.name)
    )
    if len(sampled) < N_DISTRACTORS:
        raise FieldError(
            target,
            f"labels.csv has {len(others)} of other groups than {truth.group!r}; expected {N_DISTRACTORS}",
        )
    rows = (truth, *sampled[:N_DISTRACTORS])
    return tuple(sorted(rows, key=lambda r: _rank(clip.clip_id, target, "place", r.name)))
