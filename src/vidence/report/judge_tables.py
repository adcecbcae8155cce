"""How far judges can be relied on, as sentences, tables and figures."""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.engine.judges import JudgedReply
from vidence.media.whole import write_file
from vidence.records import Estimate
from vidence.report.judge_figures import NOT_WORSE, Reliability, SelfPreference
from vidence.report.judge_reliability import JSON_FORMAT, Judges
from vidence.report.sections import Section
from vidence.statistics.contrasts import Contrast
from vidence.tables.charts import Chart, curves
from vidence.tables.export import object_as_json
from vidence.tables.rendering import render
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
_HOLM = "adjusted over the rows of this table"
_WITHOUT = "they count as not the same"
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
    return tabulate(
        "judges-people",
        "Judges against people",
        label=_JUDGE,
        rows=(_line_of(one.judge, one, is_null=one.is_null) for one in found.agreement),
        measures=(
            count("n", lambda one: one.n, "replies"),
            count("without", lambda one: one.n_without, "no verdict", note=_WITHOUT),
            count(
                "rule",
                lambda one: one.n_by_rule,
                "by rule",
                note="the protocol's rules decided, nobody asked",
            ),
            share("same", lambda one: one.same),
            _points("kappa", lambda one: _bare(one.kappa, 0.0 if one.is_null else None), "Cohen's kappa"),
            _points("phi", lambda one: one.phi, "r", note="Pearson's, of right and wrong"),
            _points(
                "phi-over",
                lambda one: one.phi_over_people,
                "r / sqrt rel.",
                note="over that of the human mean",
            ),
            _points("points", lambda one: one.points, "r of points", note="Pearson's, 0 to 4"),
            _points("points-over", lambda one: one.points_over_people, "r of points / sqrt rel."),
            _points("alpha", lambda one: one.alpha, "alpha of points", note="Krippendorff's, ordinal"),
        ),
        notes=(
            "The first verdict of each judge against the majority of the raters. Judges that look at nothing "
            "stand below: always right, drawn at the base rate, and by the length of the reply alone.",
        ),
    )


def _line_of(judge: str, about: T, *, is_null: bool = False) -> RowSpec[T]:
    return RowSpec(judge, judge, about, detail="looks at nothing" if is_null else "")


def _points(key: str, of: Callable[[T], Value | Cell], title: str, *, note: str = "") -> Measure[T]:
    return number(key, of, title, kind="points", note=note)


def _bare(estimate: Estimate | None, otherwise: float | None = None) -> Value | Cell:
    """An estimate; of a judge that says one thing only kappa is 0 where the other side varies."""
    if estimate is None:
        return otherwise
    return Cell(value=estimate, detail=None if has_interval(estimate) else "")


def _people(found: Judges) -> Table:
    reliable = [
        f"Reliability of the human mean by {what}: {one.value:.2f} "
        f"(r {one.r:.2f} between two raters, {one.n_raters:.1f} raters a reply)."
        for what, one in (("correctness", found.by_correctness), ("points", found.by_points))
        if isinstance(one, Reliability) and one.r is not None and one.value is not None
    ]
    return tabulate(
        "judges-ceiling",
        "People against people",
        label=Column(key="rater", title="rater"),
        rows=lines((one.rater, one) for one in found.ceilings),
        measures=(
            count("n", lambda one: one.n, "replies"),
            share("same", lambda one: one.same),
            _points("kappa", lambda one: _bare(one.kappa), "Cohen's kappa"),
        ),
        notes=("Each rater against the majority of the others: the ceiling of a judge.", *reliable),
    )


def _wins(found: Judges) -> Table:
    return tabulate(
        "judges-wins",
        "Who wins a pair of models on a question",
        label=_JUDGE,
        rows=(_line_of(one.judge, one, is_null=one.is_null) for one in found.wins),
        measures=(
            words("basis", lambda one: one.basis, "by"),
            count("n", lambda one: one.n, "pairs"),
            share("same", lambda one: one.same, "all pairs", note="a tie is a third outcome"),
            count("n-decided", lambda one: one.n_decided, "both decide"),
            share("decided", lambda one: one.decided, "where both decide"),
            share("half", lambda one: one.half, "ties as half", note="a tie against a decision is half"),
            _points("r", lambda one: one.r, "r", note="Pearson's of won, tied, lost"),
            count("ties-people", lambda one: one.n_ties_people, "tied by people"),
            count("ties-judge", lambda one: one.n_ties_judge, "tied by the judge"),
        ),
        notes=("Each two models on each question: won, lost or tied, by people and by the judge.",),
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
            difference("difference", lambda one: one.difference, "difference, points"),
            p_value("p", lambda one: one.p_value),
            p_value("p-holm", lambda one: one.p_holm, "p, Holm", note=_HOLM),
        ),
        notes=("A lenient judge agrees well and moves every score.",),
    )


def _estimate(found: Contrast | None) -> Estimate | None:
    return None if found is None else found.estimate


