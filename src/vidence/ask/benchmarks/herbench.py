"""HERBench: questions that need several pieces of evidence from one video, 12 tasks in 4 families.

The release is a folder of task files, ``tasks/<task>.json``. Its number of questions differs between
releases, so nothing here depends on it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from vidence.ask import files
from vidence.ask.benchmarks.paper_facts import OfPaper, group_of, known_names, paper_facts
from vidence.ask.benchmarks.question_files import (
    KnownNames,
    QuestionReader,
    check_split,
    checked,
    locate,
    several,
    spelling,
    with_videos,
)
from vidence.ask.files import DataFile, FieldError, decoded
from vidence.ask.mapping.sheets import Columns, parquet_questions
from vidence.contracts import Benchmark, Loaded
from vidence.errors import DataError
from vidence.records import Evidence, Item, Media, Provenance
from vidence.text import seconds

# Configurations of the releases by their number of questions, or by the name of a folder.
_CONFIGS = {26_806: "full, as in the paper", 27_936: "full, later release", 1_971: "lite_v2"}
_CONFIG_FOLDERS = ("full", "lite", "lite_v2")
_N_CHOICES = 5
_ONE_RECORDING = "wildtrack"
_DASH = re.compile(r"[-\N{EN DASH}]")
_RESOLUTION_S = 0.1  # stamps count tenths of a second
_EXPECTED = (
    "the folder data of HERBench (tasks/*.json beside videos/), the folder tasks itself, one task file, or "
    "the Parquet files of one configuration"
)
_TABLE = ".parquet"


class _Metadata(msgspec.Struct, frozen=True):
    timestamps: object = None
    source_dataset: str | None = None
    source_id: str | None = None


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """A question as released."""

    question_id: str
    video_path: str
    video_id: str | None = None
    question: str
    candidates: tuple[str, ...]
    answer_choice: str | None = None
    answer_index: int | None = None
    answer_text: str | None = None
    task_type: str | None = None
    metadata: _Metadata | None = None
    timestamps: object = None
    source_dataset: str | None = None
    source_id: str | None = None


class Herbench(OfPaper):
    """The questions of all task files in a folder, by their `question_id`."""

    name = "herbench"
    version = 2
    splits: tuple[str, ...] = ("all",)

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read every task file in the folder `data`, ordered by name, or the file `data`.

        A question without the letter of its answer is left out: it is never taken for an A. If nothing
        indicates an answer, it is hidden.

        Raises:
            DataError: no task file, nothing usable in them, or with `strict` a bad entry.
            UsageError: a split other than ``all``.
        """
        check_split(self.name, split, self.splits)
        paths = _task_files(data)
        read = [_read(path) for path in paths]
        task_files = [file for file, _ in read]
        raw = [(file, line, text) for file, lines in read for line, text in lines]
        revision = _revision(len(raw), data, paths[0].parent)
        gathering = QuestionReader(
            *task_files,
            strict=strict,
            format_hint="the format: vidence help benchmarks/herbench",
            id_field="question_id",
        )
        decoder = msgspec.json.Decoder(_Row)
        rows: list[tuple[str, _Row]] = []
        for file, line, text in raw:
            with gathering.row(line, text, file=file):
                rows.append((_stem(file), _row(decoded(text, decoder), file)))
                gathering.keep(_item(*rows[-1], revision))
        stems = dict.fromkeys(_stem(file) for file, *_ in raw if file.ending != _TABLE)
        gathering.notes.extend(_notes(rows, gathering.items, stems=stems, revision=revision))
        return gathering.loaded(media_root=_media_root(data, paths[0].parent), revision=revision)


def create() -> Benchmark:
    """Create the benchmark ``herbench``."""
    return Herbench()


# --------------------------------------------------------------------------- where the files are


def _task_files(data: Path) -> list[Path]:
    if not data.is_dir():
        return [locate(data, (), what=_EXPECTED)]
    for folder in (data / "tasks", data / "data" / "tasks", data):
        paths = sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")])
        if paths := [path for path in paths if not path.name.startswith(".")]:
            return paths
    if tables := sorted(path for path in data.rglob(f"*{_TABLE}") if not path.name.startswith(".")):
        if len(folders := sorted({path.parent for path in tables})) > 1:
            names = ", ".join(str(folder) for folder in folders)
            raise DataError(f"the folder {data} holds several configurations; name one of {names}")
        return tables
    raise DataError(f"the folder {data} holds no tasks/*.json; expected {_EXPECTED}")


