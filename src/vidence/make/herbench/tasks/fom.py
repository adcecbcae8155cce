"""False object memory: which objects are handled in a video, and which one is not."""

from collections.abc import Hashable
from typing import Annotated

from msgspec import Meta

from vidence.make.herbench.tasks.absence import AbsenceTask, Absent, Pool, Present, TaskWording
from vidence.make.herbench.tasks.events import COMPATIBLE, EventContext, written
from vidence.make.pipeline.material import Task
from vidence.make.sources.event_index import Key
from vidence.make.sources.event_words import is_anything, is_only_looking
from vidence.records import Record


class Settings(Record):
    """Which objects are asked about, and in which words."""

    least: Annotated[
        int, Meta(ge=1, description="how often an object must occur elsewhere with a verb of the video")
    ] = COMPATIBLE
    who: Annotated[str, Meta(description="how the person is called")] = "the camera wearer"


class Fom(AbsenceTask):
    """Objects that are handled, and an object that is not: one that goes with a verb of the video.

    Every object, true or false, occurs at least `least` times in other videos with a verb that occurs in this
    one. A false one is in no event, neither by class nor by words, and shares no word with any noun or
    narration of the video. Names for nearly anything (food, container) and what is at hand in every kitchen
    (hand, sink) are not asked about, true or false.

    Source: HERBench, sections 3.1 and 7.5, figure 18.
    Departs: the paper only wants the object absent and compatible; shared words, names for anything and the
        rules for true objects are ours. Two of three structures are ours.
    """

    code = "FOM"
    title = "False Object Memory"
    version = 4

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._words = TaskWording(
            things="objects",
            absent=f"Which of these objects does {settings.who} NOT interact with in the video?",
            which_of_four=f"Which of these four objects does {settings.who} interact with in the video?",
            all_occur="Each option lists three objects. In which one are all three objects that "
            f"{settings.who} interacts with in the video?",
        )

    def pool(self, context: EventContext) -> Pool:
        """What there is to ask about in one video."""
        video, index = context.video, context.index
        present = []
        for noun, events in video.objects.items():
            handled = [event for event in events if not is_only_looking(event.verb)]
            n, _ = self._compatible(noun, context)
            if handled and n and not is_anything(text := written(handled)[1]):
                present.append(Present(text=text, key=noun, occurrences=tuple(handled), n_elsewhere=n))
        absent = []
        for noun in index.nouns:
            text = index.noun_text(noun)
            if is_anything(text) or video.why_object_not_absent(noun, text):
                continue
            n, verb = self._compatible(noun, context)
            if n:
                why = f", mostly with {verb!r}, which occurs here"
                absent.append(Absent(text=text, key=noun, n_elsewhere=n, why=why))
        counts: dict[Hashable, int] = {noun: len(events) for noun, events in video.objects.items()}
        return Pool(present=present, absent=absent, words=self._words, counts=counts)

    def _compatible(self, noun: Key, context: EventContext) -> tuple[int, str]:
        """How often an object occurs elsewhere with verbs of this video, and the one that it does most with.

        Nothing and no verb where no single verb reaches `least`.
        """
        index, verbs = context.index, context.video.verbs
        here = {verb: context.elsewhere((verb, noun)) for verb in index.verbs_with(noun) if verb in verbs}
        if max(here.values(), default=0) < self._settings.least:
            return 0, ""
        best = max(here, key=lambda verb: (here[verb], verb))
        return sum(here.values()), index.texts_of((best, noun))[0]


def create(settings: Settings) -> Task:
    """The task."""
    return Fom(settings)
