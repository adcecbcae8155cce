"""The letter rule of the Gemini runner that PerceptionComp released."""

from vidence.ask.scoring._perceptioncomp import candidate
from vidence.ask.scoring.marking import LetterScorer
from vidence.records import Answered, Item, Unreadable

# The runner writes this text in place of a reply and marks it wrong without reading it.
_UPLOAD_FAILED = "ERROR UPLOADING"


def read_text(item: Item, text: str) -> Answered | Unreadable:
    """The first of A, B, C, D, E that occurs anywhere in the candidate, inside words too.

    ``B: Black`` is read as A for the *a* in *Black*; that is the released behaviour, and all result
    files before 2026 were scored with it.

    Source: hrinnnn/PerceptionComp at bf4146f, the Gemini runner.
    Departs: no. Letters A to E are read whatever the number of choices.
    """
    if text.startswith(_UPLOAD_FAILED):
        return Unreadable(reason="the recorded reply says that the upload failed; nothing was asked")
    words, rule = candidate(text)
    upper = words.upper()
    for letter in "ABCDE":
        if letter in upper:
            return Answered(answer=letter, rule=rule)
    return Unreadable(reason="no letter A to E occurs in what the official rule looks at")


def create() -> LetterScorer:
    """The parser ``perceptioncomp-gemini``.

    Source: hrinnnn/PerceptionComp at bf4146f, the Gemini runner.
    Departs: no.
    """
    return LetterScorer(name="perceptioncomp-gemini", version=1, read_text=read_text)
