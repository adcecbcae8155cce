"""HumanPCR: perceive, understand and reason about people; 34 tasks in 9 dimensions, and open questions.

Nothing is released. This reads a format of ours (docs/benchmarks/humanpcr.md), into which the authors'
annotations, or one's own questions of that kind, can be written.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from vidence.ask import files
from vidence.ask.benchmarks.paper_facts import OfPaper, known_names
from vidence.ask.benchmarks.question_files import QuestionReader, check_split, checked, find, locate, several
from vidence.ask.files import DataFile, FieldError, decoded
from vidence.contracts import Benchmark, Loaded
from vidence.errors import DataError
from vidence.records import Evidence, Item, Media, Provenance

# Level -> dimension -> how many tasks the paper has in it.
DIMENSIONS: Mapping[str, Mapping[str, int]] = {
    "perception": {"Spatiality": 3, "Posture": 5, "Appearance": 4, "Contact": 3, "Identity": 2},
    "comprehension": {"Behavior": 4, "Procedure": 5, "Relation": 4, "Scene": 4},
    "reasoning": {},
}
_LEVEL_OF = {dimension: level for level, values in DIMENSIONS.items() for dimension in values}

# The files of a folder, the level of the questions in each, and the splits that read it.
_LEVEL_FILES = {"human-p": "perception", "human-c": "comprehension", "human-r": "reasoning"}
_SPLITS = {"human-pc": ("human-p", "human-c"), "human-r": ("human-r",), "all": tuple(_LEVEL_FILES)}
_ENDINGS = (".jsonl", ".json")
_IMAGE_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
_FORMAT = "the format: vidence help benchmarks/humanpcr"
_EXPECTED = (
    "a folder with human-p.jsonl, human-c.jsonl and human-r.jsonl, or one file of questions; nothing is "
    f"released, {_FORMAT}"
)


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question in our format."""

    id: str
    level: str
    media: tuple[Media, ...]
    question: str
    answer: str = ""
    dimension: str | None = None
    task: str | None = None
    options: tuple[str, ...] = ()
    n_images: int | None = None
    reasoning: str | None = None
    domain: str | None = None
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    n_referred: int | None = None
    n_proactive: int | None = None
    hints: tuple[str, ...] = ()
    source: str = ""
    source_id: str = ""
    split: str = ""
    canary: str = ""


