"""The letter rule of the template for own models that PerceptionComp released."""

from vidence.ask.scoring._perceptioncomp import LONE_LETTER, tagged_or_stated
from vidence.ask.scoring.marking import LetterScorer
from vidence.records import Answered, Item, Unreadable


def read_text(item: Item, text: str) -> Answered | Unreadable:
    """Like the API rule, but the search for the last letter upper-cases the whole reply first.

    So the article *a* of any prose counts as A; that is the released behaviour.

    Source: hrinnnn/PerceptionComp at bf4146f, the template runner for own models.
    Departs: no. Letters A to E are read whatever the number of choices.
    """
    words, rule = tagged_or_stated(text) or (text, "last-letter")
    letters = LONE_LETTER.findall(words.upper())
    if not letters:
        return Unreadable(reason="no letter A to E stands alone in what the official rule looks at")
    return Answered(answer=letters[-1], rule=rule)


def create() -> LetterScorer:
    """The parser ``perceptioncomp-custom``.

    Source: hrinnnn/PerceptionComp at bf4146f, the template runner for own models.
    Departs: no.
    """
    return LetterScorer(name="perceptioncomp-custom", version=1, read_text=read_text)
