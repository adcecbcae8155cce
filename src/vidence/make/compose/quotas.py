"""Search for the wanted compositions, video by video, until quotas are met."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

import msgspec

from vidence.engine.config_file import Count, CountOrNone, Share
from vidence.errors import UsageError
from vidence.make.compose.prove import without_collecting
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import ALL_SHAPES, Composed, QuotaCell, Search, Shape
from vidence.make.compose.types import Logic
from vidence.make.sources.composition import (
    MOST_CONDITIONS,
    Compare,
    Composition,
    Known,
    Literally,
    Pair,
    Values,
    parts,
)
from vidence.make.sources.scene import ValueOrNumber
from vidence.make.sources.vocabulary import EVENT, AnswerType, Skill, Vocabulary
from vidence.records import Record

LEAST_SKILL = 0.1
"""The share of conditions per skill, where the vocabulary allows it."""

_MOST_ANSWER = 0.2
"""The share of a domain from which on other answers are looked for: five options allow no more."""

_FREE_ANSWERS, _FEW_ANSWERS = 3, 15
"""The questions that an answer may have whatever its share: at first, and when no other is found.

Small scenes lose none then, and of fewer than 75 questions (a fifth are 15) little is learnt.
"""

_MOST_SHAPE = 0.2
"""The share from which on a shape waits until no other is found; some of the others get no options."""


class Quota(Record, omit_defaults=True):
    """How many compositions of each kind are wanted.

    `per_video` of each video, spread over `types` of answers, `logic`, and numbers of `conditions` (the
    fewest and the most). A cell is given up in a video after `tries` attempts. A fact about what a
    composition names is used by `facts` compositions at most (0: by any number).
    `shapes` are those that are drawn.
    """

    per_video: Count = 5
    types: tuple[AnswerType, ...] = ("attribute", "object", "location", "action", "relationship", "event")
    logic: tuple[Logic, ...] = ("conjunctive", "sequential")
    conditions: tuple[Count, Count] = (2, 6)
    tries: Count = 200
    facts: CountOrNone = 3
    negations: bool = True
    shapes: tuple[Shape, ...] = ALL_SHAPES

    def __post_init__(self) -> None:
        fewest, most = self.conditions
        if not fewest <= most <= MOST_CONDITIONS:
            raise UsageError(
                f"conditions are [{fewest}, {most}]; expected fewest and most, up to {MOST_CONDITIONS}"
            )

    @property
    def cells(self) -> tuple[QuotaCell, ...]:
        """All wanted cells in order."""
        numbers = range(self.conditions[0], self.conditions[1] + 1)
        return tuple(QuotaCell(t, logic, n) for t in self.types for logic in self.logic for n in numbers)


class Strength(Record, omit_defaults=True):
    """The highest rate of guessing without one condition (`most_guess`), or without all (`most_prior`)."""

    most_guess: Share = 0.5
    most_prior: Share = 0.4


@dataclass(frozen=True)
class Unmet:
    """A cell that a video could not fill, with the commonest failure and its count."""

    scene: str
    cell: QuotaCell
    reason: str
    n: int = 0


@dataclass
class Filled:
    """The result of the search: compositions in the order found, and unfilled cells."""

    composed: list[Composed] = field(default_factory=list)
    unmet: list[Unmet] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was refused or changed on the way, with how often, scene by scene."""


