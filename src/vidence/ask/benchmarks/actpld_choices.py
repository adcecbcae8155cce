"""The wrong choices of ActPLD: two labels from other semantic groups, the same for every model."""

import hashlib
from collections.abc import Iterable

from vidence.ask.benchmarks.actpld_folder import N_DISTRACTORS, ClipRow, LabelRow, Labels, Target
from vidence.ask.benchmarks.checks import Fault


def _rank(*words: str) -> bytes:
    """A number that only depends on these words, on every machine and with every library."""
    return hashlib.sha256("\n".join(words).encode()).digest()


def eligible(labels: Iterable[LabelRow], truth: LabelRow) -> list[LabelRow]:
    """The labels that can stand beside the right one: those outside its semantic group."""
    return [label for label in labels if label.group != truth.group]


def choices_for(clip: ClipRow, target: Target, labels: Labels) -> tuple[LabelRow, ...] | Fault:
    """The three choices for a clip, the right one among them, in an order that is always the same.

    The distractors are those that the folder fixes for the clip, or two drawn from the labels of both
    sets outside the semantic group of the right one. The draw and the order follow from the clip's id
    and the names, by hashing: nothing else moves them.

    Source: ActPLD, section 2.5 (3AFC).
    Departs: the paper does not say how it drew, and prints its choices for 60 of 228 clips only.
    """
    known = labels.of[target]
    truth = known.get(clip.names[target])
    if truth is None:
        return Fault(target, f"{clip.names[target]!r} is not in labels.csv as {target}; add it there")
    others = eligible(known.values(), truth)
    if names := clip.distractors[target]:
        field = f"{target}_distractors"
        for name in names:
            if name not in known:
                return Fault(field, f"{name!r} is not in labels.csv as {target}; add it there")
            if known[name] not in others:
                return Fault(
                    field, f"{name!r} is in the group {truth.group!r} of the right one; expected others"
                )
        drawn = [known[name] for name in names]
    else:
        drawn = sorted(others, key=lambda r: _rank(clip.clip_id, target, "distractor", r.name))
    if len(drawn) < N_DISTRACTORS:
        return Fault(
            target,
            f"labels.csv has {len(others)} of other groups than {truth.group!r}; expected {N_DISTRACTORS}",
        )
    shown = (truth, *drawn[:N_DISTRACTORS])
    return tuple(sorted(shown, key=lambda r: _rank(clip.clip_id, target, "place", r.name)))
