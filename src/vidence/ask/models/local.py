"""Shared by models that compute replies in this process: defaults, truncated replies, option checks."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UnknownNameError, UsageError
from vidence.records import ImagePart, Record, Reply, VideoPart


class LocalModel(ABC):
    """A `contracts.Model` without resources to release."""

    identity: str
    looks = True
    by_item = False
    max_in_flight: int | None = None

    @abstractmethod
    async def reply(self, request: Request) -> Reply:
        """Return the reply; see `Model.reply`."""

    async def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Release resources, if any."""


class InstantModel(LocalModel):
    """A model with recorded or rule-based replies, which are cheaper to compute than to cache."""

    looks = False
    by_item = True


def said(text: str, request: Request) -> Reply:
    """Return a reply with this text, truncated to `max_tokens` words."""
    words, limit = re.findall(r"\s*\S+", text), request.sampling.max_tokens
    if limit is None or limit >= len(words):
        return Reply(text=text)
    return Reply(text="".join(words[:limit]), finish="length")


def drawn(letters: Sequence[str], *words: object) -> str:
    """Return one of the letters, determined by a hash of the words on every machine."""
    digest = hashlib.sha256(":".join(map(str, words)).encode()).digest()
    return letters[int.from_bytes(digest) % len(letters)]


def images_shown(request: Request, *, owner: str) -> list[ImagePart]:
    """Return the images of a prompt, in order.

    Raises:
        RejectedRequestError: the prompt contains a whole video.
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
    """Reject unknown rules, options of another rule, and invalid letters.

    Args:
        spec: names the rule, such as ``baseline:random``.
        settings: the options in use.
        kind: the word for a rule in messages.
        known: the available rules.
        options: the rule that each option belongs to; an option of None was not given.

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
