"""``fom``: false object memory: which objects are handled in a video, and which one is not."""

from collections.abc import Callable, Mapping

import msgspec

from vidence import option_readers
from vidence.catalog import take_options
from vidence.make.events.index import Key
from vidence.make.events.words import is_anything, is_only_looking
from vidence.make.pipeline.material import Task
from vidence.make.tasks._absence import Absences, Absent, Pool, Present, Words
from vidence.make.tasks._events import COMPATIBLE, Setting, written
from vidence.records import Record


class Rules(Record, kw_only=True, omit_defaults=True):
    """How often an object must occur elsewhere with a verb of the video, and how the person is called."""

    least: int = COMPATIBLE
    who: str = "the camera wearer"


OPTIONS: Mapping[str, Callable[[str], object]] = {"least": option_readers.positive_whole, "who": str}


class Fom(Absences):
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
    stem = "false_object_memory"
    version = 1

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules
        self._words = Words(
            things="objects",
            absent=f"Which of these objects does {rules.who} NOT interact with in the video?",
            which_of_four=f"Which of these four objects does {rules.who} interact with in the video?",
            all_occur="Each option lists three objects. In which one are all three objects that "
            f"{rules.who} interacts with in the video?",
        )

    def pool(self, setting: Setting) -> Pool:
        """What there is to ask about in one video."""
        video, index = setting.video, setting.index
        present = []
        for noun, events in video.objects.items():
            handled = [event for event in events if not is_only_looking(event.verb)]
            n, _ = self._compatible(noun, setting)
            if handled and n and not is_anything(text := written(handled)[1]):
                present.append(Present(text=text, occurrences=tuple(handled), n_elsewhere=n))
        absent = []
        for noun in index.nouns:
            text = index.noun_text(noun)
            if is_anything(text) or video.why_object_not_absent(noun, text):
                continue
            n, verb = self._compatible(noun, setting)
            if n:
                why = f", mostly with {verb!r}, which occurs here"
                absent.append(Absent(text=text, n_elsewhere=n, why=why))
        return Pool(present=present, absent=absent, words=self._words)

    def _compatible(self, noun: Key, setting: Setting) -> tuple[int, str]:
        """How often an object occurs elsewhere with verbs of this video, and the one that it does most with.

        Nothing and no verb where no single verb reaches `least`.
        """
        index, verbs = setting.index, setting.video.verbs
        here = {verb: setting.elsewhere((verb, noun)) for verb in index.verbs_with(noun) if verb in verbs}
        if max(here.values(), default=0) < self._rules.least:
            return 0, ""
        best = max(here, key=lambda verb: (here[verb], verb))
        return sum(here.values()), index.texts_of((best, noun))[0]


def create(options: Mapping[str, str]) -> Task:
    """The task.

    Options: ``least`` (how often an object must occur elsewhere with a verb of the video, 3), ``who`` (how
    the person is called, "the camera wearer").

    Raises:
        UsageError: an option that is not known or cannot be read.
    """
    return Fom(msgspec.convert(take_options("fom", options, OPTIONS), Rules))
