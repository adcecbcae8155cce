"""False scene cards without a model: details are swapped for others that people say in such a place."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from vidence.make.herbench.cards.falsifying import (
    FEWEST,
    MOST,
    STAGE,
    FalseText,
    check_changes,
    false_card,
    false_id,
    folded,
)
from vidence.make.herbench.cards.plausible import Slot, SlotCounts, kinds, slots_of
from vidence.make.pipeline.material import Change, Dropped, SceneCard
from vidence.records import by_key

WRITER: Final = "rules-2"
_DRAWS: Final = 12
_FAR: Final = 2  # how far a number may be from the true one

_SIDES: Final = re.compile(
    r"\b(?:the|their|his|her|its)\s+(left|right)\b|\b(left|right)(?=[- ](?:hand|side|edge|corner))"
)
# Where one of these stands, nobody changes between man and woman.
_GENDERED: Final = re.compile(
    r"\b(?:he|she|him|her|his|hers|himself|herself|beard\w*|moustache\w*|mustache\w*|bald|shirtless|bow tie"
    r"|tie|bowler|tuxedo|waistcoat|dress|gown|skirt|blouse|heels|handbag|bikini|bra|veil|headscarf|bride|groom"
    r"|mother|father|sister|brother|wife|husband|son|daughter|king|queen|lady|gentleman|make-?up|lipstick)\b",
    re.IGNORECASE,
)
_PEOPLE: Final = (("man", "woman"), ("men", "women"), ("boy", "girl"), ("boys", "girls"))
_VOWELS: Final = tuple("aeiou")
_ARTICLE: Final = re.compile(r"\b(an?)(\s+)\Z", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class _Swap:
    """A replaceable detail of a text, with its replacements and their frequencies."""

    start: int
    end: int
    others: tuple[str, ...]
    weights: tuple[int, ...]
    phrase: int


def perturb_by_rules(
    card: SceneCard, *, others: Sequence[SceneCard], known: SlotCounts | None = None, rng: np.random.Generator
) -> SceneCard | Dropped:
    """Return a false variant of a scene card by rules, without a model.

    Two to five details are drawn, of each phrase one, and swapped for others of their kind that are said in
    such a place: in true cards of other videos (`known`), or by a list of plain facts. What is said there
    more often is drawn more often. A card with fewer than two such details is not falsified
    (``no-detail-known``, ``nothing-plausible``). What comes out is checked like the text of a model.

    Args:
        card: the faithful card.
        others: the cards of the same video; the false one must equal none of them.
        known: what true cards of other videos say; None: only the plain facts hold.
        rng: draws the details and what they become.

    Source: HERBench, section 7.4, which asks a model; here none is needed.
    Departs: details are only modified, nothing is added; words alone decide what is plausible.
    """
    slots = list(slots_of(card.text))
    swaps = _swaps(card.text, slots, known or SlotCounts())
    if len({swap.phrase for swap in swaps}) < FEWEST:
        return _none(card, slots, swaps)
    taken = [other.text for other in others]
    why = None
    for _ in range(_DRAWS):
        text = _drawn(card.text, swaps, rng=rng)
        why = check_changes(card.text, text.text, text.changes, taken=taken)
        if why is None:
            return false_card(card, text, writer=WRITER)
    reason, detail = ("no-detail-known", "") if why is None else (why.reason, why.detail)
    return Dropped(what=false_id(card), stage=STAGE, reason=reason, detail=detail)


def _none(card: SceneCard, slots: Sequence[Slot], swaps: Sequence[_Swap]) -> Dropped:
    """Return why a card cannot be falsified."""
    reason, detail = "no-detail-known", "the text has no detail that the word lists know"
    if slots or swaps:
        reason = "nothing-plausible"
        none = ", ".join(repr(card.text[swap.start : swap.end]) for swap in swaps) or "none"
        left = ", ".join(repr(s.word) for s in slots if s.start not in {swap.start for swap in swaps})
        detail = f"details that can change: {none}; {FEWEST} are needed" + (
            f"; nothing plausible is known instead of {left}. Cards of more videos bring more" if left else ""
        )
    return Dropped(what=false_id(card), stage=STAGE, reason=reason, detail=detail)


def _swaps(text: str, slots: Sequence[Slot], known: SlotCounts) -> list[_Swap]:
    """Every detail that can become something plausible, once, in the order of the text."""
    words = folded(text)
    swaps = [swap for slot in slots if (swap := _slot_swap(slot, words, known)) is not None]
    phrases = -1 - len(text)  # sides and people go with any word beside them
    for side in _SIDES.finditer(text):
        place = 1 if side[1] else 2
        here = side[place].casefold()
        if words.count(here) == 1 and not {"left", "right"} <= set(words):
            other = "right" if here == "left" else "left"
            swaps.append(_whole(side.start(place), side.end(place), other, phrase=phrases))
            phrases -= 1
    if not _GENDERED.search(text):
        for pair in _PEOPLE:
            for name, other in (pair, pair[::-1]):
                places = list(re.finditer(rf"(?<![\w-]){name}(?![\w'-])", text, re.IGNORECASE))
                if len(places) == 1 and other not in words:
                    swaps.append(_whole(*places[0].span(), other, phrase=phrases))
                    phrases -= 1
    return sorted(swaps, key=lambda swap: swap.start)


def _whole(start: int, end: int, other: str, *, phrase: int) -> _Swap:
    return _Swap(start=start, end=end, others=(other,), weights=(1,), phrase=phrase)


def _slot_swap(slot: Slot, words: tuple[str, ...], known: SlotCounts) -> _Swap | None:
    """What can stand in a slot instead; None if nothing can, or the word stands in the text twice."""
    kind, head = slot.key
    if words.count(slot.word) != 1 or (kind == "modifier" and known.is_compound(slot.word, head)):
        return None
    weights: dict[str, int] = {}
    for line in kinds()[kind]:
        if slot.word not in line:
            continue
        for other in line:
            if other in words or other == slot.word:
                continue
            far = abs(line.index(other) - line.index(slot.word))
            weight = int(far <= _FAR) if kind == "number" else known.weight(slot.key, other)
            if kind == "noun" and not all(known.fits(modifier, other) for modifier in slot.modifiers):
                continue
            if weight:
                weights[other] = max(weight, weights.get(other, 0))
    if not weights:
        return None
    return _Swap(
        start=slot.start,
        end=slot.end,
        others=tuple(weights),
        weights=tuple(weights.values()),
        phrase=slot.phrase,
    )


def _drawn(text: str, swaps: Sequence[_Swap], *, rng: np.random.Generator) -> FalseText:
    """The text with a drawn number of details swapped, of each phrase one at most."""
    by_phrase = by_key((swap.phrase, swap) for swap in swaps)
    phrases = list(by_phrase.values())
    n_swaps = min(int(rng.integers(FEWEST, MOST + 1)), len(phrases))
    chosen = [phrases[i] for i in rng.choice(len(phrases), size=n_swaps, replace=False)]
    drawn = sorted((some[int(rng.integers(len(some)))] for some in chosen), key=lambda swap: swap.start)
    changes: list[Change] = []
    parts: list[str] = []
    at = 0
    for swap in drawn:
        before = text[swap.start : swap.end]
        shares = np.array(swap.weights) / sum(swap.weights)
        after = swap.others[int(rng.choice(len(swap.others), p=shares))]
        after = after.capitalize() if before[0].isupper() else after
        parts += [_ARTICLE.sub(_article(after), text[at : swap.start]), after]
        at = swap.end
        changes.append(Change(kind="modification", before=before, after=after))
    return FalseText(text="".join([*parts, text[at:]]), changes=tuple(changes))


def _article(word: str) -> Callable[[re.Match[str]], str]:
    """What turns the article before a word into the one that it asks for."""

    def turned(match: re.Match[str]) -> str:
        wanted = "an" if word[0].casefold() in _VOWELS else "a"
        return (wanted.capitalize() if match[1][0].isupper() else wanted) + match[2]

    return turned
