"""Whether answers depend on how the question is worded, beyond what they vary by themselves."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from vidence.ask.judging.fence import block_id, fence
from vidence.contracts import Ask, Diagnostic, Examined, Flow, Subject, View
from vidence.explain.diagnostics.conditions import Condition, Count, ReplyScore, ask_together
from vidence.explain.diagnostics.tables import (
    Figures,
    SideBySide,
    Values,
    difference,
    holm,
    kinds,
    side_by_side,
    tag_tables,
)
from vidence.records import Aside, Estimate, Item, Record, Reply
from vidence.tables.charts import Statement
from vidence.tables.table import RowSpec, Table, by_name, number, share, tabulate
from vidence.text import normal_form, without_thinking

PLAN: Final = "plan"
WORDED: Final = "paraphrases"
REPEATED: Final = "repeats"
LABELS: Mapping[str, str] = {WORDED: "other wordings", REPEATED: "the same words again"}
_WRITE, _CHECK = "paraphrase", "paraphrase-check"  # templates

Fate: TypeAlias = Literal["asked", "different", "unchecked", "repeated", "missing"]
FATES: dict[Fate, str] = {
    "asked": "asked",
    "different": "dropped: asks for something else",
    "unchecked": "dropped: the check could not be read",
    "repeated": "dropped: words that were there already",
    "missing": "not written",
}
_LISTED = re.compile(r"^\s*(?:\(?\d{1,2}[.):]\s+|[-*\u2022]\s+)?")
_SAID = re.compile(r"\b(same|different)\b", re.IGNORECASE)
_QUOTES = "\"'\u201c\u201d"


class Settings(Record):
    """Options of the diagnostic."""

    k: Annotated[Count, Meta(le=16, description="how many wordings are written")] = 3
    writer: Annotated[str, Meta(description="spec of who words anew; empty: the model under test")] = ""
    checker: Annotated[
        str, Meta(description="spec of who checks the wordings; empty: the model under test")
    ] = ""


class Wording(Record, omit_defaults=True):
    """Another wording of a question, and what became of it."""

    text: str = ""
    fate: Fate
    mark: ReplyScore | None = None
    """How it was answered, where it was asked."""


class ParaphraseFinding(Record):
    """The answers to one question in its own words and in others."""

    wordings: tuple[Wording, ...]
    repeats: tuple[ReplyScore, ...]
    """The question in its own words: once, and once more for each wording that was asked."""

    @property
    def marks(self) -> dict[str, tuple[ReplyScore, ...]]:
        """As many answers of both kinds, the first in the question's own words; none without a wording."""
        asked = tuple(one.mark for one in self.wordings if one.mark is not None)
        return {WORDED: (*self.repeats[:1], *asked), REPEATED: self.repeats} if asked else {}


def written(reply: Reply, question: str, n: int) -> list[Wording]:
    r"""The wordings in a writer's reply, one a line; what repeats the question or another one has that fate.

    >>> [one.fate for one in written(Reply(text="1. Who is it?\n2. Who?"), "Who?", 3)]
    ['unchecked', 'repeated', 'missing']
    """
    texts = [
        _LISTED.sub("", line).strip().strip(_QUOTES) for line in without_thinking(reply.text).splitlines()
    ]
    seen, found = {normal_form(question)}, list[Wording]()
    for text in [text for text in texts if text][:n]:
        is_new = normal_form(text) not in seen
        found.append(Wording(text=text, fate="unchecked" if is_new else "repeated"))
        seen.add(normal_form(text))
    return [*found, *(Wording(fate="missing") for _ in range(n - len(found)))]


def checked(reply: Reply) -> Fate:
    """What a checker's reply makes of a wording."""
    said = {word.casefold() for word in _SAID.findall(without_thinking(reply.text))}
    if len(said) != 1:
        return "unchecked"
    return "asked" if said == {"same"} else "different"


