"""What words of event logs say to a viewer: near synonyms, doings that are implied, names for anything."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from vidence.make.pipeline.lexicon import listed

_WORD = re.compile(r"[a-z']+")
# Prepositions that a verb of a log carries and that lead nowhere without a second thing.
_LEADING_ON: Final = listed(
    """
    into onto from with to of at around under over between through against inside by for about after
    """
)
_TO_ANOTHER = (_LEADING_ON | {"in", "on"}) - {"of"}
_LITTLE: Final = listed("a an the of in on and or with from to into some other another more new")

# Verbs that a viewer cannot tell apart by watching, or of which one goes with the other (open and close).
_NEAR = (
    "take get grab pick fetch collect retrieve remove lift pull unload extract raise gather draw",
    "put place lay leave set insert return drop position rest store reposition replace release hang fit",
    "move shift slide drag push carry bring transfer hold keep support have",
    "look see check watch inspect examine read search find locate wait walk smell",
    "use touch feel handle",
    "wash rinse clean wipe scrub lather soap sponge scour mop brush dry towel soak submerge immerse",
    "cut chop slice dice mince halve trim carve divide split separate break crack snap tear rip",
    "mix stir whisk blend beat combine toss scramble",
    "turn rotate twist flip roll spin tilt swirl shake jiggle",
    "open close shut unscrew screw uncover cover uncap cap unwrap wrap unseal seal unlock lock lid",
    "start stop switch activate ignite light press",
    "throw discard dispose bin recycle scrap",
    "pour empty drain tip fill add sprinkle season salt drizzle spread apply scoop spoon ladle serve",
    "peel skin scrape grate",
    "crush mash smash grind press squeeze squash flatten knead fold form shape",
    "adjust regulate increase decrease lower set calibrate",
    "cook fry boil heat bake toast steam",
    "eat taste bite lick swallow drink sip",
)
# Groups whose doings go with any handling of a thing, narrated or not: taking, putting, moving, looking.
_IMPLIED = (0, 1, 2, 3, 4)
_LOOKING = 3


def _groups_of(groups: Sequence[str]) -> dict[str, frozenset[int]]:
    """For each word the numbers of the groups that it stands in."""
    words = {word for group in groups for word in group.split()}
    return {word: frozenset(i for i, group in enumerate(groups) if word in group.split()) for word in words}


_GROUPS: Final = _groups_of(_NEAR)

# Nouns that name anything, or what is handled in nearly every kitchen scene without being narrated.
_VAGUE: Final = listed(
    """
    thing item object stuff content rest side top bottom part piece end edge bit half food ingredient mixture
    liquid place area space remains residue
    """
)
_ANYTHING: Final = _VAGUE | listed(
    """
    hand finger arm container package packet packaging utensil tool cutlery crockery dish kitchen room counter
    countertop worktop surface table floor sink water tap hob cooker vegetable fruit meat herb spice rubbish
    waste trash garbage
    """
)
# Things that a viewer may take for one another.
_ALIKE = (
    "mug cup glass beaker",
    "pan pot saucepan wok casserole skillet",
    "plate saucer tray bowl",
    "cloth towel rag napkin tissue paper kitchenroll",
    "spatula turner slice spoon ladle",
    "box carton package packet bag sachet",
    "jar bottle can tin tub tupperware container lunchbox",
    "colander sieve strainer",
    "cupboard cabinet drawer shelf door",
    "fridge freezer refrigerator",
    "oven stove hob cooker grill",
    "lid cover cap top",
    "sponge scourer scrubber brush",
    "rubbish bin trash waste garbage",
    "oil sauce vinegar dressing",
    "onion shallot leek garlic",
    "flour sugar salt powder",
)
_ALIKE_OF: Final = _groups_of(_ALIKE)
# Where "on" and "in" belong to the verb: "turn on tap", but not "put on plate".
_WITH_ON = frozenset({"turn", "switch"})
_WITH_IN = frozenset({"plug"})
_PLURALS = {"knives": "knife", "halves": "half", "leaves": "leaf", "loaves": "loaf", "shelves": "shelf"}


def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, without articles and other little words.

    >>> words("Take the handle of the cupboard")
    ('take', 'handle', 'cupboard')
    """
    return tuple(word for word in _WORD.findall(text.lower()) if word not in _LITTLE)


@lru_cache(maxsize=4096)
def groups_of(verb: str) -> frozenset[int]:
    """The groups of near synonyms that a verb belongs to, by its first word; a group of its own otherwise.

    >>> groups_of("put down") == groups_of("place on")
    True
    """
    head, *rest = verb.split() or [""]
    if head in {"turn", "switch"} and rest and rest[0] in {"on", "off"}:
        return _GROUPS["start"]
    if head in {"take", "get", "pull"} and rest and rest[0] == "off":
        return _GROUPS["take"] | _GROUPS["open"]
    return _GROUPS.get(head, frozenset())


