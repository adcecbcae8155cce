"""What a phantom world contains: which card is visible when, and what is asked. Nothing is rendered.

A video is laid out on sixteen cells of equal length. A *lasting* card covers most of two cells, a
*long* card the middle of one, a *short* card a part of one beside its middle. So frames at the
midpoints of 8 equal parts of the video show every lasting card, of 16 parts every lasting and long
card, and only those of 32 parts the short ones too (exactly so in videos of constant frame rate, by
time in all). What a selection really shows is computed from its times; see `planted.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.ask.phantom.code import MIN_WIDTH_PX, Payload
from vidence.ask.phantom.questions import N_CHOICES, choose_numbers, wording
from vidence.ask.phantom.scene import COLOURS, Card, piece_number
from vidence.errors import UsageError
from vidence.records import Evidence, Item, Media, Provenance, Record

N_CELLS = 16
MAX_DEMAND = 8
MAX_VALUE = 19
Lifetime = Literal["lasting", "long", "short"]

_STEPS_MS = (40, 60, 100, 160)  # between frames where the frame rate varies


@dataclass(frozen=True)
class Recipe:
    """A kind of item: the number of cards it needs, and whether its text gives the answer away."""

    demand: int
    is_told: bool = False


# Of the two single cards the first is easy to find, the second one of the short ones.
RECIPES = (*(Recipe(k) for k in (1, 1, 2, 3, 4, 5, 6, 7, 8)), Recipe(3, is_told=True))


class WorldSpec(Record):
    """What to render. Sizes, rates and codecs are cycled through, one per video.

    `n_variable` of the videos have a variable frame rate. Each video is asked one question for every
    demand from 1 to `max_demand` (two for 1) and one that gives its answer away, as far as
    `items_per_video` reaches (10 at most). `codecs` are names of encoders of FFmpeg.
    """

    name: str = "phantom"
    n_videos: int = 12
    items_per_video: int = 10
    max_demand: int = MAX_DEMAND
    min_s: int = 24
    max_s: int = 36
    sizes: tuple[tuple[int, int], ...] = ((320, 180), (480, 270), (640, 360))
    rates: tuple[int, ...] = (10, 12, 15)
    n_variable: int = 2
    codecs: tuple[str, ...] = ("libx264",)
    crf: int = 26


class PlantedPiece(Record):
    """One card: its number `piece` in the world, and the span ``[start_s, end_s)`` in which it is seen."""

    piece: int
    colour: str
    value: int
    lifetime: Lifetime
    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class VideoPlan:
    """One video before it is rendered.

    Shapes: `pts` (n_frames,), whole numbers in units of `time_base` seconds (1/`ticks_per_s`), from 0.
    """

    name: str
    width_px: int
    height_px: int
    codec: str
    is_variable: bool
    ticks_per_s: int
    pts: NDArray[np.int64]
    pieces: tuple[PlantedPiece, ...]

    @property
    def path(self) -> str:
        """Return the video's path in the world's folder."""
        return f"videos/{self.name}.mp4"

    @property
    def times_s(self) -> NDArray[np.float64]:
        """Return the presentation time of each frame in seconds."""
        return self.pts / self.ticks_per_s

    def cards(self, world: int) -> list[Card | None]:
        """Return the card shown in each frame."""
        cards: list[Card | None] = [None] * len(self.pts)
        for piece in self.pieces:
            payload = Payload(world=world, piece=piece.piece, value=piece.value)
            card = Card(colour=piece.colour, payload=payload)
            for i in np.flatnonzero((self.times_s >= piece.start_s) & (self.times_s < piece.end_s)):
                cards[int(i)] = card
        return cards


@dataclass(frozen=True, kw_only=True)
class WorldPlan:
    """A world before rendering; `number` is its id in the codes."""

    number: int
    videos: tuple[VideoPlan, ...]
    items: tuple[Item, ...]


def check_spec(spec: WorldSpec) -> None:
    """Reject a world that cannot be rendered.

    Raises:
        UsageError: a count, length, size, rate or codec out of its range.
    """
    rules = (
        (1 <= spec.n_videos <= 256, f"n_videos={spec.n_videos} must be in 1..256"),
        (1 <= spec.max_demand <= MAX_DEMAND, f"max_demand={spec.max_demand} must be in 1..{MAX_DEMAND}"),
        (
            1 <= spec.items_per_video <= len(RECIPES),
            f"items_per_video={spec.items_per_video} must be in 1..{len(RECIPES)}",
        ),
        (20 <= spec.min_s <= spec.max_s <= 60, f"{spec.min_s}..{spec.max_s} s must lie in 20..60 s"),
        (
            0 <= spec.n_variable <= spec.n_videos,
            f"n_variable={spec.n_variable} must be in 0..{spec.n_videos}",
        ),
        (bool(spec.sizes and spec.rates and spec.codecs), "sizes, rates and codecs must not be empty"),
        (
            all(w >= MIN_WIDTH_PX and h >= 90 and w % 2 == h % 2 == 0 for w, h in spec.sizes),
            f"sizes {spec.sizes} must be even and at least {MIN_WIDTH_PX}x90 px",
        ),
        (all(10 <= r <= 60 for r in spec.rates), f"rates {spec.rates} must be in 10..60 frames per second"),
        (0 <= spec.crf <= 40, f"crf={spec.crf} must be in 0..40, or the codes are lost"),
    )
    for holds, complaint in rules:
        if not holds:
            raise UsageError(f"this phantom world cannot be made: {complaint}")


def _variable_pts(duration_ms: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return frame times in milliseconds with unequal steps, from 0 to the duration."""
    steps = rng.choice(_STEPS_MS, size=duration_ms // min(_STEPS_MS))
    pts = np.concatenate([[0], np.cumsum(steps)])
    return pts[pts < duration_ms].astype(np.int64)


def _cell_spans(*, rng: np.random.Generator) -> list[tuple[Lifetime, float, float]]:
    """Return lifetime, start and end of twelve cards, in cells, in time order."""
    blocks = rng.permutation([True] * 4 + [False] * 4)
    spans: list[tuple[Lifetime, float, float]] = []
    for block, is_lasting in enumerate(blocks):
        start = 2.0 * block
        jitter = rng.uniform(-0.04, 0.04, size=4)
        if is_lasting:
            spans.append(("lasting", start + 0.15 + jitter[0], start + 1.85 + jitter[1]))
            continue
        short_cell = int(rng.integers(2))
        for cell in (start, start + 1):
            if cell - start == short_cell:
                left = rng.choice([0.08, 0.60])
                spans.append(("short", cell + left + jitter[2] / 2, cell + left + 0.32 + jitter[3] / 2))
            else:
                spans.append(("long", cell + 0.15 + jitter[0], cell + 0.85 + jitter[1]))
    return spans


def _between_frames(times_s: NDArray[np.float64], at_s: float) -> float:
    """Return the midpoint between the frames around `at_s`, so that no frame lies on a span's border."""
    after = int(np.searchsorted(times_s, at_s))
    after = min(max(after, 1), len(times_s) - 1)
    return round(float(times_s[after - 1] + times_s[after]) / 2, 5)


def _plan_video(spec: WorldSpec, number: int, *, rng: np.random.Generator) -> VideoPlan:
    duration_s = int(rng.integers(spec.min_s, spec.max_s + 1))
    is_variable = number >= spec.n_videos - spec.n_variable
    rate = spec.rates[number % len(spec.rates)]
    if is_variable:
        ticks_per_s, pts = 1000, _variable_pts(duration_s * 1000, rng=rng)
    else:
        ticks_per_s, pts = rate, np.arange(duration_s * rate, dtype=np.int64)
    times_s = pts / ticks_per_s
    spans = _cell_spans(rng=rng)
    colours = rng.permutation(list(COLOURS))
    values = rng.choice(np.arange(1, MAX_VALUE + 1), size=len(spans), replace=False)
    pieces = tuple(
        PlantedPiece(
            piece=piece_number(number, str(colour)),
            colour=str(colour),
            value=int(value),
            lifetime=lifetime,
            start_s=_between_frames(times_s, start * duration_s / N_CELLS),
            end_s=_between_frames(times_s, end * duration_s / N_CELLS),
        )
        for (lifetime, start, end), colour, value in zip(spans, colours, values, strict=True)
    )
    width_px, height_px = spec.sizes[number % len(spec.sizes)]
    return VideoPlan(
        name=f"v{number:03d}",
        width_px=width_px,
        height_px=height_px,
        codec=spec.codecs[number % len(spec.codecs)],
        is_variable=is_variable,
        ticks_per_s=ticks_per_s,
        pts=pts,
        pieces=pieces,
    )


def _pick(
    pieces: Sequence[PlantedPiece], demand: int, *, is_hard: bool, rng: np.random.Generator
) -> list[PlantedPiece]:
    """Choose cards to ask about: no short ones, or with `is_hard` at least one."""
    short = [p for p in pieces if p.lifetime == "short"]
    rest = [p for p in pieces if p.lifetime != "short"]
    n_short = int(rng.integers(1, min(demand, len(short)) + 1)) if is_hard else 0
    chosen = [short[i] for i in rng.choice(len(short), size=n_short, replace=False)]
    chosen += [rest[i] for i in rng.choice(len(rest), size=demand - n_short, replace=False)]
    return [chosen[i] for i in rng.permutation(demand)]


def _tags(recipe: Recipe, needed: Sequence[PlantedPiece], *, is_variable: bool) -> dict[str, str]:
    lifetimes = {p.lifetime for p in needed}
    shortest = next(name for name in ("short", "long", "lasting") if name in lifetimes)
    return {
        "task": "read" if recipe.demand == 1 else "sum",
        "demand": str(recipe.demand),
        "leak": "yes" if recipe.is_told else "no",
        "lifetime": shortest,
        "frame_rate": "variable" if is_variable else "constant",
    }


def _plan_item(
    video: VideoPlan, recipe: Recipe, *, needed: Sequence[PlantedPiece], letter: int, rng: np.random.Generator
) -> Item:
    """Return the item without id and origin."""
    total = sum(p.value for p in needed)
    others = [p.value for p in video.pieces if p not in needed]
    numbers = choose_numbers([p.value for p in needed], others, rng=rng)
    wrong = [int(n) for n in rng.permutation([n for n in numbers if n != total])]
    ordered = [*wrong[:letter], total, *wrong[letter:]]
    summed = " + ".join(str(p.value) for p in needed)
    return Item(
        item_id="",
        benchmark="phantom",
        media=(Media(path=video.path),),
        question=wording([p.colour for p in needed], told=total if recipe.is_told else None),
        choices=tuple(str(n) for n in ordered),
        answer=chr(ord("A") + letter),
        tags=_tags(recipe, needed, is_variable=video.is_variable),
        evidence=tuple(
            Evidence(kind="oracle", start_s=p.start_s, end_s=p.end_s, note=f"{p.colour} card: {p.value}")
            for p in needed
        ),
        rationale=summed if len(needed) == 1 else f"{summed} = {total}",
    )


def _plan_items(
    spec: WorldSpec, video: VideoPlan, *, video_number: int, letters: Sequence[int], rng: np.random.Generator
) -> list[Item]:
    items: list[Item] = []
    asked: set[frozenset[str]] = set()
    n_single = 0
    for number, recipe in enumerate(RECIPES[: spec.items_per_video]):
        demand = min(recipe.demand, spec.max_demand)
        n_single += demand == 1
        is_hard = n_single % 2 == 0 if demand == 1 else (video_number + demand) % 2 == 0
        needed = _pick(video.pieces, demand, is_hard=is_hard, rng=rng)
        while frozenset(p.colour for p in needed) in asked:
            needed = _pick(video.pieces, demand, is_hard=bool(rng.integers(2)), rng=rng)
        asked.add(frozenset(p.colour for p in needed))
        cut = Recipe(demand, is_told=recipe.is_told)
        item = _plan_item(video, cut, needed=needed, letter=letters[number], rng=rng)
        items.append(msgspec.structs.replace(item, item_id=f"{spec.name}-{video.name}-q{number:02d}"))
    return items


def plan_world(spec: WorldSpec, *, seed: int) -> WorldPlan:
    """Plan everything about a world except pixels; deterministic for a spec and seed.

    Right answers are spread evenly over the letters of the whole world.

    Raises:
        UsageError: the spec cannot be made, or the seed is negative.
    """
    check_spec(spec)
    if seed < 0:
        raise UsageError(f"seed {seed} must be 0 or more")
    rng = np.random.default_rng([seed, 0])
    n_items = spec.n_videos * spec.items_per_video
    letters = [int(i) for i in rng.permutation(np.arange(n_items) % N_CHOICES)]
    number = int(rng.integers(1 << 16))
    videos: list[VideoPlan] = []
    items: list[Item] = []
    for i in range(spec.n_videos):
        own_rng = np.random.default_rng([seed, 1, i])
        video = _plan_video(spec, i, rng=own_rng)
        own_letters = letters[i * spec.items_per_video : (i + 1) * spec.items_per_video]
        videos.append(video)
        items += _plan_items(spec, video, video_number=i, letters=own_letters, rng=own_rng)
    origin = Provenance(
        source="vidence phantom world", licence="Apache-2.0", revision=f"seed {seed}", maker="vidence"
    )
    return WorldPlan(
        number=number,
        videos=tuple(videos),
        items=tuple(msgspec.structs.replace(item, provenance=origin) for item in items),
    )
