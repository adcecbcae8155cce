"""The two cards of a track, appearance and action; neither may reveal the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import msgspec

from vidence.contracts import Flow
from vidence.make.herbench.cards.crops import TrackPictures
from vidence.make.herbench.cards.screening import (
    LIMIT,
    NOT_ONE_PERSON,
    describes_several,
    leakage,
    says_different_people,
    several_in,
)
from vidence.make.pipeline.lexicon import action_words, appearance_words
from vidence.make.pipeline.material import Card, Dropped
from vidence.make.pipeline.wording import APPEARANCE, PATH, SYSTEM, CardWording
from vidence.make.pipeline.writer import (
    Doubt,
    Objection,
    WritingTask,
    image,
    in_words,
    misshapen,
    tidy,
    write_all,
)
from vidence.records import Prompt, Record, TextPart

STAGE: Final = "cards"
# The paper wants 2-4 sentences of appearance and 3-7 of path; one less or two more is no reason to drop one.
_SENTENCES: Final = {"A": (1, 6), "B": (2, 9)}
_WORDS: Final = {"A": (6, 160), "B": (12, 260)}
_TOLD: Final = {"A": "tells-actions", "B": "names-clothing"}


class CardChecks(Record, omit_defaults=True):
    """When cards are used.

    `limit` is the largest Jaccard similarity of the two cards of a track. With `strict` an appearance card
    that tells actions or places, and a path card that names clothes, are dropped where a second try does too;
    otherwise they are kept with a flag, because such words are often innocent (*running shoes*).
    """

    limit: float = LIMIT
    strict: bool = False


class Flag(Record):
    """A remark on a card for a person to check; `words` caused it."""

    track_id: str
    kind: Literal["A", "B"]
    reason: str
    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TrackCards:
    """Result for a track: its cards, remarks, and what was dropped.

    A card that cannot be used is in `dropped` as ``TRACK/A`` or ``TRACK/B``.
    """

    track_id: str
    cards: tuple[Card, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def is_one_person(self) -> bool:
        """Whether all writers saw a single person in the track's pictures."""
        return all(dropped.reason != NOT_ONE_PERSON for dropped in self.dropped)


def write_cards(
    pictures: TrackPictures,
    *,
    times_s: Sequence[float],
    wording: CardWording,
    rules: CardChecks | None = None,
    writer: str = "",
) -> Flow[TrackCards]:
    """Have both cards of a track written by a model.

    Both are asked for together. What cannot be used is asked for once more, with what was wrong; a path card
    that leaks is asked for once more, with the words that leak, and then dropped. The appearance card stays.
    Where either reply says that the pictures show different people, there is no card of the track at all.

    Args:
        pictures: what the model is shown.
        times_s: the time of every frame of the video, in seconds.
        wording: the templates.
        rules: when cards are used.
        writer: the identity of the model, kept with the cards.

    Source: HERBench, sections 3.2 and 7.2.
    Departs: the words are ours. For the path the whole frames are shown, too, with the box drawn in: a crop
        alone shows no path. The paper's manual leakage review is the `flags`.
    """
    rules = rules or CardChecks()
    prompts = _prompts(pictures, times_s=times_s, wording=wording)
    kinds: tuple[Literal["A", "B"], ...] = ("A", "B")
    pieces = [
        WritingTask(prompt=prompts[kind], read=in_words(_reader(kind, strict=rules.strict))) for kind in kinds
    ]
    a_piece, b_piece = yield from write_all(pieces, wording)
    if any(_is_mixed(piece) for piece in (a_piece, b_piece)):
        return _no_card(pictures.track_id, {"A": a_piece.objection, "B": b_piece.objection})
    a_text, b_text = _text(a_piece), _text(b_piece)
    if problem := _leak(a_text, b_text, rules.limit):
        again = wording.repaired(prompts["B"], b_piece.said, problem=problem)
        fresh = replace(b_piece, prompt=again, n_tries=0, made=None, spare=None)
        (b_piece,) = yield from write_all([fresh], wording)
        if _is_mixed(b_piece):
            return _no_card(pictures.track_id, {"A": a_piece.objection, "B": b_piece.objection})
        if problem := _leak(a_text, _text(b_piece), rules.limit):
            objection = Objection(reason="leaks-appearance", detail=problem)
            b_piece = replace(b_piece, objection=objection, made=None)
    cards, dropped = [], []
    for kind, piece, crops in (("A", a_piece, pictures.appearance), ("B", b_piece, pictures.path)):
        text = _text(piece)
        if piece.objection is not None:
            dropped.append(_dropped(pictures.track_id, kind, piece.objection))
        else:
            frames = tuple(crop.frame_index for crop in crops)
            card = Card(track_id=pictures.track_id, kind="A" if kind == "A" else "B", text=text)
            cards.append(msgspec.structs.replace(card, frames=frames, writer=writer))
    return TrackCards(
        track_id=pictures.track_id,
        cards=tuple(cards),
        dropped=tuple(dropped),
        flags=tuple(flag for card in cards for flag in _flags(card)),
    )


