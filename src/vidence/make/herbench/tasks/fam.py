"""False action memory: which actions occur in a video, and which one does not."""

from collections.abc import Hashable
from typing import Annotated, Final

from msgspec import Meta

from vidence.make.herbench.tasks.absence import AbsenceTask, Absent, Pool, Present, TaskWording
from vidence.make.herbench.tasks.events import COMPATIBLE, EventContext, written
from vidence.make.herbench.tasks.guessing import LEAST_VIDEOS
from vidence.make.pipeline.material import Task
from vidence.make.sources.event_index import Pair, Texts, VideoEvents
from vidence.make.sources.event_words import is_anything, is_implied
from vidence.records import Record

_OTHER_OBJECTS: Final = 0.1  # weight of what is done to objects that the video does not have
# Said of the vessel where other words are said of what is in it: who pours juice has filled a glass.
_OF_VESSELS = ("drain", "empty", "fill")
_POURED = ("pour", "tip", *_OF_VESSELS)
WORDS = TaskWording(
    things="actions",
    absent="Which of these actions does NOT occur in the video?",
    which_of_four="Which of these four actions occur in the video?",
    all_occur="Each option lists three actions. In which one do all three occur in the video?",
)


class Settings(Record):
    """Which actions are asked about."""

    least: Annotated[int, Meta(ge=1, description="how often an action must occur in other videos")] = (
        COMPATIBLE
    )
    implied: Annotated[
        bool,
        Meta(description="also ask about taking, putting, moving and looking, which logs are silent about"),
    ] = False


class Fam(AbsenceTask):
    """Actions that occur, and an action that does not: a verb of the corpus with an object of the video.

    Some actions, as opening a fridge, occur wherever their object does: they would be right in no question
    and wrong in many. In a corpus of `LEAST_VIDEOS` a false action may therefore have another object, with a
    verb of the video; such actions are drawn a tenth as often, and sets are matched as in `AbsenceTask`.

    Every action, true or false, occurs at least `least` times in other videos. A false one occurs neither by
    class nor by words, with no noun of any event, no near synonym of its verb occurs with its object, and no
    narration names it. What is filled or emptied is not called absent where anything is poured. Taking,
    putting, moving and looking at things are not asked about, true or false, because a log is silent about
    most of it (``implied=true`` asks all the same).

    Source: HERBench, sections 3.1 and 7.5, figure 16.
    Departs: the paper wants the false action absent and plausible, with an object of the video. Other
        objects, synonyms, implied actions and how common true ones are, are ours; so are two of three
        structures.
    """

    code = "FAM"
    title = "False Action Memory"
    version = 5

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def pool(self, context: EventContext) -> Pool:
        """What there is to ask about in one video."""
        video, index = context.video, context.index
        present = [
            Present(
                text=index.phrase(texts),
                key=pair,
                occurrences=tuple(events),
                n_elsewhere=context.elsewhere(pair),
            )
            for pair, events in video.pairs.items()
            if self._fits(pair, texts := written(events), context)
        ]
        messages = {entry.text for entry in present}
        absent, is_matched = [], index.n_videos >= LEAST_VIDEOS
        for pair in index.pairs:
            is_of_object = pair[1] in video.objects
            if pair in video.pairs or not (is_of_object or (is_matched and pair[0] in video.verbs)):
                continue
            texts = index.texts_of(pair)
            if not self._fits(pair, texts, context) or index.phrase(texts) in messages:
                continue
            if not video.why_not_absent(pair, texts) and not _may_hold_what_is_poured(texts, video):
                why = f", in {index.videos_elsewhere(pair, context.video_id)} videos"
                text, n_elsewhere = index.phrase(texts), context.elsewhere(pair)
                weight = 1.0 if is_of_object else _OTHER_OBJECTS
                absent.append(Absent(text=text, key=pair, n_elsewhere=n_elsewhere, weight=weight, why=why))
        counts: dict[Hashable, int] = {pair: len(events) for pair, events in video.pairs.items()}
        return Pool(present=present, absent=absent, words=WORDS, counts=counts)

    def _fits(self, pair: Pair, texts: Texts, context: EventContext) -> bool:
        """Whether an action may be asked about, be it true or false."""
        verb, noun = texts
        if (
            context.elsewhere(pair) < self._settings.least
            or is_anything(noun)
            or not context.index.is_plain(texts)
        ):
            return False
        return self._settings.implied or not is_implied(verb)


def _may_hold_what_is_poured(texts: Texts, video: VideoEvents) -> bool:
    def is_one_of(verb: str, some: tuple[str, ...]) -> bool:
        return verb.split()[:1] in [[name] for name in some]

    return is_one_of(texts[0], _OF_VESSELS) and any(is_one_of(event.verb, _POURED) for event in video.events)


def create(settings: Settings) -> Task:
    """The task."""
    return Fam(settings)
