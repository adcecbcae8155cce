"""What may stand in the place of a detail: what true cards of other videos say there, and plain facts.

A word in a description is a slot: a colour before its noun, a noun behind its preposition or verb, a verb
before what follows. Another word fits the slot where a true card of another video has it there, or where the
lists here do. Words that are part of a compound (bow tie, revolving door) have no slot.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from vidence.make.pipeline.lexicon import FUNCTION_WORDS, listed
from vidence.make.pipeline.material import SceneCard

Kind: TypeAlias = Literal["modifier", "noun", "verb", "number", "side", "person"]
Key: TypeAlias = tuple[Kind, str]

_TOKEN: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[.,;:!?()]")

# Each line holds words of one kind: of them one may stand where another does, if the slot allows it.
_LINES: Final[Mapping[Kind, str]] = {
    "modifier": """
        black white red blue green yellow brown orange purple pink grey
        young elderly
        blond dark-haired red-haired grey-haired bald
        short long
        curly straight
        sunny cloudy foggy rainy snowy
        wooden metal plastic stone
        empty crowded
        narrow wide
        open closed
    """,
    "number": "two three four five six",
    "noun": """
        jacket pullover cardigan coat shirt t-shirt
        jackets pullovers cardigans coats shirts t-shirts
        hat helmet cap headscarf hood
        boots sandals sneakers slippers
        backpack handbag suitcase basket briefcase box
        dog cat goat horse rabbit sheep cow
        dogs cats goats horses rabbits cows
        car bus truck van tram
        cars buses trucks vans trams
        bicycle motorcycle scooter skateboard
        table bench bed desk
        tables benches beds desks
        chair stool sofa armchair
        window door mirror gate
        cup bottle bowl jar glass
        knife spoon fork ladle
        book newspaper letter map
        candle lantern torch lamp
        street courtyard tunnel market square park alley
        road railway path bridge
        kitchen bedroom office bathroom hallway workshop
        forest desert beach meadow field swamp
        snow sand mud gravel grass
        river waterfall fountain lake
        house church barn factory tower
        houses churches barns factories towers
        fence hedge wall
        dawn noon night
        dusk noon
        tree bush rock
        trees bushes rocks
    """,
    "verb": """
        walks runs crawls dances
        walking running crawling dancing
        walk run crawl dance
        stands sits kneels lies
        standing sitting kneeling lying
        stand sit kneel lie
        opens closes
        opening closing
        enters leaves
        entering leaving
        smiling frowning crying yawning
        lifts drops
    """,
}
KINDS: Final[Mapping[Kind, tuple[tuple[str, ...], ...]]] = {
    kind: tuple(tuple(line.split()) for line in text.strip().splitlines()) for kind, text in _LINES.items()
}
_MODIFIERS: Final = frozenset(w for line in KINDS["modifier"] for w in line) | listed(
    "tall small large big old little dark light pale bright tiny heavy thin quiet busy new"
)
_ANYTHING: Final = listed("small large big little old new")
_PERSONS: Final = listed(
    "man woman men women boy girl boys girls person people child children couple climber climbers worker "
    "workers"
)
_NUMBERS: Final = frozenset(w for line in KINDS["number"] for w in line) | {"one", "several", "many", "few"}
# What may stand behind a noun without making a compound of it, besides words that hold sentences together.
_VERBS: Final = frozenset(w for line in KINDS["verb"] for w in line) | listed(
    """
    looks watches waits sleeps eats reads holds carries plays turns stops moves drives flies floats hangs
    burns falls rises climbs jumps swims passes pushes pulls points waves talks speaks sings laughs leans
    rests shines glows drifts rolls lies cuts pours stirs washes cooks paints writes works rides grazes barks
    look watch wait sleep eat read hold carry play turn stop move drive fly hang burn fall rise climb jump
    pass push pull talk sing laugh lean rest work graze stands
    """
)
_PREPOSITIONS: Final = FUNCTION_WORDS | listed(
    "past next away inside outside beneath underneath among wearing"
)
_ARTICLES: Final = listed("a an the this that these those his her its their some one")
# Pairs of words that are one thing although the first could be a detail.
_COMPOUNDS: Final = frozenset(
    tuple(pair.split("_"))
    for pair in listed(
        """
    red_carpet red_wine white_wine green_tea black_coffee black_tea hot_dog black_board white_board
    red_cross red_light green_light short_film short_cut brown_bear white_bear polar_bear stone_age
    black_hole blue_whale orange_juice red_pepper green_pepper grey_area black_market white_noise
    blue_print green_house white_house red_squirrel grey_squirrel red_fox pink_flamingo long_jump
    open_air closed_circuit green_screen blue_screen black_belt yellow_cab plastic_surgery
    metal_detector stone_fruit blue_cheese red_onion red_cabbage brown_bread white_bread brown_rice
    yellow_pages
    """
    )
)
_PAIRED: Final = listed(
    "hands eyes legs arms feet ears shoes boots gloves sleeves knees shoulders wings wheels sides halves"
)
# A kind, what it is said of, and which of its words are: colours are those that are written of a thing.
_FACTS: Final = """
modifier coat jacket pullover cardigan shirt t-shirt : black white red blue green yellow brown grey
modifier sweater hat cap scarf : black white red blue green yellow brown grey
modifier dress skirt gown robe apron blouse : black white red blue green
modifier trousers suit tie shoe boot sneaker sandal glove vest : black white blue brown grey
modifier backpack handbag suitcase bag umbrella tent balloon ball : black red blue green yellow
modifier car bus truck van train boat : black white red blue green yellow grey
modifier bicycle scooter motorcycle : black red blue green
modifier dog cat horse goat rabbit cow : black white brown grey
modifier hair beard : black brown grey white
modifier door gate fence wall curtain sofa chair bench table : white red blue green brown grey black
modifier cup bowl plate box book : white red blue green yellow black
modifier bottle : brown green blue
modifier house barn church tower roof : white red yellow grey brown
modifier bird butterfly : black white brown yellow blue
modifier flower : white red yellow purple pink blue
modifier man woman people person couple : young elderly bald dark-haired grey-haired blond red-haired
modifier men women : young elderly bald dark-haired grey-haired blond red-haired
modifier boy girl child boys girls : dark-haired blond red-haired
modifier hair : short long curly straight
modifier day morning afternoon street road field : sunny cloudy foggy rainy snowy
modifier table bench chair spoon bowl box : wooden metal plastic
modifier fence gate door : wooden metal
modifier bridge wall house tower : wooden stone
modifier street square room hall platform market : empty crowded
modifier street road path alley : narrow wide
modifier door window gate : open closed
noun in wearing wears : jacket coat pullover cardigan shirt t-shirt jackets coats pullovers cardigans shirts
noun with carries carrying holding holds : backpack handbag suitcase basket briefcase
noun past near beside behind by : car bus truck van cars buses trucks vans house church barn tower
noun at : table desk tables desks
noun on behind beside under : table desk bench tables desks benches
noun on in : chair sofa armchair
noun reads reading holding holds : book newspaper letter map
noun at : dawn noon night
noun along down up : street path road
noun in through into : kitchen bedroom office hallway workshop forest meadow field park
noun rides riding on pushes pushing : bicycle motorcycle scooter
noun beside near along over : river lake
noun near beside behind : tree bush rock trees bushes rocks
verb along across past through towards toward down up into over away : walks runs walking running walk run
verb at beside near behind by in under : sits sitting sit
verb beside near behind under : kneels kneeling kneel
verb a an the his her their its : opens closes opening closing enters leaves entering leaving
"""


def _facts() -> dict[Key, frozenset[str]]:
    found: dict[Key, set[str]] = {}
    for line in _FACTS.strip().splitlines():
        slots, words = line.split(" : ")
        kind, *heads = slots.split()
        for head in heads:
            for known in KINDS:
                if known == kind:
                    found.setdefault((known, head), set()).update(words.split())
    return {key: frozenset(words) for key, words in found.items()}


_PLAIN: Final = _facts()


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A word of a text, the kind of its place there, and the key by which other texts have such a place.

    `modifiers` are the words before a noun that say more of it. Of slots with one `phrase`
    only one can change, since the others were held against it.
    """

    start: int
    end: int
    word: str
    key: Key
    phrase: int
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SlotCounts:
    """How often words were seen in which slots, in true cards of other videos."""

    seen: Mapping[tuple[Key, str], int] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, cards: Iterable[SceneCard]) -> "SlotCounts":
        """What true cards say; false ones are left out."""
        seen: Counter[tuple[Key, str]] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        words: Counter[str] = Counter()
        for card in cards:
            if not card.is_faithful:
                continue
            tokens = [token.casefold() for token in _TOKEN.findall(card.text)]
            words.update(tokens)
            pairs.update(pairwise(tokens))
            seen.update((slot.key, slot.word) for slot in slots_of(card.text))
        return cls(seen=seen, pairs=pairs, words=words)

    def is_compound(self, first: str, second: str) -> bool:
        """Whether two words are one thing: by the list, or since cards hardly have one without the other."""
        both = self.pairs.get((first, second), 0)
        least = 0.8 * max(self.words.get(first, 0), self.words.get(second, 0))
        return (first, second) in _COMPOUNDS or (both >= 3 and both >= least)

    def weight(self, key: Key, word: str) -> int:
        """How often a word was seen in a slot, and once for a plain fact; 0 where nobody says it."""
        seen = max(self.seen.get((key, word), 0), self.seen.get(((key[0], _single(key[1])), word), 0))
        return seen + (word in _PLAIN.get(key, ()) or word in _PLAIN.get((key[0], _single(key[1])), ()))

    def fits(self, modifier: str, noun: str) -> bool:
        """Whether a noun is said to be like that."""
        plain = modifier in _ANYTHING or self.pairs.get((modifier, noun), 0) > 0
        return plain or self.weight(("modifier", noun), modifier) > 0


