"""The letter rule of the API runner that PerceptionComp released."""

from vidence.ask.scoring._perceptioncomp import LONE_LETTER, candidate
from vidence.ask.scoring.marking import LetterScorer
from vidence.records import Answered, Item, Unreadable


def read_text(item: Item, text: str) -> Answered | Unreadable:
    """The last letter A to E that stands alone in the candidate, after upper-casing it.

    The article in ``B: a bag`` is upper-cased too and read as A; that is the released behaviour.

    Source: hrinnnn/PerceptionComp at bf4146f, the API runner.
    Departs: no. Letters A to E are read whatever the number of choices.
    """
    words, rule = candidate(text)
    letters = LONE_LETTER.findall(words.upper())
    if not letters:
        return Unreadable(reason="no letter A to E stands alone in what the official rule looks at")
    return Answered(answer=letters[-1], rule=rule)


def create() -> LetterScorer:
    """The parser ``perceptioncomp-api``.

    Source: hrinnnn/PerceptionComp at bf4146f, the API runner.
    Departs: no.
    """
    return LetterScorer(name="perceptioncomp-api", version=1, read_text=read_text)
