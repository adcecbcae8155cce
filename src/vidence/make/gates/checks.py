"""What is wrong with drafts whatever models say: doubled, ambiguous, giving themselves away."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from vidence.explain.audit.checks import exact_form, text_reasons
from vidence.make.gates.asking import plain_item
from vidence.make.gates.rules import CheckRules
from vidence.make.pipeline.material import Draft, Dropped
from vidence.records import Evidence
from vidence.statistics.near_duplicates import near_pairs
from vidence.text import normal_form

CHECKS: Final = "checks"
# Reasons of the audit of items for which a draft is dropped; with severity, where only from there on.
_FATAL: Final = {
    "identical-choices": "same-options",
    "answer-in-question": "answer-in-question",
    "letter-in-question": "letter-in-question",
    "placeholder": "left-by-a-template",
    "garbled": "left-by-a-template",
    "markup": "left-by-a-template",
    "invisible": "left-by-a-template",
}
_REPEAT: Final = "repeat"
_NOT_FATAL: Final = frozenset({"note"})


def check(drafts: Sequence[Draft], rules: CheckRules) -> tuple[tuple[Draft, ...], tuple[Dropped, ...]]:
    """Keep of equal and nearly equal drafts the first, and of ambiguous ones none.

    Compared are drafts of one task on one video; elsewhere the same words ask for something else. Reasons:
    ``contradiction`` (the same question and choices with two right answers: both go), ``same-options``,
    ``overlapping-options`` (where the right one holds, another one does, too), ``answer-in-question``,
    ``letter-in-question``, ``facts-name-two`` (the facts say the same of the right option and of
    another one), ``repeat``, ``near-repeat``, ``left-by-a-template``.
    """
    why: dict[str, Dropped] = {}
    groups: dict[tuple[str, str], list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.task, draft.video_id].append(draft)
    for mine in groups.values():
        for one in (*_faults(mine), *_named_twice(mine), *_doubled(mine, rules)):
            why.setdefault(one.what, one)
    kept = tuple(draft for draft in drafts if draft.draft_id not in why)
    return kept, tuple(why[draft.draft_id] for draft in drafts if draft.draft_id in why)


def _faults(drafts: Sequence[Draft]) -> Iterator[Dropped]:
    """What the audit of items says of each draft that cannot stay."""
    for draft in drafts:
        item = plain_item(draft)
        for reason in text_reasons(item):
            name = _FATAL.get(reason.kind, "")
            if reason.kind == "overlapping-choices" and reason.severity == "severe":
                name = "overlapping-options"
            elif not name or reason.severity in _NOT_FATAL:
                continue
            yield _dropped(draft, name, reason.says)


def _named_twice(drafts: Sequence[Draft]) -> Iterator[Dropped]:
    """Drafts whose facts say of another choice exactly what they say of the right one."""
    for draft in drafts:
        facts = {normal_form(name): normal_form(value) for name, value in draft.facts.items()}
        said = [facts.get(normal_form(choice), "") for choice in draft.choices]
        right = said[draft.answer_index]
        same = [i for i, one in enumerate(said) if one == right and i != draft.answer_index]
        if right and same:
            other = draft.choices[same[0]]
            yield _dropped(
                draft, "facts-name-two", f"{draft.choices[draft.answer_index]!r} and {other!r}: {right}"
            )


def _doubled(drafts: Sequence[Draft], rules: CheckRules) -> Iterator[Dropped]:
    """Each draft that an earlier one asks already, exactly or nearly."""
    texts = [
        "\n".join([normal_form(d.question), *sorted(exact_form(choice) for choice in d.choices)])
        for d in drafts
    ]
    answers = [exact_form(d.choices[d.answer_index]) for d in drafts]
    said: dict[str, set[str]] = defaultdict(set)
    for text, answer in zip(texts, answers, strict=True):
        said[text].add(answer)
    yield from (
        _dropped(draft, "contradiction", f"right are {' and '.join(map(repr, sorted(said[text])))}")
        for draft, text in zip(drafts, texts, strict=True)
        if len(said[text]) > 1
    )
    first: dict[tuple[str, str], int] = {}
    for i, (text, answer) in enumerate(zip(texts, answers, strict=True)):
        if first.setdefault((text, answer), i) != i:
            yield _dropped(drafts[i], _REPEAT, f"asked by {drafts[first[text, answer]].draft_id}")
    gone: set[int] = set()
    for pair in near_pairs(texts, least=rules.near):
        one, other = pair.first, pair.second
        if texts[one] == texts[other] or answers[one] != answers[other] or one in gone:
            continue
        shared = _shared(drafts[one].evidence, drafts[other].evidence)
        if shared >= rules.same_evidence:
            gone.add(other)
            how = f"texts alike by {pair.resemblance:.2f}, evidence by {shared:.2f}"
            yield _dropped(drafts[other], "near-repeat", f"asked by {drafts[one].draft_id} ({how})")


def _shared(ours: Sequence[Evidence], theirs: Sequence[Evidence]) -> float:
    """The Jaccard index of the stretches of time that two lists of spans cover; without any times 1."""
    first, second = _union(ours), _union(theirs)
    if not first or not second:
        return 1.0
    common = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in first for b in second)
    whole = sum(end - start for start, end in (*first, *second)) - common
    return common / whole if whole > 0 else 1.0


def _union(spans: Sequence[Evidence]) -> list[tuple[float, float]]:
    """The stretches of time that spans cover together, apart from each other."""
    timed = sorted((s.start_s, s.end_s) for s in spans if s.start_s is not None and s.end_s is not None)
    apart: list[tuple[float, float]] = []
    for start, end in timed:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _dropped(draft: Draft, reason: str, detail: str) -> Dropped:
    return Dropped(what=draft.draft_id, stage=CHECKS, reason=reason, detail=detail)
