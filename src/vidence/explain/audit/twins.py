"""Questions that are asked twice: exactly or nearly, about the same video or another one."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vidence.ask.benchmarks.checks import twins
from vidence.explain.audit.choices import exact_form
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
class _Asked:
    """One question as far as it can be asked twice."""

    position: int
    item: Item
    text: str
    answer: str

    @property
    def scene(self) -> tuple[object, ...]:
        """What is shown."""
        return self.item.media


def right_text(item: Item) -> str:
    """The right answer in words, whatever its letter."""
    return item.choices[letter_index(item.answer)] if item.answer_kind == "choice" else item.answer


def find_twins(items: Sequence[Item]) -> Twins:
    """Find what is asked twice; the choices may stand in any order."""
    asked = [
        _Asked(
            position=i,
            item=item,
            text="\n".join([normal_form(item.question), *sorted(exact_form(c) for c in item.choices)]),
            answer=exact_form(right_text(item)),
        )
        for i, item in enumerate(items)
    ]
    by_text: dict[str, list[_Asked]] = defaultdict(list)
    for one in asked:
        by_text[one.text].append(one)
    found: dict[str, list[Reason]] = defaultdict(list)
    for same in by_text.values():
        for item_id, reason in _exact(same):
            found[item_id].append(reason)
    texts = list(by_text)
    pairs = [(near.first, near.second) for near in near_pairs(texts)]
    near_of: dict[int, list[int]] = defaultdict(list)
    for first, second in pairs:
        near_of[first].append(second)
        near_of[second].append(first)
    for i, others in near_of.items():
        nearly = [one for j in others for one in by_text[texts[j]]]
        for one in by_text[texts[i]]:
            found[one.item.item_id] += _near(one, nearly)
    return Twins(
        repeats=twins(items),
        groups=_groups(by_text, pairs),
        reasons={item_id: tuple(reasons) for item_id, reasons in found.items()},
    )


def _groups(
    by_text: Mapping[str, Sequence[_Asked]], pairs: Sequence[tuple[int, int]]
) -> tuple[tuple[str, ...], ...]:
    """The ids of what is joined by equal texts, or by pairs of near ones (positions in `by_text`)."""
    texts = list(by_text.values())
    joined = gather(pairs)
    alone = set(range(len(texts))) - {i for group in joined for i in group}
    groups = []
    for group in sorted([*joined, *((i,) for i in alone)]):
        members = sorted((one for i in group for one in texts[i]), key=lambda one: one.position)
        if len(members) > 1:
            groups.append(tuple(one.item.item_id for one in members))
    return tuple(groups)


def _exact(same: Sequence[_Asked]) -> Iterator[tuple[str, Reason]]:
    """Reasons for questions that agree in question and choices."""
    if len(same) == 1:
        return
    by_scene: dict[object, list[_Asked]] = defaultdict(list)
    by_answer: dict[str, list[_Asked]] = defaultdict(list)
    for one in same:
        by_scene[one.scene].append(one)
        by_answer[one.answer].append(one)
    for one in same:
        here = [o for o in by_scene[one.scene] if o is not one]
        against = [o for o in here if o.answer != one.answer]
        alike = [o for o in here if o.answer == one.answer]
        elsewhere = [o for o in by_answer[one.answer] if o.scene != one.scene]
        if against:
            yield one.item.item_id, _reason("contradiction", against)
        if alike:
            yield one.item.item_id, _reason("repeat", alike)
        if elsewhere:
            yield one.item.item_id, _reason("same-elsewhere", elsewhere)


def _near(one: _Asked, nearly: Sequence[_Asked]) -> Iterator[Reason]:
    here = [o for o in nearly if o.scene == one.scene]
    same = [o for o in here if o.answer == one.answer]
    other = [o for o in here if o.answer != one.answer]
    elsewhere = [o for o in nearly if o.scene != one.scene and o.answer == one.answer]
    if same:
        yield _reason("near-repeat", same)
    if other:
        yield _reason("near-repeat", other, _OTHER_ANSWER)
    if elsewhere:
        yield _reason("near-elsewhere", elsewhere)


_TWINS: Mapping[str, tuple[Severity, str]] = {
    "contradiction": ("severe", "asked again with another right answer"),
    "repeat": ("warning", "asked again with the same right answer"),
    "near-repeat": ("warning", "asked again in nearly the same words with the same right answer"),
    "same-elsewhere": ("note", "asked again about another video"),
    "near-elsewhere": ("note", "asked again in nearly the same words about another video"),
}
_OTHER_ANSWER: tuple[Severity, str] = (
    "note",
    "asked again in nearly the same words with another right answer",
)


def _reason(kind: str, others: Sequence[_Asked], how: tuple[Severity, str] | None = None) -> Reason:
    severity, what = how or _TWINS[kind]
    ids = [o.item.item_id for o in sorted(others, key=lambda o: o.position)]
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    said = f"{what}: {', '.join(ids[:_LISTED])}{more}"
    return Reason(kind=kind, severity=severity, says=said, others=tuple(ids[:_LISTED]))
