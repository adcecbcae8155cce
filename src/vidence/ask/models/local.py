"""What models that make up their replies in this process share: defaults, cut replies, checks of options."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UnknownNameError, UsageError
from vidence.records import ImagePart, Record, Reply, VideoPart


class LocalModel(ABC):
    """A `contracts.Model` that holds nothing that must be let go of."""

    identity: str
    looks = True
    by_item = False
    max_in_flight: int | None = None

    @abstractmethod
    async def reply(self, request: Request) -> Reply:
        """Answer; see `Model.reply`."""

    async def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of what was kept."""


class InstantModel(LocalModel):
    """One whose replies are recorded or follow a rule: a reply costs less than to remember it."""

    looks = False
    by_item = True


def said(text: str, request: Request) -> Reply:
    """The reply with these words, cut off after `max_tokens` of them."""
    words, limit = re.findall(r"\s*\S+", text), request.sampling.max_tokens
    if limit is None or limit >= len(words):
        return Reply(text=text)
    return Reply(text="".join(words[:limit]), finish="length")


def drawn(letters: Sequence[str], *words: object) -> str:
    """One of the letters; which one follows from the words, on every machine."""
    digest = hashlib.sha256(":".join(map(str, words)).encode()).digest()
    return letters[int.from_bytes(digest) % len(letters)]


def images_shown(request: Request, *, owner: str) -> list[ImagePart]:
    """The images of a prompt, in their order.

    Raises:
        RejectedRequestError: the prompt holds a whole video.
    """
    for part in request.prompt.parts:
        if isinstance(part, VideoPart):
            raise RejectedRequestError(
                f"{owner} reads images, not a whole video ({part.path}); use the layout images or montage"
            )
    return [part for part in request.prompt.parts if isinstance(part, ImagePart)]


def check_rule(
    spec: str, settings: Record, *, kind: str, known: Sequence[str], options: Mapping[str, str]
) -> None:
    """Refuse a rule that is not known, options of another rule, and a letter that is none.

    Args:
        spec: what names the rule, such as ``baseline:random``.
        settings: the options in use.
        kind: what a rule is called in messages.
        known: the rules that there are.
        options: the rule that each option belongs to; None is an option that was not given.

    Raises:
        UsageError: as above.
    """
    provider, _, name = spec.partition(":")
    if name not in known:
        raise UnknownNameError(kind, name, known)
    for option, rule in options.items():
        value = getattr(settings, option)
        if value is not None and name != rule:
            raise UsageError(f"{provider}:{name} has no option {option!r}; {provider}:{rule} has it")
        if option == "letter" and value is not None and not re.fullmatch("[A-Za-z]", value):
            raise UsageError(f"{provider}:{name}: letter={value!r} is not one letter, for example C")