class _Video:
    """One scene while the quotas are filled."""

    def __init__(self, name: str, scene: SceneBits, quota: Quota, *, seed: int) -> None:
        self.name, self.quota = name, quota
        self.rng = Random(f"compose/{seed}/{name}")
        self.search = Search(
            scene, rng=self.rng, negations=quota.negations, least=quota.conditions[0], shapes=quota.shapes
        )
        self.n = self.n_tried = 0
        self.dead: dict[QuotaCell, tuple[str, int]] = {
            cell: ("no-shape", quota.tries) for cell in quota.cells if not self.search.shapes(cell)
        }
        self.in_vain = defaultdict[QuotaCell, frozenset[Shape]](frozenset)
        """The shapes that did not fill a cell while others were drawn often."""
        self.seen: set[object] = set()
        self.facts: Counter[tuple[str, str]] = Counter()

    def wanted(self, have: Mapping[QuotaCell, int]) -> QuotaCell:
        """Return the cell to try: what lacks most, of those that a shape not drawn often may fill, if any."""
        live = [cell for cell in self.quota.cells if cell not in self.dead]
        return min(live, key=lambda cell: (not self.is_rare(cell), have[cell]))

    def is_rare(self, cell: QuotaCell) -> bool:
        """Return whether shapes that are not drawn often are still to be tried for a cell."""
        return self.search.is_rare(cell, often=self.search.often | self.in_vain[cell])

    def take(self, composed: Composed) -> bool:
        """Accept a composition if its answer is new and its facts are not used up."""
        keys = {*_asked(composed), _program(composed)}
        facts = set(_facts(composed))
        most = self.quota.facts
        if keys & self.seen or (most and any(self.facts[fact] >= most for fact in facts)):
            return False
        self.seen |= keys
        self.facts.update(facts)
        self.n += 1
        return True


def fill(scenes: Mapping[str, SceneBits], quota: Quota, strength: Strength, *, seed: int) -> Filled:
    """Search until every video has met its quotas or cannot.

    The cell that lacks most over all videos is tried first, with the skill that is asked for least; what an
    attempt gives beside it is taken where its own cell lacks some.
    """
    filled = Filled()
    videos = [_Video(name, scene, quota, seed=seed) for name, scene in scenes.items()]
    for entry in videos:
        entry.search.most_guess, entry.search.most_prior = strength.most_guess, strength.most_prior
    have: Counter[QuotaCell] = Counter()
    skills: Counter[Skill] = Counter()
    shapes: Counter[Shape] = Counter()
    answers: Counter[tuple[str, ValueOrNumber] | str] = Counter()
    with without_collecting():
        while open_ := [
            element
            for element in videos
            if element.n < quota.per_video and len(element.dead) < len(quota.cells)
        ]:
            for video in open_:
                video.search.often = frozenset(
                    shape for shape, n in shapes.items() if n >= _MOST_SHAPE * shapes.total()
                )
                cell = video.wanted(have)
                composed = _tried(
                    video, cell, have=have, answers=answers, skill=_rarest(skills, video.search)
                )
                if composed is None:
                    continue
                filled.composed.append(composed)
                have[cell_of(composed)] += 1
                skills.update(skills_of(composed.composition))
                shapes[composed.shape] += 1
                answers.update(_answered(composed))
    for video in videos:
        filled.unmet += [Unmet(video.name, cell, why, n) for cell, (why, n) in video.dead.items()]
        if n := video.search.n_left_out:
            filled.notes.append(f"{video.name}: {n:,} conditions without a witness left out")
    return filled


def gaps(scene: SceneBits) -> Iterator[str]:
    """Return unstated facts that prevent compositions: `lists` and values of attributes."""
    for category in (*scene.words.categories, EVENT):
        names = scene.members[category]
        if len(names) < 2:
            continue
        if not scene.lists_all(category):
            yield f"whether every {category} is listed"
        for attribute, entry in scene.words.attributes.items():
            if any(scene.words.is_a(category, of) for of in entry.of):
                unknown = scene.column(category, attribute).doubtful.bit_count()
                if unknown:
                    yield f"{attribute} of {unknown} of {len(names)} ({category})"


def cell_of(composed: Composed) -> QuotaCell:
    """Return the cell of a composition."""
    proof = composed.proof
    return QuotaCell(proof.answer.type, proof.logic, len(proof.conditions))


def skills_of(composition: Composition) -> list[Skill]:
    """Return the skills of a composition: those of its conditions, and table look-up."""
    skills = [condition.skill for condition in composition.conditions]
    if any(isinstance(step.value, Known) for step in composition.steps):
        skills.append("visual knowledge")
    return skills


def _rarest(skills: Counter[Skill], search: Search) -> Skill | None:
    n = sum(skills.values())
    relations = search.scene.words.relations.values()
    able: list[Skill] = ["temporal", "correspondence", *(relation.skill for relation in relations)]
    able += ["spatial"] if search.scene.world.places else []
    able += ["visual knowledge"] if search.scene.world.known else []
    rare = [name for name in dict.fromkeys(able) if skills[name] < LEAST_SKILL * n]
    return sorted(rare, key=skills.__getitem__)[0] if rare else None


