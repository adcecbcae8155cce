"""Tasks in which somebody is named by appearance and asked about by behaviour: the questions of a model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence import option_readers
from vidence.catalog import take_options
from vidence.contracts import Flow
from vidence.make.pipeline.material import Corpus, Crop, Made, Material
from vidence.make.tasks import _people
from vidence.make.tasks._drafting import Idea, Ledger, NoIdea, lacks
from vidence.make.tasks._moments import Timeline
from vidence.make.tasks._people import PeopleRules, Person
from vidence.make.tasks._prompts import TaskPrompts
from vidence.make.tasks._written import Unwritten, Wish, Written, write

LEAK = 0.15


class Rules(PeopleRules, kw_only=True, omit_defaults=True):
    """As `PeopleRules`. `leak` is the largest likeness of a question to the description of its person.

    With `crops` the model sees the pictures that the B-card was written from. `prompts` is a folder of
    templates that replace ours.
    """

    leak: float = LEAK
    crops: bool = False
    prompts: str = ""


_READERS: Mapping[str, Callable[[str], object]] = {
    **_people.OPTIONS,
    "leak": option_readers.share,
    "crops": option_readers.yes_or_no,
    "prompts": str,
}


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """One question that is wanted: which structure, about whom."""

    structure: str
    person: Person
    wish: Wish

    @property
    def subject(self) -> str:
        return f"{self.structure}, {_people.about([self.person])}"


class Grounded:
    """A task whose questions a model writes from B-cards; `topics` says for each structure about what.

    Each person is asked about once for every structure, as long as drafts are wanted. What is right was
    written by a model, so that every draft says ``model`` in `truth` and waits for a person.

    Source: HERBench, sections 3.1, 3.2 and 7.2, figures 13 and 14.
    Departs: the paper's prompts are not printed.
    """

    family = "R&T"
    version = 3

    def __init__(
        self, *, code: str, title: str, stem: str, topics: Mapping[str, str], options: Mapping[str, str]
    ) -> None:
        self.code, self.title, self.stem = code, title, stem
        self.structures: tuple[str, ...] = tuple(topics)
        self._topics = topics
        self._rules = msgspec.convert(take_options(code.lower(), options, _READERS), Rules)
        self.needs: tuple[str, ...] = ("tracked", "chosen", "a_cards", "b_cards")
        if self._rules.crops:
            self.needs += ("crops",)
        self._prompts = TaskPrompts.load(code.lower(), folder=self._rules.prompts)

    def draft(
        self, material: Material, corpus: Corpus, *, most: int, rng: np.random.Generator
    ) -> Flow[Sequence[Made]]:
        """Up to `most` questions that a model writes; as many are asked for together as are still wanted."""
        ledger = Ledger(code=self.code, video_id=material.source.video_id, rng=rng)
        if lacks(material, self.needs, ledger) or material.tracked is None:
            return ledger.made
        timeline = _people.timeline_of(material.tracked)
        waiting = self._wishes(material, ledger, rng=rng)
        while waiting and ledger.n_drafts < most:
            n_now = most - ledger.n_drafts
            now, waiting = waiting[:n_now], waiting[n_now:]
            written = yield from write([a.wish for a in now], self._prompts, leak=self._rules.leak)
            for asked, result in zip(now, written, strict=True):
                if isinstance(result, Unwritten):
                    ledger.take(NoIdea(subject=asked.subject, reason=result.reason, detail=result.detail))
                else:
                    ledger.take(self._idea(asked, result, timeline))
        return ledger.made

    def _wishes(self, material: Material, ledger: Ledger, *, rng: np.random.Generator) -> list[_Asked]:
        """What to ask for: every structure of every person, structures and people in a drawn order."""
        people = []
        for person in _people.people_of(material, self._rules, ledger):
            if person.b_card is None or not person.b_card.text.strip():
                ledger.drop(
                    f"track {person.track_id}", reason="no-b-card", detail="nothing says what it does"
                )
            else:
                people.append(person)
        order = [people[i] for i in rng.permutation(len(people))]
        names = [self.structures[i] for i in rng.permutation(len(self.structures))]
        asked = []
        for turn in range(len(names)):
            for i, person in enumerate(order):
                name = names[(i + turn) % len(names)]
                if person.b_card is not None:
                    wish = Wish(
                        topic=self._topics[name],
                        b_card=person.b_card,
                        a_text=person.text,
                        crops=self._crops(material, person),
                    )
                    asked.append(_Asked(structure=name, person=person, wish=wish))
        return asked

    def _crops(self, material: Material, person: Person) -> tuple[Crop, ...]:
        """The pictures of the person that the B-card was written from, in the order of time."""
        if not self._rules.crops or person.b_card is None:
            return ()
        frames = set(person.b_card.frames)
        mine = [c for c in material.crops if c.track_id == person.track_id and c.frame_index in frames]
        return tuple(sorted(mine, key=lambda crop: crop.frame_index))

    def _idea(self, asked: _Asked, written: Written, timeline: Timeline) -> Idea:
        person = asked.person
        b_card = person.b_card.text if person.b_card else ""
        return Idea(
            structure=asked.structure,
            subject=_people.about([person]),
            question=f"{_people.only_one(person)}\n{written.question}",
            right=written.answer,
            wrong=written.distractors,
            evidence=person.looks(timeline),
            facts={"person": person.fact, "B-card": b_card, "asked for": asked.wish.topic},
            truth="model",
        )