def _own(found: Judges) -> Table:
    def p_of(one: SelfPreference) -> float | None:
        return None if one.at_same is None else one.at_same.p_value

    return tabulate(
        "judges-own-family",
        "Whether a judge favours its own family",
        label=_JUDGE,
        rows=lines((one.judge, one) for one in found.own),
        measures=(
            words("family", lambda one: one.family),
            count("own", lambda one: one.n_own, "own replies"),
            count("others", lambda one: one.n_others),
            difference("plain", lambda one: _estimate(one.plain), "difference of differences, points"),
            difference("same", lambda one: _estimate(one.at_same), "where people say the same, points"),
            _points(
                "odds", lambda one: one.odds, "log-odds", note="of the own family, given what people say"
            ),
            p_value("p", p_of),
            p_value(
                "p-holm",
                lambda one: None if math.isnan(one.p_holm) else one.p_holm,
                "p, Holm",
                note=_HOLM,
            ),
        ),
        notes=(
            "What decides is the difference where people say the same. The difference of differences is not "
            "0 for a fair judge that errs, where its family is right more or less often than the others.",
        ),
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
            difference("difference", lambda one: one.difference, "difference, points"),
            p_value("p", lambda one: one.p_value),
            p_value("p-holm", lambda one: one.p_holm, "p, Holm", note=_HOLM),
        ),
        notes=(
            "Agreement with people under the first less that under the second, on the same replies. "
            "humanpcr is given the reference reasoning, humanpcr-printed is not.",
        ),
    )


def _stability(found: Judges) -> Table:
    return tabulate(
        "judges-repeats",
        "Judges asked again",
        label=_JUDGE,
        rows=lines((one.judge, one) for one in found.stability),
        measures=(
            count("repeats", lambda one: one.n_repeats, "times"),
            number("temperature", lambda one: one.temperature),
            share("changed", lambda one: one.changed),
            _points("sd", lambda one: one.points_sd, "deviation of points", note="mean over replies"),
        ),
        notes=("The share of replies whose verdict is not the same every time.",),
    )


def _contradictions(found: Judges) -> Table:
    return tabulate(
        "judges-contradictions",
        "What contradicts itself",
        label=Column(key="who", title="judge or rater"),
        rows=lines((one.who, one) for one in found.contradictions),
        measures=(
            count("n", lambda one: one.n, "marks"),
            count(
                "answer", lambda one: one.n_contrary, "against the answer", note="that the judge extracted"
            ),
            count(
                "points", lambda one: one.n_points, "against the points", note="3 and 4 are for right answers"
            ),
            count("lost", lambda one: one.n_lost, "lost to it", note="still contrary when asked once more"),
            count("repaired", lambda one: one.n_repaired, "asked twice"),
        ),
        notes=(
            "Over all repeats. A mark counts as it is given; a verdict that is none counts as no verdict.",
        ),
    )


def _choices(found: Judges) -> Table:
    return tabulate(
        "judges-choice",
        "Which judge is enough",
        label=_JUDGE,
        rows=lines((one.judge, one) for one in found.choices),
        measures=(
            share("agreement", lambda one: one.agreement),
            difference("low", lambda one: one.low, "lower end, points"),
            words("enough", lambda one: "yes" if one.is_not_worse else "no", "not worse"),
            number("cost", lambda one: one.cost, "US dollars a verdict"),
            number("tokens", lambda one: one.tokens, "tokens a verdict"),
            words("chosen", lambda one: "cheapest" if one.is_chosen else "", ""),
        ),
        notes=(
            "Not worse: the lower end of its agreement less that of the best, one-sided at 95 %, is above "
            f"-{100 * NOT_WORSE:g} points. On the replies that every judge marked.",
        ),
    )


def _rules(found: Judges) -> Table:
    of = "of those that are"
    return tabulate(
        "judges-rules",
        "Judges against the rule",
        label=_JUDGE,
        rows=lines((one.judge, one) for one in found.rules),
        measures=(
            count("n", lambda one: one.n, "replies"),
            count("without", lambda one: one.n_without, "no verdict", note=_WITHOUT),
            share("same", lambda one: one.same),
            _points("kappa", lambda one: _bare(one.kappa), "Cohen's kappa"),
            share("sensitivity", lambda one: one.sensitivity, "found right", group=of),
            share("specificity", lambda one: one.specificity, "found wrong", group=of),
        ),
        notes=("Replies to choices whose letter the rule reads: a check that needs no people.",),
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
            series=curves(
                (by, ((names.index(one.run), one.accuracy) for one in found.scores if one.by == by))
                for by in dict.fromkeys(one.by for one in found.scores)
            ),
            x_labels=tuple((float(i), name) for i, name in enumerate(names)),
        )
    if found.agreement:
        top, same = ceiling(found), [one.same for one in found.agreement]
        yield Chart(
            name="judges:agreement",
            title="Agreement with people",
            x_title="judge",
            y_title="same verdict",
            series=curves([("same verdict as the majority of the raters", enumerate(same))]),
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
    whole = object_as_json(JSON_FORMAT, sentences=sentences(found), judges=found, tables=tables(found))
    write_file(path, whole)


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
