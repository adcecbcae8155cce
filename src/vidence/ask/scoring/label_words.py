"""How labels are said in words (forms that name an action, features of it), and where a text says them.

For the labels that ActPLD prints. The synonyms of its appendix A.3 and the features that it lists for
seven labels are facts of the paper; all others are ours. A form is matched with its words in order
and inflected ("sweeps the floor" names ``sweep_floor``); the words of a feature stand in one sentence in
any order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from vidence.records import Record

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_VOWEL = re.compile(r"[aeiouy]")
# "sitting" has one t too many for "sit", "mimicking" a k too many for "mimic".
_DOUBLED = re.compile(r"([bcdfghjklmnpqrstvwxz])\1\Z|(?<=c)k\Z")
_ENDING = re.compile(r"(?:ie|y|e)\Z")
_IRREGULAR = {
    "ran": "run",
    "sat": "sit",
    "stood": "stand",
    "drank": "drink",
    "drunk": "drink",
    "bent": "bend",
    "held": "hold",
    "hung": "hang",
    "swung": "swing",
    "swept": "sweep",
    "threw": "throw",
    "thrown": "throw",
    "shook": "shake",
    "shaken": "shake",
    "took": "take",
    "taken": "take",
    "went": "go",
    "gone": "go",
    "goes": "go",
    "came": "come",
    "met": "meet",
    "gave": "give",
    "given": "give",
    "got": "get",
    "rose": "rise",
    "risen": "rise",
    "fought": "fight",
    "caught": "catch",
    "chose": "choose",
    "chosen": "choose",
    "said": "say",
    "spun": "spin",
    "leapt": "leap",
}
# Words that may stand between the words of a form.
_FILLERS = frozenset((
    "a", "an", "the", "his", "her", "their", "its", "one's", "this", "that", "these", "those", "some",
    "something", "someone", "another", "other", "of", "on", "onto", "to", "in", "into", "up", "down",
    "at", "from", "with", "by", "over", "him", "them",
))  # fmt: skip
_MOST_FILLERS = 3
_ARTICLES = frozenset(("a", "an", "the"))
# A label that is a word of negation says nothing where it stands in a sentence.
_NO_FORM = frozenset(("no", "not", "none"))
_INTENTION = re.compile(r"\A(?:\([^)]*\)\s*)?(?:to\s+)?", re.IGNORECASE)


class LabelWords(Record, omit_defaults=True):
    """One label: how it is shown as a choice, other words for it, and what marks the action.

    `text` is the label as it is shown. `forms` are synonyms, `features` what the action looks like.
    """

    text: str
    forms: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


# One label a line; synonyms behind the colon, features behind the bar, each between semicolons.
_TABLE = """
360_spin: spin around 360; full spin; 360 degree turn | rotate; spin; full rotation; turn in place; 360
alternating_jumping_jacks: take turns doing jumping jacks; alternate jumping jacks |
alternating_squats: take turns squatting; alternate squats |
basketball_signals: basketball signal; referee signal; referee gesture | referee hand
bend: bend over; bend down | torso forward down; reach ground
blind_mans_bluff: blind man's bluff; blind man bluff | blindfolded; eyes covered; eyes closed grope
boxing: box; punching and dodging | jab; punches in air; fighting stance fists
charleston_dance: charleston | dance kick forward back
chicken_dance: dance like a chicken | flap arms; wing arms; flap elbows; wing elbows
choosewhichone: choose which one; choose one; pick one; which one to choose | point between two objects
climb: climb up; climb stairs | step up stairs; ascend steps
climb_ladder: climb a ladder; climb up a ladder | hand over hand rungs; ladder
comecloser: come closer; come here; come over; beckon; come near | wave toward self
comforting: comfort; console | pat back other; arm around shoulders
conversation: converse; talk; chat; have a conversation | gesture speaking
covering_another: cover another; cover the other; shield the other; protect the other | shelter body
direct_traffic: direct traffic; traffic police; traffic officer | signal cars
drink: sip; take a drink | hand raised mouth; cup mouth
drink_soda: drink soda; drink from a can; drink from a bottle; sip soda | can mouth; bottle mouth
embrace: hug | arms around each other
football: play football; play catch with a football; throw a football | throw catch ball
forward_jump: jump forward; leap forward | jump ahead
friends_meet: friends meet; meet up; meet a friend; friends meeting; greet a friend | approach greet
go_out_of_the_way: get out of the way; go out of the way; move out of the way; move aside | wave aside
hang: hang from a bar | arms overhead bar
high_five: highfive; give a high five; slap hands | palms meet overhead
hold_hands: hold hands; hand in hand | hands joined
hug: embrace | arms around each other
imitate: copy; mimic; mirror the movements; imitation | same movement after
imitateme: imitate me; imitate; copy me; mimic | same movement after
jog: run | running pace
jump: leap; hop | both feet leave ground
jump_up_to_grab: jump and grab; jump up and grab | jump up; reach up; grab overhead; extend arms upward
jumping_jacks: jumping jack; star jump | jump legs apart arms overhead
lateralsteps: lateral steps; step sideways; side steps; sidestep | step left right
laugh: chuckle; laughter; giggle | chuckle; laughing
lean_forward: lean forwards; bend forward | bend forward; torso incline
link_arms: link arms; arm in arm | arms hooked
lookattheceiling: look at the ceiling; look up at the ceiling; point at the ceiling | point up look up
lookattheground: look at the ground; look at the floor; point at the ground | point down look down
mop_floor: mop the floor; mop | mop; push pull handle; cleaning floor
movethisdown: move this down; move it down; put this down | lower object
navigate_busy_sidewalk: navigate a busy sidewalk; walk on a busy sidewalk; busy sidewalk | avoid people crowd
no: say no; refuse; refusal; shake head; reject; decline | wag finger
nursery_rhyme: nursery song; children's song | nursery rhyme; sing song; rhythmic hand; rhythmic clap
passes_soda: pass a soda; pass soda; pass the can; hand over a can | hand drink other
pick_up: pick up; pick this up; pick it up | bend grasp object ground
pickthisup: pick this up; pick it up; pick up | bend grasp object ground
pull_by_the_elbow: pull by the elbow; drag by the elbow; tug the elbow | pull arm
pulling_someone: pull someone; drag someone; drag away; pull the other; drag the other | pull arm
punch: hit; strike | fist forward
quarrel: argue; argument; dispute | heated gestures
run: jog; sprint; running | fast stride
running: run; jog; sprint | fast stride
rush_up: rush up; arm wrestling; rush over | hurry toward
scramble: scramble for a chair; fight for a seat; fight for the last seat | last seat
sit_down: sit; sits; seat oneself; take a seat | lower onto chair
sit_on_high_stool: sit on a high stool; sit on a stool | high stool; elevated stool; perch stool
sit_on_step_stool: sit on a step stool; sit on a stepstool | step stool; perch stool
sit_on_stepstool: sit on a step stool; sit on a stool | step stool; perch stool
sitdown: sit; sit down; take a seat | lower onto chair
sits: sit; sit down; take a seat | lower onto chair
skip_together: skip together; skip side by side | skip arms linked
sneeze: sneezing | head jerks forward
soldiers_march: march; soldiers marching; march like a soldier | knees high regular steps
squat_down: squat; crouch | knees bend hips lower
stand_up: stand up; get up; rise from a chair; rise to the feet | rise seat
standup: stand up; get up; rise from a chair | rise seat
stares_down_angry: stare down angrily; stare angrily; glare | tense facing posture
stop: tell to stop; halt | palm forward halt
stretch: stretching exercise | extend limbs overhead
stumble_into_eachother: stumble into each other; bump into each other; collide | collision
stumbles: stumble; trip; lose balance | stagger
sweep_floor: sweep the floor; sweep | broom
swing: swing on a bar; swing back and forth | pendulum bar
synchronized_walk: synchronized walk; walk in sync; walk in step; synchronised walk | step same time
tai_chi: taichi; t'ai chi | slow flowing arms
turnover: turn over; turn around | face other way
violence: attack; threaten; assault; violent | hit other
walk: walking; stroll | legs alternate forward
walkaway: walk away; go away; leave | wave off
walking: walk; stroll | legs alternate forward
walkwander: wander; wander around; stroll around; walk around | no direction
wash_windows: wash windows; clean a window; wipe a window; wipe windows | wipe glass; circular wiping
zombie_march: zombie walk; walk like a zombie; zombie | arms stretched ahead stiff
"""


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(";"))))


@cache
def known_words() -> Mapping[str, LabelWords]:
    """The words that are known for a label, by label."""
    known = {}
    for line in _TABLE.strip().splitlines():
        label, _, words = line.partition(":")
        forms, _, features = words.partition("|")
        known[label] = LabelWords(text=label, forms=_listed(forms), features=_listed(features))
    return MappingProxyType(known)


def with_known(label: LabelWords) -> LabelWords:
    """The label with the words that are known for it added to its own.

    Source: ActPLD, appendix A.3 (synonyms, descriptors).
    Departs: most of the words are ours; the paper leaves the rest to its judge model.

    >>> with_known(LabelWords(text="pickthisup")).forms
    ('pick this up', 'pick it up', 'pick up')
    """
    known = known_words().get(label.text.strip().lower().replace(" ", "_"))
    if known is None:
        return label
    return LabelWords(
        text=label.text,
        forms=tuple(dict.fromkeys((*label.forms, *known.forms))),
        features=tuple(dict.fromkeys((*label.features, *known.features))),
    )


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without its inflection; the same for ``sitting``, ``sits`` and ``sat``.

    >>> [stem(w) for w in ("sitting", "sat", "dances", "dancing", "swing")]
    ['sit', 'sit', 'danc', 'danc', 'swing']
    """
    word = _IRREGULAR.get(word.removesuffix("'s"), word.removesuffix("'s"))
    for suffix, shortest in (("ing", 5), ("ed", 5)):
        base = word.removesuffix(suffix)
        if base != word and len(word) >= shortest and _VOWEL.search(base):
            word = base
            break
    else:
        if word.endswith(("ses", "xes", "zes", "ches", "shes")):
            word = word[:-2]
        elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    word = _DOUBLED.sub(lambda m: m[1] or "", word)
    return _ENDING.sub("i" if word.endswith(("y", "ie")) else "", word) if len(word) > 3 else word


