"""Wrong choices: near misses out of a label space, and what is wrong with any."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from vidence.explain.audit.checks import exact_form, text_reasons
from vidence.make.pipeline.writer import Objection
from vidence.make.sources.annotations.annotation_records import AnnotationRecord, LabelSpace
from vidence.make.writing.choices_rules import NOT_PLAIN, same_words
from vidence.make.writing.written import TRUTH_AMONG, WRONG_NUMBER
from vidence.records import Item
from vidence.text import normal_form

PARAPHRASE, ALSO_TRUE = "paraphrase", "also-true"
_REASONS: Final = {
    "odd-kind": "odd-kind",
    "odd-length": "odd-length",
    "overlapping-choices": "overlapping",
    "identical-choices": "overlapping",
    "refers-to-choices": "refers-to-choices",
    "invisible": NOT_PLAIN,
    "garbled": NOT_PLAIN,
    "placeholder": NOT_PLAIN,
    "markup": NOT_PLAIN,
}
_LEAST_CHOICES: Final = 2
_MAY_BE_NOTE: Final = ("refers-to-choices", NOT_PLAIN)
_LETTERED: Final = re.compile(r"\(?[A-Z][.):]\s.*|\(?[A-Z][.):]?\)?")
_MARKED: Final = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]|\*\*|```")


def n_wanted(n_choices: int, space: LabelSpace | None) -> int:
    """How many choices a question has: no more than there are labels, and two or more.

    Source: HumanPCR, table 3 (random scores that need tasks with two choices).
    """
    return n_choices if space is None else max(_LEAST_CHOICES, min(n_choices, len(space.labels)))


def near_misses(
    record: AnnotationRecord,
    space: LabelSpace,
    *,
    n: int,
    confusable: Sequence[tuple[str, str]],
    n_left: Mapping[str, int],
    rng: np.random.Generator,
) -> tuple[str, ...] | Objection:
    """`n` wrong labels: first those that are confused with the right one, then its siblings, then others.

    `n_left` says how often a label is still to be offered as a wrong one; drawn is by that, and labels that
    have been offered enough come behind all others. Where every label is offered in proportion to how often
    it is right, a reader who knows what is right most of the time gains little by it. Numbers are a window of
    neighbours around the right one, whose place in it is drawn. What is true, too, is not taken.
    """
    right = space.find(record.label)
    name = record.label if right is None else right.name
    known = _true_with(record, space)
    true = set(known)
    if space.is_numeric:
        return _neighbours(int(name), space, true=true, n=n, rng=rng)
    synonyms = set() if right is None else {normal_form(one) for one in right.synonyms}
    open_ = [
        one.name
        for one in space.labels
        if one.name not in true
        and normal_form(one.name) not in synonyms
        and not any(same_words(one.name, other) for other in known)
    ]
    pairs = {other for pair in confusable if name in pair for other in pair}
    siblings = set(space.siblings(name))
    tiers = (
        [one for one in open_ if one in pairs],
        [one for one in open_ if one in siblings and one not in pairs],
        [one for one in open_ if one not in siblings and one not in pairs],
    )
    ordered = [name for tier in tiers for name in _drawn(tier, n_left, rng)]
    drawn = sorted(ordered, key=lambda one: n_left.get(one, 0) <= 0 and one not in pairs)
    if len(drawn) < n:
        return Objection(
            reason=WRONG_NUMBER, detail=f"{len(drawn)} labels are false of it; {n} wrong choices are wanted"
        )
    return tuple(drawn[:n])


def _drawn(tier: Sequence[str], n_left: Mapping[str, int], rng: np.random.Generator) -> list[str]:
    """All of a tier in an order that is drawn without putting back, by how often each is to be offered."""
    waits = rng.exponential(size=len(tier))
    often = np.array([max(0, n_left.get(name, 0)) for name in tier], np.float64)
    order = np.lexsort((waits / np.maximum(often, 1.0), often == 0))
    return [tier[int(i)] for i in order]


def _neighbours(
    right: int, space: LabelSpace, *, true: set[str], n: int, rng: np.random.Generator
) -> tuple[str, ...] | Objection:
    known = {int(one.name) for one in space.labels}
    starts = [
        low
        for low in range(right - n, right + 1)
        if all(i in known and (i == right or str(i) not in true) for i in range(low, low + n + 1))
    ]
    if not starts:
        return Objection(reason=WRONG_NUMBER, detail=f"no {n + 1} numbers around {right} in {space.name}")
    low = starts[int(rng.integers(len(starts)))]
    return tuple(str(i) for i in range(low, low + n + 1) if i != right)


def _true_with(record: AnnotationRecord, space: LabelSpace | None) -> tuple[str, ...]:
    """Everything that is true with the label: itself, what is said to be, and what stands above or below."""
    said = (record.label, *record.also_true)
    if space is None:
        return said
    found: dict[str, None] = {}
    for text in said:
        label = space.find(text)
        found |= dict.fromkeys((text,) if label is None else (text, *sorted(space.kin(label.name))))
    return tuple(found)


def options_fault(
    question: str, record: AnnotationRecord, wrong: Sequence[str], *, n: int, space: LabelSpace | None
) -> Objection | None:
    """The first thing that is wrong with wrong choices; None where nothing is.

    Reasons: ``wrong-number``, ``truth-among-wrong``, ``paraphrase``, ``also-true``, ``odd-kind``,
    ``odd-length``, ``overlapping``, ``refers-to-choices``, ``not-plain`` (several lines, marks, letters of
    choices, characters that cannot be seen, what a template left).
    """
    if len(wrong) != n:
        return Objection(reason=WRONG_NUMBER, detail=f"{len(wrong)} wrong choices; wanted are {n}")
    label = None if space is None else space.find(record.label)
    others = [one for one in _true_with(record, space) if normal_form(one) != normal_form(record.label)]
    for one in wrong:
        if normal_form(one) == normal_form(record.label):
            detail = f"{record.label!r} is right, and stands among the wrong ones"
            return Objection(reason=TRUTH_AMONG, detail=detail)
        synonyms = () if label is None else label.synonyms
        if same_words(one, record.label) or any(normal_form(one) == normal_form(s) for s in synonyms):
            return Objection(reason=PARAPHRASE, detail=f"{one!r} says the same as {record.label!r}")
        if any(same_words(one, other) for other in others):
            return Objection(reason=ALSO_TRUE, detail=f"{one!r} is true of it, too")
    if fault := _not_plain(record.label, wrong):
        return fault
    item = Item(item_id="x", question=question, choices=(record.label, *wrong), answer="A")
    for reason in text_reasons(item):
        name = _REASONS.get(reason.kind, "")
        if name and (reason.severity != "note" or name in _MAY_BE_NOTE):
            return Objection(reason=name, detail=reason.says)
    if len({exact_form(one).casefold() for one in wrong}) < len(wrong):
        return Objection(reason="overlapping", detail="two wrong choices are the same")
    return None


def _not_plain(right: str, wrong: Sequence[str]) -> Objection | None:
    """A wrong choice that is not one line of words, or is written as a letter where the right one is not."""
    for one in wrong:
        if marks := _MARKED.search(one):
            detail = f"{one!r} holds {marks[0]!r}; wanted is one line of plain words"
            return Objection(reason=NOT_PLAIN, detail=detail)
        if _LETTERED.fullmatch(one) and not _LETTERED.fullmatch(right):
            return Objection(reason=NOT_PLAIN, detail=f"{one!r} reads as a letter of a choice")
    return None


def in_order(right: str, wrong: Sequence[str], *, rng: np.random.Generator) -> tuple[tuple[str, ...], int]:
    """The choices in an order that is drawn, and the place of the right one; numbers ascend."""
    texts = (right, *wrong)
    if all(one.isdecimal() for one in texts):
        ordered = tuple(sorted(texts, key=int))
        return ordered, ordered.index(right)
    order = [int(i) for i in rng.permutation(len(texts))]
    return tuple(texts[i] for i in order), order.index(0)
