"""Checks of drafts without a model: duplicates, ambiguity, leaks of the answer, also by hints.

A hint may not hold the answer, or a step of the reasoning that leads to it.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from vidence.explain.audit.checks import exact_form, text_reasons
from vidence.make.gates.model_gates import Asked, as_items, id_of
from vidence.make.gates.rules import CheckRules
from vidence.make.pipeline.english import content_words
from vidence.make.pipeline.lexicon import listed, stand_in
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.writer import Objection
from vidence.records import Evidence, Item, by_key
from vidence.text import letter_index, normal_form

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

N_GRAM: Final = 5
STEP_SHARE: Final = 0.5
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ARTICLES: Final = frozenset({"a", "an", "the"})
_SHORT_PLURAL: Final = 3  # "gas", "his": in a word of so many letters an s is no ending
_BARE_WORDS: Final = frozenset(
    {"yes", "no"}
)  # said of anything; they tell the answer where they are named as it
_NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
            *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
            *("nineteen", "twenty"),
        )
    )
}
_STEP: Final = re.compile(r"(?<=[.!?;])\s+|\n+")


def check(drafts: Sequence[Asked], rules: CheckRules) -> tuple[Dropped, ...]:
    """Return the drafts to drop: duplicates but the first, and ambiguous ones.

    Compared are those of one task on the same media; elsewhere the same words ask for something else.
    Reasons: ``contradiction`` (the same question and choices with two right answers: both go),
    ``same-options``, ``overlapping-options`` (where the right one holds, another one does, too),
    ``answer-in-question``, ``letter-in-question``, ``facts-name-two`` (the facts say the same of the right
    option and of another one), ``repeat``, ``near-repeat``, ``left-by-a-template``.
    """
    why: dict[str, Dropped] = {}
    groups = by_key(
        ((item.tags.get("task", ""), item.video_id, *((m.start_s, m.end_s) for m in item.media)), item)
        for item in as_items(drafts)
    )
    facts = {draft.draft_id: draft.facts for draft in drafts if isinstance(draft, Draft)}
    for mine in groups.values():
        for fault in (*_faults(mine), *_named_twice(mine, facts), *_doubled(mine, rules)):
            why.setdefault(fault.what, fault)
    return tuple(why[id_of(draft)] for draft in drafts if id_of(draft) in why)


def right_answer(item: Item) -> str:
    """Return the text of the right answer."""
    return item.choices[letter_index(item.answer)] if item.answer_kind == "choice" else item.answer


def _faults(items: Sequence[Item]) -> Iterator[Dropped]:
    """Return the item audit's faults of each question."""
    for item in items:
        for reason in text_reasons(item):
            name = _FATAL.get(reason.kind, "")
            if reason.kind == "overlapping-choices" and reason.severity == "severe":
                name = "overlapping-options"
            elif not name or reason.severity in _NOT_FATAL:
                continue
            yield _dropped(item, name, reason.says)


def _named_twice(items: Sequence[Item], facts_of: Mapping[str, Mapping[str, str]]) -> Iterator[Dropped]:
    """Return questions with facts that describe a wrong choice exactly like the right one."""
    for item in items:
        facts = {
            normal_form(name): normal_form(value) for name, value in facts_of.get(item.item_id, {}).items()
        }
        if not facts or item.answer_kind != "choice":
            continue
        place = letter_index(item.answer)
        messages = [facts.get(normal_form(choice), "") for choice in item.choices]
        same = [i for i, name in enumerate(messages) if name == messages[place] and i != place]
        if messages[place] and same:
            detail = f"{item.choices[place]!r} and {item.choices[same[0]]!r}: {messages[place]}"
            yield _dropped(item, "facts-name-two", detail)


def asked_text(item: Item) -> str:
    """Return question and sorted choices, the text compared for duplicates."""
    return "\n".join([normal_form(item.question), *sorted(map(exact_form, item.choices))])


def _doubled(items: Sequence[Item], rules: CheckRules) -> Iterator[Dropped]:
    """Return each question that repeats an earlier one, exactly or nearly."""
    texts = [asked_text(item) for item in items]
    answers = [exact_form(right_answer(item)) for item in items]
    values = by_key(zip(texts, answers, strict=True))
    yield from (
        _dropped(item, "contradiction", f"right are {' and '.join(map(repr, sorted({*values[text]})))}")
        for item, text in zip(items, texts, strict=True)
        if len({*values[text]}) > 1
    )
    first: dict[tuple[str, str], int] = {}
    by_answer: dict[str, list[int]] = defaultdict(list)
    for i, (text, answer) in enumerate(zip(texts, answers, strict=True)):
        if first.setdefault((text, answer), i) != i:
            yield _dropped(items[i], _REPEAT, f"asked by {items[first[text, answer]].item_id}")
        else:
            by_answer[answer].append(i)
    words = [Counter(_forms(_words(item.question))) for item in items]
    choices = [frozenset(map(exact_form, item.choices)) for item in items]
    gone: set[int] = set()
    for number, other in (pair for some in by_answer.values() for pair in combinations(some, 2)):
        n_shared, n_all = len(choices[number] & choices[other]), len(choices[number] | choices[other])
        if number in gone or other in gone or 2 * n_shared < n_all:
            continue
        alike = _alike(words[number], words[other])
        shared = _shared(items[number].evidence, items[other].evidence)
        if alike >= rules.near and shared >= rules.same_evidence:
            gone.add(other)
            how = f"words alike by {alike:.2f}, evidence by {shared:.2f}"
            yield _dropped(items[other], "near-repeat", f"asked by {items[number].item_id} ({how})")


