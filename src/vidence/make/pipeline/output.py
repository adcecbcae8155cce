"""Drafts as questions: lines of our item format, and HERBench's task files."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.errors import DataError, StoreError, UsageError, cause
from vidence.make.pipeline.material import Draft, Task, VideoSource
from vidence.media.whole import write_into
from vidence.records import Evidence, Item, Media, Provenance, by_key

T = TypeVar("T")
ITEMS_FILE, DRAFTS_FILE = "items.jsonl", "drafts.jsonl"
_DATA = "data"
TASKS_FOLDER = Path(_DATA) / "tasks"
VIDEOS_LINK = Path(_DATA) / "videos"
_HERBENCH = "herbench"
_NO_LETTER = re.compile(r"[^a-z]+")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A draft with its final name, task, video and maker."""

    question_id: str
    draft: Draft
    task: Task
    video: VideoSource
    maker: str

    @property
    def letter(self) -> str:
        """The letter of the right choice."""
        return letter_of(self.draft)

    @cached_property
    def item(self) -> Item:
        """The question in our item format; its media path is relative to the items file."""
        draft, video = self.draft, self.video
        item = item_of_draft(
            draft,
            item_id=self.question_id,
            family=self.task.family,
            provenance=Provenance(
                source=video.collection or video.path, licence=video.licence, revision="", maker=self.maker
            ),
        )
        media = (_linked(video.path, video.sha256),)
        tags = item.tags | ({"source": video.collection} if video.collection else {})
        return msgspec.structs.replace(
            item, benchmark=draft.benchmark or _HERBENCH, media=media, source=video.source_id, tags=tags
        )


@lru_cache(maxsize=2**10)
def _linked(path: str, sha256: str) -> Media:
    """A video with its path in question files."""
    return Media(path=(VIDEOS_LINK / path).as_posix(), sha256=sha256 or None)


def numbered(
    drafts: Sequence[Draft], *, tasks: Mapping[str, Task], videos: Mapping[str, VideoSource], maker: str
) -> tuple[Question, ...]:
    """Name drafts ``TSO_0000`` and so on, in order, task by task."""
    counts: dict[str, int] = {}
    questions: list[Question] = []
    for draft in drafts:
        n = counts[draft.task] = counts.get(draft.task, -1) + 1
        questions.append(
            Question(
                question_id=f"{draft.task}_{n:04d}",
                draft=draft,
                task=tasks[draft.task],
                video=videos[draft.video_id],
                maker=maker,
            )
        )
    return tuple(questions)


def letter_of(draft: Draft) -> str:
    """The letter of the right choice."""
    return chr(ord("A") + draft.answer_index)


def item_of_draft(
    draft: Draft, *, item_id: str, family: str = "", provenance: Provenance | None = None
) -> Item:
    """A draft of any maker in our item format, with its own media and its facts as rationale.

    `family` is that of its task, where tasks have families.
    """
    tags = {
        "task": draft.task,
        **({"family": family} if family else {}),
        "structure": draft.structure,
        "n_evidence": str(len(draft.evidence)),
        **({} if draft.k is None else {"k": str(draft.k)}),
        **({} if draft.k_verified is None else {"k_verified": str(draft.k_verified)}),
        "draft": draft.draft_id,
        **({"truth": draft.truth} if draft.truth else {}),
    }
    return Item(
        item_id=item_id,
        benchmark=draft.benchmark,
        media=draft.media,
        source=draft.source_id,
        question=draft.question,
        choices=draft.choices,
        answer=letter_of(draft),
        tags=dict(draft.tags) | tags,
        evidence=draft.evidence,
        rationale="; ".join(f"{name}: {value}" for name, value in draft.facts.items()),
        provenance=provenance,
    )


def herbench_row(question: Question) -> dict[str, object]:
    """A question in the format of HERBench's task files; see `herbench_row_of`."""
    return herbench_row_of(question.item, video_id=question.video.video_id, task_type=question.task.title)


