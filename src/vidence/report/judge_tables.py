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
    difference("difference", lambda entry: entry.difference, "difference, points"),
    p_value("p", lambda entry: entry.p_value),
    p_value("p-holm", lambda entry: entry.p_holm, "p, Holm", note="adjusted over the rows of this table"),
)
_JUDGE = Column(key="judge", title="judge")
_CLEAR = 0.05


def section(judges: Judges) -> Section:
    """All of it as a part of a page."""
    title = "How far the judges can be relied on"
    return Section(title=title, paragraphs=sentences(judges), tables=tuple(tables(judges)))


def sentences(result: Judges) -> tuple[str, ...]:
    """What was judged, who agrees best with people, and who favours its own family."""
    judges = several(len(result.judges), "judge")
    first = f"{judges} on {result.n_replies:,} stored replies"
    if result.raters:
        tied = f" ({result.n_tied:,} with raters tied are left out)" if result.n_tied else ""
        first += f", {result.n_labelled:,} labelled by {several(len(result.raters), 'rater')}{tied}"
    sentences = [f"{first}.", *_best(result)]
    sentences += [
        f"{preference.judge} favours its own family ({preference.family}) by "
        f"{number_text(preference.at_same.estimate.value, 'difference')} points where people say the same."
        for preference in result.own
        if preference.at_same is not None
        and preference.p_holm < _CLEAR
        and preference.at_same.estimate.value > 0
    ]
    sentences += [
        f"No strengths by {standing.by}: {standing.why}." for standing in result.standings if standing.why
    ]
    return (*sentences, *result.notes)


def _best(judges: Judges) -> Iterator[str]:
    if judges.agreement:
        best = max(judges.agreement, key=lambda agreement: agreement.same.value)
        yield f"{best.judge} agrees with people on {percent(best.same.value)} % of {best.n:,} replies."


# --------------------------------------------------------------------------- tables


def tables(judges: Judges) -> Iterator[Table]:
    """Every table that has a row."""
    tables = (
        _agreement(judges),
        _wins(judges),
        _standings(judges),
        _orders(judges),
        _levels(judges),
        _own(judges),
        _arms(judges),
        _scores(judges),
    )
    return (table for table in tables if table.rows)


def _agreement(judges: Judges) -> Table:
    return tabulate(
        "judges-people",
        "Judges against people",
        label=_JUDGE,
        rows=lines((agreement.judge, agreement) for agreement in judges.agreement),
        measures=(
            count("n", lambda agreement: agreement.n, "replies"),
            count(
                "without",
                lambda agreement: agreement.n_without,
                "no verdict",
                note="they count as not the same",
            ),
            share("share", lambda agreement: agreement.same, "same"),
            _points("kappa", lambda agreement: _bare(agreement.kappa), "Cohen's kappa"),
            _points("phi", lambda agreement: agreement.phi, "r", note="Pearson's, of right and wrong"),
            _points("points", lambda agreement: agreement.points, "r of points", note="Pearson's, 0 to 4"),
        ),
        notes=("Each judge against the majority of the raters.",),
        figure="shares",
    )


def _points(key: str, of: Callable[[T], Value | Cell], title: str, *, note: str = "") -> Measure[T]:
    return number(key, of, title, kind="points", note=note)


def _bare(estimate: Estimate | None) -> Value | Cell:
    """An estimate, without a word on why it has no interval."""
    return None if estimate is None else Cell(value=estimate, detail=None if has_interval(estimate) else "")


def _wins(judges: Judges) -> Table:
    return tabulate(
        "judges-wins",
        "Who wins a pair of models on a question",
        label=_JUDGE,
        rows=lines((win.judge, win) for win in judges.wins),
        measures=(
            words("basis", lambda wins: wins.basis, "by"),
            count("n", lambda wins: wins.n, "pairs"),
            share("same", lambda wins: wins.same, "all pairs", note="a tie is a third outcome"),
            count("n-decided", lambda wins: wins.n_decided, "both decide"),
            share("decided", lambda wins: wins.decided, "where both decide"),
            count("ties-people", lambda wins: wins.n_ties_people, "tied by people"),
            count("ties-judge", lambda wins: wins.n_ties_judge, "tied by the judge"),
        ),
        notes=("Each two models on each question: won, lost or tied, by people and by the judge.",),
    )


def _standings(judges: Judges) -> Table:
    known = [
        (standing.by, standing.strengths) for standing in judges.standings if standing.strengths is not None
    ]
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


def _orders(judges: Judges) -> Table:
    return tabulate(
        "judges-order",
        "The order of the models",
        label=_JUDGE,
        rows=lines((order.judge, order) for order in judges.orders),
        measures=(
            count("n", lambda order: order.n, "replies"),
            _points("tau", lambda order: order.tau, "Kendall's tau-b"),
            share(
                "same", lambda order: order.same_order, "draws with one order", note="judge and people alike"
            ),
        ),
        notes=("On the questions to which every model has a labelled reply.",),
    )


def _levels(judges: Judges) -> Table:
    return tabulate(
        "judges-level",
        "By how much a judge is kinder than people",
        label=_JUDGE,
        rows=(RowSpec(f"{level.judge}:{level.run}", level.judge, level) for level in judges.levels),
        measures=(
            words("run", lambda level: level.run, "model"),
            share("people", lambda level: level.people),
            share("found", lambda level: level.found, "judge"),
            *_TESTED,
        ),
        notes=("A lenient judge agrees well and moves every score.",),
    )


def _own(judges: Judges) -> Table:
    return tabulate(
        "judges-own-family",
        "Whether a judge favours its own family",
        label=_JUDGE,
        rows=lines((preference.judge, preference) for preference in judges.own),
        measures=(
            words("family", lambda preference: preference.family),
            count("own", lambda preference: preference.n_own, "own replies"),
            count("others", lambda preference: preference.n_others),
            *_TESTED,
        ),
        notes=("Verdicts on the own family less those on others, on replies that people call the same.",),
    )


def _arms(judges: Judges) -> Table:
    return tabulate(
        "judges-arms",
        "One model under two protocols",
        label=Column(key="model", title="model"),
        rows=(RowSpec(f"{arm.model}:{arm.first}:{arm.second}", arm.model, arm) for arm in judges.arms),
        measures=(
            words("first", lambda arms: arms.first),
            words("second", lambda arms: arms.second),
            count("n", lambda arms: arms.difference.n, "replies"),
            *_TESTED,
        ),
        notes=(
            "Agreement with people under the first less that under the second, on the same replies. "
            "humanpcr is given the reference reasoning, humanpcr-printed is not.",
        ),
    )


def _scores(judges: Judges) -> Table:
    values = {(score.by, score.run): score.accuracy for score in judges.scores}

    def of_run(i: int, run: str) -> Measure[str]:
        return share(f"run:{i}", lambda by: values.get((by, run)), run)

    names = dict.fromkeys(score.run for score in judges.scores)
    return tabulate(
        "judges-scores",
        "Accuracy of the models by judge",
        label=Column(key="by", title="judged by"),
        rows=by_name(dict.fromkeys(score.by for score in judges.scores)),
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
