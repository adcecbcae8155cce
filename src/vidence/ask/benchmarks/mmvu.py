"""MMVU: expert questions in 27 subjects, the validation split of 1,000 questions.

625 questions have five choices; 375 are open and need a judge. The answers of the test split are hidden.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from vidence.ask import files
from vidence.ask.benchmarks.paper_facts import OfPaper, group_of, paper_facts
from vidence.ask.benchmarks.question_files import (
    QuestionReader,
    check_split,
    checked,
    listed,
    locate,
    several,
    with_videos,
)
from vidence.ask.files import FieldError, decoded, text_of
from vidence.contracts import Benchmark, Loaded
from vidence.errors import UsageError
from vidence.records import Item, Media, Provenance

_REVISIONS = ("2025-01-21", "2025-02-27 or later")
_LETTERS = "ABCDE"
_YOUTUBE = re.compile(
    r"(?:https?://)?(?:www\.|m\.)?(?:youtube\.com/(?:watch\?(?:[^#]*&)?v=|shorts/|embed/|live/)|youtu\.be/)"
    r"(?P<film>[\w-]{11})(?![\w-])"
)
_EXPECTED = (
    "validation.json of the dataset yale-nlp/MMVU or of github.com/yale-nlp/MMVU (folder data), or a "
    "folder that holds it together with the folder videos"
)
_FILES = {
    "validation": ("validation.json", "data/validation.json"),
    "test": ("test.json", "data/test.json", "questions-test.json"),
}


class _Metadata(msgspec.Struct, frozen=True):
    subject: str
    textbook: str = ""
    knowledge: tuple[str, ...] = ()
    rationale: str = ""


class _Row(msgspec.Struct, frozen=True):
    """A question as released."""

    id: str
    video: str
    question_type: Literal["multiple-choice", "open-ended"]
    metadata: _Metadata
    question: str
    choices: dict[str, str]
    answer: str | None = None
    youtube_url: str = ""


class Mmvu(OfPaper):
    """The released validation questions, by their `id`."""

    name = "mmvu"
    version = 2
    splits: tuple[str, ...] = tuple(_FILES)

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read ``validation.json`` or ``test.json``, or find it in the folder `data`.

        `revision` is the date of the release with these answers, or ``unknown``.

        Raises:
            DataError: no such file, nothing usable in it, or with `strict` a bad entry.
            UsageError: the split does not exist, or the questions belong to another split.
        """
        check_split(self.name, split, self.splits)
        expected = _EXPECTED if split == "validation" else _EXPECTED.replace("validation.json", "test.json")
        file = files.read(locate(data, _FILES[split], what=expected))
        gathering = QuestionReader(file, strict=strict, id_field="id")
        decoder = msgspec.json.Decoder(_Row)
        rows: list[tuple[str, bytes, _Row]] = []
        for line, text in files.elements(file):
            if split != "test" and (item_id := text_of(text, "id")).startswith("test_"):
                raise UsageError(
                    f"{file.path}:{line}: {item_id!r} found, of the test split; use --split test (its "
                    "answers are hidden, and its authors score it), or give validation.json"
                )
            with gathering.row(line, text):
                rows.append((line, text, decoded(text, decoder)))
        known = {row.id: row.answer.strip() for *_, row in rows if row.answer}
        revision, said_of_it = _release(known) if known else ("unknown", "")
        for line, text, row in rows:
            with gathering.row(line, text):
                gathering.keep(_item(row, revision))
        moved = [row.id for *_, row in rows if _folder(row) != row.metadata.subject]
        what = "have a video in the folder of another subject; metadata.subject is used"
        gathering.notes.extend((*([said_of_it] if said_of_it else []), *several(moved, what)))
        return gathering.loaded(media_root=_media_root(data, file.path), revision=revision)


def create() -> Benchmark:
    """Create the benchmark ``mmvu``."""
    return Mmvu()


def _item(row: _Row, revision: str) -> Item:
    subject, disciplines = row.metadata.subject, group_of(Mmvu.name, "disciplines")
    if subject not in disciplines:
        raise FieldError("metadata.subject", f"{subject!r} found; expected one of the paper's 27 subjects")
    path = _video_path(row.video)
    if not path:
        raise FieldError(
            "video", f"{row.video!r} found; expected an address that ends in videos/SUBJECT/NUMBER.mp4"
        )
    is_choice = row.question_type == "multiple-choice"
    if is_choice and "".join(sorted(row.choices)) != _LETTERS:
        raise FieldError("choices", f"the letters {', '.join(row.choices)} found; expected A to E")
    item = Item(
        item_id=row.id,
        benchmark=Mmvu.name,
        media=(Media(path=path, url=row.video if "://" in row.video else None),),
        source=youtube_id(row.youtube_url),
        question=row.question,
        choices=tuple(row.choices[letter] for letter in _LETTERS) if is_choice else (),
        answer=(row.answer or "").strip(),
        answer_kind="choice" if is_choice else "text",
        tags={
            "subject": subject,
            "discipline": disciplines[subject],
            "textbook": row.metadata.textbook,
            "question_type": row.question_type,
        },
        rationale=row.metadata.rationale,
        knowledge=row.metadata.knowledge,
        provenance=Provenance(source=row.youtube_url.strip(), revision=revision),
    )
    return checked(item)


def youtube_id(address: str) -> str:
    """Return the video id in a YouTube address; other addresses are unchanged.

    >>> youtube_id(" https://www.youtube.com/watch?v=VkqytRr85ao&t=15s"), youtube_id("https://a.org/1.mp4")
    ('VkqytRr85ao', 'https://a.org/1.mp4')
    """
    match = _YOUTUBE.match(address.strip())
    return match["film"] if match else address.strip()


def _video_path(video: str) -> str:
    _, text, rest = f"/{video}".rpartition("/videos/")
    return f"videos/{rest}" if text and rest else ""


def _release(answers: Mapping[str, str]) -> tuple[str, str]:
    """Return the release with these answers, or ``unknown``, and a note."""
    changed_answers = paper_facts(Mmvu.name).lists["changed-answers"]
    # The open question among them may be left out of a file, the others not.
    letters = {item_id for item_id, texts in changed_answers.items() if len(texts[0]) == 1}
    changed = ", ".join(changed_answers)
    there = changed_answers.keys() & answers.keys()
    as_in = {
        release: [i for i, texts in changed_answers.items() if answers.get(i, "").strip() == texts[which]]
        for which, release in enumerate(_REVISIONS)
    }
    for release, other in (_REVISIONS, _REVISIONS[::-1]):
        if set(as_in[release]) == there and there >= letters:
            return release, (
                f"the answers are those of the release {release}; in the release {other} those of {changed} "
                "differ, so that scores on the two do not compare"
            )
    counts = "; ".join(
        f"{len(ids)} are those of {release}{': ' + listed(ids) if ids else ''}"
        for release, ids in as_in.items()
    )
    return "unknown", (
        f"the answers are those of neither known release (of {len(changed_answers)} that changed, "
        f"{counts}): scores may not compare with published ones"
    )


def _folder(row: _Row) -> str:
    return Path(_video_path(row.video)).parent.name.replace("_", " ")


def _media_root(data: Path, questions: Path) -> Path:
    """Return the folder that contains the folder ``videos``, or else the one to put it in."""
    start = data if data.is_dir() else questions.parent
    return with_videos((start, questions.parent, questions.parent.parent), default=start)
