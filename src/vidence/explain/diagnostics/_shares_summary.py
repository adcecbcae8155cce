"""What the frame shares of many questions say together: right answers against wrong ones."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from vidence.contracts import Examined
from vidence.explain.diagnostics._summary import Counting, by_tag
from vidence.explain.diagnostics.shares_measure import Exclusion, FrameSharesFinding
from vidence.records import Estimate, Item
from vidence.statistics.effect_sizes import TwoGroups, two_groups
from vidence.statistics.resampling import Resampling
from vidence.tables.findings import Entry, Group, Heading, Sheet, Statement, Value, Violins

_PRINTED = (
    "HERBench describes means near 0.5 for right answers and often near 0.8 for wrong ones (section 5.2, "
    "figure 5; oracle frames)."
)


@dataclass(frozen=True, kw_only=True)
class _Shared:
    """One question that has shares."""

    item: Item
    is_right: bool
    top: float
    top_low: float
    top_high: float
    entropy: float
    n_frames: int

    @property
    def even(self) -> float:
        """The share of every frame if all added the same: the least that `top` can be."""
        return 1 / self.n_frames

    @property
    def beyond_even(self) -> float:
        """Where `top` lies between even shares, 0, and one frame alone, 1."""
        return (self.top - self.even) / (1 - self.even)


_MEASURES: dict[str, tuple[str, Callable[[_Shared], float]]] = {
    "top": ("top-1 share", lambda one: one.top),
    "beyond-even": ("beyond even", lambda one: one.beyond_even),
    "entropy": ("entropy", lambda one: one.entropy),
}
_GROUPS = (("all", "all"), ("right", "answered right"), ("wrong", "answered wrong"))
_NOTES = {
    "top": "the largest share of a frame",
    "beyond-even": "0: every frame adds the same; 100: one frame alone, whatever the number of frames",
    "entropy": "of the shares, over that of even shares",
}


def _shared(examined: Sequence[Examined]) -> list[_Shared]:
    return [
        _Shared(
            item=one.item,
            is_right=bool(found.is_right),
            top=found.top_share,
            top_low=found.top_share if found.top_share_low is None else found.top_share_low,
            top_high=found.top_share if found.top_share_high is None else found.top_share_high,
            entropy=found.entropy,
            n_frames=len(found.shares),
        )
        for one in examined
        if isinstance(found := one.finding, FrameSharesFinding)
        and found.top_share is not None
        and found.entropy is not None
    ]


def statements(
    examined: Sequence[Examined], *, rng: np.random.Generator, level: float
) -> tuple[Statement, ...]:
    """The sheets and figures; nothing where there are no questions.

    Source: HERBench, section 5.2 and figure 5.
    Departs: intervals, effect sizes, entropy and the distance from even shares are ours.
    """
    if not examined:
        return ()
    counting = Counting(rng=rng, level=level)
    every = _shared(examined)
    right, wrong = [s for s in every if s.is_right], [s for s in every if not s.is_right]
    compared = {}
    if right and wrong:
        compared = {key: _compared(right, wrong, of, counting=counting) for key, (_, of) in _MEASURES.items()}
    made: list[Statement] = [_headline(examined, (every, right, wrong), compared, counting=counting)]
    if compared:
        made.append(_effects(compared))
    if any(one.top_low < one.top_high for one in every):
        made.append(_bounds((every, right, wrong), counting=counting))
    if every:
        made.append(_violins(right, wrong))
    made += [
        _tag_sheet(tag, {value: [every[i] for i in where] for value, where in values.items()}, counting)
        for tag, values in by_tag([one.item for one in every]).items()
    ]
    made.append(_left_out(examined, counting))
    return tuple(made)


def _compared(
    right: Sequence[_Shared],
    wrong: Sequence[_Shared],
    of: Callable[[_Shared], float],
    *,
    counting: Counting,
) -> TwoGroups:
    return two_groups(
        [of(one) for one in right],
        [of(one) for one in wrong],
        clusters=([one.item.video_id for one in right], [one.item.video_id for one in wrong]),
        rng=counting.rng,
        settings=Resampling(level=counting.level),
    )


def _mean(shared: Sequence[_Shared], of: Callable[[_Shared], float], counting: Counting) -> Estimate | None:
    return counting.mean(np.array([of(one) for one in shared]), [one.item for one in shared])


def _method_note(examined: Sequence[Examined]) -> str:
    found = [one.finding for one in examined if isinstance(one.finding, FrameSharesFinding)]
    drawn = [one for one in found if one.method == "sampling"]
    if not drawn:
        return ""
    n_fallback = sum(one.is_fallback for one in drawn)
    because = f", {n_fallback} of them because the model gave no log-probabilities" if n_fallback else ""
    return (
        f"Of {len(drawn)} questions the probabilities are estimated from {drawn[0].draws} replies to each "
        f"prompt{because}. Chance between draws makes shares uneven: compare them with each other, not with "
        "shares from log-probabilities."
    )


def _headline(
    examined: Sequence[Examined],
    groups: tuple[Sequence[_Shared], Sequence[_Shared], Sequence[_Shared]],
    compared: dict[str, TwoGroups],
    *,
    counting: Counting,
) -> Sheet:
    def line(key: str, label: str, group: Sequence[_Shared]) -> Entry:
        means: list[Value] = [_mean(group, of, counting) for _, of in _MEASURES.values()]
        others = [_mean(group, lambda s: s.even, counting), _mean(group, lambda s: s.n_frames, counting)]
        return Entry(key=key, label=label, values=(*means, *others, len(group)))

    lines = [line(key, label, group) for (key, label), group in zip(_GROUPS, groups, strict=True)]
    if compared:
        differences = [compared[key].difference for key in _MEASURES]
        lines.append(
            Entry(key="difference", label="right less wrong", values=(*differences, None, None, None))
        )
    return Sheet(
        name="frame-shares",
        title="Does an answer rest on one frame?",
        label="questions",
        headings=(
            *_measure_headings(),
            Heading(key="even", title="even share", note="1 / number of frames", is_share=True),
            Heading(key="frames", title="frames"),
            Heading(key="n", title="questions"),
        ),
        entries=tuple(lines),
        note=" ".join(filter(None, [_method_note(examined), _PRINTED])),
    )


def _bounds(
    groups: tuple[Sequence[_Shared], Sequence[_Shared], Sequence[_Shared]], *, counting: Counting
) -> Sheet:
    """How far the shares may be off, since models do not report every letter."""
    of: tuple[Callable[[_Shared], float], ...] = (lambda s: s.top_low, lambda s: s.top, lambda s: s.top_high)

    def line(key: str, label: str, group: Sequence[_Shared]) -> Entry:
        n_open = sum(one.top_low < one.top_high for one in group)
        return Entry(key=key, label=label, values=(*(_mean(group, one, counting) for one in of), n_open))

    return Sheet(
        name="bounds",
        title="Top-1 share whatever the letters had that were not reported",
        label="questions",
        headings=(
            Heading(key="low", title="at least", is_share=True),
            Heading(key="given", title="as given", is_share=True),
            Heading(key="high", title="at most", is_share=True),
            Heading(key="n", title="questions with such letters"),
        ),
        entries=tuple(line(key, label, group) for (key, label), group in zip(_GROUPS, groups, strict=True)),
        note="As given: each letter that was not reported has the most that it can have. A server that "
        "reports more tokens (top_logprobs) narrows the bounds; transformers: reports every letter.",
    )


def _measure_headings() -> list[Heading]:
    return [
        Heading(key=key, title=title, note=_NOTES[key], is_share=key != "entropy")
        for key, (title, _) in _MEASURES.items()
    ]


def _effects(compared: dict[str, TwoGroups]) -> Sheet:
    return Sheet(
        name="effects",
        title="Right against wrong answers",
        label="measure",
        headings=(
            Heading(key="difference", title="difference of means"),
            Heading(key="d", title="Cohen's d", note="over the pooled standard deviation"),
            Heading(
                key="delta",
                title="Cliff's delta",
                note="how much more often the right answer's value is the higher of a pair, from -1 to 1",
            ),
        ),
        entries=tuple(
            Entry(
                key=key,
                label=_MEASURES[key][0],
                values=(found.difference, _known(found.cohens_d), found.cliffs_delta),
            )
            for key, found in compared.items()
        ),
        note="Right less wrong. Whole videos are drawn, for both groups at once.",
    )


def _known(estimate: Estimate) -> Estimate | None:
    return None if math.isnan(estimate.value) else estimate


def _violins(right: Sequence[_Shared], wrong: Sequence[_Shared]) -> Violins:
    return Violins(
        name="top-1 share",
        title="Largest share of a frame",
        y_title="top-1 share",
        groups=tuple(
            Group(label=label, values=tuple(one.top for one in group))
            for label, group in (("answered right", right), ("answered wrong", wrong))
            if group
        ),
        note="As figure 5 of HERBench.",
    )


def _tag_sheet(tag: str, values: dict[str, list[_Shared]], counting: Counting) -> Sheet:
    def line(value: str, group: Sequence[_Shared]) -> Entry:
        parts = (group, [s for s in group if s.is_right], [s for s in group if not s.is_right])
        tops = [_mean(part, lambda s: s.top, counting) for part in parts]
        even = _mean(group, lambda s: s.even, counting)
        return Entry(key=value, label=value, values=(*tops, even, len(group)))

    return Sheet(
        name=f"by {tag}",
        title=f"Top-1 share by {tag}",
        label=tag,
        headings=(
            Heading(key="top", title="top-1 share", is_share=True),
            Heading(key="right", title="answered right", is_share=True),
            Heading(key="wrong", title="answered wrong", is_share=True),
            Heading(key="even", title="even share", is_share=True),
            Heading(key="n", title="questions"),
        ),
        entries=tuple(line(value, group) for value, group in values.items()),
    )


def _left_out(examined: Sequence[Examined], counting: Counting) -> Sheet:
    """Who is in the means, who is not and why, and how the numbers came about."""
    items = [one.item for one in examined]
    found = [one.finding if isinstance(one.finding, FrameSharesFinding) else None for one in examined]

    def line(key: str, label: str, told: Callable[[FrameSharesFinding], bool]) -> Entry:
        marks = [one is not None and told(one) for one in found]
        return Entry(key=key, label=label, values=(counting.share(marks, items), sum(marks)))

    def left_out(reason: Exclusion) -> Entry:
        return line(reason, f"left out: {reason}", lambda one: one.excluded == reason)

    failed = [one is None for one in found]
    return Sheet(
        name="questions",
        title="What the shares are of",
        label="",
        headings=(
            Heading(key="share", title="share", is_share=True),
            Heading(key="n", title="questions"),
        ),
        entries=(
            line("used", "in the means", lambda one: not one.excluded),
            *(left_out(reason) for reason in get_args(Exclusion) if reason),
            Entry(key="failed", label="failed", values=(counting.share(failed, items), sum(failed))),
            line("logprobs", "asked for log-probabilities", lambda one: one.method == "logprobs"),
            line("sampling", "estimated by sampling", lambda one: one.method == "sampling"),
            line("floored", "with letters that were not reported", lambda one: one.n_floored > 0),
        ),
        note="No positive evidence: leaving out a frame never made the answer less likely, so there is "
        "nothing to share out. A letter that was not reported gets the most that it can have; "
        "the table of bounds says how much that may move.",
    )
