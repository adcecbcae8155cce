"""What a model says of a video: which frames hold text, and which look like a lecture."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from vidence.ask.prompting.templates import Template
from vidence.ask.scoring.letters import plain
from vidence.contracts import Flow
from vidence.make.pipeline.material import Crop
from vidence.make.pipeline.wording import CardWording, load_template
from vidence.make.pipeline.writer import Objection, WritingTask, image, in_words, write_all
from vidence.records import Prompt, Record, TextPart

VERSION: Final = 1
VARIABLES: Final[Mapping[str, str]] = {"n_frames": "how many frames are shown, in order"}
_NUMBERS: Final = re.compile(r"(?:frames? )?\d+(?:(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+|\s+)\d+)*")
_LINE: Final = re.compile(r"^\W*(text|lecture)\W*:\s*(.*?)\W*$", re.IGNORECASE)


class FrameShares(Record, omit_defaults=True):
    """What a model saw: the shares of frames with text, and like a lecture; None where it said nothing."""

    text: float | None = None
    lecture: float | None = None
    why: str = ""


def look_template(folder: Path | None) -> Template:
    """The words that a looker is asked in; ``select_look.txt`` of the user's folder replaces ours.

    Raises:
        UsageError: it cannot be used.
    """
    return load_template("select_look", variables=VARIABLES, folder=folder)


def look(frames: Sequence[Crop], template: Template, repairs: CardWording) -> Callable[[], Flow[FrameShares]]:
    """Ask which frames hold text, and which look like a lecture; once more where the reply is no list."""

    def read(text: str) -> FrameShares | Objection:
        return _lists(text, n=len(frames))

    def start() -> Flow[FrameShares]:
        words = TextPart(text=template.fill({"n_frames": len(frames)}))
        prompt = Prompt(parts=(*map(image, frames), words), template=template.label)
        (one,) = yield from write_all([WritingTask(prompt=prompt, read=in_words(read))], repairs)
        if one.made is not None:
            return one.made
        objection = one.objection
        return FrameShares(why=f"{objection.reason}: {objection.detail}" if objection else "nothing was said")

    return start


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
