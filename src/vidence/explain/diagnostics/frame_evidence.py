"""Which of the frames shown are the evidence of a question, and which lie apart from it."""

import math
from collections import Counter
from collections.abc import Sequence

from vidence.records import Item


def evidence_positions(item: Item, times_s: Sequence[float]) -> list[int]:
    """One frame for each annotated span, in the order of time: the one nearest to its middle.

    Where the annotation lists frames, all frames are kept; single images beside the video are, too, and
    lie in no span. A span that no frame lies in has the latest frame before its start, unless that belongs
    to another span. No frame is taken twice.

    Source: HERBench, section 5.2, has frames curated by hand.
    Departs: no.
    """
    in_time = sorted(range(len(times_s)), key=times_s.__getitem__)
    if any(evidence.frames for evidence in item.evidence):
        return in_time
    spans = [
        (-math.inf if e.start_s is None else e.start_s, math.inf if e.end_s is None else e.end_s)
        for e in item.evidence
        if e.start_s is not None or e.end_s is not None
    ]
    stills = stills_of(item, len(times_s))
    moving = [i for i in in_time if i not in stills]
    free = [i for i in moving if not any(start <= times_s[i] < end for start, end in spans)]
    taken: set[int] = set()
    for start, end in spans:
        inside = [i for i in moving if start <= times_s[i] < end]
        before = [i for i in free if times_s[i] <= start][-1:]
        left = [i for i in inside or before if i not in taken]
        if left:
            bounds = max(start, times_s[left[0]]), min(end, times_s[left[-1]])
            middle = (start + end) / 2 if math.isfinite(start + end) else sum(bounds) / 2
            taken.add(min(left, key=lambda i: (abs(times_s[i] - middle), times_s[i])))
    return [i for i in in_time if i in taken | stills]


def placebo_positions(
    item: Item, evidence_s: Sequence[float], times_s: Sequence[float]
) -> tuple[list[int], list[int]]:
    """The positions of the frames of the evidence among these, and of as many others, spread evenly.

    Args:
        item: the question; its single images are evidence, and never a placebo.
        evidence_s: the times of the frames of the evidence.
        times_s: those of the frames shown with others.
    """
    stills = stills_of(item, len(times_s))
    wanted = Counter(evidence_s)
    evidence: list[int] = []
    for i in sorted(range(len(times_s)), key=lambda i: (times_s[i], i not in stills)):
        if wanted[times_s[i]]:
            wanted[times_s[i]] -= 1
            evidence.append(i)
    others = [i for i in range(len(times_s)) if i not in evidence and i not in stills]
    spans = [
        (-math.inf if e.start_s is None else e.start_s, math.inf if e.end_s is None else e.end_s)
        for e in item.evidence
        if e.start_s is not None or e.end_s is not None
    ]
    apart = [i for i in others if not any(start <= times_s[i] < end for start, end in spans)]
    n = min(len(evidence), len(apart))
    return evidence, [apart[(2 * j + 1) * len(apart) // (2 * n)] for j in range(n)]


def stills_of(item: Item, n_frames: int) -> set[int]:
    """Which frames are single images: each is one frame, before or behind those of the only video."""
    kinds = [medium.kind for medium in item.media]
    if "image" not in kinds:
        return set()
    first = next((i for i, kind in enumerate(kinds) if kind != "image"), len(kinds))
    n_behind = kinds.count("image") - first
    return {*range(first), *range(n_frames - n_behind, n_frames)}
