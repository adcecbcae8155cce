"""Simulated models with known defects: ``phantom:fuser|single|blind|letter-biased|forgetful|writer``.

``writer`` writes the cards of a drawn street. The others read the codes in the pixels of the frames that
they are given and the question in the words of the prompt, and know nothing else. With cards missing they
name the largest choice that cannot be right (every card not seen adds 1 or more), or say that the answer
cannot be told; so they are never right by luck, but for ``letter-biased``, which then always names its
letter.

Log-probabilities, where asked for, are planted. With n letters and m of the cards not known::

    q(m) = 0.9 * (1.2 n) ** -m

* nothing missing: the right letter has q(0) = 0.9, the others share 0.1 evenly;
* m missing and a letter named: it has 1 - (n - 1) q(m), every other letter q(m);
* m missing and none named: every letter has q(m), or q(1) when m is 0, and the rest is on no letter.

So the log-probability of the right letter falls by ln(1.2 n) with each card that is missing, and the
leave-one-out shares of k frames that show one needed card each are 1/k for ``fuser``. ``single``
looks for one card only, so one frame has the whole share. A leaked answer counts as nothing missing.
"""

import math
import re
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Annotated, ClassVar, Final, TypeAlias

import anyio.to_thread
import msgspec
from msgspec import Meta

from vidence.ask.models.images import pixels_of
from vidence.ask.models.local import LocalModel, check_rule, images_shown, said
from vidence.ask.models.settings import Count
from vidence.ask.phantom.code import Payload, read, read_montage
from vidence.ask.phantom.planted import LOSS_PER_LETTER, MODEL_NAMES, SimulatedModel
from vidence.ask.phantom.questions import ParsedPrompt, understand
from vidence.ask.phantom.scene import colour_of, look_of
from vidence.contracts import Request
from vidence.records import ImagePart, Record, Reply

VERSION = 1
WRITER: Final = "writer"
_REMEMBERED = 4096  # images whose codes are kept
_EMPTY_LEVEL = 12  # montage cells without a frame are darker than any frame of a phantom video
_PLACEHOLDER = re.compile(
    r"(?:<answer>|(?:therefore, )?(?:the )?(?:final )?answer(?: is)?:)"
    r"(?: *\"?answer:)? *(?P<blank>\$[A-Z]+|X\b)(?:\"|</answer>)?",
    re.IGNORECASE,
)
_WANTS_STEPS = re.compile(r"\bsteps?\b|\breason\b", re.IGNORECASE)
_CANNOT_TELL = "This cannot be told from what is shown."

_Codes: TypeAlias = dict[ImagePart, tuple[Payload, ...]]


class Settings(Record):
    """Options of ``phantom:`` models."""

    positional: ClassVar[str] = "name"

    name: Annotated[str, Meta(description="which simulated model")]
    letter: Annotated[str | None, Meta(description="of `letter-biased`; by default A")] = None
    memory: Annotated[Count | None, Meta(description="cards that `forgetful` keeps; by default 2")] = None

    def __post_init__(self) -> None:
        """Reject unknown names, options of another model, and invalid letters."""
        owners = {"letter": "letter-biased", "memory": "forgetful"}
        known = (*MODEL_NAMES, WRITER)
        check_rule(f"phantom:{self.name}", self, kind="simulated model", known=known, options=owners)


class _Belief(Record):
    """How a simulated model answers a question.

    `number` is the answer if all is known, `letter` the choice it names, `n_missing` how many cards it does
    not know; `is_sure` distinguishes a derived choice from a guess.
    """

    number: int | None
    n_missing: int
    is_sure: bool
    letter: str | None


def _letter_of(choices: Mapping[str, int], number: int) -> str | None:
    return next((letter for letter, choice in choices.items() if choice == number), None)


def _remembered(reader: SimulatedModel, asked: ParsedPrompt, codes: Sequence[Payload]) -> dict[str, int]:
    """Return the needed cards that the model still knows after its last frame, with their numbers."""
    wanted = {"single": asked.colours[:1], "blind": ()}.get(reader.name, asked.colours)
    known: dict[str, int] = {}
    for code in codes:
        colour = colour_of(code.piece)
        if colour in wanted and not (reader.name == "single" and colour in known):
            known.pop(colour, None)
            known[colour] = code.value
    last = list(known.items())
    return dict(last[-reader.memory :] if reader.name == "forgetful" else last)


