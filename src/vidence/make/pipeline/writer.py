"""Have a model write a text: ask, check, ask again with the objection, give up."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, Protocol, Self, TypeVar

from vidence.ask.scoring.letters import plain
from vidence.contracts import Flow
from vidence.errors import RejectedRequestError
from vidence.make.pipeline.lexicon import words_in
from vidence.make.pipeline.material import Crop
from vidence.records import ImagePart, Prompt, Reply
from vidence.text import refusal_in, without_thinking

MadeT = TypeVar("MadeT")
_TRIES: Final = 2

# How models say that they will not or cannot; only a text that begins so is a refusal.
_DECLINES: Final = re.compile(
    r"\W*(?:(?:i['\u2019]?m|i am) (?:very |really |so )?(?:sorry|unable|not able|afraid)"
    r"|i (?:can['\u2019]?t|cannot|can not|won['\u2019]?t|will not|must decline|do not|don['\u2019]?t)\b"
    r"|sorry\b|unfortunately\b|as an? (?:ai|language model|assistant)\b|my apologies\b|i apologi[sz]e\b)",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"\A(?:[\w -]{0,30}(?:card|description|sentence|caption|answer|output)):\s*", re.IGNORECASE
)
_QUOTES: Final = "\"'\u201c\u201d\u2018\u2019`"
_ENDS: Final = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)]*(?=\s+[\"'\u201c(]*[A-Z0-9]|\s*\Z)")
_SHORT_FORMS: Final = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|vs|approx|e\.g|i\.e)\.|\b[A-Z]\.(?=[A-Z]\b|\s[A-Z])"
)


@dataclass(frozen=True, kw_only=True)
class Objection:
    """Why a text is rejected: a short name for accounts, and an objection for the writer."""

    reason: str
    detail: str
    is_final: bool = False


@dataclass(frozen=True, kw_only=True)
class Doubt(Generic[MadeT]):
    """A usable text with the reason why a better one is requested first."""

    made: MadeT
    objection: Objection


class Wording(Protocol):
    """How a writer is asked again."""

    def repaired(self, prompt: Prompt, result: str, *, problem: str) -> Prompt:
        """The prompt with the unusable reply, as data, and its fault."""


@dataclass(frozen=True, kw_only=True)
class WritingTask(Generic[MadeT]):
    """A writing task: the prompt, and the parser of replies.

    `said` is the last reply, `made` the result, `objection` why nothing did, `spare` what is used if
    nothing better comes, `n_tries` how often it was asked for.
    """

    prompt: Prompt
    read: Callable[[Reply], MadeT | Doubt[MadeT] | Objection]
    said: str = ""
    made: MadeT | None = None
    spare: MadeT | None = None
    objection: Objection | None = None
    n_tries: int = 0

    @property
    def why(self) -> Objection:
        """Why the task failed."""
        return self.objection or Objection(reason="empty", detail="nothing was written")

    @property
    def is_open(self) -> bool:
        """Whether it has not been asked, or is worth asking again."""
        if self.objection is None:
            return self.n_tries == 0
        return not self.objection.is_final and self.n_tries < _TRIES

    def after(self, reply: Reply | Objection) -> Self:
        """Return the task with a reply or a failure."""
        text = reply if isinstance(reply, Objection) else self.read(reply)
        message = "" if isinstance(reply, Objection) else reply.text
        asked = replace(self, said=message, n_tries=self.n_tries + 1, made=None)
        if isinstance(text, Doubt):
            return replace(asked, spare=text.made, objection=text.objection)
        if isinstance(text, Objection):
            # Whoever says that there is nothing to write takes back what was written before.
            takes_back = text.is_final and isinstance(reply, Reply) and not refusal_in(reply)
            return replace(asked, objection=text, spare=None if takes_back else asked.spare)
        return replace(asked, objection=None, made=text)


def write_all(pieces: Sequence[WritingTask[MadeT]], wording: Wording) -> Flow[list[WritingTask[MadeT]]]:
    """Ask all tasks concurrently; then retry rejected ones once, with the objection.

    Where the objection is final, as when a model declines, it is not asked again. A request that the model
    rejects is an objection to its piece alone.
    """
    written = list(pieces)
    while places := [i for i, task in enumerate(written) if task.is_open]:
        asked = [
            task.prompt
            if task.objection is None
            else wording.repaired(task.prompt, task.said, problem=task.objection.detail)
            for task in (written[i] for i in places)
        ]
        for i, reply in zip(places, (yield from _replies(asked)), strict=True):
            written[i] = written[i].after(reply)
    return [
        task
        if task.objection is None or task.spare is None
        else replace(task, made=task.spare, objection=None)
        for task in written
    ]


def _replies(asked: Sequence[Prompt]) -> Flow[list[Reply | Objection]]:
    """All replies; rejected requests are put one at a time, the rest come from memory."""
    try:
        return list((yield tuple(asked)))
    except RejectedRequestError as error:
        if len(asked) == 1:
            return [Objection(reason="request-rejected", detail=str(error), is_final=True)]
    replies: list[Reply | Objection] = []
    for prompt in asked:
        replies += yield from _replies([prompt])
    return replies


def in_words(
    read: Callable[[str], MadeT | Doubt[MadeT] | Objection],
) -> Callable[[Reply], MadeT | Doubt[MadeT] | Objection]:
    """Reads the text of a complete reply, which must have some and decline nothing."""

    def read_reply(reply: Reply) -> MadeT | Doubt[MadeT] | Objection:
        if refused := refusal_in(reply):
            return Objection(reason="refused", detail=refused.reason, is_final=True)
        text = without_thinking(reply.text).strip()
        if not text:
            cut = " (it was cut off at its length limit)" if reply.finish == "length" else ""
            return Objection(reason="empty", detail=f"it holds no words{cut}")
        if _DECLINES.match(text):
            detail = f"it declines instead of describing: {text[:120]!r}"
            return Objection(reason="refused", detail=detail)
        if reply.finish == "length":
            detail = "it was cut off at its length limit; write less"
            return Objection(reason="cut-off", detail=detail)
        return read(text)

    return read_reply


def tidy(text: str) -> str:
    """A text on one line, without markup, headings such as "Description:" or outer quotes.

    >>> tidy('**Caption:** "A man walks."')
    'A man walks.'
    """
    line = _LEAD.sub("", " ".join(plain(text).split()))
    if len(line) > 1 and line[0] in _QUOTES and line[-1] in _QUOTES:
        line = line[1:-1]
    return line.strip()


def n_sentences(text: str) -> int:
    """The number of sentences; a text without a final full stop counts as one.

    >>> n_sentences("Mr. Ho waits. It rains")
    2
    """
    rest = _SHORT_FORMS.sub(lambda match: match[0].replace(".", ""), text).strip()
    ends = [match.end() for match in _ENDS.finditer(rest)]
    return len(ends) + bool(rest and (not ends or ends[-1] < len(rest)))


def misshapen(text: str, *, sentences: tuple[int, int], words: tuple[int, int]) -> Objection | None:
    """What is wrong with the length of a text; None if nothing.

    Args:
        text: made by `tidy`.
        sentences: the fewest and the most.
        words: the fewest and the most.
    """
    if not words_in(text):
        return Objection(reason="empty", detail="it holds no words")
    for name, number, (fewest, most) in (
        ("sentence", n_sentences(text), sentences),
        ("word", len(words_in(text)), words),
    ):
        if not fewest <= number <= most:
            wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
            return Objection(
                reason="wrong-length",
                detail=f"it has {number} {name}{'s' * (number != 1)}; wanted are {wanted}",
            )
    return None


def image(crop: Crop) -> ImagePart:
    """A picture as part of a prompt."""
    return ImagePart(
        digest=crop.digest, width_px=crop.width_px, height_px=crop.height_px, media_type=crop.media_type
    )
