"""The complete report on judges' reliability, from runs, verdicts and labels."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from vidence.catalog import parse_spec
from vidence.engine.judges import JudgedReply
from vidence.engine.specs import short_name, short_names
from vidence.errors import DataError, UsageError
from vidence.media.whole import write_file
from vidence.records import Estimate, Record
from vidence.report import judge_figures as figures
from vidence.report.judge_figures import Arms, Level, SelfPreference
from vidence.report.judge_labels import (
    Key,
    Labels,
    majority,
    mean_correct,
    mean_points,
    read_labels,
    run_by_name,
)
from vidence.report.results import Row, Run
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names
from vidence.statistics.intervals import mean_interval
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

JSON_FORMAT = "vidence-judges/1"
T = TypeVar("T")
_PROVIDERS = {"openai": "openai", "anthropic": "anthropic", "gemini": "google"}


class Judges(Record):
    """All results about judges: against people, and against each other."""

    n_replies: int
    n_labelled: int
    n_tied: int
    raters: tuple[str, ...]
    judges: tuple[str, ...]
    agreement: tuple[figures.Agreement, ...] = ()
    wins: tuple[figures.Wins, ...] = ()
    standings: tuple[figures.Standing, ...] = ()
    orders: tuple[figures.Order, ...] = ()
    levels: tuple[figures.Level, ...] = ()
    own: tuple[figures.SelfPreference, ...] = ()
    arms: tuple[figures.Arms, ...] = ()
    scores: "tuple[ModelScore, ...]" = ()
    notes: tuple[str, ...] = ()


class ModelScore(Record):
    """The accuracy of one model by a judge, or by people."""

    by: str
    run: str
    accuracy: Estimate


# --------------------------------------------------------------------------- from files to arrays


@dataclass(frozen=True, kw_only=True)
class Material:
    """The replies of some runs, the ratings and verdicts, and the names of judges and raters."""

    keys: tuple[Key, ...]
    replies: figures.Replies
    judges: tuple[figures.JudgeVerdicts, ...]
    labels: Labels | None
    n_tied: int
    means: figures.Numbers
    """Share of raters who find each reply right; NaN without raters."""


def names_of(runs: Sequence[Run]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the runs' names, and other names that tables may use: model, short name, folder."""
    names = run_names(runs)
    others = [(run.plan.model, short_name(run.plan.model), run.name, str(run.folder)) for run in runs]
    return names, run_by_name(names, others)


def _replied(runs: Sequence[Run]) -> Iterator[tuple[Key, Row]]:
    """Yield the trials with a reply, with their keys."""
    for name, run in zip(run_names(runs), runs, strict=True):
        for row in run.rows:
            if row.trial.reply is not None:
                yield (name, row.item.item_id, row.trial.repeat), row


def labels_of(runs: Sequence[Run], path: Path) -> Labels:
    """Read the table of labels at `path` for these runs; see `judge_labels.read_labels`."""
    _, words = names_of(runs)
    return read_labels(path, names=words, replies=frozenset(key for key, _ in _replied(runs)))


def material(runs: Sequence[Run], lines: Sequence[JudgedReply], labels: Labels | None) -> Material:
    """Return runs, verdicts and labels as arrays, one position per reply.

    Raises:
        DataError: a verdict is about an unknown reply, or occurs twice.
        UsageError: there is no reply.
    """
    rows = list(_replied(runs))
    if not rows:
        raise UsageError("there is no stored reply in these runs, so there is nothing to judge")
    keys = tuple(key for key, _ in rows)
    of_replies = labels.of_replies() if labels else {}
    given = [of_replies.get(key, []) for key in keys]
    people = [majority(some) for some in given]
    replies = figures.Replies(
        runs=tuple(key[0] for key in keys),
        questions=tuple(f"{key[1]}\n{key[2]}" for key in keys),
        clusters=tuple(row.item.source_id for _, row in rows),
        people=_numbers(people),
        people_points=_numbers(mean_points(some) for some in given),
        names=run_names(runs),
    )
    return Material(
        keys=keys,
        replies=replies,
        judges=_judges(keys, lines),
        labels=labels,
        n_tied=sum(mean_correct(some) == 0.5 for some in given),
        means=_numbers(map(mean_correct, given)),
    )


def _numbers(values: "Iterator[float | None] | Sequence[float | None]") -> figures.Numbers:
    return np.array([math.nan if value is None else value for value in values], np.float64)


def judge_name(line: JudgedReply) -> str:
    """Return a judge's name: its model and protocol."""
    return f"{short_name(line.judge_model)} as {protocol_name(line)}"


