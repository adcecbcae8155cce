"""All checks of a question set that need no model: per question, and between questions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vidence.ask.benchmarks.question_files import is_evidence_outside
from vidence.errors import UsageError
from vidence.explain.audit.checks import exact_form, text_reasons
from vidence.explain.audit.reasons import (
    DOUBTFUL_KEY,
    Reason,
    Severity,
    Suspect,
    is_doubtful,
    note,
    severe,
    suspect,
    warning,
)
from vidence.records import Item
from vidence.statistics.near_duplicates import gather, near_pairs
from vidence.text import letter_index, normal_form

_LISTED = 5


@dataclass(frozen=True, kw_only=True)
class Twins:
    """Repeated questions. `reasons` are by item id; groups have two or more item ids.

    `groups` share question and choices, exactly or nearly, whatever their media.
    """

    groups: tuple[tuple[str, ...], ...]
    reasons: Mapping[str, tuple[Reason, ...]]


@dataclass(frozen=True, kw_only=True)
class _QuestionWords:
    """A question for finding repeats: its position and its right answer."""

    position: int
    item: Item
    answer: str


def find_twins(items: Sequence[Item]) -> Twins:
    """Find repeated questions, ignoring the order of choices."""
    by_text: dict[str, list[_QuestionWords]] = defaultdict(list)
    for i, item in enumerate(items):
        text = "\n".join([normal_form(item.question), *sorted(exact_form(c) for c in item.choices)])
        right = item.choices[letter_index(item.answer)] if item.answer_kind == "choice" else item.answer
        by_text[text].append(_QuestionWords(position=i, item=item, answer=exact_form(right)))
    sets = list(by_text.values())
    pairs = [(near.first, near.second) for near in near_pairs(list(by_text))]
    near: dict[int, list[_QuestionWords]] = defaultdict(list)
    for first, second in pairs:
        near[first] += sets[second]
        near[second] += sets[first]
    reasons = {
        words.item.item_id: (*_reasons(words, same, exact=True), *_reasons(words, near[i], exact=False))
        for i, same in enumerate(sets)
        for words in same
    }
    joined = gather(pairs)
    alone = set(range(len(sets))) - {i for group in joined for i in group}
    groups = []
    for group in sorted([*joined, *((i,) for i in alone)]):
        members = sorted((words for i in group for words in sets[i]), key=lambda words: words.position)
        if len(members) > 1:
            groups.append(tuple(member.item.item_id for member in members))
    return Twins(groups=tuple(groups), reasons={item_id: some for item_id, some in reasons.items() if some})


_NEARLY = "asked again in nearly the same words"
# By whether the words agree exactly, the video is the same, and the answer is: kind, severity, what is said.
_TWINS: Mapping[tuple[bool, bool, bool], tuple[str, Severity, str]] = {
    (True, True, False): ("contradiction", "severe", "asked again with another right answer"),
    (True, True, True): ("repeat", "warning", "asked again with the same right answer"),
    (True, False, True): ("same-elsewhere", "note", "asked again about another video"),
    (False, True, True): ("near-repeat", "warning", f"{_NEARLY} with the same right answer"),
    (False, True, False): ("near-repeat", "note", f"{_NEARLY} with another right answer"),
    (False, False, True): ("near-elsewhere", "note", f"{_NEARLY} about another video"),
}


def _reasons(words: _QuestionWords, others: Iterable[_QuestionWords], *, exact: bool) -> tuple[Reason, ...]:
    """Return reasons about the other questions with equal or nearly equal texts."""
    values: dict[tuple[bool, bool, bool], list[_QuestionWords]] = defaultdict(list)
    for other in others:
        if other is not words:
            is_with = words.item.media == other.item.media
            values[exact, is_with, words.answer == other.answer].append(other)
    reasons = []
    for case, (kind, severity, what) in _TWINS.items():
        if ids := [o.item.item_id for o in sorted(values[case], key=lambda o: o.position)]:
            more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
            says = f"{what}: {', '.join(ids[:_LISTED])}{more}"
            reasons.append(Reason(kind=kind, severity=severity, says=says, others=tuple(ids[:_LISTED])))
    return tuple(reasons)


_MOST = 0.5
# A choice that stands in three times as many questions as it is right in gives nothing away by standing out.
_OFTEN_WRONG = 3
_STANDS_OUT = frozenset({"odd-length", "odd-kind"})


@dataclass(frozen=True, kw_only=True)
class ItemAudit:
    """Findings that need no model.

    `reasons` are by item id; `problems` are lines without a usable question, `notes` come from the loader.
    """

    items: tuple[Item, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    twins: Twins
    reasons: Mapping[str, tuple[Reason, ...]]

    @property
    def n_videos(self) -> int:
        """Return the number of videos."""
        return len({item.video_id for item in self.items})

    def suspects(self) -> tuple[Suspect, ...]:
        """Return all suspects: doubtful keys, unusable lines, then in the order of the data."""
        lines = (suspect(place, "", [severe("unusable", what)]) for place, what in map(_apart, self.problems))
        items = (
            suspect(item.item_id, item.video_id, self.reasons[item.item_id])
            for item in self.items
            if item.item_id in self.reasons
        )
        return tuple(sorted((*lines, *items), key=lambda entry: not is_doubtful(entry)))


def audit_items(
    items: Sequence[Item],
    *,
    problems: Sequence[str] = (),
    notes: Sequence[str] = (),
    missing: frozenset[str] = frozenset(),
    doubtful: Mapping[str, str] | None = None,
) -> ItemAudit:
    """Check every question alone and against the others.

    Args:
        items: the questions as their benchmark loads them.
        problems: the lines that were left out.
        notes: the loader's notes.
        missing: ids of items with missing media.
        doubtful: why keys are doubtful by the replies of runs, by item id.

    Raises:
        UsageError: no questions.
    """
    if not items:
        raise UsageError("there is no question to audit; loosen --where, or give another file")
    twins = find_twins(items)
    reasons: dict[str, list[Reason]] = defaultdict(list)
    has_evidence = sum(bool(item.evidence) for item in items) > _MOST * len(items)
    is_partly_missing = len(missing) < len(items)
    offered = Counter(text for item in items for text in {exact_form(choice) for choice in item.choices})
    right = Counter(_right_choice(item) for item in items)
    for item in items:
        reason = reasons[item.item_id]
        if doubtful and item.item_id in doubtful:
            reason.append(warning(DOUBTFUL_KEY, doubtful[item.item_id]))
        is_by_design = _OFTEN_WRONG * right[_right_choice(item)] <= offered[_right_choice(item)]
        reason += (r for r in text_reasons(item) if not (is_by_design and r.kind in _STANDS_OUT))
        reason += _media_reasons(item)
        reason += twins.reasons.get(item.item_id, ())
        if has_evidence and not item.evidence:
            reason.append(note("no-evidence", "no evidence is given"))
        if is_partly_missing and item.item_id in missing:
            says = "a video or image of this question is not there, those of others are"
            reason.append(warning("missing-media", says))
    return ItemAudit(
        items=tuple(items),
        problems=tuple(problems),
        notes=tuple(notes),
        twins=twins,
        reasons={item_id: tuple(some) for item_id, some in reasons.items() if some},
    )


def _right_choice(item: Item) -> str:
    return exact_form(item.choices[letter_index(item.answer)]) if item.choices else ""


def _media_reasons(item: Item) -> Iterator[Reason]:
    if not item.media:
        yield warning("no-media", "names no video or image")
    if is_evidence_outside(item):
        spans = ", ".join(f"{e.start_s} to {e.end_s} s" for e in item.evidence)
        media = item.media[0]
        says = f"evidence at {spans}; shown is {media.start_s or 0} to {media.end_s or 'the end'} s"
        yield severe("evidence-outside", says)


def _apart(problem: str) -> tuple[str, str]:
    """Split a problem into its ``file:line`` and its description."""
    file, _, rest = problem.partition(":")
    line, _, what = rest.partition(":")
    return (f"{file}:{line}", what.strip()) if what else (problem, problem)
