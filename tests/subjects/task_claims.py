"""What options of questions claim, held against the material by plain counting.

Nothing here uses the tasks or the tracking code: words are taken apart with patterns, and truth is recomputed
from boxes, frame times and shots.
"""

import re
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import numpy as np

from vidence.make.pipeline.material import Draft, Material, SceneCard

_LISTED = re.compile(r"^(\d)\. (.+)$", re.MULTILINE)
_NUMBERS = {"no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "none": 0, "all": 4}
_EDGES = ("top", "bottom", "left", "right")


def listed(question: str) -> list[str]:
    """The numbered descriptions of a question."""
    return [text for _, text in _LISTED.findall(question)]


def digits(text: str) -> list[int]:
    """All whole numbers of a text."""
    return [int(one) for one in re.findall(r"\d+", text)]


def plain(text: str) -> str:
    """A text to compare by."""
    return " ".join(text.casefold().split()).rstrip(".")


class People:
    """The people of a tracked video as plain numbers: frames, centres and boxes as shares, times."""

    def __init__(self, material: Material) -> None:
        assert material.tracked is not None
        video = material.tracked
        self.are_given = video.basis.kind == "given"
        self.times = [float(t) for t in video.times_s]
        self.frames = {t.track_id: [int(f) for f in t.frame_indices] for t in video.tracks}
        size = (video.width_px, video.height_px, video.width_px, video.height_px)
        self.boxes = {
            t.track_id: [[float(v) / s for v, s in zip(box, size, strict=True)] for box in t.boxes_px]
            for t in video.tracks
        }
        self.ids = {plain(card.text): card.track_id for card in material.a_cards}

    def of(self, text: str) -> str | None:
        """The track that a description belongs to, None where it is nobody's here."""
        return self.ids.get(plain(text))

    def start(self, name: str) -> float:
        return self.times[self.frames[name][0]]

    def end(self, name: str) -> float:
        return self.times[self.frames[name][-1]]

    def centre(self, name: str, place: int) -> tuple[float, float]:
        left, top, right, bottom = self.boxes[name][place]
        return (left + right) / 2, (top + bottom) / 2

    def bands(self, name: str, place: int) -> set[str]:
        x, y = self.centre(name, place)
        found = {"top": y < 0.3, "bottom": y > 0.85, "left": x < 0.15, "right": x > 0.85}
        return {edge for edge, is_in in found.items() if is_in}

    def enters(self, name: str) -> str:
        """An edge, ``stayed``, or ``?``."""
        bands = self.bands(name, 0)
        return "stayed" if self.frames[name][0] == 0 else bands.pop() if len(bands) == 1 else "?"

    def leaves(self, name: str) -> str:
        bands = self.bands(name, -1)
        is_last = self.frames[name][-1] == len(self.times) - 1
        return "stayed" if is_last else bands.pop() if len(bands) == 1 else "?"

    def near(self, name: str, place: int, edge: str) -> bool:
        """Whether the box comes as near to an edge as a twentieth of the frame."""
        left, top, right, bottom = self.boxes[name][place]
        return {"left": left, "top": top, "right": 1 - right, "bottom": 1 - bottom}[edge] <= 0.05

    def is_piece(self, name: str) -> bool:
        """Whether somebody is first seen near to no edge, and not in the first frame."""
        return self.frames[name][0] > 0 and not any(self.near(name, 0, edge) for edge in _EDGES)

    def deepest(self, name: str, region: Sequence[float]) -> float:
        """The largest share of the box that is in a region, over all frames."""
        best = 0.0
        for left, top, right, bottom in self.boxes[name]:
            wide = max(0.0, min(right, region[2]) - max(left, region[0]))
            high = max(0.0, min(bottom, region[3]) - max(top, region[1]))
            area = (right - left) * (bottom - top)
            best = max(best, wide * high / area if area > 0 else 0.0)
        return best


def _mpdr(draft: Draft, people: People) -> Callable[[str], bool]:
    ids = [people.of(text) or "" for text in listed(draft.question)]
    values = {
        "longest": [people.end(i) - people.start(i) for i in ids],
        "shortest": [people.start(i) - people.end(i) for i in ids],
        "first-in": [-people.start(i) for i in ids],
        "last-out": [people.end(i) for i in ids],
    }
    if draft.structure == "order-in":
        return lambda text: all(
            people.start(ids[b - 1]) - people.start(ids[a - 1]) >= 3
            for a, b in zip(digits(text), digits(text)[1:], strict=False)
        )
    if draft.structure == "overlap":
        real = {
            frozenset((a + 1, b + 1))
            for a, b in combinations(range(3), 2)
            if set(people.frames[ids[a]]) & set(people.frames[ids[b]])
        }
        return lambda text: _pairs(text) == real
    mine = values[draft.structure]

    def is_true(text: str) -> bool:
        head = text.split("(", maxsplit=1)[0]
        said = [0, 1, 2] if head.startswith("All three") else [n - 1 for n in digits(head)]
        within = all(abs(mine[a] - mine[b]) < 3 for a in said for b in said)
        return within and all(mine[a] - mine[b] >= 3 for a in said for b in range(3) if b not in said)

    return is_true


def _pairs(text: str) -> set[frozenset[int]]:
    every = {frozenset(pair) for pair in combinations((1, 2, 3), 2)}
    if text == "No two of them":
        return set()
    if text == "Every two of them":
        return every
    if text.startswith("Only people"):
        return {frozenset(digits(text))}
    head, tail = text.split(", but never ")
    assert head.endswith("with each of the others")
    return every - {frozenset(digits(tail))}


def _region(x: float, y: float) -> str:
    if abs(x - 0.5) < 0.2 and abs(y - 0.5) < 0.2:
        return "middle"
    return f"{'bottom' if y >= 0.5 else 'top'} {'right' if x >= 0.5 else 'left'}"


def turns(xs: Sequence[float], least: float) -> list[int]:
    """Signs of the moves between the extremes that are left when the smallest ones are taken out, in turn."""
    moved = [x for i, x in enumerate(xs) if i == 0 or x != xs[i - 1]]
    inner = [b for a, b, c in zip(moved, moved[1:], moved[2:], strict=False) if (b - a) * (c - b) < 0]
    flat = [moved[0], *inner, *moved[1:][-1:]]
    while len(flat) > 1:
        steps = [abs(b - a) for a, b in pairwise(flat)]
        small = int(np.argmin(steps))
        if steps[small] >= least:
            break
        if small == 0:
            del flat[0]
        elif small == len(steps) - 1:
            del flat[-1]
        else:
            del flat[small : small + 2]
    return [1 if b > a else -1 for a, b in pairwise(flat)]


_SHAPES = {
    (1,): "The person goes to the right and does not turn back",
    (-1,): "The person goes to the left and does not turn back",
    (1, -1): "The person first goes to the right, then turns back to the left",
    (-1, 1): "The person first goes to the left, then turns back to the right",
    (): "The person hardly moves to either side",
}


def _aglt(draft: Draft, people: People) -> Callable[[str], bool]:
    name = people.of(draft.question.splitlines()[1]) or ""
    came, went = people.enters(name), people.leaves(name)
    first, last = _region(*people.centre(name, 0)), _region(*people.centre(name, -1))
    signs = tuple(turns([people.centre(name, i)[0] for i in range(len(people.frames[name]))], 0.12))

    def is_true(text: str) -> bool:
        said = [edge for edge in re.findall(r"the (\w+) edge", text) if edge in _EDGES]
        parts = re.findall(r"the (?:(\w+ \w+) part|(middle))", text)
        places = [a or b for a, b in parts]
        match draft.structure:
            case "enters":
                return (said or ["stayed"]) == [came]
            case "leaves":
                return (said or ["stayed"]) == [went]
            case "passage":
                return said == [came, went]
            case "starts":
                return places == [first]
            case "ends":
                return places == [last]
            case "route":
                return places == [first, last]
        return text == _SHAPES.get(signs, "The person turns back more than once")

    return is_true


def _megl(draft: Draft, people: People) -> Callable[[str], bool]:
    ids = [people.of(text) for text in listed(draft.question)]

    def numbers(text: str) -> set[int]:
        if text == "All three":
            return {1, 2, 3}
        return set() if text == "None of them" else set(digits(text))

    if draft.structure == "which":
        there = {i for i, name in enumerate(ids, 1) if name is not None}
        return lambda text: len(there) < 2 if text.startswith("Fewer") else numbers(text) == there
    if draft.structure == "through":
        (edge,) = re.findall(r"the (\w+) edge", draft.question)
        gone = {i for i, name in enumerate(ids, 1) if people.leaves(name or "") == edge}
        return lambda text: numbers(text) == gone
    way = people.leaves if draft.structure == "exits" else people.enters
    real = [way(name or "") for name in ids]

    def is_true(text: str) -> bool:
        parts = [text, text] if text.startswith("Both") else text.split(", person 2 ")
        said = [(re.findall(r"the (\w+) edge", part) or ["stayed"])[0] for part in parts]
        return said == real

    return is_true


_REGIONS = (
    ("the left half", (0, 0, 1 / 2, 1)),
    ("the right half", (1 / 2, 0, 1, 1)),
    ("the top half", (0, 0, 1, 1 / 2)),
    ("the bottom half", (0, 1 / 2, 1, 1)),
    ("the top left quarter", (0, 0, 1 / 2, 1 / 2)),
    ("the top right quarter", (1 / 2, 0, 1, 1 / 2)),
    ("the bottom left quarter", (0, 1 / 2, 1 / 2, 1)),
    ("the bottom right quarter", (1 / 2, 1 / 2, 1, 1)),
    ("between its left and its right third", (1 / 3, 0, 2 / 3, 1)),
    ("between its top and its bottom third", (0, 1 / 3, 1, 2 / 3)),
    ("the left third", (0, 0, 1 / 3, 1)),
    ("the right third", (2 / 3, 0, 1, 1)),
    ("the top third", (0, 0, 1, 1 / 3)),
    ("the bottom third", (0, 2 / 3, 1, 1)),
)


def _rlpc(draft: Draft, people: People) -> Callable[[str], bool]:
    edges = re.findall(r"the (\w+) edge", draft.question)
    names = list(people.frames)
    came = {n: set() if people.frames[n][0] == 0 else people.bands(n, 0) for n in names}
    last = len(people.times) - 1
    went = {n: set() if people.frames[n][-1] == last else people.bands(n, -1) for n in names}
    if draft.structure == "visited":
        region = next(box for words, box in _REGIONS if words in draft.question)
        inside = [n for n in names if people.deepest(n, region) >= 0.5]
        counts = {len(inside)}
        if not people.are_given:
            counts.add(sum(not people.is_piece(n) for n in inside))
    else:
        places = [(came, 0), (went, -1)] if draft.structure == "crossed" else []
        places = places or [(came, 0) if "come into" in draft.question else (went, -1)]
        wanted = [(side, at, edge) for (side, at), edge in zip(places, edges, strict=True)]
        strict = sum(all(side[n] == {e} and people.near(n, at, e) for side, at, e in wanted) for n in names)
        loose = sum(all(edge in side[n] for side, _, edge in wanted) for n in names)
        counts = {strict, loose} if draft.facts["unclear"] != "0" else {loose}

    def is_true(text: str) -> bool:
        low, *rest = digits(text)
        high = rest[-1] if rest else low
        held = [low <= count <= high for count in counts]
        assert all(held) or not any(held), f"{text} holds only some of {counts}"
        return all(held)

    return is_true


class Scenes:
    """The shots of a video and their cards by text."""

    def __init__(self, material: Material) -> None:
        self.start = {shot.shot_id: shot.first_frame for shot in material.shots}
        self.cards = {plain(card.text): card for card in material.scene_cards}

    def of(self, text: str) -> SceneCard:
        return self.cards[plain(text)]


_TWO_FALSE = "At least two of the descriptions fit no shot of the video"


def _scenes(draft: Draft, scenes: Scenes) -> Callable[[str], bool]:
    cards = [scenes.of(text) for text in listed(draft.question)]
    true = [i for i, card in enumerate(cards, 1) if not card.changes]
    by_time = sorted(true, key=lambda i: scenes.start[cards[i - 1].shot_id])
    n_false = len(cards) - len(true)
    if draft.task == "TSO":
        return lambda text: (
            (n_false >= 2) if text == _TWO_FALSE else n_false == 0 and _tso(text, draft, by_time)
        )
    if draft.structure in ("first", "last"):
        said = [scenes.of(text) for text in draft.choices if "None of" not in text]
        right = sorted((c for c in said if not c.changes), key=lambda c: scenes.start[c.shot_id])
        best = right[0 if draft.structure == "first" else -1].text if right else None
        return lambda text: best is None if "None of" in text else best and plain(best) == plain(text)

    def is_true(text: str) -> bool:
        if text.startswith("Fewer than two"):
            return len(true) < 2
        if draft.structure == "order":
            return len(true) >= 2 and digits(text) == by_time
        if draft.structure == "which" and digits(text):
            return sorted(digits(text)) == true
        return _NUMBERS[text.split(maxsplit=1)[0].casefold()] == len(true)

    return is_true


def _tso(text: str, draft: Draft, by_time: list[int]) -> bool:
    if draft.structure == "order":
        return digits(text) == by_time
    if draft.structure in ("first", "last"):
        return digits(text) == [by_time[0 if draft.structure == "first" else -1]]
    one, other = digits(draft.question.splitlines()[-1])
    low, high = sorted((by_time.index(one), by_time.index(other)))
    inside = by_time[low + 1 : high]
    if text.startswith(("Neither", "None")):
        return not inside
    if text.startswith(("Both", "More than one")):
        return len(inside) >= 2
    return inside == digits(text)


_BY_TASK: dict[str, Callable[[Draft, People], Callable[[str], bool]]] = {
    "MPDR": _mpdr,
    "AGLT": _aglt,
    "MEGL": _megl,
    "RLPC": _rlpc,
}


def true_options(draft: Draft, material: Material) -> list[int]:
    """The places of the options that are true of the material."""
    if draft.task in ("TSO", "SVA"):
        is_true = _scenes(draft, Scenes(material))
    else:
        is_true = _BY_TASK[draft.task](draft, People(material))
    return [i for i, text in enumerate(draft.choices) if is_true(text)]


def has_three_apart(draft: Draft) -> bool:
    """Whether three of the spans of evidence share no moment, by trying every three."""
    spans = [(e.start_s or 0.0, e.end_s or 0.0) for e in draft.evidence]
    return any(
        all(a[1] <= b[0] or b[1] <= a[0] for a, b in combinations(three, 2))
        for three in combinations(spans, 3)
    )
