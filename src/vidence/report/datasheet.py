"""An audit as paragraphs for a datasheet: numbers with intervals, and what they do not say."""

from collections import Counter
from collections.abc import Iterator

from vidence import __version__
from vidence.explain.audit.key import Rule
from vidence.explain.audit.reasons import KINDS, count_severity
from vidence.records import Estimate
from vidence.report.item_card import Card, number_words, share_words
from vidence.report.item_diagnoses import MODALITY, MRFS, PANEL
from vidence.tables.table import p_words, percent
from vidence.text import visible


def datasheet(card: Card) -> str:
    """The paragraphs, as Markdown."""
    parts = [
        f"# {_plain(card.name)}: audit",
        f"By vidence {__version__}. Intervals are at {100 * card.level:g} %, over videos.",
        "## What it is",
        " ".join(_composition(card)),
        "## What the questions give away",
        " ".join(_key(card)),
        "## What the questions demand",
        " ".join(_demand(card)),
        "## Faults that were found",
        " ".join(_faults(card)),
        "## What this does not say",
        " ".join(_limits(card)),
    ]
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """A foreign text that no Markdown can hide in."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in " ".join(visible(text).split()))


def _composition(card: Card) -> Iterator[str]:
    items = card.audit.items
    n_videos = card.audit.n_videos
    n_open = sum(item.answer_kind == "text" for item in items)
    n_evidence = sum(bool(item.evidence) for item in items)
    sizes = sorted({len(item.choices) for item in items if item.choices})
    yield f"The set has {len(items):,} questions about {n_videos:,} videos, {len(items) / n_videos:.1f} each."
    if sizes:
        choices = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
        yield f"{len(items) - n_open:,} questions have {choices} choices, {n_open:,} are open."
    else:
        yield "All questions are open."
    yield f"Evidence is given for {n_evidence:,} of them."
    if card.audit.problems:
        n = len(card.audit.problems)
        lines = "1 line of the files holds" if n == 1 else f"{n:,} lines of the files hold"
        yield f"{lines} no usable question, and no number counts that."
    for note in card.audit.notes:
        yield f"{_plain(note[0].upper() + note[1:])}."


def _key(card: Card) -> Iterator[str]:
    key = card.key
    if key is None:
        yield "No question has choices, so there is no key to give anything away."
        return
    shares = ", ".join(
        f"{letter} {percent(right / key.n)} %"
        for letter, right in zip(key.balance.letters, key.balance.right, strict=True)
    )
    constant = key.rule("constant")
    yield (
        f"The right answers stand at {shares} (test of balance: p {p_words(key.balance.p_value)}); whoever "
        f"{constant.title.replace('always', 'always answers')} is right on "
        f"{share_words(constant.accuracy)}, and guessing on {percent(constant.guessing)} %."
    )
    if key.length_rank is not None:
        yield (
            f"By length the right choice stands at {number_words(key.length_rank)} between the shortest (0) "
            "and the longest (1); 0.5 says nothing."
        )
    for name in ("longest", "shortest", "median", "question-words", "popular"):
        yield from _rule(key.rule(name))


def _rule(rule: Rule) -> Iterator[str]:
    if rule.accuracy is None:
        yield f"The rule “{rule.title}” applies to no question."
        return
    verb = "beats guessing there" if rule.beats_guessing else "is not shown to beat guessing there"
    yield (
        f"The rule “{rule.title}” is right on {share_words(rule.accuracy)} of the {rule.n:,} questions of "
        f"which it says something; it {verb} ({percent(rule.guessing)} %)."
    )


def _demand(card: Card) -> Iterator[str]:
    asked = card.asked
    if asked is None or not asked.found:
        yield "No model was asked, so nothing is known of which questions need the video."
        return
    model = next(iter(asked.found.values())).plan.model
    yield f"{card.n_asked:,} questions were put to {_plain(model)}."
    if PANEL in asked.found:
        votes = asked.found[PANEL].header.options
        who = "a panel of models" if "models" in votes else "the model, with its choices in several orders"
        blind, chance = (
            share_words(asked.value(PANEL, "blind-panel", at=("flagged", key))) for key in ("share", "chance")
        )
        yield f"From the words alone, {blind} are answered by {who}; guesses would give {chance}."
    if MODALITY in asked.found:
        full, central, text = (
            share_words(asked.value(MODALITY, "modality", at=(name, "accuracy")))
            for name in ("full", "central", "text")
        )
        one_frame = share_words(asked.value(MODALITY, "solved", at=("one-frame-only", "share")))
        yield (
            f"With all frames {full} are right, with one central frame {central}, with the words alone "
            f"{text}; {one_frame} are solved from one frame and not without."
        )
    if MRFS in asked.found:
        n, demand = (asked.value(MRFS, "mrfs", at=("all", key)) for key in ("n", "mean"))
        if isinstance(demand, Estimate):
            yield (
                f"The {n} questions that need frames and are answered with all of them demand "
                f"{number_words(demand)} frames on average (MRFS)."
            )
        else:
            yield "No question that needs frames is answered with all of them, so there is no MRFS."


def _faults(card: Card) -> Iterator[str]:
    n_severe = card.n_severe
    n_warned = count_severity(card.suspects, "warning")
    yield (
        f"{n_severe:,} questions have something severe against them (no single right answer, an answer that "
        f"is given away in so many words, or evidence that is not shown), {n_warned:,} more a warning."
    )
    counts = Counter(
        kind
        for one in card.suspects
        for kind in {reason.kind for reason in one.reasons if reason.severity != "note"}
    )
    found = [f"{meaning} ({counts[kind]:,})" for kind, meaning in KINDS.items() if counts[kind]]
    if found:
        yield f"By reason: {'; '.join(found)}."


def _limits(card: Card) -> Iterator[str]:
    yield (
        "The checks read texts; they cannot see whether an answer is right or a question is worth asking, "
        "and what they list is for a person to look at."
    )
    yield "A rule that beats guessing does not show that models use it."
    if card.asked is not None and card.asked.found:
        yield (
            "What models need is said of these models, these frames and these prompts: another model may "
            "need fewer frames, or solve blind what these did not. An answer that is right may be a guess; "
            "the shares by guessing say how many to expect."
        )
        if card.n_asked < len(card.audit.items):
            yield f"Models saw {card.n_asked:,} of {len(card.audit.items):,} questions."
    yield "Intervals treat the videos as a sample of more videos of the same kind, and nothing else."