def _media_root(data: Path, tasks: Path) -> Path:
    """Return the folder that contains the folder ``videos``, or else the one that contains the tasks."""
    default = tasks.parent if tasks.name == "tasks" else tasks
    return with_videos((default, tasks, *((data, data / "data") if data.is_dir() else ())), default=default)


def _revision(n_questions: int, data: Path, tasks: Path) -> str:
    """Describe the configuration, by size or folder name, and the number of questions."""
    names = [
        folder.name.lower().replace("-", "_").removeprefix("herbench_")
        for folder in (data.absolute(), tasks.absolute(), *tasks.absolute().parents[:2])
    ]
    named = next((name for name in names if name in _CONFIG_FOLDERS), "unknown")
    return f"{_CONFIGS.get(n_questions, named)} ({n_questions:,} questions)"


# --------------------------------------------------------------------------- one question


def _read(path: Path) -> tuple[DataFile, Iterable[tuple[str, bytes]]]:
    """Return a file and its rows with their places."""
    if path.suffix == _TABLE:
        return parquet_questions(path, _columns())
    file = files.read(path)
    return file, files.elements(file)


def _columns() -> Columns:
    """Return the columns of later releases, under the earlier or another data set's names."""
    answers = ("answer_choice", "answer_index")
    alone = ("question_id", "video_path", "question", "candidates", "task_type")
    return Columns(
        names=paper_facts(Herbench.name).lists["columns"],
        needed=(*((name,) for name in alone), answers),
        nested=frozenset({"candidates", "metadata", "timestamps"}),
    )


def _row(row: _Row, file: DataFile) -> _Row:
    """Convert a table's row to a task file's: an index to a letter, and metadata to an object."""
    if file.ending != _TABLE:
        return row
    if row.metadata is None and (row.timestamps is not None or row.source_dataset or row.source_id):
        metadata = _Metadata(row.timestamps, row.source_dataset, row.source_id)
        row = msgspec.structs.replace(row, metadata=metadata)
    letters = [_letter(i) for i in range(len(row.candidates))]
    is_letter = (row.answer_choice or "").strip() in letters
    if not is_letter and row.answer_index is not None and 0 <= row.answer_index < len(letters):
        return msgspec.structs.replace(row, answer_choice=letters[row.answer_index])
    return row


def _tasks() -> KnownNames:
    return known_names(Herbench.name, "tasks")


def _stem(file: DataFile) -> str:
    """Return a task file's name without extensions."""
    return file.path.name.removesuffix(".gz").removesuffix(".json")


def _item(stem: str, row: _Row, revision: str) -> Item:
    by_file = row.task_type is None
    task = _tasks().read("file name" if by_file else "task_type", stem if by_file else row.task_type or "")
    choices = _bare(row.candidates)
    letters = [_letter(i) for i in range(len(choices))]
    answer = (row.answer_choice or "").strip()
    is_hidden = (row.answer_choice, row.answer_index, row.answer_text) == (None, None, None)
    if answer not in letters and not is_hidden:
        seen = "absent" if row.answer_choice is None else f"{row.answer_choice!r} found"
        raise FieldError("answer_choice", f"{seen}; expected one of {', '.join(letters)}")
    metadata = row.metadata or _Metadata()
    spans = evidence(metadata.timestamps) or ()
    tags = {"task": task, "family": group_of(Herbench.name, "families")[task], "n_evidence": str(len(spans))}
    if metadata.source_dataset:
        tags["source"] = metadata.source_dataset
    item = Item(
        item_id=row.question_id,
        benchmark=Herbench.name,
        media=(Media(path=row.video_path),),
        source=_source(row, metadata),
        question=row.question,
        choices=choices,
        answer=answer,
        tags=tags,
        evidence=spans,
        provenance=Provenance(source=metadata.source_dataset or "", revision=revision),
    )
    return checked(item)


def _source(row: _Row, metadata: _Metadata) -> str:
    """Return a question's source film or recording: as stated, else its video with its folder.

    All of WILDTRACK is one recording: seven cameras record one square concurrently.
    """
    if metadata.source_id:
        return metadata.source_id
    folder = Path(row.video_path).parent
    if spelling(folder.name) == _ONE_RECORDING:
        return folder.name
    return (folder / row.video_id).as_posix() if row.video_id else ""


def _letter(position: int) -> str:
    return chr(ord("A") + position)


