"""Test which person a description fits: a model sees it with pictures of all people, in two orders."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from vidence.contracts import Flow
from vidence.engine.config_file import Count
from vidence.make.pipeline.material import Card, Crop, Dropped
from vidence.make.pipeline.wording import IDENTIFY, SYSTEM, CardWording
from vidence.make.pipeline.writer import Objection, WritingTask, image, in_words, write_all
from vidence.records import ImagePart, Prompt, Record, TextPart

STAGE: Final = "identified"
ORDERS: Final = 2  # in which a model is asked about a card
_MOST_PEOPLE: Final = 40
_LINE: Final = re.compile(r"\AFITS\s*:\s*(none|\d+(?:\s*(?:,|and|;)?\s*\d+)*)\s*\.?\Z", re.IGNORECASE)


class IdentifyRules(Record, omit_defaults=True):
    """How to test a description on the people of its video.

    The model is shown at most `most_people` of them, those most alike by colours where there are more, with
    `n_pictures` of each.
    """

    most_people: Annotated[int, Meta(ge=2, le=_MOST_PEOPLE)] = 12
    n_pictures: Count = 2


@dataclass(frozen=True, kw_only=True)
class IdentificationTry:
    """The people a description fits among `shown`; `dropped` if the test failed."""

    fits: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    dropped: Dropped | None = None


def try_card(
    card: Card, pictures: Mapping[str, Sequence[Crop]], *, wording: CardWording
) -> Flow[IdentificationTry]:
    """Ask which people a description fits.

    It is asked twice, the second time in the reverse order, so that a model that names a place and not a
    person contradicts itself. Whom only one reply names is among those whom it fits: that much doubt is
    enough to ask nothing.

    Args:
        card: an A-card.
        pictures: of the described person and of the others, by track.
        wording: the templates.

    Source: HERBench, figure 13 (exactly one individual fits the description).
    Departs: the paper does not say how it makes sure of that.
    """
    first = _order(card, tuple(pictures))
    orders = (first, first[::-1])
    pieces = [
        WritingTask(
            prompt=_prompt(card, order, pictures, wording=wording),
            read=in_words(partial(_read, n_people=len(order))),
        )
        for order in orders
    ]
    written = yield from write_all(pieces, wording)
    named: set[str] = set()
    for order, piece in zip(orders, written, strict=True):
        if piece.objection is not None or piece.made is None:
            why = piece.objection or Objection(reason="empty", detail="nothing was written")
            gone = Dropped(what=f"{card.track_id}/A", stage=STAGE, reason=why.reason, detail=why.detail)
            return IdentificationTry(shown=first, dropped=gone)
        named |= {order[number - 1] for number in piece.made}
    return IdentificationTry(fits=tuple(name for name in pictures if name in named), shown=tuple(pictures))


def _order(card: Card, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the people in a random order with the described one not in the middle."""

    def rank(name: str) -> bytes:
        return hashlib.sha256(f"{card.track_id}\n{card.text}\n{name}".encode()).digest()

    order = sorted(names, key=rank)
    middle = order.index(card.track_id) if card.track_id in order else -1
    if len(order) > 1 and 2 * middle == len(order) - 1:
        order[middle], order[middle - 1] = order[middle - 1], order[middle]
    return tuple(order)


def _prompt(
    card: Card, order: Sequence[str], pictures: Mapping[str, Sequence[Crop]], *, wording: CardWording
) -> Prompt:
    n_pictures = sum(len(pictures[name]) for name in order)
    words = wording.fill(
        IDENTIFY,
        {"text": json.dumps(card.text, ensure_ascii=False), "n_people": len(order), "n_pictures": n_pictures},
    )
    entries: list[TextPart | ImagePart] = []
    for number, name in enumerate(order, 1):
        entries += [TextPart(text=f"Person {number}"), *map(image, pictures[name])]
    return Prompt(
        parts=(*entries, TextPart(text=words)),
        system=wording.fill(SYSTEM, {}),
        template=wording.label(IDENTIFY),
    )


def _read(message: str, *, n_people: int) -> tuple[int, ...] | Objection:
    """The numbers in a reply.

    >>> _read("FITS: 2, 3", n_people=3)
    (2, 3)
    """
    match = _LINE.match(message.strip().strip("*`"))
    if match is None:
        detail = f"it is {message[:120]!r}; write one line, FITS: and the numbers of people, or FITS: none"
        return Objection(reason="unreadable", detail=detail)
    numbers = tuple(dict.fromkeys(int(entry) for entry in re.findall(r"\d+", match[1])))
    if wrong := [number for number in numbers if not 1 <= number <= n_people]:
        detail = f"it names person {wrong[0]}, and {n_people} people are shown"
        return Objection(reason="unreadable", detail=detail)
    return numbers


def identified(card: Card, tried: IdentificationTry, *, by: str) -> Card:
    """Return the card with its matches; unchanged if the test failed."""
    if tried.dropped is not None:
        return card
    return msgspec.structs.replace(card, fits=tried.fits, identified_by=by)