@dataclass(frozen=True)
class StemmedWord:
    """One word of a text: its stem and where it stands, in characters ``[start, end)``."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True)
class Mention:
    """Where a text names a label; `label` is its position in the list of labels."""

    label: int
    start: int
    end: int


def words_of(text: str) -> list[StemmedWord]:
    """The words of a text with their places."""
    return [StemmedWord(stem(m[0].casefold()), m.start(), m.end()) for m in _TOKEN.finditer(text)]


@lru_cache(maxsize=4096)
def _stems(form: str) -> tuple[str, ...]:
    return tuple(word.stem for word in words_of(form) if word.stem not in _ARTICLES)


def forms_of(label: LabelWords) -> frozenset[tuple[str, ...]]:
    """The stems of everything that names a label: its text, its synonyms, and these in one word.

    Source: ActPLD, appendix A.3 (synonyms and wording changes are normalised).
    Departs: no.
    """
    own = _INTENTION.sub("", label.text)
    said = [form.replace("_", " ").casefold() for form in (own, *label.forms)]
    found = {_stems(form) for form in said} | {(stem("".join(_TOKEN.findall(form))),) for form in said}
    return frozenset(form for form in found if any(form) and not set(form) <= _NO_FORM)


def _end_of(form: tuple[str, ...], words: Sequence[StemmedWord], first: int) -> int | None:
    """Where the form that begins with word `first` ends, as a position in `words`; None if it does not."""
    fillers = _filler_stems()
    at = first
    for expected in form[1:]:
        at += 1
        n_fillers = 0
        while at < len(words) and words[at].stem != expected:
            if words[at].stem not in fillers or n_fillers == _MOST_FILLERS:
                return None
            n_fillers += 1
            at += 1
        if at == len(words):
            return None
    return at


@cache
def _filler_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in _FILLERS)


def mentions(labels: Sequence[LabelWords], words: Sequence[StemmedWord]) -> list[Mention]:
    """Every place that names one of the labels, in order; a longer name hides those inside it.

    ``jumping jacks`` is no mention of *jump* where both are labels. Words that two labels share are a
    mention of the one that comes first in `labels`.

    Source: ActPLD, appendix A.3.
    Departs: the paper leaves it to its judge model what counts as naming a label.
    """
    by_first: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for i, label in enumerate(labels):
        for form in forms_of(label):
            by_first.setdefault(form[0], []).append((i, form))
    found: list[Mention] = []
    for first, word in enumerate(words):
        for i, form in by_first.get(word.stem, ()):
            last = _end_of(form, words, first)
            if last is not None:
                found.append(Mention(i, word.start, words[last].end))
    found.sort(key=lambda m: (m.start - m.end, m.label, m.start))
    kept: list[Mention] = []
    is_taken = bytearray(words[-1].end if words else 0)
    for mention in found:
        if not any(is_taken[mention.start : mention.end]):
            is_taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)
