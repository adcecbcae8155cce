"""Whether a false description differs from the faithful one in what is listed, and in nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from vidence.make.events.lexicon import FUNCTION_WORDS, GLUE_WORDS, words_in
from vidence.make.pipeline.material import Change
from vidence.make.writing.writer import Objection

FEWEST, MOST = 2, 5
_MOST_NAMED: Final = 6


def folded(text: str) -> tuple[str, ...]:
    """The words of a text in small letters, which two texts are compared by."""
    return tuple(word.casefold() for word in words_in(text))


def check_changes(
    faithful: str, false: str, changes: Sequence[Change], *, taken: Sequence[str] = ()
) -> Objection | None:
    """What is wrong with a false description; None where nothing is.

    There are two to five changes. Each `before` stands in the faithful text and no longer in the false one,
    each `after` in the false one; a change changes words that mean something. With these changes, in any
    order, and with words of `GLUE_WORDS` and plural endings that come or go, the one text becomes the other.
    It is none of the texts in `taken`.

    Args:
        faithful: the true sentence.
        false: the changed one.
        changes: what was changed, as its writer says.
        taken: texts of other cards, true ones above all.

    Source: HERBench, section 7.4: 2-5 atomic details are modified or added.
    Departs: the paper only asks the model for this; here a program checks it.
    """
    n_changes = len(changes)
    if not FEWEST <= n_changes <= MOST:
        listed = f"it lists {n_changes} change{'s' * (n_changes != 1)}"
        return Objection(reason="wrong-number-of-changes", detail=f"{listed}; wanted are {FEWEST} to {MOST}")
    old, new = folded(faithful), folded(false)
    for change in changes:
        wrong = _wrong(change, old, new)
        if wrong:
            return Objection(reason="change-not-there", detail=wrong)
    if new in {folded(text) for text in (*taken, faithful)}:
        return Objection(reason="same-as-another", detail="it says what another description says already")
    if not _explains(old, new, [(folded(c.before), folded(c.after)) for c in changes]):
        return Objection(reason="other-differences", detail=_others(old, new, changes))
    return None


def _wrong(change: Change, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    """What is wrong with one change, or nothing."""
    before, after = folded(change.before), folded(change.after)
    if not set(after) - FUNCTION_WORDS - set(before):
        return f"the change to {change.after!r} puts in no word that means something"
    if change.kind == "addition" and before:
        return f"the addition {change.after!r} has a 'before', {change.before!r}; it must be empty"
    if change.kind == "modification":
        if not before:
            return f"the modification to {change.after!r} has an empty 'before'"
        if not _stands_in(before, old):
            return f"{change.before!r} does not stand in the first sentence in these words"
        if _stands_in(before, new):
            return f"{change.before!r} still stands in the false sentence; name enough words to tell it apart"
    if not _stands_in(after, new):
        return f"{change.after!r} does not stand in the false sentence in these words"
    return ""


def _stands_in(part: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))


def _explains(
    old: tuple[str, ...], new: tuple[str, ...], changes: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
) -> bool:
    """Whether the changes, each used once, and words that may come and go turn `old` into `new`."""
    everything = (1 << len(changes)) - 1

    @cache
    def goes(i: int, j: int, used: int) -> bool:
        if i == len(old) and j == len(new):
            return used == everything
        if i < len(old) and j < len(new) and _same(old[i], new[j]) and goes(i + 1, j + 1, used):
            return True
        if i < len(old) and old[i] in GLUE_WORDS and goes(i + 1, j, used):
            return True
        if j < len(new) and new[j] in GLUE_WORDS and goes(i, j + 1, used):
            return True
        return any(
            not used >> n & 1
            and old[i : i + len(before)] == before
            and new[j : j + len(after)] == after
            and goes(i + len(before), j + len(after), used | 1 << n)
            for n, (before, after) in enumerate(changes)
        )

    return goes(0, 0, 0)


def _same(one: str, other: str) -> bool:
    """Whether two words are the same but for the ending that number asks for."""
    short, long = sorted((one, other), key=len)
    return long in (short, f"{short}s", f"{short}es") and (short == long or len(short) > 2)


def _others(old: tuple[str, ...], new: tuple[str, ...], changes: Sequence[Change]) -> str:
    """Words of either text that the changes do not account for."""
    told = {word for c in changes for word in (*folded(c.before), *folded(c.after))} | GLUE_WORDS
    gone = [word for word in dict.fromkeys(old) if word not in new and word not in told]
    come = [word for word in dict.fromkeys(new) if word not in old and word not in told]
    named = ", ".join((gone + come)[:_MOST_NAMED])
    if named:
        return f"it also differs in what the list does not name: {named}"
    return "apart from the listed changes the sentences differ in the order or the number of their words"


@dataclass(frozen=True, kw_only=True)
class FalseText:
    """A false description and what was changed."""

    text: str
    changes: tuple[Change, ...]