def _tried(
    video: _Video,
    cell: QuotaCell,
    *,
    have: Counter[QuotaCell],
    answers: Counter[tuple[str, ValueOrNumber] | str],
    skill: Skill | None,
) -> Composed | None:
    before = Counter(video.search.refused)
    refused: Counter[str] = Counter()
    cells = frozenset(video.quota.cells)

    def fits(kind: AnswerType, logic: Logic, n: int) -> bool:
        quota_cell = QuotaCell(kind, logic, n)
        return quota_cell in cells and (quota_cell == cell or have[quota_cell] <= have[cell])

    is_rare = video.is_rare(cell)
    video.search.often = video.search.often | video.in_vain[cell] if is_rare else frozenset()
    free = _FREE_ANSWERS
    for attempt in range(video.quota.tries):
        if is_rare and not video.is_rare(cell):
            break
        if attempt == video.quota.tries // 2:
            skill, free = None, _FEW_ANSWERS
        video.n_tried += 1
        composed = video.search.tried(replace(cell, skill=skill), number=video.n_tried, fits=fits)
        if composed is None:
            continue
        answer, domain = _answered(composed)
        if _says_the_answer(composed, video.search.scene.words):
            refused["answer-in-question"] += 1
        elif answers[answer] > max(free, _MOST_ANSWER * answers[domain]):
            refused["answer-often"] += 1
        elif not video.take(composed):
            refused["used-already"] += 1
        else:
            return composed
    shapes = frozenset(video.search.shapes(cell))
    if is_rare and video.search.often & shapes:
        video.in_vain[cell] |= shapes - video.search.often
        return None
    refused += video.search.refused - before
    why = max(sorted(refused), key=lambda name: refused[name]) if refused else "nothing-found"
    video.dead[cell] = why, refused[why]
    return None


def _answered(composed: Composed) -> tuple[tuple[str, ValueOrNumber], str]:
    """Return the answer with its domain, and the domain."""
    answer = composed.proof.answer
    return (answer.domain, answer.value), answer.domain


def _says_the_answer(composed: Composed, words: Vocabulary) -> bool:
    """Return whether a condition names the answer as a value of another attribute of the same domain."""
    answer = composed.proof.answer
    return any(
        part.attribute != answer.domain
        and isinstance(part.value, Literally | Values)
        and answer.value in (part.value.values if isinstance(part.value, Values) else (part.value.value,))
        and words.share_a_domain(part.attribute, answer.domain)
        for step in composed.composition.steps
        for part in parts(step.value)
        if isinstance(part, Compare)
    )


def _asked(composed: Composed) -> Iterator[tuple[str, str]]:
    """Return the entity and attribute in question; none for counts."""
    last = composed.composition.steps[-1].value
    source = getattr(last.first if isinstance(last, Pair) else last, "of", None)
    if composed.proof.answer.domain != "count" and source is not None:
        yield str(composed.proof.binding[source.name]), composed.proof.answer.domain


def _program(composed: Composed) -> bytes:
    """Return the program regardless of condition names."""
    raw = msgspec.to_builtins(composed.composition.steps)
    return msgspec.json.encode(_unnamed(raw), order="deterministic")


def _unnamed(raw: object) -> object:
    if isinstance(raw, dict):
        values = {key: _unnamed(value) for key, value in raw.items() if key != "condition"}
        if isinstance(atoms := values.get("atoms"), list):
            values["atoms"] = sorted(
                atoms, key=lambda entry: msgspec.json.encode(entry, order="deterministic")
            )
        return values
    return [_unnamed(entry) for entry in raw] if isinstance(raw, list | tuple) else raw


def _facts(composed: Composed) -> Iterator[tuple[str, str]]:
    """Return the (entity, attribute) facts that a composition uses."""
    for step in composed.composition.steps:
        name = composed.proof.binding.get(step.variable)
        members = getattr(step.value, "of", None)
        for atom in getattr(members, "atoms", ()):
            if name is not None and hasattr(atom, "attribute"):
                yield str(name), atom.attribute
    yield from _asked(composed)
