"""Questions about a person's behaviour, with the person named by appearance; written by a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from vidence.catalog import FilePath
from vidence.contracts import Flow
from vidence.make.herbench.tasks.candidates import Candidate, DraftLog, NoCandidate
from vidence.make.herbench.tasks.people import (
    PeopleSettings,
    Person,
    about,
    doubt_of,
    identification,
    only_one,
    people_of,
)
from vidence.make.herbench.tasks.written import Request, TaskPrompts, WrittenQuestion, read_reply
from vidence.make.pipeline.material import BY_MODEL, Corpus, Crop, Made, Material, Task
from vidence.make.pipeline.writer import WritingTask, write_all

NAMES = ("agar", "agbi")
SUMMARIES: Final[Mapping[str, str]] = {
    "agar": "Appearance-grounded attribute recognition: attributes of people or things that a person passes.",
    "agbi": "Appearance-grounded behavior interactions: who accompanies a person, and what they do.",
}
_TITLES: Final = {
    "agar": "Appearance-Grounded Attribute Recognition",
    "agbi": "Appearance-Grounded Behavior Interactions",
}
# What is asked about, by structure.
_TOPICS: Final[Mapping[str, Mapping[str, str]]] = {
    "agar": {
        "passer-by": "what another person wears or carries that the person passes, meets or walks with",
        "surroundings": "a visible attribute, such as colour, kind or number, of a thing that the "
        "person passes, uses or stands at",
    },
    "agbi": {
        "company": "who is with the person: who accompanies, follows, meets or talks to the person on "
        "the way",
        "interaction": "what the person does with a thing or at a place, such as a door, a machine or a "
        "vehicle",
        "stop": "where or for what the person stops, waits, slows down or turns round",
    },
}


class Settings(PeopleSettings):
    """Which people are asked about, and how the model is asked."""

    leak: Annotated[
        float, Meta(ge=0, le=1, description="largest likeness of a question to the description of its person")
    ] = 0.15
    crops: Annotated[bool, Meta(description="show the model the pictures of the B-card, too")] = False
    prompts: Annotated[
        FilePath,
        Meta(description="a folder with task_NAME.txt, task_system.txt or task_repair.txt to use instead"),
    ] = ""


@dataclass(frozen=True, kw_only=True)
class _QuestionPlan:
    """A planned question: structure and person."""

    structure: str
    person: Person
    request: Request

    @property
    def subject(self) -> str:
        return f"{self.structure}, {about([self.person])}"


class Grounded:
    """A task with questions that a model writes from B-cards.

    Each person is asked about once for every structure, as long as drafts are wanted. What is right was
    written by a model, so that every draft says ``model`` in `truth` and waits for a person.

    Source: HERBench, sections 3.1, 3.2 and 7.2, figures 13 (``agbi``) and 14 (``agar``).
    Departs: the paper's prompts are not printed.
    """

    family = "R&T"
    version = 8
    uses: tuple[str, ...] = ()
    across: tuple[str, ...] = ("events",)
    asks = True
    wants_people = False

    def __init__(self, name: str, settings: Settings) -> None:
        self.code, self.title = name.upper(), _TITLES[name]
        self._topics = _TOPICS[name]
        self.structures: tuple[str, ...] = tuple(self._topics)
        self._settings = settings
        self.needs: tuple[str, ...] = ("tracked", "chosen", "a_cards", "b_cards")
        if settings.crops:
            self.needs += ("crops",)
        self._prompts = TaskPrompts.load(name, folder=settings.prompts)

    def draft(
        self, material: Material, corpus: Corpus, *, most: int, rng: np.random.Generator
    ) -> Flow[Sequence[Made]]:
        """Up to `most` questions that a model writes; as many are asked for together as are still wanted."""
        log = DraftLog(code=self.code, video_id=material.source.video_id, rng=rng)
        if log.lacks(material, self.needs):
            return log.made
        waiting = self._wanted(material, log, rng=rng)
        while waiting and log.n_drafts < most:
            n_now = most - log.n_drafts
            now, waiting = waiting[:n_now], waiting[n_now:]
            leak = self._settings.leak
            pieces = [
                WritingTask(
                    prompt=self._prompts.prompt(plan.request),
                    read=partial(read_reply, request=plan.request, leak=leak),
                )
                for plan in now
            ]
            written = yield from write_all(pieces, self._prompts)
            for asked, piece in zip(now, written, strict=True):
                if piece.made is not None:
                    log.take(self._candidate(asked, piece.made))
                elif (why := piece.objection) is not None:
                    log.take(NoCandidate(subject=asked.subject, reason=why.reason, detail=why.detail))
        return log.made

    def _wanted(self, material: Material, log: DraftLog, *, rng: np.random.Generator) -> list[_QuestionPlan]:
        """Return all plans: every structure of every person, shuffled."""
        people = []
        for person in people_of(material, self._settings, log):
            if person.b_card is None or not person.b_card.text.strip():
                log.drop(f"track {person.track_id}", reason="no-b-card", detail="nothing says what it does")
            else:
                people.append(person)
        order = [people[i] for i in rng.permutation(len(people))]
        names = [self.structures[i] for i in rng.permutation(len(self.structures))]
        asked = []
        for turn in range(len(names)):
            for i, person in enumerate(order):
                name = names[(i + turn) % len(names)]
                if person.b_card is not None:
                    request = Request(
                        topic=self._topics[name],
                        b_card=person.b_card,
                        a_text=person.text,
                        crops=self._crops(material, person),
                    )
                    asked.append(_QuestionPlan(structure=name, person=person, request=request))
        return asked

    def _crops(self, material: Material, person: Person) -> tuple[Crop, ...]:
        """The pictures of the person that the B-card was written from, in time order."""
        if not self._settings.crops or person.b_card is None:
            return ()
        frames = set(person.b_card.frames)
        mine = [c for c in material.crops if c.track_id == person.track_id and c.frame_index in frames]
        return tuple(sorted(mine, key=lambda crop: crop.frame_index))

    def _candidate(self, asked: _QuestionPlan, written: WrittenQuestion) -> Candidate:
        person = asked.person
        b_card = person.b_card.text if person.b_card else ""
        return Candidate(
            structure=asked.structure,
            subject=about([person]),
            question=f"{only_one(person)}\n{written.question}",
            right=written.answer,
            wrong=written.distractors,
            evidence=person.looks,
            k=1,  # one moment may show who it is and what is asked; more is for a gate to prove
            facts={
                "person": person.fact,
                "B-card": b_card,
                "asked for": asked.request.topic,
                **identification([person]),
            },
            truth=BY_MODEL,
            review=doubt_of([person]),
        )


def create(settings: Settings, name: str) -> Task:
    """The task of this name."""
    return Grounded(name, settings)
