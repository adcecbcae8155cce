"""What the demands of many questions say together."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from vidence.contracts import Examined
from vidence.explain.diagnostics._summary import Counting, by_tag
from vidence.explain.diagnostics.mrfs_search import Category, MrfsFinding, Settings
from vidence.records import Estimate, Failed, Item
from vidence.tables.findings import Chart, Dot, Entry, Heading, Point, Scatter, Series, Sheet, Statement

# Of the benchmark's own paper; shown beside the mean where the questions are that benchmark's.
_PRINTED = {
    "herbench": "HERBench prints 5.49 (Qwen2.5-VL, AKS, x = 16) and calls it a weighted mean. Weighting "
    "the task means of its table 4 by all questions gives 5.64, not weighting them 5.40: 5.49 needs the "
    "numbers of visual-required questions, which are not printed. The mean here is over these questions.",
}
_MEANINGS: dict[Category, str] = {
    "text-only": "right without frames",
    "visual-required": "wrong without frames, right with all of them",
    "undefined": "wrong with all frames",
    "error": "a request was rejected, a reply could not be marked, or there were no frames",
}


@dataclass(frozen=True, kw_only=True)
class _Demand:
    """What a summary needs of one question."""

    item: Item
    finding: MrfsFinding

    @property
    def full(self) -> bool | None:
        """Right with all frames, where that was asked."""
        n = self.finding.n_delivered
        return self.finding.right.get(n) if n else None


def _demand(examined: Examined) -> _Demand:
    found = examined.finding
    if isinstance(found, MrfsFinding):
        return _Demand(item=examined.item, finding=found)
    reason = found.message if isinstance(found, Failed) else f"a finding of another kind: {found!r}"
    return _Demand(item=examined.item, finding=MrfsFinding(category="error", right={}, error=reason))


def statements(
    examined: Sequence[Examined], *, settings: Settings, rng: np.random.Generator, level: float
) -> tuple[Statement, ...]:
    """The sheets and figures; nothing where there are no questions.

    Source: HERBench, tables 1 and 4 and figure 9; the restricted mean and the shares are ours.
    Departs: the paper gives neither intervals nor the shares of its categories.
    """
    if not examined:
        return ()
    counting = Counting(rng=rng, level=level)
    demands = [_demand(one) for one in examined]
    made: list[Statement] = [
        _headline(demands, settings, counting),
        _categories(demands, counting),
    ]
    distribution = _distribution(demands, settings, counting)
    if distribution:
        made.append(distribution)
    whole = _line(demands, settings, counting, key="all", label="all")
    for tag, values in by_tag([d.item for d in demands]).items():
        lines = [
            _line([demands[i] for i in where], settings, counting, key=value, label=value)
            for value, where in values.items()
        ]
        made.append(_tag_sheet(tag, lines, settings))
        dots = [dot for dot in map(_dot, [*lines, whole]) if dot]
        if dots:
            made.append(_scatter(tag, dots, settings))
    made.append(_checks(demands, settings, counting))
    return tuple(made)


def _mean(demands: Sequence[_Demand], counting: Counting) -> Estimate | None:
    """The mean over visual-required questions, each counted once."""
    wanted = [d for d in demands if d.finding.category == "visual-required"]
    numbers = np.array([float(d.finding.mrfs or 0) for d in wanted])
    most = max((d.finding.n_delivered for d in wanted), default=1)
    return counting.mean(numbers, [d.item for d in wanted], bounds=(1.0, float(most)))


def _restricted(demands: Sequence[_Demand], settings: Settings, counting: Counting) -> Estimate | None:
    """The same with every undefined question counted as one frame more than there were."""
    wanted = [d for d in demands if d.finding.category in ("visual-required", "undefined")]
    above = settings.most + 1
    numbers = np.array([float(above if d.finding.mrfs is None else d.finding.mrfs) for d in wanted])
    return counting.mean(numbers, [d.item for d in wanted], bounds=(1.0, float(above)))


def _accuracy(demands: Sequence[_Demand], counting: Counting) -> Estimate | None:
    known = [d for d in demands if d.full is not None]
    return counting.share((bool(d.full) for d in known), [d.item for d in known])


def _of_accuracy(settings: Settings) -> str:
    if settings.mode == "official":
        return "Of the questions that were put with all frames; those right without frames were not."
    return "Of all questions that could be put with all frames."


def _headline(demands: Sequence[_Demand], settings: Settings, counting: Counting) -> Sheet:
    numbers = sorted(
        d.finding.mrfs for d in demands if d.finding.category == "visual-required" and d.finding.mrfs
    )
    quantiles = [float(np.quantile(numbers, q)) if numbers else None for q in (0.25, 0.5, 0.75)]
    benchmarks = sorted({d.item.benchmark for d in demands} & set(_PRINTED))
    x = settings.most
    return Sheet(
        name="mrfs",
        title="Minimum required frames (MRFS)",
        label="",
        headings=(
            Heading(key="mean", title="mean MRFS", note="Of visual-required questions."),
            Heading(
                key="restricted",
                title="restricted mean",
                note=f"Undefined questions count as {x + 1}: without them the mean is too low.",
            ),
            Heading(key="q25", title="25 % quantile"),
            Heading(key="median", title="median"),
            Heading(key="q75", title="75 % quantile"),
            Heading(key="n", title="visual-required", note="How many questions the mean is of."),
            Heading(
                key="accuracy", title="right with all frames", note=_of_accuracy(settings), is_share=True
            ),
        ),
        entries=(
            Entry(
                key="all",
                label="all questions",
                values=(
                    _mean(demands, counting),
                    _restricted(demands, settings, counting),
                    *quantiles,
                    len(numbers),
                    _accuracy(demands, counting),
                ),
            ),
        ),
        note=" ".join(
            [
                f"Mode {settings.mode}, x = {x} frames. Comparable only for the same model, ranking and x.",
                *(_PRINTED[name] for name in benchmarks),
            ]
        ),
    )


def _categories(demands: Sequence[_Demand], counting: Counting) -> Sheet:
    items = [d.item for d in demands]
    reasons = Counter(d.finding.error for d in demands if d.finding.error).most_common(1)
    said = [f"Most frequent error ({n} times): {reason}" for reason, n in reasons]
    return Sheet(
        name="categories",
        title="Who needs frames",
        label="category",
        headings=(
            Heading(key="share", title="share", is_share=True),
            Heading(key="n", title="questions"),
        ),
        entries=tuple(
            Entry(
                key=category,
                label=category,
                values=(
                    counting.share((d.finding.category == category for d in demands), items),
                    sum(d.finding.category == category for d in demands),
                ),
                detail=_MEANINGS[category],
            )
            for category in get_args(Category)
        ),
        note=" ".join(said),
    )


def _distribution(demands: Sequence[_Demand], settings: Settings, counting: Counting) -> Chart | None:
    """Which share of the visual-required questions demands each number of frames."""
    wanted = [d for d in demands if d.finding.category == "visual-required"]
    items = [d.item for d in wanted]
    points = [
        Point(x=float(n), y=share)
        for n in range(1, settings.most + 1)
        if (share := counting.share((d.finding.mrfs == n for d in wanted), items)) is not None
    ]
    if not points:
        return None
    return Chart(
        name="distribution",
        title="How many frames the visual-required questions demand",
        x_title="MRFS, frames",
        y_title="share of visual-required questions",
        series=(Series(label="visual-required questions", points=tuple(points)),),
    )


def _line(
    demands: Sequence[_Demand], settings: Settings, counting: Counting, *, key: str, label: str
) -> Entry:
    items = [d.item for d in demands]
    shares = (
        counting.share((d.finding.category == category for d in demands), items)
        for category in ("text-only", "visual-required", "undefined")
    )
    return Entry(
        key=key,
        label=label,
        values=(
            _mean(demands, counting),
            _restricted(demands, settings, counting),
            *shares,
            _accuracy(demands, counting),
            len(demands),
        ),
    )


def _tag_sheet(tag: str, lines: Sequence[Entry], settings: Settings) -> Sheet:
    return Sheet(
        name=f"by {tag}",
        title=f"MRFS by {tag}",
        label=tag,
        headings=(
            Heading(key="mean", title="mean MRFS"),
            Heading(key="restricted", title="restricted mean"),
            Heading(key="text-only", title="text-only", is_share=True),
            Heading(key="visual-required", title="visual-required", is_share=True),
            Heading(key="undefined", title="undefined", is_share=True),
            Heading(
                key="accuracy", title="right with all frames", note=_of_accuracy(settings), is_share=True
            ),
            Heading(key="n", title="questions"),
        ),
        entries=tuple(lines),
    )


def _dot(line: Entry) -> Dot | None:
    """Demand against accuracy, where both are known."""
    demand, accuracy = line.values[0], line.values[5]
    if not (isinstance(demand, Estimate) and isinstance(accuracy, Estimate)):
        return None
    return Dot(label=line.label, x=demand, y=accuracy)


def _scatter(tag: str, dots: Sequence[Dot], settings: Settings) -> Scatter:
    return Scatter(
        name=f"accuracy by {tag}",
        title=f"Demand against accuracy, by {tag}",
        x_title="mean MRFS, frames",
        y_title=f"right with {settings.most} frames",
        dots=tuple(dots),
        note=f"As figure 9 of HERBench. {_of_accuracy(settings)}",
    )


def _checks(demands: Sequence[_Demand], settings: Settings, counting: Counting) -> Sheet:
    """What the search met on its way; each line is of the questions for which it can be said."""

    def line(key: str, label: str, told: Callable[[_Demand], bool | None]) -> Entry:
        known = [(d, is_so) for d in demands if (is_so := told(d)) is not None]
        share = counting.share((is_so for _, is_so in known), [d.item for d, _ in known])
        return Entry(key=key, label=label, values=(share, sum(is_so for _, is_so in known), len(known), None))

    asked = np.array([float(len(d.finding.asked)) for d in demands])
    calls = counting.mean(asked, [d.item for d in demands])
    return Sheet(
        name="search",
        title="What the search met",
        label="",
        headings=(
            Heading(key="share", title="share", is_share=True),
            Heading(key="n", title="questions"),
            Heading(key="of", title="of"),
            Heading(key="asks", title="asks per question", note="The reply memory may have answered some."),
        ),
        entries=(
            Entry(key="asks", label="asked", values=(None, None, len(demands), calls)),
            line("not-monotone", "right with fewer frames and wrong with more", _not_monotone),
            line("lost", "right with some frames and wrong with all", _lost),
            line("misled", "right without frames and wrong with all", _misled),
            line("short", f"fewer than {settings.most} frames", lambda d: _is_short(d, settings)),
            line("changed", "another answer to the same prompt", lambda d: d.finding.is_changed),
        ),
        note="Monotone is known only where every number of frames was asked, or where it was broken. "
        "Another answer to the same prompt is looked for with check_repeat=yes; at temperature 0 there "
        "should be none.",
    )


def _not_monotone(demand: _Demand) -> bool | None:
    known = demand.finding.is_monotone
    return None if known is None else not known


def _lost(demand: _Demand) -> bool | None:
    if demand.full is None:
        return None
    return not demand.full and any(is_right for n, is_right in demand.finding.right.items() if n)


def _misled(demand: _Demand) -> bool | None:
    without = demand.finding.right.get(0)
    return None if without is None or demand.full is None else without and not demand.full


def _is_short(demand: _Demand, settings: Settings) -> bool | None:
    finding = demand.finding
    return None if finding.category == "error" else finding.n_delivered < settings.most
