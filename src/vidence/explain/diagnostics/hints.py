"""How many errors are due to evidence not looked for: ask each question with hints about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from vidence.ask.selection.evidence import located
from vidence.ask.strategies.hints import MOST_LEVELS, hint_words, said
from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import (
    PLAN,
    Condition,
    Examination,
    ReplyScore,
    ask_together,
    rng_of,
)
from vidence.explain.diagnostics.tables import (
    Difference,
    Figures,
    SideBySide,
    adjusted,
    difference,
    holm,
    kinds,
    side_by_side,
)
from vidence.records import Clusters, Estimate, Item, Record
from vidence.statistics import paired
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import RowSpec, Table, by_name, number, p_value, several, share, tabulate

Control: TypeAlias = Literal["words", "foreign", "filler", "frames"]
CONTROLS: Final[tuple[Control, ...]] = ("words", "foreign", "filler", "frames")
EVIDENCE: Final = "evidence"
FRAMES: Final = "frames"
# Says nothing of any question. A hint of n words is stood in for by the first n of them, over and over.
FILLER: Final = (
    "The video is made of pictures that were taken one after the other, and each of them has a width and a "
    "height. They are shown here in the order in which they were chosen, and all of them belong to the same "
    "question. Pictures have colours, which differ from place to place, and they were stored in a file. "
)


class Settings(Record):
    """Options of the diagnostic."""

    levels: Annotated[
        tuple[Annotated[int, Meta(ge=0, le=MOST_LEVELS)], ...],
        Meta(description="how many hints are given; 0 is asked in any case"),
    ] = (0, 1, 2, 3)
    controls: Annotated[
        tuple[Control, ...],
        Meta(
            description="words: without frames; foreign: the hint of another question; filler: as many words "
            "that say nothing; frames: the annotated evidence in place of the hint"
        ),
    ] = CONTROLS
    oracle: Annotated[str, Meta(description="selector of the evidence, with the budget of the plan")] = (
        "evidence"
    )
    alike: Annotated[
        str, Meta(description="a tag in which a question and that of its foreign hint agree, if both have it")
    ] = "domain"
    seed: Annotated[int, Meta(ge=0, description="of the draw of foreign hints")] = 0

    def __post_init__(self) -> None:
        if not self.top:
            raise UsageError(
                f"hints: levels={'|'.join(map(str, self.levels))} gives no hint; expected levels such as "
                f"0|1|2|{MOST_LEVELS}"
            )

    @property
    def shown(self) -> tuple[int, ...]:
        """Return the levels in order, including 0."""
        return tuple(sorted({0, *self.levels}))

    @property
    def top(self) -> int:
        """Return the highest level, which the controls use."""
        return max(self.levels, default=0)


class HintsFinding(Record, omit_defaults=True):
    """One question's scores with hints of each level, and under each control.

    The names are ``L0`` to ``L3`` (level 0: no hint), ``words-L0`` and ``words-L3`` (no frames),
    ``foreign-L3``, ``filler-L3``, ``frames``. Conditions that do not apply to a question are absent.

    Source: HumanPCR, section 4.3 and table 6.
    Departs: see `Hints`.
    """

    marks: dict[str, tuple[ReplyScore, ...]]
    n_hints: int
    foreign: str = ""
    """The question whose hints replaced its own; empty if none was found."""


@dataclass(frozen=True, kw_only=True)
class ForeignHint:
    """Another question's hints as one text, and that question."""

    item_id: str
    words: str


def foreign_hints(items: Sequence[Item], settings: Settings) -> dict[str, ForeignHint]:
    """Return, for each question, the hints of one about another source, drawn by seed and id.

    Candidates share the tag `alike`; if none does, all are candidates.
    """
    full = [item for item in items if len(item.hints) >= settings.top]
    hints: dict[str, ForeignHint] = {}
    for item in full:
        own = hint_words(item, settings.top)
        others = [
            entry
            for entry in full
            if entry.source_id != item.source_id and hint_words(entry, settings.top) != own
        ]
        value = item.tags.get(settings.alike)
        near = [other for other in others if value is not None and other.tags.get(settings.alike) == value]
        if pool := near or others:
            chosen = pool[int(rng_of(settings.seed, item.item_id).integers(len(pool)))]
            hints[item.item_id] = ForeignHint(item_id=chosen.item_id, words=hint_words(chosen, settings.top))
    return hints


