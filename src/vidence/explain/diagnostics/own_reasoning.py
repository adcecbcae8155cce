"""Whether what a model describes or reasons supports the choice that it names."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.judging.fence import block_id, fence
from vidence.ask.scoring.description_match import NO_CHOICE, DescriptionMatch
from vidence.contracts import Ask, Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import ReplyScore, reply_score
from vidence.explain.diagnostics.tables import Figures, SideBySide, Values, side_by_side, tag_tables
from vidence.records import Answered, Aside, Estimate, Item, Record, Reply
from vidence.statistics.agreement import item_agreement
from vidence.statistics.correlation import pearson
from vidence.statistics.resampling import Resampling
from vidence.tables.charts import Statement
from vidence.tables.table import Table, lines, number, share, tabulate
from vidence.text import without_thinking

PLAN: Final = "plan"
MATCHER: Final = "matcher"
_TEMPLATE: Final = "own-reasoning"
_FEWEST_WORDS: Final = 3
_FEWEST_POINTS: Final = 3

Fate: TypeAlias = Literal["matched", "unanswered", "wordless", "unmatched"]
LEFT_OUT: Mapping[Fate, str] = {
    "unanswered": "have no answer that names a choice",
    "wordless": "have no words beside the answer",
    "unmatched": "have no match that could be read",
}

# A last line or a tag that only states the answer.
_TAGGED = re.compile(r"<(?:final[_ ]?)?answer>.*?</(?:final[_ ]?)?answer>|\\boxed\{[^}]*\}", re.I | re.S)
_STATED = re.compile(
    r"[\W_]*(?:(?:so|thus|hence|therefore)\W+)?(?:my |the )?(?:final )?(?:answer|choice|option)\b[^\n]{0,40}"
    r"|\W*[A-Z]\W*",
    re.IGNORECASE,
)
_MATCHED = re.compile(r"\W*(?:([A-Z])|none)\W*", re.IGNORECASE)
_THINK_TAG = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)


class Settings(Record):
    """Options of the diagnostic."""

    matcher: Annotated[str, Meta(description="spec of who reads the words; empty: the model under test")] = ""
    log: Annotated[
        Literal["all", "thinking", "reply"],
        Meta(description="which words count: what was thought, the reply without its answer, or both"),
    ] = "all"
    by: Annotated[
        Literal["model", "rule"], Meta(description="who matches: a model, or the rules of description-match")
    ] = "model"
    ceiling: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="of by=rule: share of people's own words that the rule matches to their choice",
        ),
    ] = 0.0

    def __post_init__(self) -> None:
        if self.by == "rule" and not self.ceiling:
            raise UsageError(
                "own-reasoning: by=rule misses what is worded in other ways, and its figures cannot stand "
                "beside those of a model; expected ceiling=SHARE, what people's own words get under the "
                "same rule, or by=model"
            )
        if self.by == "model" and self.ceiling:
            raise UsageError("own-reasoning: ceiling is a figure of by=rule; leave it out")
        if self.by == "rule" and self.matcher:
            raise UsageError(f"own-reasoning: by=rule asks no matcher; leave out matcher={self.matcher}")


class OwnReasoningFinding(Record, omit_defaults=True):
    """Which choice the words of one reply support.

    Source: ActPLD, section 2.5 and appendix A.3.
    Departs: see `OwnReasoning`.
    """

    mark: ReplyScore
    fate: Fate
    supports: str = ""
    """The letter of the choice that the words support, or ``none``; empty where that is not known."""

    @property
    def is_own(self) -> bool:
        """Whether that is the choice that was named."""
        return self.supports == self.mark.answer


def log_of(reply: Reply, which: Literal["all", "thinking", "reply"] = "all") -> str:
    r"""The words of a reply that reason or describe, without those that only state the answer.

    >>> log_of(Reply(text="He lifts an arm. \nThe answer is B."))
    'He lifts an arm.'
    """
    outside = without_thinking(reply.text).strip()
    ends_at = reply.text.rfind(outside) if outside else len(reply.text)
    inside = _THINK_TAG.sub("", reply.text[:ends_at])
    thought = "\n".join(part for part in (reply.reasoning.strip(), inside.strip()) if part)
    kept = _TAGGED.sub("", outside).strip().splitlines()
    while kept and (not kept[-1].strip() or _STATED.fullmatch(kept[-1])):
        kept.pop()
    said = "\n".join(kept).strip()
    parts = {"all": (thought, said), "thinking": (thought,), "reply": (said,)}[which]
    return "\n".join(part for part in parts if part)


def matched(reply: Reply, item: Item) -> str:
    """The letter that a matcher says, or ``none``; empty where neither can be read.

    >>> matched(Reply(text="none."), Item(item_id="q", question="?", choices=("a", "b"), answer="A"))
    'none'
    """
    lines_said = [line for line in without_thinking(reply.text).splitlines() if line.strip()]
    found = _MATCHED.fullmatch(lines_said[-1]) if lines_said else None
    if found is None:
        return ""
    letter = (found[1] or "").upper()
    if not letter:
        return NO_CHOICE
    return letter if letter in item.letters else ""


class OwnReasoning:
    """Each question once, as the run asks it; then a matcher says which choice the reply's words support.

    The matcher sees the question, the choices and the words; neither the frames, nor which choice was
    named, nor which is right. Lines and tags that only state the answer are taken off first. The words
    support the choice that was named, another one, or none.

    Beside it stands the table of ActPLD: whether the choice is right, by whether the words match the right
    label, with phi and Cohen's kappa. Replies without an answer, without words, and those whose match cannot
    be read are left out and counted.

    Source: ActPLD, section 2.5 and appendix A.3 (does the thought log match the label; a model matches, and
        heeds negations; errors are left out).
    Departs: the paper's judge is told the right label and says whether it matches; ours is told none and
        names the choice that the words support, so that the same reading says whether they support the
        choice that was named. The words of the prompt, phi, kappa and the intervals are ours.
    """

    name = "own-reasoning"
    version = 1
    finding: type[Record] = OwnReasoningFinding

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """The frames of the plan."""
        return {PLAN: View(selector=selector, n_frames=n_frames)}

    def models(self) -> Mapping[str, str]:
        """The matcher, where it is not the model under test."""
        return {MATCHER: self.settings.matcher} if self.settings.matcher else {}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """The question, and who reads the words."""
        return 1 + (item.answer_kind == "choice" and self.settings.by == "model")

    def examine(self, subject: Subject) -> Flow[OwnReasoningFinding]:
        """Ask, and have the words read."""
        item, settings = subject.item, self.settings
        (reply,) = yield [Ask(prompt=subject.prompt(PLAN))]
        mark = reply_score(reply, (yield from subject.mark(reply)))
        log = log_of(reply, settings.log)
        if item.answer_kind != "choice" or mark.answer not in item.letters:
            return OwnReasoningFinding(mark=mark, fate="unanswered")
        if len(log.split()) < _FEWEST_WORDS:
            return OwnReasoningFinding(mark=mark, fate="wordless")
        if settings.by == "rule":
            supports = _by_rule(item, log, mark.answer)
        else:
            more = Aside(
                name=_TEMPLATE,
                said={"log": fence(log, name="reasoning", marked=block_id(item, log))},
                is_alone=True,
            )
            model = MATCHER if settings.matcher else ""
            (read,) = yield [Ask(prompt=subject.prompt(PLAN, (), more=more), model=model)]
            supports = matched(read, item)
        return OwnReasoningFinding(mark=mark, fate="matched" if supports else "unmatched", supports=supports)

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """How often words support the choice; right choices by right words; their agreement; by tag."""

        def marks_of(one: OwnReasoningFinding) -> dict[str, tuple[ReplyScore, ...]]:
            return {PLAN: (one.mark,)} if one.fate == "matched" else {}

        figures = Figures(rng=rng, level=level)
        found = side_by_side(examined, OwnReasoningFinding, marks_of, conditions=[PLAN], figures=figures)
        summary = _Summary(found=found, settings=self.settings, left_out=_left_out(examined, found))
        made: list[Statement] = [summary.headline()]
        if found.items:
            made += [summary.crossed(), summary.agreement(), *summary.tags()]
        return tuple(made)


def _by_rule(item: Item, log: str, answer: str) -> str:
    """What the rules of ``description-match`` read; they want a reply that names a choice."""
    outcome = DescriptionMatch().read(item, Reply(text=f"{log}\nAnswer: {answer}"))
    return outcome.answer if isinstance(outcome, Answered) else ""


def create(settings: Settings) -> Diagnostic:
    """The diagnostic.

    Source: ActPLD, section 2.5.
    Departs: see `OwnReasoning`.
    """
    return OwnReasoning(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[OwnReasoningFinding]


def _left_out(examined: Sequence[Examined], found: Found) -> str:
    """What is not in the tables; the findings themselves say why they have no match."""
    fates = [one.finding.fate for one in examined if isinstance(one.finding, OwnReasoningFinding)]
    counted = {words: fates.count(fate) for fate, words in LEFT_OUT.items()}
    said = ", ".join(f"{n:,} {words}" for words, n in counted.items() if n)
    return found.left_out.replace("were not asked", f"are not matched ({said})")


@dataclass(frozen=True, kw_only=True)
class _Summary:
    """The tables over the questions with a match."""

    found: Found
    settings: Settings
    left_out: str

    def headline(self) -> Table:
        right = self.found.values[PLAN] >= 1
        parts = {"all": right | ~right, "right": right, "wrong": ~right}
        rows = {key: self.found.of(np.flatnonzero(some)) for key, some in parts.items()}
        labels = {"all": "all answers", "right": "right answers", "wrong": "wrong answers"}
        settings = self.settings
        reader = (
            f"Read by {settings.matcher}." if settings.matcher else "The model under test read its own words."
        )
        if settings.by == "rule":
            reader = (
                f"Matched by rule: people's own words support their choice in {100 * settings.ceiling:.1f} % "
                "of cases under the same rule, the most that can be expected here."
            )
        return tabulate(
            "own-reasoning",
            "Whether the words support the choice that was named",
            label="questions",
            rows=lines(rows.items(), labels),
            measures=(
                number("questions", lambda some: len(some.items)),
                share("own", _part(_own), "support it"),
                share("another", _part(_another), "support another"),
                share("none", _part(_none), "support none"),
            ),
            notes=(
                "The matcher does not know which choice was named or is right.",
                reader,
                self.left_out,
            ),
            figure="shares",
        )

    def crossed(self) -> Table:
        """Right choices by words that match the right label."""
        is_right = self.found.values[PLAN] >= 1
        is_match = _matches_key(self.found) >= 1
        rows = {"right": is_right, "wrong": ~is_right}
        labels = {"right": "choice right", "wrong": "choice wrong"}

        def cell(is_row: NDArray[np.bool_], *, matches: bool) -> Values:
            return np.asarray(is_row & (is_match == matches), np.float64)

        return tabulate(
            "crossed",
            "Right choices and right words",
            label="answer",
            rows=lines(rows.items(), labels),
            measures=(
                number(
                    "match", lambda row: int(cell(row, matches=True).sum()), "words match the right label"
                ),
                number("no_match", lambda row: int(cell(row, matches=False).sum()), "they do not"),
                share(
                    "match_share", lambda row: self.found.mean(cell(row, matches=True)), "match, share of all"
                ),
                share(
                    "no_match_share", lambda row: self.found.mean(cell(row, matches=False)), "no match, share"
                ),
            ),
            notes=("A right choice with words that do not match is luck, or knowledge that was not said.",),
        )

    def agreement(self) -> Table:
        """How far right choices and right words go together."""
        found, settings = self.found, Resampling(level=self.found.figures.level)
        right, match = (found.values[PLAN] >= 1).astype(np.float64), _matches_key(found)
        clusters = [item.source_id for item in found.items]
        kappa = item_agreement(
            right, match, clusters=clusters, rng=found.figures.rng, settings=settings
        ).kappa
        phi: Estimate | None = None
        if len(right) >= _FEWEST_POINTS and np.ptp(right) and np.ptp(match):
            phi = pearson(right, match, clusters=clusters, rng=found.figures.rng, settings=settings).bootstrap
        figures = {"phi": phi, "kappa": kappa}
        constant = "phi has no value where all choices, or all words, are alike." if phi is None else ""
        return tabulate(
            "agreement",
            "How far right choices and right words go together",
            label="measure",
            rows=lines(figures.items(), {"phi": "phi", "kappa": "Cohen's kappa"}),
            measures=(
                number("value", lambda one: one, "value", note="1: always; 0: no more than by chance"),
            ),
            notes=(constant,),
        )

    def tags(self) -> list[Table]:
        return tag_tables(
            "own-reasoning:",
            "Whether the words support the choice that was named",
            self.found.items,
            about=self.found.of,
            measures=(
                number("questions", lambda some: len(some.items)),
                share("accuracy", lambda some: some.accuracy(PLAN)),
                share("own", _part(_own), "support it"),
                share("another", _part(_another), "support another"),
                share("match", lambda some: some.mean(_matches_key(some)), "match the right label"),
            ),
        )


def _own(one: OwnReasoningFinding) -> bool:
    return one.is_own


def _none(one: OwnReasoningFinding) -> bool:
    return one.supports == NO_CHOICE


def _another(one: OwnReasoningFinding) -> bool:
    return not (one.is_own or _none(one))


def _part(is_so: Callable[[OwnReasoningFinding], bool]) -> Callable[[Found], Estimate | None]:
    def of(some: Found) -> Estimate | None:
        if not some.items:
            return None
        return some.mean(np.array([float(is_so(one)) for one in some.findings], np.float64))

    return of


def _matches_key(found: Found) -> Values:
    """Whether the words support the right choice."""
    each = zip(found.items, found.findings, strict=True)
    return np.array([float(one.supports == item.answer) for item, one in each], np.float64)