def _alike(counts: Counter[str], other: Counter[str]) -> float:
    """Return the Jaccard index of two questions' words; 0 if each has words of its own.

    Of the words that only the longer one has, those count that tell more than that a video is asked about.
    """
    short, long = sorted((counts, other), key=Counter.total)
    if not short <= long:
        return 0.0
    framing = _forms(tuple(listed("framing")))
    added = sum(n for word, n in (long - short).items() if word not in framing)
    return short.total() / ((short.total() + added) or 1)


def _shared(ours: Sequence[Evidence], theirs: Sequence[Evidence]) -> float:
    """Return the Jaccard index of the times that two lists of spans cover; 1 without times."""
    first, second = _union(ours), _union(theirs)
    if not first or not second:
        return 1.0
    common = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in first for b in second)
    whole = sum(end - start for start, end in (*first, *second)) - common
    return common / whole if whole > 0 else 1.0


def _union(spans: Sequence[Evidence]) -> list[tuple[float, float]]:
    """Merge spans into disjoint ones."""
    timed = sorted((s.start_s, s.end_s) for s in spans if s.start_s is not None and s.end_s is not None)
    apart: list[tuple[float, float]] = []
    for start, end in timed:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _dropped(item: Item, reason: str, detail: str) -> Dropped:
    return Dropped(what=item.item_id, stage=CHECKS, reason=reason, detail=detail)


def leak_in(hints: Sequence[str], item: Item) -> Objection | None:
    """Return why hints leak the answer; None if they do not.

    A hint may hold neither the answer (the right choice, the free answer, or the letter of the right choice
    named as one), nor `N_GRAM` words in a row of a step of the rationale, nor `STEP_SHARE` of the words of
    a step that tell something.

    Args:
        hints: one for each level.
        item: the question, with its answer and its rationale.
    """
    answer = right_answer(item)
    messages, steps = (
        _bare(_forms(_words(answer))),
        [part for part in _STEP.split(item.rationale) if part.strip()],
    )
    for level, hint in enumerate(hints, 1):
        words = _words(hint)
        if messages and _tells(_forms(words), messages):
            return Objection(reason="answer", detail=f"hint {level} holds the answer {answer!r}: {hint!r}")
        if item.answer_kind == "choice" and _names_letter(hint, item.answer):
            return Objection(reason="answer", detail=f"hint {level} names the letter {item.answer}: {hint!r}")
        for step in steps:
            of_step = _words(step)
            grams = [of_step[i : i + N_GRAM] for i in range(len(of_step) - N_GRAM + 1)]
            if gram := next((names for names in grams if stand_in(names, words)), None):
                detail = f"hint {level} has {' '.join(gram)!r} of the rationale: {hint!r}"
                return Objection(reason="step", detail=detail)
            telling = content_words(step)
            common = telling & content_words(hint)
            if telling and len(common) >= STEP_SHARE * len(telling):
                detail = (
                    f"hint {level} has {len(common)} of the {len(telling)} telling words of the step "
                    f"{step.strip()!r}: {hint!r}"
                )
                return Objection(reason="step", detail=detail)
    return None


def _words(text: str) -> tuple[str, ...]:
    """Return the words in lower case, with full-width and invisible characters normalized."""
    plain = unicodedata.normalize("NFKC", text)
    seen = "".join(
        name for name in plain if unicodedata.category(name) != "Cf"
    )  # no joiners, no marks of order
    return tuple(_WORD.findall(seen.replace("\u2019", "'").casefold()))


def _forms(words: tuple[str, ...]) -> tuple[str, ...]:
    """Normalize words: numbers as digits, plurals as singulars."""
    digits = (_NUMBERS.get(word, word) for word in words)
    return tuple(
        digit[:-1] if digit.endswith("s") and len(digit) > _SHORT_PLURAL else digit for digit in digits
    )


def _bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of an answer without its article, as singulars."""
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def _tells(words: tuple[str, ...], messages: tuple[str, ...]) -> bool:
    """Return whether words contain the answer; a bare yes or no only if marked as the answer."""
    if len(messages) == 1 and messages[0] in _BARE_WORDS:
        return any(stand_in((*("answer", *link), *messages), words) for link in ((), ("is",)))
    return stand_in(messages, words)


def _names_letter(hint: str, letter: str) -> bool:
    """Return whether a hint names a choice by letter: "answer B", "choice (B)", "option B"."""
    return re.search(rf"(?i:\b(?:answer|choice|option)\b)(?i:\s+is)?\W{{1,3}}{letter}\b", hint) is not None
