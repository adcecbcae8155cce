"""How far judges can be relied on, as sentences, tables and figures."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from vidence.engine.judges import JudgedReply
from vidence.records import Estimate
from vidence.report.export import write_file
from vidence.report.judge_figures import NOT_WORSE, Reliability
from vidence.report.judge_reliability import JSON_FORMAT, Judges
from vidence.report.sections import Section
from vidence.statistics.contrasts import Contrast
from vidence.tables.charts import Chart, Point, Series
from vidence.tables.export import table_as_json
from vidence.tables.rendering import render
from vidence.tables.table import Cell, Column, Row, Table, Value, has_interval, number_text, percent, several

_P = Column(key="p", title="p", kind="p")
_HOLM = Column(key="p-holm", title="p, Holm", kind="p", note="adjusted over the rows of this table")
_N = Column(key="n", title="replies", kind="count")
_JUDGE = Column(key="judge", title="judge")
_CLEAR = 0.05


def section(found: Judges) -> Section:
    """All of it as a part of a page."""
    return Section(
        title="Judges", paragraphs=sentences(found), figures=tuple(charts(found)), tables=tuple(tables(found))
    )


def sentences(found: Judges) -> tuple[str, ...]:
    """What was judged, who agrees best with people, which judge is cheapest, and what stands against them."""
    judges = several(len(found.judges), "judge")
    first = f"{judges} on {found.n_replies:,} stored replies"
    if found.raters:
        tied = f" ({found.n_tied:,} with raters tied are left out)" if found.n_tied else ""
        first += f", {found.n_labelled:,} labelled by {several(len(found.raters), 'rater')}{tied}"
    said = [f"{first}.", *_best(found), *_chosen(found)]
    if found.raters and not found.ceilings:
        said.append(
            "No reply is labelled by two raters, so there is no ceiling: how far people agree is not known."
        )
    said += [
        f"{one.judge} favours its own family ({one.family}) by "
        f"{number_text(one.at_same.estimate.value, 'difference')} points where people say the same."
        for one in found.own
        if one.at_same is not None and one.p_holm < _CLEAR and one.at_same.estimate.value > 0
    ]
    n_points = sum(one.n_points for one in found.contradictions if one.who in found.raters)
    if n_points:
        said.append(
            f"In {several(n_points, 'label')} of people the points contradict the mark; they count as marked."
        )
    return (*said, *found.notes)


def _best(found: Judges) -> Iterator[str]:
    judged = [one for one in found.agreement if not one.is_null]
    if not judged:
        return
    best = max(judged, key=lambda one: one.same.value)
    top = max((one.same.value for one in found.agreement if one.is_null), default=math.nan)
    line = f"{best.judge} agrees with people on {percent(best.same.value)} % of {best.n:,} replies"
    if found.ceilings:
        line += f"; a rater agrees with the others on {percent(ceiling(found))} %"
    yield f"{line}; the best of the judges that look at nothing on {percent(top)} %."


def _chosen(found: Judges) -> Iterator[str]:
    if not found.choices:
        return
    chosen = next((one for one in found.choices if one.is_chosen), None)
    if chosen is None:
        yield "What the judges cost is not known, so none is named as the cheapest."
        return
    what = "US dollars" if chosen.cost is not None else "tokens"
    amount = chosen.cost if chosen.cost is not None else chosen.tokens or 0.0
    yield (
        f"The cheapest judge that is not worse than the best by {100 * NOT_WORSE:g} points: "
        f"{chosen.judge}, at {amount:.3g} {what} a verdict."
    )


def ceiling(found: Judges) -> float:
    """The mean agreement of a rater with the others, each label alike; NaN where there is none."""
    n = sum(one.n for one in found.ceilings)
    return sum(one.n * one.same.value for one in found.ceilings) / n if n else math.nan


# --------------------------------------------------------------------------- tables


def tables(found: Judges) -> Iterator[Table]:
    """Every table that has a row."""
    made = (
        _agreement(found),
        _people(found),
        _wins(found),
        _orders(found),
        _levels(found),
        _own(found),
        _arms(found),
        _stability(found),
        _contradictions(found),
        _choices(found),
        _rules(found),
        _scores(found),
    )
    return (table for table in made if table.rows)


def _agreement(found: Judges) -> Table:
    return Table(
        name="judges-people",
        title="Judges against people",
        note="The first verdict of each judge against the majority of the raters. Judges that look at "
        "nothing stand below: always right, drawn at the base rate, and by the length of the reply alone.",
        label=_JUDGE,
        columns=(
            _N,
            Column(key="without", title="no verdict", kind="count", note="they count as not the same"),
            Column(
                key="rule", title="by rule", kind="count", note="the protocol's rules decided, nobody asked"
            ),
            Column(key="same", title="same", kind="share"),
            Column(key="kappa", title="Cohen's kappa", kind="points"),
            Column(key="phi", title="r", kind="points", note="Pearson's, of right and wrong"),
            Column(key="phi-over", title="r / sqrt rel.", kind="points", note="over that of the human mean"),
            Column(key="points", title="r of points", kind="points", note="Pearson's, 0 to 4"),
            Column(key="points-over", title="r of points / sqrt rel.", kind="points"),
            Column(key="alpha", title="alpha of points", kind="points", note="Krippendorff's, ordinal"),
        ),
        rows=tuple(
            Row(
                key=one.judge,
                label=one.judge,
                detail="looks at nothing" if one.is_null else "",
                values=(
                    one.n,
                    one.n_without,
                    one.n_by_rule,
                    one.same,
                    _bare(one.kappa, 0.0 if one.is_null else None),
                    one.phi,
                    one.phi_over_people,
                    one.points,
                    one.points_over_people,
                    one.alpha,
                ),
            )
            for one in found.agreement
        ),
    )


def _bare(estimate: Estimate | None, otherwise: float | None) -> Value | Cell:
    """An estimate; of a judge that says one thing only kappa is 0 where the other side varies."""
    if estimate is None:
        return otherwise
    return Cell(value=estimate, detail=None if has_interval(estimate) else "")


def _people(found: Judges) -> Table:
    words = [
        f"Reliability of the human mean by {what}: {one.value:.2f} "
        f"(r {one.r:.2f} between two raters, {one.n_raters:.1f} raters a reply)."
        for what, one in (("correctness", found.by_correctness), ("points", found.by_points))
        if isinstance(one, Reliability) and one.r is not None and one.value is not None
    ]
    return Table(
        name="judges-ceiling",
        title="People against people",
        note=" ".join(["Each rater against the majority of the others: the ceiling of a judge.", *words]),
        label=Column(key="rater", title="rater"),
        columns=(
            _N,
            Column(key="same", title="same", kind="share"),
            Column(key="kappa", title="Cohen's kappa", kind="points"),
        ),
        rows=tuple(
            Row(key=one.rater, label=one.rater, values=(one.n, one.same, _bare(one.kappa, None)))
            for one in found.ceilings
        ),
    )


def _wins(found: Judges) -> Table:
    return Table(
        name="judges-wins",
        title="Who wins a pair of models on a question",
        note="Each two models on each question: won, lost or tied, by people and by the judge.",
        label=_JUDGE,
        columns=(
            Column(key="basis", title="by", kind="text"),
            Column(key="n", title="pairs", kind="count"),
            Column(key="same", title="all pairs", kind="share", note="a tie is a third outcome"),
            Column(key="n-decided", title="both decide", kind="count"),
            Column(key="decided", title="where both decide", kind="share"),
            Column(key="half", title="ties as half", kind="share", note="a tie against a decision is half"),
            Column(key="r", title="r", kind="points", note="Pearson's of won, tied, lost"),
            Column(key="ties-people", title="tied by people", kind="count"),
            Column(key="ties-judge", title="tied by the judge", kind="count"),
        ),
        rows=tuple(
            Row(
                key=one.judge,
                label=one.judge,
                detail="looks at nothing" if one.is_null else "",
                values=(
                    one.basis,
                    one.n,
                    one.same,
                    one.n_decided,
                    one.decided,
                    one.half,
                    one.r,
                    one.n_ties_people,
                    one.n_ties_judge,
                ),
            )
            for one in found.wins
        ),
    )


def _orders(found: Judges) -> Table:
    return Table(
        name="judges-order",
        title="The order of the models",
        note="On the questions to which every model has a labelled reply.",
        label=_JUDGE,
        columns=(
            _N,
            Column(key="tau", title="Kendall's tau-b", kind="points"),
            Column(key="same", title="draws with one order", kind="share", note="judge and people alike"),
        ),
        rows=tuple(
            Row(key=one.judge, label=one.judge, values=(one.n, one.tau, one.same_order))
            for one in found.orders
        ),
    )


def _levels(found: Judges) -> Table:
    return Table(
        name="judges-level",
        title="By how much a judge is kinder than people",
        note="A lenient judge agrees well and moves every score.",
        label=_JUDGE,
        columns=(
            Column(key="run", title="model", kind="text"),
            Column(key="people", title="people", kind="share"),
            Column(key="found", title="judge", kind="share"),
            Column(key="difference", title="difference, points", kind="difference"),
            _P,
            _HOLM,
        ),
        rows=tuple(
            Row(
                key=f"{one.judge}:{one.run}",
                label=one.judge,
                values=(one.run, one.people, one.found, one.difference, one.p_value, one.p_holm),
            )
            for one in found.levels
        ),
    )


def _estimate(found: Contrast | None) -> Estimate | None:
    return None if found is None else found.estimate


def _own(found: Judges) -> Table:
    return Table(
        name="judges-own-family",
        title="Whether a judge favours its own family",
        note="What decides is the difference where people say the same. The difference of differences is not "
        "0 for a fair judge that errs, where its family is right more or less often than the others.",
        label=_JUDGE,
        columns=(
            Column(key="family", title="family", kind="text"),
            Column(key="own", title="own replies", kind="count"),
            Column(key="others", title="others", kind="count"),
            Column(key="plain", title="difference of differences, points", kind="difference"),
            Column(key="same", title="where people say the same, points", kind="difference"),
            Column(
                key="odds", title="log-odds", kind="points", note="of the own family, given what people say"
            ),
            _P,
            _HOLM,
        ),
        rows=tuple(
            Row(
                key=one.judge,
                label=one.judge,
                values=(
                    one.family,
                    one.n_own,
                    one.n_others,
                    _estimate(one.plain),
                    _estimate(one.at_same),
                    one.odds,
                    None if one.at_same is None else one.at_same.p_value,
                    None if math.isnan(one.p_holm) else one.p_holm,
                ),
            )
            for one in found.own
        ),
    )


def _arms(found: Judges) -> Table:
    return Table(
        name="judges-arms",
        title="One model under two protocols",
        note="Agreement with people under the first less that under the second, on the same replies. "
        "humanpcr is given the reference reasoning, humanpcr-printed is not.",
        label=Column(key="model", title="model"),
        columns=(
            Column(key="first", title="first", kind="text"),
            Column(key="second", title="second", kind="text"),
            _N,
            Column(key="difference", title="difference, points", kind="difference"),
            _P,
            _HOLM,
        ),
        rows=tuple(
            Row(
                key=f"{one.model}:{one.first}:{one.second}",
                label=one.model,
                values=(one.first, one.second, one.difference.n, one.difference, one.p_value, one.p_holm),
            )
            for one in found.arms
        ),
    )


def _stability(found: Judges) -> Table:
    return Table(
        name="judges-repeats",
        title="Judges asked again",
        note="The share of replies whose verdict is not the same every time.",
        label=_JUDGE,
        columns=(
            Column(key="repeats", title="times", kind="count"),
            Column(key="temperature", title="temperature", kind="number"),
            Column(key="changed", title="changed", kind="share"),
            Column(key="sd", title="deviation of points", kind="points", note="mean over replies"),
        ),
        rows=tuple(
            Row(
                key=one.judge,
                label=one.judge,
                values=(one.n_repeats, one.temperature, one.changed, one.points_sd),
            )
            for one in found.stability
        ),
    )


def _contradictions(found: Judges) -> Table:
    return Table(
        name="judges-contradictions",
        title="What contradicts itself",
        note="Over all repeats. A mark counts as it is given; a verdict that is none counts as no verdict.",
        label=Column(key="who", title="judge or rater"),
        columns=(
            Column(key="n", title="marks", kind="count"),
            Column(key="answer", title="against the answer", kind="count", note="that the judge extracted"),
            Column(
                key="points", title="against the points", kind="count", note="3 and 4 are for right answers"
            ),
            Column(key="lost", title="lost to it", kind="count", note="still contrary when asked once more"),
            Column(key="repaired", title="asked twice", kind="count"),
        ),
        rows=tuple(
            Row(
                key=one.who,
                label=one.who,
                values=(one.n, one.n_contrary, one.n_points, one.n_lost, one.n_repaired),
            )
            for one in found.contradictions
        ),
    )


def _choices(found: Judges) -> Table:
    return Table(
        name="judges-choice",
        title="Which judge is enough",
        note=f"Not worse: the lower end of its agreement less that of the best, one-sided at 95 %, is above "
        f"-{100 * NOT_WORSE:g} points. On the replies that every judge marked.",
        label=_JUDGE,
        columns=(
            Column(key="agreement", title="agreement", kind="share"),
            Column(key="low", title="lower end, points", kind="difference"),
            Column(key="enough", title="not worse", kind="text"),
            Column(key="cost", title="US dollars a verdict", kind="number"),
            Column(key="tokens", title="tokens a verdict", kind="number"),
            Column(key="chosen", title="", kind="text"),
        ),
        rows=tuple(
            Row(
                key=one.judge,
                label=one.judge,
                values=(
                    one.agreement,
                    one.low,
                    "yes" if one.is_not_worse else "no",
                    one.cost,
                    one.tokens,
                    "cheapest" if one.is_chosen else "",
                ),
            )
            for one in found.choices
        ),
    )


def _rules(found: Judges) -> Table:
    return Table(
        name="judges-rules",
        title="Judges against the rule",
        note="Replies to choices whose letter the rule reads: a check that needs no people.",
        label=_JUDGE,
        columns=(
            _N,
            Column(key="without", title="no verdict", kind="count", note="they count as not the same"),
            Column(key="same", title="same", kind="share"),
            Column(key="kappa", title="Cohen's kappa", kind="points"),
            Column(key="sensitivity", title="found right", kind="share", group="of those that are"),
            Column(key="specificity", title="found wrong", kind="share", group="of those that are"),
        ),
        rows=tuple(
            Row(
                key=one.judge,
                label=one.judge,
                values=(
                    one.n,
                    one.n_without,
                    one.same,
                    _bare(one.kappa, None),
                    one.sensitivity,
                    one.specificity,
                ),
            )
            for one in found.rules
        ),
    )


def _scores(found: Judges) -> Table:
    names = tuple(dict.fromkeys(one.run for one in found.scores))
    values = {(one.by, one.run): one.accuracy for one in found.scores}
    return Table(
        name="judges-scores",
        title="Accuracy of the models by judge",
        note="Each on the replies that it marked; a reply without verdict is wrong.",
        label=Column(key="by", title="judged by"),
        columns=tuple(Column(key=f"run:{i}", title=name, kind="share") for i, name in enumerate(names)),
        rows=tuple(
            Row(key=by, label=by, values=tuple(values.get((by, name)) for name in names))
            for by in dict.fromkeys(one.by for one in found.scores)
        ),
    )


# --------------------------------------------------------------------------- figures, files


def charts(found: Judges) -> Iterator[Chart]:
    """The accuracy of the models by judge, and the agreement of each judge under the line of the ceiling."""
    names = tuple(dict.fromkeys(one.run for one in found.scores))
    if found.scores:
        yield Chart(
            name="judges:accuracy",
            title="Accuracy of the models by judge",
            x_title="model",
            y_title="accuracy",
            series=tuple(
                Series(
                    label=by,
                    points=tuple(
                        Point(x=float(names.index(one.run)), y=one.accuracy)
                        for one in found.scores
                        if one.by == by
                    ),
                )
                for by in dict.fromkeys(one.by for one in found.scores)
            ),
            x_labels=tuple((float(i), name) for i, name in enumerate(names)),
        )
    if found.agreement:
        top = ceiling(found)
        yield Chart(
            name="judges:agreement",
            title="Agreement with people",
            x_title="judge",
            y_title="same verdict",
            series=(
                Series(
                    label="same verdict as the majority of the raters",
                    points=tuple(Point(x=float(i), y=one.same) for i, one in enumerate(found.agreement)),
                ),
            ),
            is_bars=True,
            y_marks=() if math.isnan(top) else ((top, "a rater against the others"),),
            x_labels=tuple((float(i), one.judge) for i, one in enumerate(found.agreement)),
        )


def write_lines(lines: Sequence[JudgedReply], path: Path) -> None:
    """Write one JSON object for each reply, judge and repeat.

    Raises:
        StoreError: the file cannot be written.
    """
    write_file(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def write_json(found: Judges, path: Path) -> None:
    """Write sentences, tables and all figures as one JSON object; a number that does not exist is null.

    Raises:
        StoreError: the file cannot be written.
    """
    whole = {
        "format": JSON_FORMAT,
        "sentences": sentences(found),
        "judges": found,
        "tables": [table_as_json(table) for table in tables(found)],
    }
    write_file(path, msgspec.json.encode(whole) + b"\n")


def write_page(found: Judges, path: Path, *, settings: dict[str, object]) -> None:
    """Write one page that loads nothing from elsewhere; `settings` say how it was found.

    Raises:
        StoreError: the file cannot be written.
    """
    page = render(
        "diagnosis.html.j2",
        eyebrow="vidence judges",
        title="How far the judges can be relied on",
        sentences=sentences(found),
        statements=(*charts(found), *tables(found)),
        facts=(("Judges", settings),),
    )
    write_file(path, page)