def _single(word: str) -> str:
    """A noun in the singular, where it ends as plurals do."""
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


_KIND_OF: Final[Mapping[str, Kind]] = {
    word: kind for kind, lines in KINDS.items() for line in lines for word in line
}


def slots_of(text: str) -> Iterator[Slot]:
    """Every word of a known kind that has a slot, in the order of the text; compounds have none."""
    found = list(_TOKEN.finditer(text))
    words = [one[0].casefold() for one in found]
    phrase = 0
    for i, word in enumerate(words):
        # A phrase ends with a word that holds sentences together, a verb or a sign.
        phrase += word in _PREPOSITIONS or word in _VERBS or not word[0].isalnum()
        kind = _KIND_OF.get(word)
        if kind is None:
            continue
        head = _HEADS[kind](words, i)
        if head:
            yield Slot(
                start=found[i].start(),
                end=found[i].end(),
                word=word,
                key=(kind, head),
                phrase=-1 - i if kind == "number" else phrase,  # a number goes with any word beside it
                modifiers=tuple(_modifiers(words, i)) if kind == "noun" else (),
            )


def _modifiers(words: list[str], i: int) -> Iterator[str]:
    while i and words[i - 1] in _MODIFIERS:
        i -= 1
        yield words[i]


def _ends(words: list[str], i: int) -> bool:
    """Whether a phrase has ended before place i."""
    return i >= len(words) or not words[i][0].isalnum() or words[i] in _PREPOSITIONS or words[i] in _VERBS