class Humanpcr(OfPaper):
    """Questions in our format for HumanPCR, by their `id`."""

    name = "humanpcr"
    version = 1
    splits: tuple[str, ...] = tuple(_SPLITS)

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read the split's files in the folder `data`, or its questions in the file `data`.

        Raises:
            DataError: no such file, nothing usable in it, or with `strict` a bad line.
            UsageError: the split does not exist.
        """
        check_split(self.name, split, self.splits)
        read = [files.read(path) for path in _question_files(data, split)]
        gathering = QuestionReader(*read, strict=strict, format_hint=_FORMAT, id_field="id")
        home_of: dict[str, tuple[str, str]] = {}  # the dimension of each task, and where it was first seen
        wanted = {_LEVEL_FILES[name] for name in _SPLITS[split]}
        decoder = msgspec.json.Decoder(_Row)
        for file in read:
            for line, text in files.objects(file):
                with gathering.row(line, text, file=file):
                    item = _item(decoded(text, decoder), file)
                    if "task" in item.tags:
                        _check_home(item.tags, f"{file.path.name}:{line}", home_of)
                    if item.tags["level"] in wanted:
                        gathering.keep(item)
        gathering.notes.extend(_notes(gathering.items, read, split))
        counts = Counter(item.answer_kind for item in gathering.items)
        return gathering.loaded(
            media_root=read[0].path.parent,
            revision=f"no release ({counts['choice']:,} choice, {counts['text']:,} open questions)",
        )


def create() -> Benchmark:
    """Create the benchmark ``humanpcr``."""
    return Humanpcr()


# --------------------------------------------------------------------------- where the files are


def _question_files(data: Path, split: str) -> list[Path]:
    if not data.is_dir():
        return [locate(data, (), what=_EXPECTED)]
    paths = [path for name in _SPLITS[split] if (path := _file(data, name)) is not None]
    whole = _file(data, "humanpcr")
    if not paths and whole is None:
        names = ", ".join(f"{name}.jsonl" for name in _SPLITS[split])
        raise DataError(f"the folder {data} holds none of {names}, humanpcr.jsonl; expected {_EXPECTED}")
    return paths or [path for path in (whole,) if path is not None]


def _file(folder: Path, name: str) -> Path | None:
    return find(folder / f"{name}{ending}" for ending in _ENDINGS)


def _stem(file: DataFile) -> str:
    return file.path.name.partition(".")[0]


# --------------------------------------------------------------------------- one question


def _item(row: _Row, file: DataFile) -> Item:
    level = known_names(Humanpcr.name, "level").read("level", row.level)
    of_file = _LEVEL_FILES.get(_stem(file), level)
    if level != of_file:
        raise FieldError("level", f"{row.level!r} found in {file.path.name}; expected {of_file}")
    is_open = level == "reasoning"
    return checked(
        Item(
            item_id=row.id,
            benchmark=Humanpcr.name,
            media=row.media,
            source=row.source_id,
            question=row.question,
            choices=row.options,
            answer=row.answer.strip(),
            answer_kind="text" if is_open else "choice",
            tags={
                "level": level,
                **({"split": row.split} if row.split else {}),
                **(_open_tags(row) if is_open else _choice_tags(row, level)),
                "media_type": _media_type(row),
                **_evidence_tags(row),
            },
            evidence=row.evidence,
            rationale=row.rationale,
            hints=row.hints,
            provenance=Provenance(source=row.source) if row.source else None,
        )
    )


def _choice_tags(row: _Row, level: str) -> dict[str, str]:
    for name in ("dimension", "task"):
        if not (getattr(row, name) or "").strip():
            raise FieldError(name, f"absent; a question of {level} has one")
    dimension, task = (
        known_names(Humanpcr.name, "dimension").read("dimension", row.dimension or ""),
        (row.task or "").strip(),
    )
    if _LEVEL_OF[dimension] != level:
        raise FieldError("dimension", f"{dimension} is of {_LEVEL_OF[dimension]}; expected one of {level}")
    return {"dimension": dimension, "task": task}


def _check_home(tags: Mapping[str, str], place: str, home_of: dict[str, tuple[str, str]]) -> None:
    home, first = home_of.setdefault(tags["task"], (tags["dimension"], place))
    if home != tags["dimension"]:
        raise FieldError(
            "task", f"{tags['task']!r} belongs to {home} in {first}; expected one dimension for each task"
        )


def _open_tags(row: _Row) -> dict[str, str]:
    for name in ("dimension", "task"):
        if getattr(row, name) is not None:
            raise FieldError(name, f"{getattr(row, name)!r} found; a question of reasoning has none")
    if row.options:
        raise FieldError("options", f"{len(row.options)} found; a question of reasoning is open and has none")
    tags: dict[str, str] = {}
    for name in ("reasoning", "domain"):
        text, known = getattr(row, name), known_names(Humanpcr.name, name)
        if text is None:
            raise FieldError(name, f"absent; {known.expected('')}")
        tags[name] = known.read(name, text)
    return tags


def _media_type(row: _Row) -> str:
    """Return ``image``, ``images`` or ``video``, by the media of a question."""
    images = [media for media in row.media if media.kind == "image"]
    for i, media in enumerate(row.media):
        if media.kind == "video" and Path(media.path or "").suffix.lower() in _IMAGE_ENDINGS:
            raise FieldError(f"media[{i}].kind", f"'video' for {media.path}; expected 'image'")
    if not row.media:
        raise FieldError("media", "none; expected one video, or one or several images")
    if len(row.media) > 1 and len(images) < len(row.media):
        raise FieldError(
            "media",
            f"{len(row.media)} found, {len(images)} of them images; expected one video, or only images",
        )
    if row.n_images is not None and row.n_images != len(images):
        raise FieldError(
            "n_images",
            f"{row.n_images} declared, {len(images)} listed in media; expected all images of the question",
        )
    return ("video" if not images else "image") if len(row.media) == 1 else "images"


def _evidence_tags(row: _Row) -> dict[str, str]:
    """Return tags for the amount of evidence, and how much must be found; empty if unknown."""
    n_of: dict[str, int] = {}
    for kind, declared in (("referred", row.n_referred), ("proactive", row.n_proactive)):
        n_listed = sum(evidence.kind == kind for evidence in row.evidence)
        if declared is not None and declared < n_listed:
            raise FieldError(
                f"n_{kind}",
                f"{declared} found, {n_listed} listed in evidence; expected no fewer than are listed",
            )
        n_of[kind] = n_listed if declared is None else declared
    if not row.evidence and row.n_referred is None and row.n_proactive is None:
        return {}
    n_all = sum(n_of.values())
    group = "0-1" if n_all < 2 else "2-3" if n_all < 4 else "4-5" if n_all < 6 else "6+"
    return {"n_evidence": str(n_all), "n_proactive": str(n_of["proactive"]), "evidence_group": group}


# --------------------------------------------------------------------------- what is odd


def _notes(items: Sequence[Item], files: Sequence[DataFile], split: str) -> Iterator[str]:
    stems = {_stem(file) for file in files}
    absent = [name for name in _SPLITS[split] if name not in stems]
    if absent and stems & set(_LEVEL_FILES):
        yield f"{', '.join(absent)} is not there: the mean is over the questions of the other files"
    tasks = {(item.tags["dimension"], item.tags["task"]) for item in items if "task" in item.tags}
    counts = Counter(dimension for dimension, _ in tasks)
    paper = {name: n for values in DIMENSIONS.values() for name, n in values.items()}
    other = [f"{name} {counts[name]} (paper {n})" for name, n in paper.items() if counts[name] != n]
    if tasks and other:
        yield (
            f"the number of tasks differs from the paper's in {len(other)} dimension(s): {', '.join(other)}; "
            "means over tasks do not compare with published ones"
        )
    if split == "all" and len({item.answer_kind for item in items}) > 1:
        yield (
            "choices and open questions are asked alike here, and the paper asks open ones step by step: ask "
            "--split human-pc and --split human-r in two runs to compare with it"
        )
    idle = [
        item.item_id
        for item in items
        if item.tags["level"] == "reasoning" and item.tags.get("n_proactive") == "0"
    ]
    yield from several(idle, "are open and rest on no proactive evidence, which the paper asks of each")