def herbench_row_of(item: Item, *, video_id: str, task_type: str) -> dict[str, object]:
    """A multiple-choice question about one video in the format of HERBench's task files.

    An item without an answer, whose answer is hidden, has none of the keys that tell of it.

    Args:
        item: the question; its path starts from the folder above ``data``, or from ``data``.
        video_id: what the video is called.
        task_type: the title of its task.

    Source: the released examples of HERBench (data/README).
    Departs: `metadata` also says structure, k, what the answer rests on, the licence of the video, and the
        film that it was cut from.
    """
    origin, tags = item.provenance or Provenance(), item.tags
    path = (item.media[0].path or "").removeprefix(f"{_DATA}/")
    place = item.letters.index(item.answer) if item.answer else None
    right: dict[str, object] = {}
    if place is not None:
        right = {"answer_text": item.choices[place], "answer_choice": item.answer, "answer_index": place}
    named = tags.get("source") or None
    return {
        "video_id": video_id,
        "video_path": path,
        "question_id": item.item_id,
        "question": item.question,
        **right,
        "candidates": [f"{letter}. {text}" for letter, text in zip(item.letters, item.choices, strict=True)],
        "task_type": task_type,
        "metadata": {
            **({} if place is None else {"timestamps": list(_stamps(item.evidence))}),
            "source_dataset": named,
            **({"source_id": item.source} if item.source else {}),
            **({} if place is None else _of_the_making(tags)),
            "licence": origin.licence or None,
        },
    }


def _of_the_making(tags: Mapping[str, str]) -> dict[str, object]:
    """What making recorded about an answer."""
    counts = {name: int(tags[name]) for name in ("k", "k_verified") if tags.get(name, "").isdecimal()}
    return {
        "structure": tags.get("structure"),
        "k": counts.get("k"),
        **({"k_verified": counts["k_verified"]} if "k_verified" in counts else {}),
        "truth": tags.get("truth") or None,
    }


def _stamps(evidence: Sequence[Evidence]) -> Iterator[str]:
    for span in evidence:
        if span.start_s is not None and span.end_s is not None:
            start, end = math.floor(span.start_s * 10 + 1e-6), math.ceil(span.end_s * 10 - 1e-6)
            yield f"{stamp(start)}-{stamp(max(end, start + 1))}"


@lru_cache(maxsize=2**16)
def stamp(tenths: int) -> str:
    """A time in HERBench's format, with hours if there are any.

    >>> stamp(1249), stamp(37240)
    ('02:04.9', '01:02:04.0')
    """
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    clock = f"{minutes:02d}:{rest // 10:02d}.{rest % 10}"
    return f"{hours:02d}:{clock}" if hours else clock


def write_questions(questions: Sequence[Question], folder: Path, *, videos: Path) -> tuple[Path, ...]:
    """Write items, drafts and task files; task files of an earlier session that are no more are removed.

    Args:
        questions: what to write.
        folder: the folder of the set.
        videos: the folder that the paths of videos start from; ``data/videos`` becomes a link to it.

    Raises:
        StoreError: something cannot be written.
    """
    contents = {
        Path(ITEMS_FILE): json_lines([q.item for q in questions]),
        Path(DRAFTS_FILE): json_lines([q.draft for q in questions]),
    }
    contents |= task_files((q.task.title, herbench_row(q)) for q in questions)
    paths = write_into(folder, contents)
    try:
        for path in (folder / TASKS_FOLDER).glob("*.json"):
            if path.relative_to(folder) not in contents:
                path.unlink()
        link_folder(folder / VIDEOS_LINK, videos)
    except OSError as error:
        raise StoreError(f"cannot write the questions into {folder}: {cause(error)}") from error
    return paths


def task_files(rows: Iterable[tuple[str, Mapping[str, object]]]) -> dict[Path, bytes]:
    """Task files by path in a set, such as ``data/tasks/action_counting.json``.

    Args:
        rows: the questions as HERBench has them, each with the title of its task.
    """
    by_task = by_key((_NO_LETTER.sub("_", title.lower().replace("&", "and")), row) for title, row in rows)
    return {TASKS_FOLDER / f"{stem}.json": json_file(mine) for stem, mine in sorted(by_task.items())}


def json_file(value: object) -> bytes:
    """A value as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value)) + b"\n"


def json_lines(records: Iterable[object]) -> bytes:
    """Records as JSON lines."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def read_lines(path: Path, kind: type[T], *, fault: str) -> list[T]:
    """The records of a JSON Lines file.

    Args:
        path: the file.
        kind: of the records.
        fault: what is wrong with a line that is none, for messages.

    Raises:
        DataError: the file cannot be read, or a line is no such record.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({cause(error)})") from error
    decoder, records = msgspec.json.Decoder(kind), list[T]()
    for number, line in enumerate(lines, 1):
        try:
            records += [decoder.decode(line)] if line.strip() else []
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DataError(f"{path}:{number}: {fault} ({error})") from error
    return records


def link_folder(link: Path, target: Path) -> None:
    """Create a link such as ``data/videos`` to a folder.

    Raises:
        UsageError: something else is there.
        OSError: it cannot be made.
    """
    target = target.resolve()
    if link.is_symlink():
        if link.resolve() == target:
            return
        link.unlink()
    elif link.exists():
        raise UsageError(f"{link} is there and is no link of ours; move it away, or choose another --out")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target, target_is_directory=True)