def _head_of_modifier(words: list[str], i: int) -> str:
    """The last word of the phrase; none where a word that the lists do not know comes before the modifier."""
    last = i
    while not _ends(words, last + 1):
        last += 1
    before = words[i - 1] if i else ""
    is_free = (
        not before or not before[0].isalnum() or before in _MODIFIERS | _NUMBERS | _PREPOSITIONS | _VERBS
    )
    return words[last] if last > i and is_free else ""


def _governor(words: list[str], i: int) -> str:
    """The preposition or verb that a noun depends on; none for a part of a compound, or a noun without."""
    if not _ends(words, i + 1) or words[i + 1 : i + 2] == ["of"]:
        return ""
    at = i - 1
    while at >= 0 and words[at] in _MODIFIERS | _NUMBERS | _ARTICLES:
        at -= 1
    is_governor = at >= 0 and (words[at] in _PREPOSITIONS or words[at] in _VERBS)
    is_governor = is_governor or (at >= 0 and words[at] in _HOLDING)
    return words[at] if is_governor and words[at] not in ("and", "or", "of") else ""


_HOLDING: Final = listed(
    "holding wearing carrying reading riding pushing pulling wears rides drinks eating cutting"
)


def _follower(words: list[str], i: int) -> str:
    """The word behind a verb; none where nobody is said to do it: things do not sit down."""
    who = next((word for word in words[:i] if word in _PERSONS or _KIND_OF.get(word) == "noun"), "")
    if who not in _PERSONS:
        return ""
    return words[i + 1] if i + 1 < len(words) and words[i + 1][0].isalnum() else ""


def _counted(words: list[str], i: int) -> str:
    """What a number counts; none for what comes in pairs."""
    head = _head_of_modifier(words, i)
    is_counted = (head.endswith("s") and head not in _PAIRED) or head in ("people", "men", "women")
    return head if is_counted else ""


_HEADS: Final = {
    "modifier": _head_of_modifier,
    "noun": _governor,
    "verb": _follower,
    "number": _counted,
}
