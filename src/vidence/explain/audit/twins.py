"""Questions that are asked twice: exactly or nearly, about the same video or another one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vidence.ask.benchmarks.question_files import twins
from vidence.explain.audit.checks import exact_form
from vidence.explain.audit.reasons import Reason, Severity
from vidence.records import Item
from vidence.statistics.near_duplicates import gather, near_pairs
from vidence.text import letter_index, normal_form

_LISTED = 5


@dataclass(frozen=True, kw_only=True)
class Twins:
    """What is asked more than once. `reasons` are by item id; groups hold item ids, two or more each.

    `repeats` agree exactly in media, question and choices (as loaders see it); `groups` agree, exactly or
    nearly, in question and choices, whatever their media.
    """

    repeats: Mapping[str, str]
    groups: tuple[tuple[str, ...], ...]
    reasons: Mapping[str, tuple[Reason, ...]]


@dataclass(frozen=True, kw_only=True)
class _QuestionWords:
    """One question as far as it can be asked twice: its position, its words and its right answer."""

    position: int
    item: Item
    text: str
    answer: str

    def is_with(self, other: "_QuestionWords") -> bool:
        """Both are about the same video."""
        return self.item.media == other.item.media


def find_twins(items: Sequence[Item]) -> Twins:
    """Find what is asked twice; the choices may stand in any order."""
    by_text: dict[str, list[_QuestionWords]] = defaultdict(list)
    for i, item in enumerate(items):
        text = "\n".join([normal_form(item.question), *sorted(exact_form(c) for c in item.choices)])
        right = item.choices[letter_index(item.answer)] if item.answer_kind == "choice" else item.answer
        by_text[text].append(_QuestionWords(position=i, item=item, text=text, answer=exact_form(right)))
    sets = list(by_text.values())
    pairs = [(near.first, near.second) for near in near_pairs(list(by_text))]
    near: dict[int, list[_QuestionWords]] = defaultdict(list)
    for first, second in pairs:
        near[first] += sets[second]
        near[second] += sets[first]
    reasons = {
        question_words.item.item_id: (
            *_reasons(question_words, same, exact=True),
            *_reasons(question_words, near[i], exact=False),
        )
        for i, same in enumerate(sets)
        for question_words in same
    }
    joined = gather(pairs)
    alone = set(range(len(sets))) - {i for group in joined for i in group}
    groups = []
    for group in sorted([*joined, *((i,) for i in alone)]):
        members = sorted(
            (question_words for i in group for question_words in sets[i]),
            key=lambda question_words: question_words.position,
        )
        if len(members) > 1:
            groups.append(tuple(member.item.item_id for member in members))
    return Twins(
        repeats=twins(items),
        groups=tuple(groups),
        reasons={item_id: some for item_id, some in reasons.items() if some},
    )


# By whether the words agree exactly, the video is the same, and the answer is: kind, severity, what is said.
_TWINS: Mapping[tuple[bool, bool, bool], tuple[str, Severity, str]] = {
    (True, True, False): ("contradiction", "severe", "asked again with another right answer"),
    (True, True, True): ("repeat", "warning", "asked again with the same right answer"),
    (True, False, True): ("same-elsewhere", "note", "asked again about another video"),
    (False, True, True): (
        *("near-repeat", "warning"),
        "asked again in nearly the same words with the same right answer",
    ),
    (False, True, False): (
        *("near-repeat", "note"),
        "asked again in nearly the same words with another right answer",
    ),
    (False, False, True): (
        *("near-elsewhere", "note"),
        "asked again in nearly the same words about another video",
    ),
}


def _reasons(
    question_words: _QuestionWords, others: Iterable[_QuestionWords], *, exact: bool
) -> tuple[Reason, ...]:
    """What the other questions with these words, or nearly these, say of one."""
    values: dict[tuple[bool, bool, bool], list[_QuestionWords]] = defaultdict(list)
    for other in others:
        if other is not question_words:
            values[exact, question_words.is_with(other), question_words.answer == other.answer].append(other)
    reasons = []
    for case, (kind, severity, what) in _TWINS.items():
        ids = [o.item.item_id for o in sorted(values[case], key=lambda o: o.position)]
        if ids:
            more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
            says = f"{what}: {', '.join(ids[:_LISTED])}{more}"
            reasons.append(Reason(kind=kind, severity=severity, says=says, others=tuple(ids[:_LISTED])))
    return tuple(reasons)