def check_cards(cards: Sequence[Card], rules: CardChecks | None = None) -> TrackCards:
    """Check cards of one track from another source; no model is called.

    That a track is different people is said by the line for it alone. An appearance card that speaks of
    several people otherwise gets a flag: they may be printed on a shirt.

    Raises:
        ValueError: there is no card, or they are of several tracks or of the same kind.
    """
    rules = rules or CardChecks()
    if len({card.track_id for card in cards}) != 1 or len({card.kind for card in cards}) != len(cards):
        raise ValueError(f"{len(cards)} cards are not one or two different ones of one track")
    track_id = cards[0].track_id
    kept: list[Card] = []
    dropped: list[Dropped] = []
    objections: dict[str, Objection | None] = {}
    for card in cards:
        read = _reader(card.kind, strict=rules.strict, by_people=True)(card.text)
        objections[card.kind] = read if isinstance(read, Objection) else None
        if isinstance(read, Objection):
            dropped.append(_dropped(card.track_id, card.kind, read))
        else:
            kept.append(card)
    if any(objection.reason == NOT_ONE_PERSON for objection in objections.values() if objection is not None):
        return _no_card(track_id, objections)
    texts = {card.kind: card.text for card in kept}
    if problem := _leak(texts.get("A", ""), texts.get("B", ""), rules.limit):
        kept = [card for card in kept if card.kind == "A"]
        dropped.append(_dropped(track_id, "B", Objection(reason="leaks-appearance", detail=problem)))
    return TrackCards(
        track_id=track_id,
        cards=tuple(kept),
        dropped=tuple(dropped),
        flags=tuple(flag for card in kept for flag in _flags(card)),
    )


def _prompts(pictures: TrackPictures, *, times_s: Sequence[float], wording: CardWording) -> dict[str, Prompt]:
    """Return the prompts of both cards."""
    system = wording.fill(SYSTEM, {})
    looks = wording.fill(APPEARANCE, {"n_pictures": len(pictures.appearance)})
    times = [float(times_s[crop.frame_index]) for crop in pictures.path]
    way = wording.fill(PATH, {"n_moments": len(times), "times_s": times})
    moments = [image(crop) for both in zip(pictures.path, pictures.frames, strict=True) for crop in both]
    return {
        "A": Prompt(
            parts=(*map(image, pictures.appearance), TextPart(text=looks)),
            system=system,
            template=wording.label(APPEARANCE),
        ),
        "B": Prompt(parts=(*moments, TextPart(text=way)), system=system, template=wording.label(PATH)),
    }


def _reader(
    kind: Literal["A", "B"], *, strict: bool, by_people: bool = False
) -> Callable[[str], str | Doubt[str] | Objection]:
    """Return the parser of a card's text from a reply or a person's words."""

    def read(message: str) -> str | Doubt[str] | Objection:
        text = tidy(message)
        mixed = says_different_people(text) or (
            describes_several(text) if kind == "A" and not by_people else None
        )
        if mixed is not None:
            return mixed
        if (wrong := misshapen(text, sentences=_SENTENCES[kind], words=_WORDS[kind])) is not None:
            return wrong
        messages = _told(kind, text)
        if not messages:
            return text
        what = "actions or places" if kind == "A" else "the person's appearance"
        objection = Objection(
            reason=_TOLD[kind], detail=f"it tells {what} ({', '.join(messages)}); say it without such words"
        )
        return objection if strict else Doubt(made=text, objection=objection)

    return read


def _told(kind: Literal["A", "B"], text: str) -> tuple[str, ...]:
    """Return the words of a card that belong to the other card."""
    return tuple(sorted(action_words(text) if kind == "A" else appearance_words(text)))


def _flags(card: Card) -> tuple[Flag, ...]:
    messages = _told(card.kind, card.text)
    several = several_in(card.text) if card.kind == "A" else ""
    flags = ((_TOLD[card.kind], messages), ("several-people", (several,) if several else ()))
    return tuple(
        Flag(track_id=card.track_id, kind=card.kind, reason=reason, words=words)
        for reason, words in flags
        if words
    )


def _is_mixed(piece: WritingTask[str]) -> bool:
    return piece.objection is not None and piece.objection.reason == NOT_ONE_PERSON


def _no_card(track_id: str, objections: Mapping[str, Objection | None]) -> TrackCards:
    """Return no card for a track of several people."""
    objection = next(
        entry for entry in objections.values() if entry is not None and entry.reason == NOT_ONE_PERSON
    )
    dropped = tuple(_dropped(track_id, kind, own or objection) for kind, own in objections.items())
    return TrackCards(track_id=track_id, dropped=dropped)


def _text(piece: WritingTask[str]) -> str:
    return piece.made or ""


def _leak(a_text: str, b_text: str, limit: float) -> str:
    """Return the fault of a path card too similar to the appearance card; empty if none."""
    similarity = leakage(a_text, b_text)
    if not (a_text and b_text and similarity.is_leak(limit)):
        return ""
    words = ", ".join(similarity.repeated or similarity.shared) or "the same small words"
    return (
        f"it uses words of another text, which describes how the person looks: {words} (similarity "
        f"{max(similarity.raw, similarity.content):.2f}, at most {limit:g}); tell the path without them"
    )


def _dropped(track_id: str, kind: str, why: Objection) -> Dropped:
    return Dropped(what=f"{track_id}/{kind}", stage=STAGE, reason=why.reason, detail=why.detail)