def protocol_name(line: JudgedReply) -> str:
    """Return a protocol's name, with the origin of its prompts if they are not ours."""
    if not line.words:
        return line.judge
    # Two sets of imported words can differ in the question alone; lines of earlier versions have no digest.
    whose, _, digest = line.words.partition(" ")
    name = {"authors": "authors' words", "unchecked": "imported words"}.get(whose, f"words {whose}")
    return f"{line.judge}, {name}" + (f" {digest}" if digest else "")


def _judges(keys: Sequence[Key], lines: Sequence[JudgedReply]) -> tuple[figures.JudgeVerdicts, ...]:
    position = {key: i for i, key in enumerate(keys)}
    by_judge: dict[tuple[str, str], list[JudgedReply]] = {}
    for line in lines:
        if (line.run, line.item_id, line.repeat) not in position:
            raise DataError(
                f"a verdict of {judge_name(line)!r} is about a reply of {line.run!r} to {line.item_id!r}, "
                f"repeat {line.repeat}, which is in none of these runs; give those that were judged"
            )
        by_judge.setdefault((line.judge_model, protocol_name(line)), []).append(line)
    short = short_names(model for model, _ in by_judge)
    return tuple(
        _verdicts(f"{short[model]} as {protocol}", some, position)
        for (model, protocol), some in by_judge.items()
    )


def _verdicts(name: str, lines: Sequence[JudgedReply], position: Mapping[Key, int]) -> figures.JudgeVerdicts:
    n = len(position)
    values, points, is_there = np.full(n, math.nan), np.full(n, math.nan), np.zeros(n, np.bool_)
    is_left = np.ones(n, np.bool_)
    for line in lines:
        at = position[line.run, line.item_id, line.repeat]
        if is_there[at]:
            raise DataError(
                f"two verdicts of {name!r} are about the same reply of {line.run!r} to {line.item_id!r}, "
                f"repeat {line.repeat}; each stands in one line"
            )
        is_there[at] = True
        values[at] = math.nan if line.value is None else line.value
        points[at] = math.nan if line.points is None else line.points
        is_left[at] = line.value is None and not line.is_asked
    return figures.JudgeVerdicts(
        name=name,
        model=lines[0].judge_model,
        protocol=protocol_name(lines[0]),
        values=values,
        points=points,
        is_left=is_left,
    )


def family_of(spec: str) -> str:
    """The family of a model by its spec: its maker where that serves it, else the first word of its name.

    >>> family_of("openai:o3-mini"), family_of("openai:Qwen/Qwen2.5-VL-7B?base_url=http://h/v1")
    ('openai', 'qwen')
    """
    parsed = parse_spec(spec)
    if parsed.name in _PROVIDERS and "base_url" not in parsed.options:
        return _PROVIDERS[parsed.name]
    name = parsed.argument.rstrip("/").rpartition("/")[2] or parsed.name
    letters = next((i for i, c in enumerate(name) if not c.isalpha()), len(name))
    return (name[:letters] or name).casefold()


def families_of(runs: Sequence[Run], models: Sequence[str], *, given: Mapping[str, str]) -> dict[str, str]:
    """Return the family of each run and judge model; given ones take precedence.

    Raises:
        UsageError: a family is given for something else.
    """
    names, words = names_of(runs)
    specs = dict(zip(names, (run.plan.model for run in runs), strict=True)) | {m: m for m in models}
    families = {name: family_of(spec) for name, spec in specs.items()}
    known = words | {short_name(m): m for m in models} | {m: m for m in models}
    for name, family in given.items():
        if name not in known and name not in families:
            raise UsageError(
                f"--family {name}={family}: neither a run nor a judge model is called {name!r}; known are "
                f"{', '.join(families)}"
            )
        for word in {name, known.get(name, name)} & set(families):
            families[word] = family.casefold()
        # A model may answer and judge; one word for both means both.
        families |= {other: family.casefold() for other in families if specs[other] == name}
    return families


# --------------------------------------------------------------------------- all figures


def examine(given: Material, *, families: Mapping[str, str], rng: np.random.Generator) -> Judges:
    """Compute all results that the material allows; without people's labels, only scores by judge."""
    replies, judges, labels = given.replies, given.judges, given.labels
    votes = _votes(given)
    result = Judges(
        n_replies=len(given.keys),
        n_labelled=int(np.isfinite(given.means).sum()),
        n_tied=given.n_tied,
        raters=labels.raters if labels else (),
        judges=tuple(judge.name for judge in judges),
        standings=figures.standings(replies, judges, people=given.means, votes=votes),
        scores=tuple(_scores(given)),
        notes=_notes(given),
    )
    if labels is None:
        return result
    return msgspec.structs.replace(
        result,
        agreement=_there(figures.agreement(replies, judge, rng=rng) for judge in judges),
        wins=_there(figures.wins(replies, judge, people=given.means, votes=votes) for judge in judges),
        orders=_there(figures.order(replies, judge, rng=rng) for judge in judges),
        levels=figures.levels(replies, judges),
        own=figures.self_preferences(replies, judges, families=families),
        arms=figures.arms(replies, judges),
    )


