"""Questions worded by a model, and whether another reader gets the same program out of the words."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import msgspec

from vidence.ask.prompting.templates import Template
from vidence.contracts import Ask, Flow
from vidence.errors import DataError, UsageError
from vidence.make.compose.evaluating import Evaluation, Notes
from vidence.make.compose.parsing import parse_compositions
from vidence.make.compose.types import check_types
from vidence.make.compose.wording import DIGITS
from vidence.make.compose.world import World
from vidence.make.pipeline.wording import CardWording
from vidence.make.pipeline.writer import Objection, WritingTask, in_words, tidy, write_all
from vidence.make.sources.composition import Composition, Step
from vidence.make.sources.contradictions import find_contradictions
from vidence.make.sources.proof import Problem
from vidence.make.sources.scene import AttributeFact, Entity, EventFact, Fact, Scene
from vidence.make.sources.vocabulary import Vocabulary
from vidence.records import Prompt, Record, TextPart

WORD, READ = "compose_word", "compose_read"
WORD_VARIABLES: Mapping[str, str] = {
    "program": "the program",
    "stiff": "what it means, in the words of the templates",
    "marks": "the marks of its conditions",
    "most_words": "the largest number of words",
}
READ_VARIABLES: Mapping[str, str] = {"words": "the vocabulary", "question": "the question"}
_FENCE = re.compile(r"^```\w*\n?|```$", re.MULTILINE)


class Worded(Record, omit_defaults=True):
    """The words of a question, and how what was read out of them compares; or why there are none."""

    question: str = ""
    verdict: str = ""
    program: str = ""
    reason: str = ""
    detail: str = ""


class Back(Record):
    """What a reader made of the words."""

    text: str
    verdict: str


def checked_words(text: str, composition: Composition, *, untold: str, most_words: int) -> str | Objection:
    """The words of a model, or what is wrong with them.

    Args:
        text: what it replied.
        composition: what it was to say.
        untold: the answer, which it was not shown; it may stand there only where the program has it, too.
        most_words: the largest number of words.
    """
    made = tidy(text)
    marks = [mark for mark in made if mark in DIGITS]
    wanted = sorted(DIGITS[int(one.id.removeprefix("c")) - 1] for one in composition.conditions)
    if sorted(marks) != wanted:
        said = f"it has the marks {' '.join(marks) or 'none'}; wanted are {' '.join(wanted)}, each once"
        return Objection(reason="no-question", detail=said)
    if not made.endswith("?"):
        return Objection(reason="no-question", detail="it does not end with a question mark")
    if len(made.split()) > most_words:
        return Objection(reason="too-long", detail=f"it has {len(made.split())} words; at most {most_words}")
    is_said = re.search(rf"(?<!\w){re.escape(untold.lower())}(?!\w)", made.lower())
    in_program = untold.lower() in msgspec.json.encode(composition.steps).decode().lower()
    if is_said and not in_program:
        return Objection(reason="tells-the-answer", detail="it says something that the program does not")
    return made


@dataclass(frozen=True, kw_only=True)
class WordJob:
    """One question that a model words and another reader reads back.

    `untold` is the answer, which neither of them is shown; `stiff` are the words of the templates.
    """

    composition: Composition
    scene: Scene
    stiff: str
    untold: str
    most_words: int
    templates: tuple[Template, Template]
    check_model: str
    variants: int
    seed: int

    def start(self) -> Flow[Worded]:
        """Ask for the words and have them read back; once more where they say another program."""
        word, read = self.templates
        marks = " ".join(DIGITS[int(one.id.removeprefix("c")) - 1] for one in self.composition.conditions)
        told = {"program": program_text(self.composition), "stiff": self.stiff}
        filled = word.fill({**told, "marks": marks, "most_words": self.most_words})
        prompt = Prompt(parts=(TextPart(text=filled),), template=word.label)
        wording, back = CardWording.load(), Back(text="", verdict="")
        for _ in range(_TRIES):
            (piece,) = yield from write_all(
                [WritingTask(prompt=prompt, read=in_words(self._checked))], wording
            )
            if piece.made is None:
                return Worded(reason=piece.why.reason, detail=piece.why.detail)
            values = {"words": vocabulary_text(self.scene.vocabulary), "question": piece.made}
            asked = Prompt(parts=(TextPart(text=read.fill(values)),), template=read.label)
            (reply,) = yield (Ask(prompt=asked, model=self.check_model),)
            back = verdict_of(
                reply.text, self.composition, self.scene, variants=self.variants, seed=self.seed
            )
            if back.verdict in _FAITHFUL:
                return Worded(question=piece.made, verdict=back.verdict, program=back.text)
            problem = f"a reader who sees only these words takes them for another program ({back.verdict})"
            prompt = wording.repaired(prompt, piece.made, problem=problem)
        return Worded(reason="wording-not-faithful", detail=back.verdict, program=back.text)

    def _checked(self, text: str) -> str | Objection:
        return checked_words(text, self.composition, untold=self.untold, most_words=self.most_words)


_TRIES = 2
_FAITHFUL = ("same", "equivalent")


def program_text(composition: Composition) -> str:
    """A program as a model is shown it: canonical JSON of the steps, one a line."""
    return "\n".join(msgspec.json.encode(one).decode() for one in composition.steps)


def vocabulary_text(words: Vocabulary) -> str:
    """The words that a reader may use, with their types; no fact of any scene."""
    lines = [f"categories: {', '.join((*words.categories, 'event'))}"]
    for name, one in words.attributes.items():
        values = ", ".join(one.values) or ("a number" if one.number else "any text")
        lines.append(f"attribute {name} of {', '.join(one.of)}: {values}")
    lines += [
        f"relation {name}: {', '.join(one.of)} to {', '.join(one.to)}"
        for name, one in words.relations.items()
    ]
    for name, kind in words.events.items():
        roles = ", ".join(f"{role} ({of})" for role, of in kind.roles.items()) or "none"
        lines.append(f'event(kind == "{name}"), roles: {roles}')
    return "\n".join(lines)


# --------------------------------------------------------------------------- the same program


def verdict_of(text: str, composition: Composition, scene: Scene, *, variants: int, seed: int) -> Back:
    """Whether a program that was read out of words is the composition.

    ``same`` after renaming variables; ``equivalent`` where it gives the same on the scene and on every
    variant; else ``other``, or ``unreadable``.
    """
    plain = _FENCE.sub("", text).strip()
    try:
        written = parse_compositions(plain, source="reply")
    except DataError as error:
        return Back(text=plain, verdict=f"unreadable: {error}")
    if len(written) != 1:
        return Back(text=plain, verdict=f"unreadable: {len(written)} programs")
    read = written[0].composition
    if same_program(read, composition):
        return Back(text=plain, verdict="same")
    typed = check_types(read, scene.vocabulary)
    if isinstance(typed, Problem):
        return Back(text=plain, verdict=f"unreadable: {typed.says}")
    for number in range(variants + 1):
        world = World(variant(scene, seed=seed, number=number) if number else scene)
        if _values(read, world) != _values(composition, world):
            where = "the scene" if number == 0 else f"variant {number}"
            return Back(text=plain, verdict=f"other: it gives something else on {where}")
    return Back(text=plain, verdict="equivalent")


def same_program(one: Composition, other: Composition) -> bool:
    """Whether two programs are one, whatever their variables and conditions are called."""
    return _shape(one.steps) == _shape(other.steps)


def _shape(steps: tuple[Step, ...]) -> object:
    """Steps with what they use put in its place, and atoms sorted."""
    known: dict[str, object] = {}

    def put(raw: object) -> object:
        if isinstance(raw, dict):
            if raw.get("op") == "variable":
                return known.get(str(raw["name"]), raw)
            hidden = {"condition", "pick", "column"}
            made = {key: put(value) for key, value in raw.items() if key not in hidden}
            if isinstance(atoms := made.get("atoms"), list):
                made["atoms"] = sorted(atoms, key=lambda a: msgspec.json.encode(a, order="deterministic"))
            return made
        return [put(one) for one in raw] if isinstance(raw, list | tuple) else raw

    for step in steps:
        known[step.variable] = put(msgspec.to_builtins(step.value))
    return known[steps[-1].variable]


def _values(composition: Composition, world: World) -> object:
    """What a program gives in a world: its values with how often, or that it is in doubt."""
    typed = check_types(composition, world.words)
    if isinstance(typed, Problem):
        return typed.reason
    notes = Notes()
    counts: dict[str, int] = defaultdict(int)
    try:
        for branch in Evaluation(typed, world).branches(notes=notes):
            counts[str(branch.value)] += branch.count
    except UsageError:
        return "too many bindings"
    return counts, bool(notes.doubts)


def variant(scene: Scene, *, seed: int, number: int) -> Scene:
    """A scene with values and spans changed about among the members of each category."""
    rng = Random(f"variant/{seed}/{scene.header.scene}/{number}")
    facts = _moved_facts(scene, rng)
    entities = dict(scene.entities)
    by_category: dict[str, list[Entity]] = defaultdict(list)
    for entity in scene.entities.values():
        by_category[entity.category].append(entity)
    for some in by_category.values():
        for entity, other in zip(some, rng.sample(some, len(some)), strict=True):
            entities[entity.entity] = msgspec.structs.replace(entity, spans=other.spans)
    for fact in facts:
        if isinstance(fact, EventFact):
            entities[fact.id] = msgspec.structs.replace(entities[fact.id], spans=(fact.span,))
    changed = tuple(facts)
    return Scene(
        header=scene.header,
        vocabulary=scene.vocabulary,
        entities=entities,
        facts=changed,
        complete=scene.complete,
        contradictions=tuple(find_contradictions(changed, scene.vocabulary)),
    )


def _moved_facts(scene: Scene, rng: Random) -> list[Fact]:
    """The facts with values changed about among those of one attribute, and spans among events."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, fact in enumerate(scene.facts):
        if isinstance(fact, AttributeFact):
            groups[scene.entities[fact.of].category, fact.name].append(i)
        elif isinstance(fact, EventFact):
            groups["event", ""].append(i)
    facts: list[Fact] = list(scene.facts)
    for places in groups.values():
        for here, there in zip(places, rng.sample(places, len(places)), strict=True):
            one, other = scene.facts[here], scene.facts[there]
            if isinstance(one, AttributeFact) and isinstance(other, AttributeFact):
                facts[here] = msgspec.structs.replace(one, value=other.value, id="")
            elif isinstance(one, EventFact) and isinstance(other, EventFact):
                facts[here] = msgspec.structs.replace(one, span=other.span)
    return facts
