"""What models say of a video: which frames hold text, one caption, and answers read from the caption."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.prompting.templates import Template, Templates
from vidence.ask.scoring.letters import plain
from vidence.catalog import create
from vidence.contracts import Flow
from vidence.explain.diagnostics.conditions import ReplyScore, reply_score
from vidence.make.gates.model_gates import DraftSubject
from vidence.make.pipeline.material import Crop
from vidence.make.pipeline.wording import CardWording, load_template
from vidence.make.pipeline.writer import Objection, WritingTask, image, in_words, misshapen, tidy, write_all
from vidence.records import Item, Prompt, Record, TextPart

VERSION: Final = 1
LOOK, CAPTION, BEHIND = "select_look", "select_caption", "select_read"
VARIABLES: Final[Mapping[str, Mapping[str, str]]] = {
    LOOK: {"n_frames": "how many frames are shown, in order"},
    CAPTION: {"n_frames": "how many frames are shown, in order"},
    BEHIND: {"text": "the caption, as a JSON string"},
}
_CAPTION_WORDS: Final = (20, 400)
_NUMBERS: Final = re.compile(r"(?:frames? )?\d+(?:(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+|\s+)\d+)*")
_LINE: Final = re.compile(r"^\W*(text|lecture)\W*:\s*(.*?)\W*$", re.IGNORECASE)


class FrameShares(Record, omit_defaults=True):
    """What a model saw: the shares of frames with text, and like a lecture; None where it said nothing."""

    text: float | None = None
    lecture: float | None = None
    why: str = ""


class Captioned(Record, omit_defaults=True):
    """The caption of a video; empty where there is none, and `why` says why."""

    caption: str = ""
    why: str = ""


class FromCaption(Record):
    """How one question was answered: from the caption, and from the question alone; `chance` is guessing."""

    item_id: str
    with_caption: ReplyScore
    blind: ReplyScore
    chance: float


@dataclass(frozen=True, kw_only=True)
class SelectWording:
    """The words in which models are asked; files of the user replace ours."""

    templates: Mapping[str, Template]
    repairs: CardWording
    plain: Templates

    @classmethod
    def load(cls, folder: Path | None) -> "SelectWording":
        """Read them, and try each once.

        Raises:
            UsageError: one cannot be used.
        """
        return cls(
            templates={
                name: load_template(name, variables=VARIABLES[name], folder=folder) for name in VARIABLES
            },
            repairs=CardWording.load(folder),
            plain=Templates.load("plain"),
        )

    def label(self, name: str) -> str:
        """What a stored prompt says of a template."""
        return self.templates[name].label


def look(frames: Sequence[Crop], words: SelectWording) -> Callable[[], Flow[FrameShares]]:
    """Ask which frames hold text, and which look like a lecture; once more where the reply is no list."""

    def read(text: str) -> FrameShares | Objection:
        return _lists(text, n=len(frames))

    def start() -> Flow[FrameShares]:
        piece = WritingTask(prompt=_shown(frames, LOOK, words), read=in_words(read))
        (one,) = yield from write_all([piece], words.repairs)
        return one.made if one.made is not None else FrameShares(why=_why(one.objection))

    return start


def caption(frames: Sequence[Crop], words: SelectWording) -> Callable[[], Flow[Captioned]]:
    """Have one caption written of a video."""

    def read(text: str) -> Captioned | Objection:
        line = tidy(text)
        wrong = misshapen(line, sentences=(1, 40), words=_CAPTION_WORDS)
        return wrong or Captioned(caption=line)

    def start() -> Flow[Captioned]:
        piece = WritingTask(prompt=_shown(frames, CAPTION, words), read=in_words(read))
        (one,) = yield from write_all([piece], words.repairs)
        return one.made if one.made is not None else Captioned(why=_why(one.objection))

    return start


def read_caption(
    items: Sequence[Item], said: str, words: SelectWording
) -> Callable[[], Flow[tuple[FromCaption, ...]]]:
    """Put questions with choices to a reader of words: with the caption before them, and without.

    The prompt with the caption is the blind one with the caption before it, and nothing else.
    """
    parser = create("parser", "robust")

    def start() -> Flow[tuple[FromCaption, ...]]:
        subjects = [DraftSubject(item=item, templates=words.plain, parser=parser) for item in items]
        blind = [one.prompt("", ()) for one in subjects]
        told = TextPart(text=words.templates[BEHIND].fill({"text": msgspec.json.encode(said).decode()}))
        label = words.label(BEHIND)
        with_it = [
            msgspec.structs.replace(one, parts=(told, *one.parts), template=f"{label} {one.template}")
            for one in blind
        ]
        replies = yield (*with_it, *blind)
        scores: list[ReplyScore] = []
        for subject, reply in zip((*subjects, *subjects), replies, strict=True):
            scores.append(reply_score(reply, (yield from subject.mark(reply))))
        n = len(items)
        return tuple(
            FromCaption(item_id=item.item_id, with_caption=one, blind=other, chance=1 / len(item.choices))
            for item, one, other in zip(items, scores[:n], scores[n:], strict=True)
        )

    return start


def _shown(frames: Sequence[Crop], name: str, words: SelectWording) -> Prompt:
    text = words.templates[name].fill({"n_frames": len(frames)})
    return Prompt(parts=(*map(image, frames), TextPart(text=text)), template=words.label(name))


def _why(objection: Objection | None) -> str:
    return "nothing was said" if objection is None else f"{objection.reason}: {objection.detail}"


def _lists(text: str, *, n: int) -> FrameShares | Objection:
    """The shares that two lists of frames say.

    >>> _lists("TEXT: 1, 2" + chr(10) + "LECTURE: none", n=4)
    FrameShares(text=0.5, lecture=0.0, why='')
    """
    found: dict[str, float] = {}
    for line in text.splitlines():
        if (match := _LINE.match(plain(line))) is None:
            continue
        said = match[2].strip().casefold()
        is_list = _NUMBERS.fullmatch(said) is not None
        numbers = {int(one) for one in re.findall(r"\d+", said)} if is_list else set()
        if said != "none" and (not numbers or not numbers <= set(range(1, n + 1))):
            detail = (
                f"the line {line.strip()[:80]!r} is no list of frames from 1 to {n}, and not the word none"
            )
            return Objection(reason="misshapen", detail=detail)
        found[match[1].casefold()] = len(numbers) / n
    if found.keys() != {"text", "lecture"}:
        return Objection(reason="misshapen", detail="wanted are the two lines TEXT: and LECTURE:")
    return FrameShares(text=found["text"], lecture=found["lecture"])
