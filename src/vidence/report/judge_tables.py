"""How far judges can be relied on, as sentences, tables and figures."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.engine.judges import JudgedReply
from vidence.media.whole import write_file
from vidence.records import Estimate
from vidence.report.judge_figures import Arms, Level, SelfPreference
from vidence.report.judge_reliability import Judges
from vidence.report.sections import Section
from vidence.statistics.strengths import Strengths
from vidence.tables.table import (
    Cell,
    Column,
    Measure,
    RowSpec,
    Table,
    Value,
    by_name,
    count,
    difference,
    has_interval,
    lines,
    number,
    number_text,
    p_value,
    percent,
    several,
    share,
    tabulate,
    words,
)

T = TypeVar("T")
_TESTED: tuple[Measure[Level | SelfPreference | Arms], ...] = (
    difference("difference", lambda one: one.difference, "difference, points"),
    p_value("p", lambda one: one.p_value),
    p_value("p-holm", lambda one: one.p_holm, "p, Holm", note="adjusted over the rows of this table"),
)
_JUDGE = Column(key="judge", title="judge")
_CLEAR = 0.05


def section(found: Judges) -> Section:
    """All of it as a part of a page."""
    title = "How far the judges can be relied on"
    return Section(title=title, paragraphs=sentences(found), tables=tuple(tables(found)))


def sentences(found: Judges) -> tuple[str, ...]:
    """What was judged, who agrees best with people, and who favours its own family."""
    judges = several(len(found.judges), "judge")
    first = f"{judges} on {found.n_replies:,} stored replies"
    if found.raters:
        tied = f" ({found.n_tied:,} with raters tied are left out)" if found.n_tied else ""
        first += f", {found.n_labelled:,} labelled by {several(len(found.raters), 'rater')}{tied}"
    said = [f"{first}.", *_best(found)]
    said += [
        f"{one.judge} favours its own family ({one.family}) by "
        f"{number_text(one.at_same.estimate.value, 'difference')} points where people say the same."
        for one in found.own
        if one.at_same is not None and one.p_holm < _CLEAR and one.at_same.estimate.value > 0
    ]
    said += [f"No strengths by {one.by}: {one.why}." for one in found.standings if one.why]
    return (*said, *found.notes)


def _best(found: Judges) -> Iterator[str]:
    if found.agreement:
        best = max(found.agreement, key=lambda one: one.same.value)
        yield f"{best.judge} agrees with people on {percent(best.same.value)} % of {best.n:,} replies."


# --------------------------------------------------------------------------- tables


def tables(found: Judges) -> Iterator[Table]:
    """Every table that has a row."""
    made = (
        _agreement(found),
        _wins(found),
        _standings(found),
        _orders(found),
        _levels(found),
        _own(found),
        _arms(found),
        _scores(found),
    )
    return (table for table in made if table.rows)


def _agreement(found: Judges) -> Table:
    return tabulate(
        "judges-people",
        "Judges against people",
        label=_JUDGE,
        rows=lines((one.judge, one) for one in found.agreement),
        measures=(
            count("n", lambda one: one.n, "replies"),
            count("without", lambda one: one.n_without, "no verdict", note="they count as not the same"),
            share("share", lambda one: one.same, "same"),
            _points("kappa", lambda one: _bare(one.kappa), "Cohen's kappa"),
            _points("phi", lambda one: one.phi, "r", note="Pearson's, of right and wrong"),
            _points("points", lambda one: one.points, "r of points", note="Pearson's, 0 to 4"),
        ),
        notes=("Each judge against the majority of the raters.",),
        figure="shares",
    )


def _points(key: str, of: Callable[[T], Value | Cell], title: str, *, note: str = "") -> Measure[T]:
    return number(key, of, title, kind="points", note=note)


def _bare(estimate: Estimate | None) -> Value | Cell:
    """An estimate, without a word on why it has no interval."""
    return None if estimate is None else Cell(value=estimate, detail=None if has_interval(estimate) else "")


def _wins(found: Judges) -> Table:
    return tabulate(
        "judges-wins",
        "Who wins a pair of models on a question",
        label=_JUDGE,
        rows=lines((one.judge, one) for one in found.wins),
        measures=(
            words("basis", lambda one: one.basis, "by"),
            count("n", lambda one: one.n, "pairs"),
            share("same", lambda one: one.same, "all pairs", note="a tie is a third outcome"),
            count("n-decided", lambda one: one.n_decided, "both decide"),
            share("decided", lambda one: one.decided, "where both decide"),
            count("ties-people", lambda one: one.n_ties_people, "tied by people"),
            count("ties-judge", lambda one: one.n_ties_judge, "tied by the judge"),
        ),
        notes=("Each two models on each question: won, lost or tied, by people and by the judge.",),
    )


def _standings(found: Judges) -> Table:
    known = [(one.by, one.strengths) for one in found.standings if one.strengths is not None]
    bounded = [by for by, of in known if of.is_bounded]

    def of_run(i: int, run: str) -> Measure[Strengths]:
        return _points(f"run:{i}", lambda of: of.strengths.get(run), run)

    return tabulate(
        "judges-strengths",
        "How strong the models are in pairs",
        label=Column(key="by", title="judged by"),
        rows=lines(known),
        measures=(
            count("n", lambda of: of.n_pairs, "pairs"),
            count("ties", lambda of: of.n_ties, "tied"),
            *(
                of_run(i, run)
                for i, run in enumerate(dict.fromkeys(r for _, of in known for r in of.strengths))
            ),
        ),
        notes=(
            "Log-odds of winning a pair that is not tied, less the mean of the models (Bradley and Terry; "
            "ties as Davidson); intervals are clustered.",
            f"One side never loses by {', '.join(bounded)}: half a win was added to both of each two models."
            if bounded
            else "",
        ),
    )


def _orders(found: Judges) -> Table:
    return tabulate(
        "judges-order",
        "The order of the models",
        label=_JUDGE,
        rows=lines((one.judge, one) for one in found.orders),
        measures=(
            count("n", lambda one: one.n, "replies"),
            _points("tau", lambda one: one.tau, "Kendall's tau-b"),
            share("same", lambda one: one.same_order, "draws with one order", note="judge and people alike"),
        ),
        notes=("On the questions to which every model has a labelled reply.",),
    )


def _levels(found: Judges) -> Table:
    return tabulate(
        "judges-level",
        "By how much a judge is kinder than people",
        label=_JUDGE,
        rows=(RowSpec(f"{one.judge}:{one.run}", one.judge, one) for one in found.levels),
        measures=(
            words("run", lambda one: one.run, "model"),
            share("people", lambda one: one.people),
            share("found", lambda one: one.found, "judge"),
            *_TESTED,
        ),
        notes=("A lenient judge agrees well and moves every score.",),
    )


def _own(found: Judges) -> Table:
    return tabulate(
        "judges-own-family",
        "Whether a judge favours its own family",
        label=_JUDGE,
        rows=lines((one.judge, one) for one in found.own),
        measures=(
            words("family", lambda one: one.family),
            count("own", lambda one: one.n_own, "own replies"),
            count("others", lambda one: one.n_others),
            *_TESTED,
        ),
        notes=("Verdicts on the own family less those on others, on replies that people call the same.",),
    )


def _arms(found: Judges) -> Table:
    return tabulate(
        "judges-arms",
        "One model under two protocols",
        label=Column(key="model", title="model"),
        rows=(RowSpec(f"{one.model}:{one.first}:{one.second}", one.model, one) for one in found.arms),
        measures=(
            words("first", lambda one: one.first),
            words("second", lambda one: one.second),
            count("n", lambda one: one.difference.n, "replies"),
            *_TESTED,
        ),
        notes=(
            "Agreement with people under the first less that under the second, on the same replies. "
            "humanpcr is given the reference reasoning, humanpcr-printed is not.",
        ),
    )


def _scores(found: Judges) -> Table:
    values = {(one.by, one.run): one.accuracy for one in found.scores}

    def of_run(i: int, run: str) -> Measure[str]:
        return share(f"run:{i}", lambda by: values.get((by, run)), run)

    names = dict.fromkeys(one.run for one in found.scores)
    return tabulate(
        "judges-scores",
        "Accuracy of the models by judge",
        label=Column(key="by", title="judged by"),
        rows=by_name(dict.fromkeys(one.by for one in found.scores)),
        measures=[of_run(i, run) for i, run in enumerate(names)],
        notes=("Each on the replies that it marked; a reply without verdict is wrong.",),
        figure="matrix",
    )


# --------------------------------------------------------------------------- files


def write_lines(lines: Sequence[JudgedReply], path: Path) -> None:
    """Write one JSON object for each reply, judge and repeat.

    Raises:
        StoreError: the file cannot be written.
    """
    write_file(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
