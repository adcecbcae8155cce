"""Wrong choices: candidates from a label space, and checks."""

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

import numpy as np

from vidence.explain.audit.checks import exact_form, text_reasons
from vidence.make.pipeline.matching import Known, Unmatched, match_choices
from vidence.make.pipeline.writer import Objection
from vidence.make.sources.annotations.annotation_records import AnnotationRecord, LabelSpace
from vidence.make.writing.choices_rules import NOT_PLAIN, content, same_words, stems
from vidence.make.writing.written import TRUTH_AMONG, WRONG_NUMBER
from vidence.records import Item
from vidence.statistics.near_duplicates import gather
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
    """Return the number of choices of a question: at most the number of labels, at least two.

    Source: HumanPCR, table 3 (random scores that need tasks with two choices).
    """
    return n_choices if space is None else max(_LEAST_CHOICES, min(n_choices, len(space.labels)))


def open_labels(record: AnnotationRecord, space: LabelSpace) -> tuple[str, ...]:
    """Return the labels that are false of a record."""
    right = space.find(record.label)
    known = _true_with(record, space)
    true = {*known, *(() if right is None else map(normal_form, right.synonyms))}
    return tuple(
        label.name
        for label in space.labels
        if not {label.name, normal_form(label.name)} & true
        and not any(same_words(label.name, other) for other in known)
    )


def apart(space: LabelSpace) -> dict[str, int]:
    """Return a group number per label; labels that can be true together, or mean the same, share a number."""
    places = {label.name: i for i, label in enumerate(space.labels)}
    by_words: dict[Collection[str], int] = {}
    pairs = [(i, places[other]) for name, i in places.items() for other in space.kin(name) if other in places]
    pairs += [(i, by_words.setdefault(content(name) or stems(name), i)) for name, i in places.items()]
    numbers = {i: number for number, group in enumerate(gather(pairs)) for i in group}
    return {name: numbers[i] for name, i in places.items()}


def match_labels(
    asked: Sequence[tuple[str, AnnotationRecord]],
    space: LabelSpace,
    *,
    known: Sequence[tuple[str, AnnotationRecord]],
    n: int,
    confusable: Collection[tuple[str, str]],
    rng: np.random.Generator,
) -> tuple[tuple[str, ...] | Objection, ...]:
    """`n` wrong labels for each question of a task, drawn jointly; see `match_choices`.

    Of some sets, that with most pairs of siblings, or of labels that are `confusable`, is taken.
    """

    @cache
    def near(name: str, other: str) -> bool:
        return bool({(name, other), (other, name)} & {*confusable}) or other in space.siblings(name)

    def name_of(record: AnnotationRecord) -> str:
        label = space.find(record.label)
        return record.label if label is None else label.name

    wanted: dict[int, Unmatched] = {}
    refused: dict[int, Objection] = {}
    for i, (question, record) in enumerate(asked):
        others = open_labels(record, space)
        if len(others) < n:
            detail = f"{len(others)} labels are false of it; {n} wrong choices are wanted"
            refused[i] = Objection(reason=WRONG_NUMBER, detail=detail)
            continue
        wanted[i] = Unmatched(
            question=question, right=name_of(record), source=record.source_id, others=others, n=n + 1
        )
    learnt_from = [
        Known(question=words, right=name_of(record), source=record.source_id) for words, record in known
    ]
    matched = match_choices(tuple(wanted.values()), known=learnt_from, group=apart(space), near=near, rng=rng)
    by_place = {**refused, **dict(zip(wanted, matched, strict=True))}
    return tuple(by_place[i] for i in range(len(asked)))


def neighbours(
    record: AnnotationRecord, space: LabelSpace, *, n: int, rng: np.random.Generator
) -> tuple[str, ...] | Objection:
    """Return `n` wrong numbers of a window around the right one, at a random position in it."""
    right, true = int(record.label), set(_true_with(record, space))
    known = {int(label.name) for label in space.labels}
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
    """Return all labels true with this one: itself, synonyms, ancestors and descendants."""
    messages = (record.label, *record.also_true)
    if space is None:
        return messages
    values: dict[str, None] = {}
    for text in messages:
        label = space.find(text)
        values |= dict.fromkeys((text,) if label is None else (text, *sorted(space.kin(label.name))))
    return tuple(values)


def options_fault(
    question: str, record: AnnotationRecord, wrong: Sequence[str], *, n: int, space: LabelSpace | None
) -> Objection | None:
    """Return the first fault of wrong choices; None if there is none.

    Reasons: ``wrong-number``, ``truth-among-wrong``, ``paraphrase``, ``also-true``, ``odd-kind``,
    ``odd-length``, ``overlapping``, ``refers-to-choices``, ``not-plain`` (several lines, marks, letters of
    choices, characters that cannot be seen, what a template left).
    """
    if len(wrong) != n:
        return Objection(reason=WRONG_NUMBER, detail=f"{len(wrong)} wrong choices; wanted are {n}")
    label = None if space is None else space.find(record.label)
    others = [other for other in _true_with(record, space) if normal_form(other) != normal_form(record.label)]
    for word in wrong:
        if normal_form(word) == normal_form(record.label):
            detail = f"{record.label!r} is right, and stands among the wrong ones"
            return Objection(reason=TRUTH_AMONG, detail=detail)
        synonyms = () if label is None else label.synonyms
        if same_words(word, record.label) or any(normal_form(word) == normal_form(s) for s in synonyms):
            return Objection(reason=PARAPHRASE, detail=f"{word!r} says the same as {record.label!r}")
        if any(same_words(word, other) for other in others):
            return Objection(reason=ALSO_TRUE, detail=f"{word!r} is true of it, too")
    if fault := _not_plain(record.label, wrong):
        return fault
    item = Item(item_id="x", question=question, choices=(record.label, *wrong), answer="A")
    for reason in text_reasons(item):
        name = _REASONS.get(reason.kind, "")
        if name and (reason.severity != "note" or name in _MAY_BE_NOTE):
            return Objection(reason=name, detail=reason.says)
    if len({exact_form(other).casefold() for other in wrong}) < len(wrong):
        return Objection(reason="overlapping", detail="two wrong choices are the same")
    return None


def _not_plain(right: str, wrong: Sequence[str]) -> Objection | None:
    """Reject a wrong choice that is not one line, or looks like a letter although the right one does not."""
    for name in wrong:
        if marks := _MARKED.search(name):
            detail = f"{name!r} holds {marks[0]!r}; wanted is one line of plain words"
            return Objection(reason=NOT_PLAIN, detail=detail)
        if _LETTERED.fullmatch(name) and not _LETTERED.fullmatch(right):
            return Objection(reason=NOT_PLAIN, detail=f"{name!r} reads as a letter of a choice")
    return None


def in_order(right: str, wrong: Sequence[str], *, rng: np.random.Generator) -> tuple[tuple[str, ...], int]:
    """Return the choices in a drawn order, and the right one's index; numbers ascend."""
    texts = (right, *wrong)
    if all(text.isdecimal() for text in texts):
        ordered = tuple(sorted(texts, key=int))
        return ordered, ordered.index(right)
    order = [int(i) for i in rng.permutation(len(texts))]
    return tuple(texts[i] for i in order), order.index(0)