class Paraphrase:
    """Each question in other words, and in its own words as often.

    A writer words the question anew; it sees neither choices nor key. A checker says of each wording whether
    it asks for the same thing; it sees the choices and not the key. What does not pass, or cannot be read, is
    dropped and counted. The model under test answers each wording that is left, and its own words as often:
    answers that differ there differ by sampling alone.

    Disagreement is the share of pairs of answers to a question that differ. The headline is that across
    wordings less that across repeats, paired by question. The choices, the frames and what chose them are
    those of the question's own words throughout.
    """

    name = "paraphrase"
    version = 1
    finding: type[Record] = ParaphraseFinding

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """The frames of the plan."""
        return {PLAN: View(selector=selector, n_frames=n_frames)}

    def models(self) -> Mapping[str, str]:
        """Writer and checker, where they are not the model under test."""
        others = {"writer": self.settings.writer, "checker": self.settings.checker}
        return {name: spec for name, spec in others.items() if spec}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """The writer, a check of each wording, each wording, and the own words as often and once more."""
        k = self.settings.k
        return 1 + k + 2 * k + 1

    def examine(self, subject: Subject) -> Flow[ParaphraseFinding]:
        """Have it worded anew, have that checked, and ask everything that is left at once."""
        wordings = yield from self._worded(subject)
        asked = [one for one in wordings if one.fate == "asked"]
        if not asked:
            return ParaphraseFinding(wordings=tuple(wordings), repeats=())
        own = [Condition(view=PLAN, sample=i) for i in range(len(asked) + 1)]
        others = [
            Condition(view=PLAN, sample=i, more=Aside(said={"question": one.text}))
            for i, one in enumerate(asked, 1)
        ]
        scores = yield from ask_together(subject, [*own, *others])
        marks = iter(scores[len(own) :])
        return ParaphraseFinding(
            wordings=tuple(
                Wording(text=one.text, fate=one.fate, mark=next(marks)) if one.fate == "asked" else one
                for one in wordings
            ),
            repeats=tuple(scores[: len(own)]),
        )

    def _worded(self, subject: Subject) -> Flow[list[Wording]]:
        settings, item = self.settings, subject.item
        writer, checker = ("writer" if settings.writer else "", "checker" if settings.checker else "")
        wanted = Aside(name=_WRITE, said={"n": str(settings.k)}, is_alone=True)
        (reply,) = yield [Ask(prompt=subject.prompt(PLAN, (), more=wanted), model=writer)]
        wordings = written(reply, item.question, settings.k)
        to_check = [i for i, one in enumerate(wordings) if one.fate == "unchecked"]
        if not to_check:
            return wordings
        prompts = [subject.prompt(PLAN, (), more=_check(item, wordings[i].text)) for i in to_check]
        replies = yield [Ask(prompt=prompt, model=checker) for prompt in prompts]
        for i, reply in zip(to_check, replies, strict=True):
            wordings[i] = Wording(text=wordings[i].text, fate=checked(reply))
        return wordings

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Disagreement across wordings beside that across repeats; what became of the wordings; by tag."""
        figures = Figures(rng=rng, level=level)
        found = side_by_side(
            examined, ParaphraseFinding, lambda one: one.marks, conditions=[WORDED, REPEATED], figures=figures
        )
        made: list[Statement] = [_headline(found, self.settings), _fates(examined)]
        if found.items:
            made += _tags(found)
        return tuple(made)


def create(settings: Settings) -> Diagnostic:
    """The diagnostic."""
    return Paraphrase(settings)


def _check(item: Item, text: str) -> Aside:
    marked = block_id(item, text)
    blocks = {
        name: fence(words, name="wording", marked=marked)
        for name, words in (("first", item.question), ("second", text))
    }
    return Aside(name=_CHECK, said=blocks, is_alone=True)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[ParaphraseFinding]


def _disagreement(found: Found, name: str) -> Values:
    """The share of pairs of answers that differ, for each question; of open ones, right against wrong."""
    values = []
    for item, marks in zip(found.items, found.marks[name], strict=True):
        said = [one.answer if item.answer_kind == "choice" else str(one.value) for one in marks]
        pairs = list(combinations(said, 2))
        values.append(sum(a != b for a, b in pairs) / len(pairs))
    return np.array(values, np.float64)


def _headline(found: Found, settings: Settings) -> Table:
    items, figures = found.items, found.figures
    differing = {name: _disagreement(found, name) for name in LABELS}
    pairs = {WORDED: (differing[WORDED], differing[REPEATED])}
    more = figures.differences(pairs, items)
    gains = found.differences({WORDED: (WORDED, REPEATED)})

    def mean(values_of: Callable[[str], Values]) -> Callable[[str], Estimate | None]:
        return lambda name: found.mean(values_of(name)) if items else None

    def alike(name: str) -> Values:
        return np.asarray(differing[name] == 0, np.float64)

    own = [what for what, spec in (("wrote", settings.writer), ("checked", settings.checker)) if not spec]
    judged = f"The model under test {' and '.join(own)} the wordings itself." if own else ""
    return tabulate(
        "paraphrase",
        "Answers to other wordings",
        label="asked",
        rows=by_name(LABELS, LABELS),
        measures=(
            found.questions(),
            share("disagreement", mean(lambda name: differing[name]), note="pairs of answers that differ"),
            difference("more", more, "more than repeats"),
            holm(more),
            share("alike", mean(alike), "all alike"),
            share("accuracy", mean(lambda name: found.values[name])),
            difference("gain", gains, "accuracy, more than repeats"),
            *kinds(found.marks),
        ),
        notes=(
            "As many answers of both kinds, the first of them the same. An answer that was not read is one "
            "of its own kind. Answers to open questions differ where one is right and one is wrong.",
            judged,
            found.left_out.replace("were not asked", "have no wording that passed the check"),
        ),
        figure="shares",
    )


def _fates(examined: Sequence[Examined]) -> Table:
    all_of = [one.finding.wordings for one in examined if isinstance(one.finding, ParaphraseFinding)]
    n = sum(map(len, all_of))

    def count(fate: Fate) -> int:
        return sum(one.fate == fate for some in all_of for one in some)

    return tabulate(
        "wordings",
        "What became of the wordings",
        label="wordings",
        rows=(RowSpec(fate, words, fate) for fate, words in FATES.items()) if n else (),
        measures=(number("n", count, "wordings"), share("share", lambda fate: count(fate) / n)),
        notes=("Shares of all that were wanted. Whoever checks sees the choices and not which is right.",),
    )


def _tags(found: Found) -> list[Table]:
    def gap(some: Found) -> Estimate:
        return some.gain(_disagreement(some, WORDED) - _disagreement(some, REPEATED))

    def differing(name: str) -> Callable[[Found], Estimate]:
        return lambda some: some.mean(_disagreement(some, name))

    return tag_tables(
        "paraphrase:",
        "Answers to other wordings",
        found.items,
        about=found.of,
        measures=(
            number("questions", lambda some: len(some.items)),
            share("wordings", differing(WORDED), "disagreement"),
            share("repeats", differing(REPEATED), "across repeats"),
            share("more", gap, "more than repeats"),
        ),
    )
