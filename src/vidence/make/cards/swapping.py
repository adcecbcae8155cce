"""False scene cards without a model: details are swapped for others of their kind, by lists of words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from vidence.make.cards.falsifying import (
    FEWEST,
    MOST,
    STAGE,
    FalseText,
    check_changes,
    false_card,
    false_id,
    folded,
)
from vidence.make.pipeline.material import Change, Dropped, SceneCard

WRITER: Final = "rules-1"
_DRAWS: Final = 12

# Each line holds details of one kind: any of them can stand in place of any other.
_KINDS_OF_DETAILS: Final = """
black|white|red|blue|green|yellow|brown|purple|pink|grey
two|three|four|five|six
jacket|pullover|waistcoat|poncho
jackets|pullovers|waistcoats|ponchos
coat|cardigan|vest|t-shirt
coats|cardigans|vests|t-shirts
jeans|shorts|leggings|trousers
hat|helmet|headscarf|hood
cap|crown|veil
boots|sandals|sneakers|slippers
backpack|handbag|suitcase|basket|briefcase
dress|robe|gown|uniform
scarf|necklace|tie|shawl
young|middle-aged|elderly
blond|dark-haired|red-haired|grey-haired|bald
short|long|curly|braided
dog|cat|goat|horse|rabbit
dogs|cats|goats|horses|rabbits
car|bus|truck|tram
cars|buses|trucks|trams
bicycle|motorcycle|scooter|skateboard
table|bench|bed|shelf
tables|benches|beds|shelves
chair|stool|sofa|armchair
window|door|mirror|bookshelf
windows|doors|mirrors|bookshelves
cup|bottle|bowl|jar
knife|spoon|fork|ladle
book|newspaper|letter|map
candle|lantern|flashlight
street|courtyard|tunnel|staircase
road|railway|trench
kitchen|bedroom|office|bathroom|hallway
forest|desert|beach|meadow|swamp
mountains|dunes|skyscrapers
snow|sand|mud|gravel|grass
river|waterfall|fountain
house|church|barn|factory|tower
houses|churches|barns|factories|towers
fence|hedge|wall
sunny|cloudy|foggy|rainy|stormy
day|night
dawn|noon
wooden|metal|plastic|stone
walks|runs|crawls|dances
walking|running|crawling|dancing
walk|run|crawl|dance
stands|sits|kneels|lies
standing|sitting|kneeling|lying
opens|closes
opening|closing
smiling|frowning|crying|yawning
smiles|frowns|cries|yawns
indoors|outdoors
spear|sword|bow|axe
bearded|clean-shaven
"""
_GROUPS: Final = tuple(tuple(line.split("|")) for line in _KINDS_OF_DETAILS.split())
# Words that also mean something else are only swapped where the word after them says what they are.
_ONLY_BEFORE: Final = {
    word: re.compile(r"hair|beard|sleeve|skirt|coat|dress|braid")
    for word in ("short", "long", "curly", "braided")
}
_SIDES: Final = re.compile(
    r"\b(?:the|their|his|her|its)\s+(left|right)\b|\b(left|right)(?=[- ](?:hand|side|edge|corner))"
)
_GENDERED: Final = re.compile(
    r"\b(?:he|she|him|her|his|hers|himself|herself|beard\w*|moustache\w*|mustache\w*)\b", re.IGNORECASE
)
_PEOPLE: Final = (("man", "woman"), ("men", "women"), ("boy", "girl"), ("boys", "girls"))
_ADDITIONS: Final = tuple(
    """
    with a red umbrella nearby|with a small dog nearby|beside a parked bicycle|next to an empty bench
    with a flag in the background|under a hanging lantern|beside a stack of wooden crates
    with smoke rising in the background|next to a stone fountain|with two birds overhead
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
_VOWELS: Final = tuple("aeiou")
_ARTICLE: Final = re.compile(r"\b(an?)(\s+)\Z", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class _Swap:
    """One detail of a text and what can stand in its place."""

    start: int
    end: int
    others: tuple[str, ...]


def perturb_by_rules(
    card: SceneCard, *, others: Sequence[SceneCard], rng: np.random.Generator
) -> SceneCard | Dropped:
    """A false variant of a scene card that nobody was asked for.

    Two to five details are drawn and swapped for others of their kind; where the text has only one that the
    lists know, something is added. What comes out is checked like the text of a model.

    Args:
        card: the faithful card.
        others: the cards of the same video; the false one must equal none of them.
        rng: draws the details and what they become.

    Source: HERBench, section 7.4, which asks a model; here none is needed.
    Departs: nothing makes sure that a change is plausible in this video.
    """
    swaps = _swaps(card.text)
    if not swaps:
        detail = "the text has no detail that the word lists know"
        return Dropped(what=false_id(card), stage=STAGE, reason="no-detail-known", detail=detail)
    taken = [other.text for other in others]
    why = None
    for _ in range(_DRAWS):
        made = _drawn(card.text, swaps, rng=rng)
        why = check_changes(card.text, made.text, made.changes, taken=taken)
        if why is None:
            return false_card(card, made, writer=WRITER)
    reason, detail = ("no-detail-known", "") if why is None else (why.reason, why.detail)
    return Dropped(what=false_id(card), stage=STAGE, reason=reason, detail=detail)


def _swaps(text: str) -> list[_Swap]:
    """Every detail that the lists know, once, in the order of the text."""
    words = folded(text)
    found: list[_Swap] = []
    for group in _GROUPS:
        for word in group:
            found += _word_swaps(text, word, tuple(w for w in group if w != word and w not in words))
    for side in _SIDES.finditer(text):
        place = 1 if side[1] else 2
        here = side[place].casefold()
        if words.count(here) == 1 and not {"left", "right"} <= set(words):
            other = "right" if here == "left" else "left"
            found.append(_Swap(start=side.start(place), end=side.end(place), others=(other,)))
    if not _GENDERED.search(text):
        for pair in _PEOPLE:
            for one, other in (pair, pair[::-1]):
                if other not in words:
                    found += _word_swaps(text, one, (other,))
    return sorted(found, key=lambda swap: swap.start)


def _word_swaps(text: str, word: str, others: tuple[str, ...]) -> list[_Swap]:
    """The place of a word that stands in the text once; none where it stands there more often."""
    places = list(re.finditer(rf"(?<![\w-]){re.escape(word)}(?![\w'-])", text, re.IGNORECASE))
    if len(places) != 1 or not others:
        return []
    needed = _ONLY_BEFORE.get(word)
    behind = text[places[0].end() :].lstrip()
    if needed is not None and not needed.match(behind):
        return []
    return [_Swap(start=places[0].start(), end=places[0].end(), others=others)]


def _drawn(text: str, swaps: Sequence[_Swap], *, rng: np.random.Generator) -> FalseText:
    """The text with a drawn number of details swapped, and something added where they are too few."""
    n_wanted = int(rng.integers(FEWEST, MOST + 1))
    n_swaps = min(n_wanted, len(swaps))
    chosen = sorted(rng.choice(len(swaps), size=n_swaps, replace=False).tolist())
    changes: list[Change] = []
    parts: list[str] = []
    at = 0
    for number in chosen:
        swap = swaps[number]
        before = text[swap.start : swap.end]
        after = swap.others[int(rng.integers(len(swap.others)))]
        after = after.capitalize() if before[0].isupper() else after
        parts += [_ARTICLE.sub(_article(after), text[at : swap.start]), after]
        at = swap.end
        changes.append(Change(kind="modification", before=before, after=after))
    made = "".join([*parts, text[at:]])
    if len(changes) < FEWEST:
        addition = _ADDITIONS[int(rng.integers(len(_ADDITIONS)))]
        end = re.search(r"[.!?]*\s*\Z", made)
        cut = end.start() if end else len(made)
        made = f"{made[:cut]}, {addition}{made[cut:]}"
        changes.append(Change(kind="addition", after=addition))
    return FalseText(text=made, changes=tuple(changes))


def _article(word: str) -> Callable[[re.Match[str]], str]:
    """What turns the article before a word into the one that it asks for."""

    def turned(found: re.Match[str]) -> str:
        wanted = "an" if word[0].casefold() in _VOWELS else "a"
        return (wanted.capitalize() if found[1][0].isupper() else wanted) + found[2]

    return turned
