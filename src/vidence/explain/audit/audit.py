"""Every check of a set of questions that needs no model: item by item, and item against item."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vidence.ask.benchmarks.question_files import is_evidence_outside
from vidence.errors import UsageError
from vidence.explain.audit.checks import exact_form, text_reasons
from vidence.explain.audit.reasons import (
    DOUBTFUL_KEY,
    Reason,
    Suspect,
    is_doubtful,
    note,
    severe,
    suspect,
    warning,
)
from vidence.explain.audit.twins import Twins, find_twins
from vidence.records import Item
from vidence.text import letter_index

_MOST = 0.5
# A choice that stands in three times as many questions as it is right in gives nothing away by standing out.
_OFTEN_WRONG = 3
_STANDS_OUT = frozenset({"odd-length", "odd-kind"})


@dataclass(frozen=True, kw_only=True)
class ItemAudit:
    """What was found without a model.

    `reasons` are by item id; `problems` are lines that hold no usable question, `notes` what the loader
    has to say.
    """

    items: tuple[Item, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    twins: Twins
    reasons: Mapping[str, tuple[Reason, ...]]

    @property
    def n_videos(self) -> int:
        """How many videos the questions are about."""
        return len({item.video_id for item in self.items})

    def suspects(self) -> tuple[Suspect, ...]:
        """Every question with something against it: doubtful keys, unusable lines, then as in the data."""
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
    """Check every question by itself and against the others.

    Args:
        items: the questions as their benchmark loads them.
        problems: the lines that it left out.
        notes: what else it said.
        missing: ids of items whose media are not there.
        doubtful: why keys are doubtful by the replies of runs, by the id of the item.

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
    """The ``file:line`` of a problem, and what is wrong there."""
    file, _, rest = problem.partition(":")
    line, _, what = rest.partition(":")
    return (f"{file}:{line}", what.strip()) if what else (problem, problem)