def _there(some: Iterator[T | None]) -> tuple[T, ...]:
    return tuple(entry for entry in some if entry is not None)


def _votes(given: Material) -> dict[tuple[int, int], float]:
    """Return, for pairs of replies to one question, votes for the first minus votes for the second."""
    position = {key: i for i, key in enumerate(given.keys)}
    counts: Counter[tuple[int, int]] = Counter()
    for label in given.labels.labels if given.labels else ():
        number = position[label.key]
        for run, vote in (*((run, 1) for run in label.beats), *((run, 0) for run in label.ties)):
            if (other := position.get((run, label.item_id, label.repeat))) is not None:
                counts[min(number, other), max(number, other)] += vote if number < other else -vote
    return dict(counts)


def _scores(given: Material) -> Iterator[ModelScore]:
    """Yield each model's accuracy by each judge and by people, on the replies that each rated."""
    replies = given.replies
    sources = [(judge.name, judge.counted, ~judge.is_left) for judge in given.judges]
    if given.labels is not None:
        sources.insert(0, ("people", replies.people, np.isfinite(replies.people)))
    for by, values, is_there in sources:
        for run in replies.names:
            at = is_there & (np.array(replies.runs) == run)
            if at.any():
                clusters = replies.clusters_at(at)
                yield ModelScore(by=by, run=run, accuracy=mean_interval(values[at], clusters=clusters))


def _notes(given: Material) -> tuple[str, ...]:
    return tuple(
        f"{judge.name} leaves {several(n_left, 'reply').replace('replys', 'replies')} to rules."
        for judge in given.judges
        if (n_left := int(judge.is_left.sum()))
    )


_TESTED: tuple[Measure[Level | SelfPreference | Arms], ...] = (
    difference("difference", lambda entry: entry.difference, "difference, points"),
    p_value("p", lambda entry: entry.p_value),
    p_value("p-holm", lambda entry: entry.p_holm, "p, Holm", note="adjusted over the rows of this table"),
)
_JUDGE = Column(key="judge", title="judge")
_CLEAR = 0.05


def section(judges: Judges) -> Section:
    """Return the results as a section of a page."""
    title = "How far the judges can be relied on"
    return Section(title=title, paragraphs=sentences(judges), tables=tuple(tables(judges)))


def sentences(result: Judges) -> tuple[str, ...]:
    """Say what was judged, which judge agrees best with people, and which favours its family."""
    judges = several(len(result.judges), "judge")
    first = f"{judges} on {result.n_replies:,} stored replies"
    if result.raters:
        tied = f" ({result.n_tied:,} with raters tied are left out)" if result.n_tied else ""
        first += f", {result.n_labelled:,} labelled by {several(len(result.raters), 'rater')}{tied}"
    sentences = [f"{first}.", *_best(result)]
    sentences += [
        f"{p.judge} favours its own family ({p.family}) by "
        f"{number_text(p.at_same.estimate.value, 'difference')} points where people say the same."
        for p in result.own
        if p.at_same is not None and p.p_holm < _CLEAR and p.at_same.estimate.value > 0
    ]
    sentences += [f"No strengths by {s.by}: {s.why}." for s in result.standings if s.why]
    return (*sentences, *result.notes)


def _best(judges: Judges) -> Iterator[str]:
    if judges.agreement:
        best = max(judges.agreement, key=lambda agreement: agreement.same.value)
        yield f"{best.judge} agrees with people on {percent(best.same.value)} % of {best.n:,} replies."


# --------------------------------------------------------------------------- tables


def tables(judges: Judges) -> Iterator[Table]:
    """Yield all tables that have rows."""
    tables = (
        _agreement(judges),
        _wins(judges),
        _standings(judges),
        _orders(judges),
        _levels(judges),
        _own(judges),
        _arms(judges),
        _scores_table(judges),
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
    """Return an estimate without the note on a missing interval."""
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
    known = [(s.by, s.strengths) for s in judges.standings if s.strengths is not None]
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


def _scores_table(judges: Judges) -> Table:
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
    """Write one JSON object per reply, judge and repeat.

    Raises:
        StoreError: the file cannot be written.
    """
    write_file(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