def _bare(candidates: Sequence[str]) -> tuple[str, ...]:
    """Remove the letters that the release puts before choices, as in ``"A. text"``.

    Either all candidates start with the letter of their position, or none does.
    """
    prefixes = [f"{_letter(i)}. " for i in range(len(candidates))]
    if not any(text.startswith(tuple(prefixes)) for text in candidates):
        return tuple(candidates)
    pairs = list(zip(candidates, prefixes, strict=True))
    for place, (text, prefix) in enumerate(pairs):
        if not text.startswith(prefix):
            reason = f"{text[:40]!r} found among choices with letters; expected it to begin with {prefix!r}"
            raise FieldError(f"candidates[{place}]", reason)
    return tuple(text.removeprefix(prefix) for text, prefix in pairs)


# --------------------------------------------------------------------------- time stamps


def evidence(timestamps: object) -> tuple[Evidence, ...] | None:
    """Return a question's evidence spans, in order; None if they cannot be parsed.

    Args:
        timestamps: a list of ``MM:SS.s-MM:SS.s`` or ``HH:MM:SS.s-HH:MM:SS.s``, or empty. A single time, or an
            empty span, lasts 0.1 s.

    >>> evidence(["00:08.0-00:09.5", "1:02:04-1:02:06"])[1].start_s
    3724.0
    """
    if timestamps is None:
        return ()
    if not isinstance(timestamps, list | tuple):
        return None
    spans = [_span(stamp) for stamp in timestamps]
    return None if None in spans else tuple(span for span in spans if span is not None)


def _span(stamp: object) -> Evidence | None:
    ends = _DASH.split(stamp) if isinstance(stamp, str) and ":" in stamp else []
    match [seconds(end) for end in (ends * 2 if len(ends) == 1 else ends)]:
        case [float() as start_s, float() as end_s] if start_s <= end_s:
            end_s = end_s if end_s > start_s else round(start_s + _RESOLUTION_S, 6)
            return Evidence(kind="oracle", start_s=start_s, end_s=end_s)
    return None


# --------------------------------------------------------------------------- what is odd


def _notes(
    rows: Sequence[tuple[str, _Row]], items: Sequence[Item], *, stems: Iterable[str], revision: str
) -> Iterator[str]:
    if revision.startswith("unknown"):
        yield (
            f"by its size or folder this is none of the known configurations ({', '.join(_CONFIG_FOLDERS)}): "
            "published scores may be on other questions"
        )
    counts = Counter(item.tags["task"] for item in items)
    if absent := [code for code in group_of(Herbench.name, "families") if code not in counts]:
        yield (
            f"{len(absent)} of the 12 tasks are not there ({', '.join(absent)}): the mean over tasks is that "
            "of the others, and does not compare with published ones"
        )
    for stem in stems:
        if _tasks().find(stem) is None:
            yield f"{stem}.json has the name of no task; {_tasks().expected(stem)}: task_type is used"
    for what, ids in {
        "are in the file of another task; their task_type is used": [
            row.question_id for stem, row in rows if _is_elsewhere(stem, row)
        ],
        "have an answer_index or answer_text that is not the choice of answer_choice, which is used": [
            row.question_id for _, row in rows if _disagrees(row)
        ],
        "have time stamps that cannot be read and are left out (expected MM:SS.s-MM:SS.s)": [
            row.question_id for _, row in rows if row.metadata and evidence(row.metadata.timestamps) is None
        ],
        f"have another number of choices than {_N_CHOICES}": [
            row.question_id for _, row in rows if len(row.candidates) != _N_CHOICES
        ],
    }.items():
        yield from several(ids, what)


def _is_elsewhere(stem: str, row: _Row) -> bool:
    by_file = _tasks().find(stem)
    by_row = None if row.task_type is None else _tasks().find(row.task_type)
    return by_file is not None and by_row is not None and by_file != by_row


def _disagrees(row: _Row) -> bool:
    """Whether the answer is given in several inconsistent ways."""
    letters = [_letter(i) for i in range(len(row.candidates))]
    letter = (row.answer_choice or "").strip()
    if letter not in letters:
        return False  # the question is left out
    place = letters.index(letter)
    text = (row.answer_text or "").strip()
    chosen = row.candidates[place].strip()
    return (row.answer_index is not None and row.answer_index != place) or (
        text not in ("", chosen, chosen.removeprefix(f"{letter}. ").strip())
    )
