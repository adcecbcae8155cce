"""``fam``: false action memory: which actions occur in a video, and which one does not."""

from collections.abc import Callable, Mapping

import msgspec

from vidence import option_readers
from vidence.catalog import take_options
from vidence.make.events.index import Pair, Texts
from vidence.make.events.words import is_anything, is_implied
from vidence.make.pipeline.material import Task
from vidence.make.tasks._absence import Absences, Absent, Pool, Present, Words
from vidence.make.tasks._events import COMPATIBLE, Setting, written
from vidence.records import Record

WORDS = Words(
    things="actions",
    absent="Which of these actions does NOT occur in the video?",
    which_of_four="Which of these four actions occur in the video?",
    all_occur="Each option lists three actions. In which one do all three occur in the video?",
)


class Rules(Record, kw_only=True, omit_defaults=True):
    """How often a pair must occur elsewhere, and whether actions that logs are silent about are asked."""

    least: int = COMPATIBLE
    implied: bool = False


OPTIONS: Mapping[str, Callable[[str], object]] = {
    "least": option_readers.positive_whole,
    "implied": option_readers.yes_or_no,
}


class Fam(Absences):
    """Actions that occur, and an action that does not: a verb of the corpus with an object of the video.

    Every action, true or false, occurs at least `least` times in other videos. A false one occurs neither by
    class nor by words, with no noun of any event, no near synonym of its verb occurs with its object, and no
    narration names it. Taking, putting, moving and looking at things are not asked about, true or false,
    because a log is silent about most of it (``implied=yes`` asks all the same).

    Source: HERBench, sections 3.1 and 7.5, figure 16.
    Departs: the paper only wants the false action absent and plausible; synonyms, implied actions and how
        common true ones are, are ours. Two of three structures are ours.
    """

    code = "FAM"
    title = "False Action Memory"
    stem = "false_action_memory"
    version = 1

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules

    def pool(self, setting: Setting) -> Pool:
        """What there is to ask about in one video."""
        video, index = setting.video, setting.index
        present = [
            Present(text=index.phrase(texts), occurrences=tuple(events), n_elsewhere=setting.elsewhere(pair))
            for pair, events in video.pairs.items()
            if self._fits(pair, texts := written(events), setting)
        ]
        said = {one.text for one in present}
        absent = []
        for pair in index.pairs:
            if pair[1] not in video.objects or pair in video.pairs:
                continue
            texts = index.texts_of(pair)
            if not self._fits(pair, texts, setting) or index.phrase(texts) in said:
                continue
            if not video.why_not_absent(pair, texts):
                why = f", in {index.videos_elsewhere(pair, setting.video_id)} videos"
                n_elsewhere = setting.elsewhere(pair)
                absent.append(Absent(text=index.phrase(texts), n_elsewhere=n_elsewhere, why=why))
        return Pool(present=present, absent=absent, words=WORDS)

    def _fits(self, pair: Pair, texts: Texts, setting: Setting) -> bool:
        """Whether an action may be asked about, be it true or false."""
        verb, noun = texts
        if (
            setting.elsewhere(pair) < self._rules.least
            or is_anything(noun)
            or not setting.index.is_plain(texts)
        ):
            return False
        return self._rules.implied or not is_implied(verb)


def create(options: Mapping[str, str]) -> Task:
    """The task.

    Options: ``least`` (how often an action must occur in other videos, 3), ``implied`` (yes: also ask about
    taking, putting, moving and looking, no).

    Raises:
        UsageError: an option that is not known or cannot be read.
    """
    return Fam(msgspec.convert(take_options("fam", options, OPTIONS), Rules))