def _believe(reader: SimulatedModel, asked: ParsedPrompt, known: Mapping[str, int]) -> _Belief:
    n_missing = 0 if asked.told is not None else len(asked.colours) - len(known)
    if n_missing == 0:
        number = sum(known.values()) if asked.told is None else asked.told
        letter = _letter_of(asked.choices, number)
        return _Belief(number=number, n_missing=0, is_sure=letter is not None, letter=letter)
    if reader.name == "letter-biased":
        letter = reader.letter if reader.letter in asked.choices else None
        return _Belief(number=None, n_missing=n_missing, is_sure=False, letter=letter)
    least = sum(known.values()) + n_missing
    too_small = [choice for choice in asked.choices.values() if choice < least]
    letter = _letter_of(asked.choices, max(too_small)) if too_small else None
    return _Belief(number=None, n_missing=n_missing, is_sure=False, letter=letter)


def _logps(belief: _Belief, letters: Sequence[str]) -> dict[str, float]:
    """Return the planted log-probability of each letter; see the formula at the top of this file."""
    n = len(letters)
    if belief.is_sure:
        named, others = 0.9, 0.1 / max(n - 1, 1)
    else:
        others = 0.9 * (LOSS_PER_LETTER * n) ** -max(belief.n_missing, 1)
        named = 1 - (n - 1) * others
    return {letter: math.log(named if letter == belief.letter else others) for letter in letters}


def _words(asked: ParsedPrompt, known: Mapping[str, int]) -> str:
    if asked.told is not None:
        return f"The question itself says that it is {asked.told}."
    seen = [f"the {colour} card shows {known[colour]}" for colour in asked.colours if colour in known]
    unseen = [f"the {colour} card is not seen" for colour in asked.colours if colour not in known]
    words = ", ".join(seen + unseen)
    return f"{words[0].upper()}{words[1:]}."


def _closing(prompt: str, answer: str) -> str:
    """Return the answer in the final form that the prompt asks for, or alone if it asks for none."""
    forms = list(_PLACEHOLDER.finditer(prompt))
    if not forms:
        return answer
    start, whole = forms[-1].start(), forms[-1].group()
    blank_start, blank_end = (position - start for position in forms[-1].span("blank"))
    return whole[:blank_start] + answer + whole[blank_end:]


class PhantomModel(LocalModel):
    """A simulated model.

    `reader` is its rule in the form of `vidence.ask.phantom.planted.expected`.
    """

    def __init__(self, reader: SimulatedModel) -> None:
        self._name = _named(reader)
        self.identity = f"{self._name} v{VERSION}"
        self.reader = reader

    async def reply(self, request: Request) -> Reply:
        """Answer from what can be read in the images and text.

        Raises:
            RejectedRequestError: the prompt contains a whole video, an invalid image, or one whose bytes were
                not sent.
        """
        prompt = request.prompt.text
        asked = understand(prompt)
        if asked is None:
            return msgspec.structs.replace(said(_CANNOT_TELL, request), model=self._name)
        codes = await self._look(request)
        is_stepwise = _WANTS_STEPS.search(prompt) is not None
        known = _remembered(self.reader, asked, codes)
        belief = _believe(self.reader, asked, known)
        logps = _logps(belief, list(asked.choices)) if asked.choices else {}
        number = None if belief.number is None else str(belief.number)
        answer = belief.letter if asked.choices else number
        closing = _CANNOT_TELL if answer is None else _closing(prompt, answer)
        words = _words(asked, known)
        return msgspec.structs.replace(
            said(f"{words}\n{closing}" if is_stepwise else closing, request),
            reasoning="" if is_stepwise else words,
            model=self._name,
            choice_logps=logps if logps and request.sampling.want_choice_logps else None,
        )

    async def _look(self, request: Request) -> list[Payload]:
        """Return the codes in the images, in display order."""
        if self.reader.name == "blind":
            return []
        parts = images_shown(request, owner=self._name)
        known = _CODES.known(parts, request.images)
        if known is None:
            known = await anyio.to_thread.run_sync(_CODES.read, parts, request.images)
        return [code for part in parts for code in known[part]]