@lru_cache(maxsize=4096)
def is_implied(verb: str) -> bool:
    """Whether a doing goes with any handling of a thing, so that a log is silent about most of it.

    >>> is_implied("pick up"), is_implied("wash")
    (True, False)
    """
    return bool(groups_of(verb) & set(_IMPLIED))


@lru_cache(maxsize=4096)
def is_only_looking(verb: str) -> bool:
    """Whether a doing leaves the thing untouched, or may.

    >>> is_only_looking("look at"), is_only_looking("wash")
    (True, False)
    """
    return _LOOKING in groups_of(verb)


@lru_cache(maxsize=4096)
def is_near(verb: str, other: str) -> bool:
    """Whether a viewer may take one verb for the other.

    >>> is_near("rinse", "wash"), is_near("open", "close"), is_near("cut", "wash")
    (True, True, False)
    """
    return verb == other or verb.split()[:1] == other.split()[:1] or bool(groups_of(verb) & groups_of(other))


@lru_cache(maxsize=16384)
def is_vague(noun: str) -> bool:
    """Whether a noun says nothing of what the thing is.

    >>> is_vague("other part"), is_vague("hand")
    (True, False)
    """
    return all(singular(word) in _VAGUE for word in words(noun))


@lru_cache(maxsize=16384)
def is_anything(noun: str) -> bool:
    """Whether a noun names nearly anything, or what is at hand in nearly every scene.

    >>> is_anything("food"), is_anything("top of worktop"), is_anything("milk container")
    (True, True, False)
    """
    return all(singular(word) in _ANYTHING for word in words(noun))


@lru_cache(maxsize=16384)
def likenesses(noun: str) -> frozenset[int]:
    """The groups of things that a viewer may take for one another which a noun belongs to, by any word.

    >>> bool(likenesses("coffee mug") & likenesses("glass")), bool(likenesses("mug") & likenesses("pan"))
    (True, False)
    """
    return frozenset(group for word in words(noun) for group in _ALIKE_OF.get(singular(word), ()))


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """A word without the ending of its plural, as far as rules go.

    >>> [singular(w) for w in ("onions", "knives", "dishes", "berries", "glass", "tomatoes")]
    ['onion', 'knife', 'dish', 'berry', 'glass', 'tomato']
    """
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@lru_cache(maxsize=4096)
def forms(head: str) -> frozenset[str]:
    """The forms in which a verb may stand in a narration, and some in which it does not.

    >>> {"slice", "slicing"} <= forms("slice"), {"cut", "cutting"} <= forms("cut")
    (True, True)
    """
    stem = head.removesuffix("e")
    return frozenset(
        {head, head + "s", head + "es"} | {f"{s}{e}" for s in (stem, stem + stem[-1:]) for e in ("ing", "ed")}
    )


@lru_cache(maxsize=8192)
def verb_said(verb: str) -> tuple[str, ...]:
    """The words of a verb without prepositions that would need a second thing.

    >>> verb_said("pour into"), verb_said("put down"), verb_said("adjust on"), verb_said("turn on")
    (('pour',), ('put', 'down'), ('adjust',), ('turn', 'on'))
    """
    said = verb.split()
    while len(said) > 1 and (
        said[-1] in _LEADING_ON
        or (said[-1] == "on" and said[0] not in _WITH_ON)
        or (said[-1] == "in" and said[0] not in _WITH_IN)
    ):
        said.pop()
    return tuple(said)


def is_direct(verb: str, noun: str, narration: str) -> bool:
    """Whether a narration has the noun right behind the verb, as what it is done to and not done with.

    >>> is_direct("cut", "knife", "use the knife to cut the onion")
    False
    >>> is_direct("pour into", "water", "pour hot water into the pan")
    True
    >>> is_direct("put in", "toaster", "put in toaster")
    False
    """
    said, (head, *rest) = _WORD.findall(narration.lower()), verb.split()
    at = next((place for place, word in enumerate(said) if word in forms(head)), None)
    if at is None:
        return False
    named = frozenset(singular(word) for word in words(noun))
    behind: list[str] = []
    for word in said[at + 1 :]:
        if word in _TO_ANOTHER and word not in verb_said(verb):
            break
        behind.append(singular(word))
    content = [word for word in behind if word not in _LITTLE and word not in rest]
    return bool(named) and named <= frozenset(content[: len(named) + 1])


def phrase_of(verb: str, noun: str) -> str:
    """An action in words.

    >>> phrase_of("pour into", "milk"), phrase_of("put down", "plate")
    ('pour milk', 'put down plate')
    """
    return " ".join((*verb_said(verb), noun))
