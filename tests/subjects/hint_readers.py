"""Questions with hints, and readers whose use of hints is planted.

Of ten questions in a row the first three are easy. Readers differ in what makes the others right.
"""

from collections.abc import Callable
from typing import TypeAlias

from subjects.simulated import Answers, Simulated, times_shown
from vidence.contracts import Ask
from vidence.records import Evidence, Item, Media, Reply

SPANS = (Evidence(kind="referred", start_s=1, end_s=2), Evidence(kind="proactive", start_s=5, end_s=6))
VIEWS: dict[str, tuple[float, ...]] = {"plan": (0.0, 3.0, 7.0), "evidence": (1.5, 3.0, 5.5)}
_EVIDENCE_S = 5.5
_HINTS = ("A cause.", "The hand and something else.")
HintReader: TypeAlias = Callable[[Item, Ask], bool]


def item(number: int) -> Item:
    """A question with hints of three levels; the last of them is its own alone."""
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number}.mp4"),),
        question="Which?",
        choices=("w", "x", "y", "z"),
        answer="ABCD"[number % 4],
        tags={"domain": "sports" if number % 2 else "kitchen"},
        evidence=SPANS,
        hints=(*_HINTS, f"Somebody near the place {number:04d}."),
    )


def subjects(n: int) -> list[Simulated]:
    """So many questions."""
    return [Simulated(item(number), VIEWS) for number in range(n)]


def answering(reader: HintReader) -> Callable[[Item], Answers]:
    """A reader as one who says letters."""

    def answers_of(asked: Item) -> Answers:
        wrong = "B" if asked.answer == "A" else "A"
        return lambda ask: Reply(text=asked.answer if reader(asked, ask) else wrong)

    return answers_of


def is_told(asked: Item, ask: Ask) -> bool:
    """Whether the prompt holds the last of its own hints."""
    return asked.hints[-1] in ask.prompt.text


def _place(asked: Item) -> int:
    return int(asked.item_id[1:]) % 10


def is_easy(asked: Item) -> bool:
    """Three questions in ten are right in any case."""
    return _place(asked) < 3


def searcher(asked: Item, ask: Ask) -> bool:
    """Looks only where it is told: gains four questions in ten by its own hint; never right blind."""
    looks = 3 <= _place(asked) < 7
    sees = bool(times_shown(ask))
    return sees and (is_easy(asked) or (looks and (is_told(asked, ask) or _EVIDENCE_S in times_shown(ask))))


def climber(asked: Item, ask: Ask) -> bool:
    """Gains one question in ten by each of the first two hints of three, and two more by the third."""
    is_there = [hint in ask.prompt.text for hint in asked.hints]
    n_told = (*is_there, False).index(False)
    gained = (0, 1, 2, 4)[n_told]
    return bool(times_shown(ask)) and _place(asked) < 3 + gained


def parrot(asked: Item, ask: Ask) -> bool:
    """Reads the answer off the hint, whatever is shown."""
    return is_told(asked, ask) or (bool(times_shown(ask)) and is_easy(asked))


def swayed(asked: Item, ask: Ask) -> bool:
    """Looks again whenever there is more to read: a placebo works as well as a hint."""
    return is_easy(asked) or (_place(asked) < 6 and "words: hints" in ask.prompt.text)