def _named(reader: SimulatedModel) -> str:
    """Return a model's name with all options that determine its replies."""
    options = {
        "letter": reader.letter if reader.name == "letter-biased" else "",
        "memory": str(reader.memory) if reader.name == "forgetful" else "",
    }
    named = "&".join(f"{key}={value}" for key, value in options.items() if value)
    return f"phantom:{reader.name}{'?' if named else ''}{named}"


def _key(part: ImagePart) -> tuple[str, int]:
    return part.digest, len(part.frames)


class _CodesOfImages:
    """Codes in images by digest, shared by all models because each diagnosis opens its own."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, int], tuple[Payload, ...]] = {}
        self._lock = Lock()  # several that want the same image read it once

    def known(self, parts: Sequence[ImagePart], images: Mapping[str, bytes]) -> _Codes | None:
        """Return the codes in these images; None if one is unknown or was not sent."""
        values = {part: self._codes.get(_key(part)) for part in parts if part.digest in images}
        whole = {part: codes for part, codes in values.items() if codes is not None}
        return whole if len(whole) == len(set(parts)) else None

    def read(self, parts: Sequence[ImagePart], images: Mapping[str, bytes]) -> _Codes:
        """Return the codes, reading images that are not cached."""
        with self._lock:
            known = self.known(parts, images) or {part: self._one(part, images) for part in parts}
            for key in list(self._codes)[:-_REMEMBERED]:
                del self._codes[key]
            return known

    def _one(self, part: ImagePart, images: Mapping[str, bytes]) -> tuple[Payload, ...]:
        if part.digest not in images or _key(part) not in self._codes:
            self._codes[_key(part)] = _read_image(part, images)
        return self._codes[_key(part)]


_CODES = _CodesOfImages()


def _read_image(part: ImagePart, images: Mapping[str, bytes]) -> tuple[Payload, ...]:
    picture = pixels_of(part, images)
    code = read(picture)
    if code is not None and len(part.frames) <= 1:
        return (code,)
    has_empty_cells = int(picture[-4:, -4:].max()) < _EMPTY_LEVEL
    if len(part.frames) > 1 or has_empty_cells:
        return read_montage(picture, max(len(part.frames), 1))
    return ()


# ------------------------------------------------------------------------------------- the writer

_PATH = (
    "They cross the frame on a straight line. No stop is made on the way. "
    "Others pass close by without any contact."
)
_IS_PATH = re.compile(r"card_path", re.IGNORECASE)
_NOTHING = "No person is visible."


class CardWriter(LocalModel):
    """Describes a figure by the colour of its coat, walking straight ahead."""

    def __init__(self) -> None:
        self.identity = f"phantom:{WRITER} v{VERSION}"

    async def reply(self, request: Request) -> Reply:
        """Describe the look in the pictures; for a path card, describe a straight path.

        Raises:
            RejectedRequestError: an invalid image, or one whose bytes were not sent.
        """
        parts = [part for part in request.prompt.parts if isinstance(part, ImagePart)]
        pictures = await anyio.to_thread.run_sync(lambda: [pixels_of(part, request.images) for part in parts])
        text = _NOTHING
        if pictures:
            is_path = _IS_PATH.search(request.prompt.template) is not None
            text = _PATH if is_path else look_of(pictures).words
        return msgspec.structs.replace(said(text, request), model=f"phantom:{WRITER}")


def create(settings: Settings) -> PhantomModel | CardWriter:
    """Create the simulated model of that name, or the card writer for a drawn street."""
    if settings.name == WRITER:
        return CardWriter()
    letter = settings.letter and settings.letter.upper()
    rule = {"name": settings.name, "letter": letter, "memory": settings.memory}
    return PhantomModel(msgspec.convert({k: v for k, v in rule.items() if v is not None}, SimulatedModel))
