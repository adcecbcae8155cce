"""What can be said of questions without asking anybody: every check, item by item and over all."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vidence.errors import UsageError
from vidence.explain.audit.choices import choice_reasons
from vidence.explain.audit.reasons import Reason, Suspect, suspect
from vidence.explain.audit.twins import Twins, find_twins
from vidence.explain.audit.words import media_reasons, word_reasons
from vidence.records import Item

_MOST = 0.5


@dataclass(frozen=True, kw_only=True)
class ItemAudit:
    """What was found without a model.

    `reasons` are by item id; `problems` are lines that hold no usable question, `notes` what the loader
    has to say. `missing` are the ids of items whose media are not there.
    """

    items: tuple[Item, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    missing: frozenset[str]
    twins: Twins
    reasons: Mapping[str, tuple[Reason, ...]]

    def suspects(self, more: Mapping[str, Sequence[Reason]] | None = None) -> tuple[Suspect, ...]:
        """Every question with something against it, in the order of the data; unusable lines come first.

        Args:
            more: further reasons by item id, such as what models found.
        """
        lines = [
            suspect(place, "", [Reason(kind="unusable", severity="severe", says=what)])
            for place, what in map(_apart, self.problems)
        ]
        found = []
        for item in self.items:
            reasons = [*self.reasons.get(item.item_id, ()), *(more or {}).get(item.item_id, ())]
            if reasons:
                found.append(suspect(item.item_id, item.video_id, reasons))
        return (*lines, *found)


def audit_items(
    items: Sequence[Item],
    *,
    problems: Sequence[str] = (),
    notes: Sequence[str] = (),
    missing: frozenset[str] = frozenset(),
) -> ItemAudit:
    """Check every question by itself and against the others.

    Args:
        items: the questions as their benchmark loads them.
        problems: the lines that it left out.
        notes: what else it said.
        missing: ids of items whose media are not there.

    Raises:
        UsageError: no questions.
    """
    if not items:
        raise UsageError("there is no question to audit; loosen --where, or give another file")
    twins = find_twins(items)
    reasons: dict[str, list[Reason]] = defaultdict(list)
    has_evidence = sum(bool(item.evidence) for item in items) > _MOST * len(items)
    is_partly_missing = len(missing) < len(items)
    for item in items:
        found = reasons[item.item_id]
        found += word_reasons(item)
        if item.choices:
            found += choice_reasons(item)
        found += media_reasons(item)
        found += twins.reasons.get(item.item_id, ())
        if has_evidence and not item.evidence:
            found.append(Reason(kind="no-evidence", severity="note", says="no evidence is given"))
        if is_partly_missing and item.item_id in missing:
            said = "a video or image of this question is not there, those of others are"
            found.append(Reason(kind="missing-media", severity="warning", says=said))
    return ItemAudit(
        items=tuple(items),
        problems=tuple(problems),
        notes=tuple(notes),
        missing=missing,
        twins=twins,
        reasons={item_id: tuple(some) for item_id, some in reasons.items() if some},
    )


def _apart(problem: str) -> tuple[str, str]:
    """The ``file:line`` of a problem, and what is wrong there."""
    file, _, rest = problem.partition(":")
    line, _, what = rest.partition(":")
    return (f"{file}:{line}", what.strip()) if what else (problem, problem)