def filler(words: str) -> str:
    """Return equally many meaningless words, line by line.

    >>> filler("Mind the hat.")
    'The video is'
    """
    bank = FILLER.split()
    return "\n".join(
        " ".join(bank[i % len(bank)] for i in range(len(line.split()))) for line in words.splitlines()
    )


class Hints(Examination[Settings]):
    """Each question with no hint, with hints of each level, and with what hints must be distinguished from.

    Levels are cumulative: level 2 gives the first two hints of a question. All is asked together. With V(h)
    the score with the frames of the plan and hints h, W(h) that of the words alone, 3 the highest level::

        gain of a level     V(level) - V(0)
        less the placebo    V(3) - V(foreign)     another question's hints: a longer prompt, "look again"
                            V(3) - V(filler)      as many words that say nothing
        owed to the video   [V(3) - V(0)] - [W(3) - W(0)]
        ceiling             V(frames) - V(0)      the evidence is shown, nothing is said

    W(3) - W(0) above 0 is a hint that gives the answer away: it helps whoever sees nothing.

    Source: HumanPCR, section 4.3 and table 6 (three cumulative levels against no hint, Human-R).
    Departs: the paper has no control; all of them, intervals and tests are ours, and so are the words
        around the hints. It asks with reasoning: take a plan with --style cot. Frames of the evidence stand
        in place of the plan's, with the same budget, so that their number explains nothing.
    """

    name = "hints"
    version = 2
    finding: type[Record] = HintsFinding

    def __init__(self, settings: Settings, foreign: Mapping[str, ForeignHint] | None = None) -> None:
        self.settings = settings
        self._foreign = foreign or {}

    def of_items(self, items: Sequence[Item]) -> Diagnostic:
        """Return the diagnostic with each question's foreign hints assigned."""
        return Hints(self.settings, foreign_hints(items, self.settings))

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return the plan's frames, and the evidence frames with the same budget."""
        views = {PLAN: View(selector=selector, n_frames=n_frames)}
        if "frames" in self.settings.controls:
            views[EVIDENCE] = View(selector=self.settings.oracle, n_frames=n_frames)
        return views

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the number of levels and controls that apply; 0 without hints."""
        n_foreign = int("foreign" in self.settings.controls and len(item.hints) >= max(self.settings.top, 1))
        return len(self._conditions(item, None)) + n_foreign

    def examine(self, subject: Subject) -> Flow[HintsFinding]:
        """Ask under all conditions at once; nothing for a question without hints.

        Raises:
            UsageError: a hint is empty.
        """
        item = subject.item
        foreign = self._foreign.get(item.item_id) if "foreign" in self.settings.controls else None
        conditions = self._conditions(item, foreign)
        scores = yield from ask_together(subject, list(conditions.values()))
        return HintsFinding(
            marks={name: (score,) for name, score in zip(conditions, scores, strict=True)},
            n_hints=len(item.hints),
            foreign=foreign.item_id if foreign and f"foreign-L{self.settings.top}" in conditions else "",
        )

    def _conditions(self, item: Item, foreign: ForeignHint | None) -> dict[str, Condition]:
        settings, top = self.settings, self.settings.top
        if not item.hints:
            return {}
        conditions = {
            f"L{level}": Condition(view=PLAN, more=said(hint_words(item, level)))
            for level in settings.shown
            if level <= len(item.hints)
        }
        if len(item.hints) < top:
            return conditions
        words = hint_words(item, top)
        if "words" in settings.controls:
            conditions["words-L0"] = Condition(view=PLAN, positions=())
            conditions[f"words-L{top}"] = Condition(view=PLAN, positions=(), more=said(words))
        if foreign is not None:
            conditions[f"foreign-L{top}"] = Condition(view=PLAN, more=said(foreign.words))
        if "filler" in settings.controls:
            conditions[f"filler-L{top}"] = Condition(view=PLAN, more=said(filler(words)))
        if "frames" in settings.controls and located(item):
            conditions[FRAMES] = Condition(view=EVIDENCE)
        return conditions

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return what hints add beyond the controls; each level; the controls."""
        figures = Figures(rng=rng, level=level)
        return tuple(_Hinted(examined=tuple(examined), figures=figures, settings=self.settings).statements())


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return Hints(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[HintsFinding]


@dataclass(frozen=True)
class _Contrast:
    """A row of the headline: its label, and its linear combination of conditions."""

    key: str
    label: str
    detail: str
    signs: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class _Hinted:
    """The tables."""

    examined: tuple[Examined, ...]
    figures: Figures
    settings: Settings

    def statements(self) -> list[Statement]:
        asked = self._found(["L0"])
        statements: list[Statement] = [self._headline(), self._levels(asked)]
        if asked.items:
            statements += [self._controls(), self._curve()]
        return statements

    def _found(self, conditions: Sequence[str]) -> Found:
        """Return the questions with a score under all of these conditions."""
        return side_by_side(
            self.examined,
            HintsFinding,
            lambda finding: finding.marks,
            conditions=conditions,
            figures=self.figures,
        )

    # ------------------------------------------------------------------ the headline

    def _contrasts(self) -> list[_Contrast]:
        top, controls = self.settings.top, self.settings.controls
        own = f"L{top}"
        gain = {own: 1, "L0": -1}
        contrasts = [_Contrast("gain", f"gain of level {top}", "less no hint", gain)]
        others = {"foreign": "another question's hints", "filler": "as many words that say nothing"}
        for name, what in others.items():
            if name in controls:
                less, alone = {own: 1, f"{name}-L{top}": -1}, {f"{name}-L{top}": 1, "L0": -1}
                contrasts.append(_Contrast(f"less-{name}", f"level {top} less {name}", what, less))
                contrasts.append(_Contrast(name, f"{name} alone", "less no hint: the placebo", alone))
        if "words" in controls:
            unseen = {f"words-L{top}": 1, "words-L0": -1}
            owed = gain | {name: -sign for name, sign in unseen.items()}
            what, leak = "gain with frames less gain without", "hints that give the answer away"
            contrasts.append(_Contrast("video", "owed to the video", what, owed))
            contrasts.append(_Contrast("words", "gain without frames", leak, unseen))
        if "frames" in controls:
            what = "in place of hints, less no hint"
            contrasts.append(_Contrast("frames", "frames of the evidence", what, {FRAMES: 1, "L0": -1}))
        return sorted(contrasts, key=lambda contrast: not contrast.key.startswith("less-"))

    def _headline(self) -> Table:
        contrasts = {contrast.key: contrast for contrast in self._contrasts()}
        known = {key: some for key, c in contrasts.items() if (some := self._found(list(c.signs))).items}
        rows = adjusted(
            {
                key: _effect(some, contrasts[key].signs, level=self.figures.level)
                for key, some in known.items()
            }
        )
        return tabulate(
            "hints",
            "What hints are worth",
            label="difference",
            rows=(
                RowSpec(key, contrasts[key].label, (some, rows[key]), detail=contrasts[key].detail)
                for key, some in known.items()
            ),
            measures=(
                number("questions", lambda row: len(row[0].items)),
                share("difference", lambda row: row[1].estimate, note="paired"),
                p_value("p_holm", lambda row: row[1].p_holm, "p (Holm)"),
            ),
            notes=(self._missing(), self._unlike(), self._leaking(rows)),
        )

    def _missing(self) -> str:
        """Say how many questions have no hint, or fewer than the highest level."""
        findings = [e.finding for e in self.examined if isinstance(e.finding, HintsFinding)]
        none = sum(not finding.n_hints for finding in findings)
        fewer = sum(0 < finding.n_hints < self.settings.top for finding in findings)
        parts = [f"{several(none, 'question')} without a hint left out"] if none else []
        if fewer:
            least = f"fewer than {self.settings.top}"
            parts.append(f"{several(fewer, 'question')} with {least} counted in the levels that they have")
        return f"{'; '.join(parts)}." if parts else ""

    def _unlike(self) -> str:
        """Say that foreign hints come from another domain, if they do."""
        if "foreign" not in self.settings.controls:
            return ""
        tags = {e.item.item_id: e.item.tags.get(self.settings.alike) for e in self.examined}
        pairs = [
            (examined.item.item_id, examined.finding.foreign)
            for examined in self.examined
            if isinstance(examined.finding, HintsFinding) and examined.finding.foreign
        ]
        if not pairs:
            return "No foreign hints: these need hints about two sources or more."
        n_unlike = sum(tags[own] is None or tags[own] != tags.get(other) for own, other in pairs)
        if not n_unlike:
            return ""
        return f"{several(n_unlike, 'foreign hint')} not known to be of the same {self.settings.alike}."

    def _leaking(self, rows: Mapping[str, Difference]) -> str:
        words = rows.get("words")
        if words is None or words.estimate.value <= 0 or not words.p_holm < 1 - self.figures.level:
            return ""
        return (
            "The hints help without the video: they give answers away. Read the gain owed to the video, "
            "not the gain."
        )

    # ------------------------------------------------------------------ levels and controls

    def _levels(self, asked: Found) -> Table:
        names = [f"L{level}" for level in self.settings.shown]
        parts = {name: part for name in names if (part := self._found(["L0", name])).items}
        gains = adjusted(
            {
                name: self.figures.difference(part.values[name], part.values["L0"], part.items)
                for name, part in parts.items()
                if name != "L0"
            }
        )
        labels = {f"L{level}": f"level {level}" if level else "no hint" for level in self.settings.shown}
        return tabulate(
            "levels",
            "Score by level of the hints",
            label="hints",
            rows=by_name(parts, labels),
            measures=(
                number("questions", lambda name: len(parts[name].items)),
                share("accuracy", lambda name: parts[name].accuracy(name)),
                share("base", lambda name: parts[name].accuracy("L0"), "no hint", note="same questions"),
                difference("gain", gains, "gain"),
                holm(gains),
                *kinds({name: part.marks[name] for name, part in parts.items()}),
            ),
            notes=("Levels are cumulative.", asked.guessing_note(), asked.left_out),
        )

    def _controls(self) -> Table:
        top = self.settings.top
        labels = {
            f"L{top}": f"level {top}",
            "words-L0": "no hint, no frames",
            f"words-L{top}": f"level {top}, no frames",
            f"foreign-L{top}": "hints of another question",
            f"filler-L{top}": "as many words that say nothing",
            FRAMES: "frames of the evidence, no hint",
        }
        parts = {name: part for name in labels if (part := self._found([name])).items}
        return tabulate(
            "controls",
            "Score under the controls",
            label="asked with",
            rows=by_name(parts, labels),
            measures=(
                number("questions", lambda name: len(parts[name].items)),
                share("accuracy", lambda name: parts[name].accuracy(name)),
                *kinds({name: part.marks[name] for name, part in parts.items()}),
            ),
        )

    def _curve(self) -> Chart:
        def points(names: Mapping[int, str]) -> list[tuple[float, Estimate]]:
            values = {level: self._found([name]) for level, name in names.items()}
            return [(level, part.accuracy(names[level])) for level, part in values.items() if part.items]

        top, series = self.settings.top, {"with the video": {n: f"L{n}" for n in self.settings.shown}}
        if "words" in self.settings.controls:
            series["words alone"] = {0: "words-L0", top: f"words-L{top}"}
        for name, label in (("foreign", "hints of another question"), ("filler", "words that say nothing")):
            if name in self.settings.controls:
                series[label] = {0: "L0", top: f"{name}-L{top}"}
        drawn = {label: points(names) for label, names in series.items()}
        return Chart(
            name="hints:curve",
            title="Score by level of the hints: the curve",
            x_title="level of the hints",
            y_title="accuracy",
            series=curves((label, some) for label, some in drawn.items() if some),
            x_labels=tuple((float(n), f"level {n}" if n else "no hint") for n in self.settings.shown),
            note="Differences are paired: their intervals stand in the tables.",
        )


def _effect(side: Found, signs: Mapping[str, int], *, level: float) -> tuple[Estimate, float]:
    """Return the conditions with sign 1 minus those with sign -1, and the p-value."""
    sums = {1: np.zeros(len(side.items)), -1: np.zeros(len(side.items))}
    for name, sign in signs.items():
        sums[sign] = sums[sign] + side.values[name]
    most = float(len(signs) // 2)
    done = paired.compare(
        sums[1], sums[-1], clusters=Clusters.of(side.items), bounds=(0.0, most), level=level
    )
    return done.difference, done.p_value
