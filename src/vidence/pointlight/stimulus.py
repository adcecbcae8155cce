"""Make a point-light stimulus: position, size and brightness of every dot in every frame.

Everything that was decided is in a `StimulusSpec`, and every draw follows from its seed, so that the same
motion and the same spec give the same picture, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.framing import extent, floor_path, heading_deg, room_px, turned
from vidence.pointlight.motion import Motion, part, resampled, trimmed
from vidence.pointlight.specs import StimulusSpec, seen

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def middles(places: Floats, valid: Bools) -> Floats:
    """The mean of the visible dots in each frame, shape (n_frames, 1, 2).

    Frames without any take that of the nearest frame before, else after.

    Raises:
        UsageError: no dot is seen in any frame.
    """
    counted = valid.sum(axis=1)
    if not counted.any():
        raise UsageError("no dot is seen in any frame; there is nothing to show")
    total = np.where(valid[..., None], places, 0.0).sum(axis=1)
    mean = total / np.maximum(counted, 1)[:, None]
    seen = np.flatnonzero(counted)
    nearest = seen[np.clip(np.searchsorted(seen, np.arange(len(mean)), side="right") - 1, 0, None)]
    values: Floats = mean[nearest][:, None, :]
    return values


def scrambled_places(places: Floats, valid: Bools, *, rng: np.random.Generator) -> Floats:
    """Spatial scrambling: each dot keeps its motion and starts at a random place in the figure's box.

    The mean place of each dot, seen from the middle of the figure, is drawn again and uniformly from the box
    around the mean places of all dots.

    Source: Cutting, Moore & Morton (1988); Troje & Westhoff (2006): position-scrambled walkers.
    """
    middle = middles(places, valid)
    own = places - middle
    means = _mean_over_time(own, valid)
    low, high = np.nanmin(means, axis=0), np.nanmax(means, axis=0)
    drawn = rng.uniform(size=means.shape) * (high - low) + low
    values: Floats = middle + own - means + drawn
    return values


def scrambled_phases(places: Floats, valid: Bools, *, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Phase scrambling: each dot's own motion starts at another moment, around its own position.

    Source: Bertenthal & Pinto (1994): phase-perturbed point-light displays.
    Departs: a clip need be no loop: where its end is reached a dot goes on from where it is with the motion
        of the beginning, so that it never jumps (see `other_phases`).
    """
    dots = np.arange(places.shape[1])
    shifts = rng.integers(0, max(1, len(places) - 1), size=len(dots))
    moved, values = other_phases(places, valid, dots=dots, shifts=shifts)
    return moved - _mean_over_time(moved, values) + _mean_over_time(places, valid), values


def other_phases(
    places: Floats, valid: Bools, *, dots: NDArray[np.int64], shifts: NDArray[np.int64]
) -> tuple[Floats, Bools]:
    """Paths of dots from other moments: the same steps in a circle, none added or left out.

    A path of n frames has n - 1 steps. From frame `shift` on it is followed to its end; then the steps from
    its beginning follow, from where the dot is, up to frame `shift`. Step sizes, directions, stops and the
    way from the first frame to the last are those of the dot that is copied.

    Args:
        places: shape (n_frames, n_dots, 2); NaN if a dot is hidden.
        valid: shape (n_frames, n_dots).
        dots: which dot each path copies, shape (n_paths,).
        shifts: the frame that it begins with, 0 to n_frames - 2, shape (n_paths,).

    Returns:
        The paths, shape (n_frames, n_paths, 2), and which of their frames are seen, (n_frames, n_paths).
    """
    whole = _without_gaps(places, valid)
    n_steps = max(1, len(places) - 1)
    at = np.arange(len(places))[:, None] + shifts
    has_wrapped = at > n_steps
    frames = np.where(has_wrapped, at - n_steps, at) % len(places)
    result = whole[frames, dots] + has_wrapped[..., None] * (whole[-1] - whole[0])[dots]
    return result, valid[frames, dots]


def mask_random(
    n_frames: int, n_dots: int, box: Floats, *, life_frames: int, rng: np.random.Generator
) -> Floats:
    """Dots at random positions in a box (low, high; shape (2, 2)), replaced after some frames."""
    ages = rng.integers(0, life_frames, size=n_dots)
    lives = (np.arange(n_frames)[:, None] + ages) // life_frames
    places = rng.uniform(size=(int(lives.max()) + 1, n_dots, 2)) * (box[1] - box[0]) + box[0]
    values: Floats = places[lives, np.arange(n_dots)]
    return values


def mask_scrambled(
    places: Floats, valid: Bools, n_dots: int, *, box: Floats, phases: bool, rng: np.random.Generator
) -> tuple[Floats, Bools, NDArray[np.int64]]:
    """Dots that move like the figure's, including translation, each at another position.

    Every dot of the figure is copied as often as the others (once more for some, where `n_dots` is no
    multiple). A copy has each step of its dot: what is measured of single dots (way, steps, stops, times of
    being out) is the same for figure and mask. Places are drawn evenly from where the whole path of a dot
    stays in the box; a path that is larger than the box has its middle in the middle.

    Args:
        places: of the figure's dots in the picture plane, shape (n_frames, n_dots, 2).
        valid: which are seen.
        n_dots: how many copies.
        box: low and high corner of the area, shape (2, 2).
        phases: begin at another moment of the clip, too (see `other_phases`).
        rng: draws dots, moments and places.

    Returns:
        Places (n_frames, n_dots, 2), which are seen (n_frames, n_dots), and the dot that each copies.

    Source: Cutting, Moore & Morton (1988); Bertenthal & Pinto (1994): scrambled-walker masks.
    """
    copied = rng.permutation(np.arange(n_dots) % places.shape[1])
    shifts = rng.integers(0, max(1, len(places) - 1), size=n_dots) * int(phases)
    moved, values = other_phases(places, valid, dots=copied, shifts=shifts)
    seen = np.where(values[..., None], moved, np.nan)
    is_ever = values.any(axis=0)
    low, high = np.zeros((2, n_dots, 2))
    low[is_ever], high[is_ever] = np.nanmin(seen[:, is_ever], axis=0), np.nanmax(seen[:, is_ever], axis=0)
    room = np.stack([box[0] - low, box[1] - high])
    middle = room.mean(axis=0)
    half = np.maximum(room[1] - room[0], 0.0) / 2
    drawn = middle + rng.uniform(-1.0, 1.0, size=middle.shape) * half
    return moved + drawn, values, copied


def _without_gaps(places: Floats, valid: Bools) -> Floats:
    """Positions interpolated over hidden frames; a dot that is never seen is at 0."""
    values = np.where(valid[..., None], places, 0.0)
    time = np.arange(len(places))
    for dot in np.flatnonzero(~valid.all(axis=0) & valid.any(axis=0)):
        there = valid[:, dot]
        for axis in range(places.shape[2]):
            values[:, dot, axis] = np.interp(time, time[there], places[there, dot, axis])
    return values


def _mean_over_time(own: Floats, valid: Bools) -> Floats:
    """The mean position of each dot over its visible frames, shape (n_dots, 2); 0 if none."""
    total = np.where(valid[..., None], own, 0.0).sum(axis=0)
    values: Floats = total / np.maximum(valid.sum(axis=0), 1)[:, None]
    return values


# Told apart by most kinds of colour blindness.
_COLOURS = ((255, 176, 0), (100, 180, 255))


@dataclass(frozen=True, kw_only=True)
class Stimulus:
    """The dots of every frame.

    Shapes: `centres_px` (n_frames, n_dots, 2), x to the right and y down from the upper left corner, NaN for
    a dot that is not shown; `levels` (n_dots, 3), RGB 0..255; `owners` (n_dots,), the figure that a dot
    belongs to, -1 for noise; `names` (n_dots,), the point of the body that a dot shows, "" for noise.
    """

    spec: StimulusSpec
    centres_px: Floats
    levels: NDArray[np.uint8]
    owners: NDArray[np.int64]
    names: tuple[str, ...]
    fps: float
    px_per_m: float

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.centres_px)


def make_stimulus(figures: Sequence[Motion], spec: StimulusSpec) -> Stimulus:
    """The dots of one or more figures with a common space and clock.

    Figures of different length are cut to the shortest.

    Args:
        figures: bodies or markers, one for each actor; usually what `body` gives.
        spec: how they are shown.

    Raises:
        UsageError: no figure, figures of different frame rates, or a spec that leaves nothing to show.
        DataError: no dot is seen anywhere.
    """
    timed = in_time(figures, spec)
    pictured, px_per_m, middle = _pictured(timed, spec)
    rng = np.random.default_rng(spec.seed)
    half = (np.array([spec.width_px, spec.height_px]) / 2 - spec.dot_radius_px) / px_per_m
    picture = np.stack([middle - half, middle + half])
    dots = _joined([_disturbed(_without(entry, spec.leave_out), spec, rng=rng) for entry in pictured])
    if spec.n_noise:
        dots = _joined([dots, _noise(dots, spec, picture=picture, rng=rng)])
    centres = _in_picture(dots.places, spec, px_per_m=px_per_m, middle=middle)
    return Stimulus(
        spec=spec,
        centres_px=np.where(dots.valid[..., None], centres, np.nan),
        levels=_levels(dots.looks_like, spec),
        owners=dots.owners,
        names=dots.names,
        fps=timed[0].fps,
        px_per_m=px_per_m,
    )


def _in_picture(places: Floats, spec: StimulusSpec, *, px_per_m: float, middle: Floats) -> Floats:
    """Pixels from the upper left corner for positions in the picture plane in metres."""
    flip = np.array([1.0, -1.0])
    values: Floats = (places - middle) * px_per_m * flip + np.array([spec.width_px, spec.height_px]) / 2
    return values


@dataclass(frozen=True, kw_only=True)
class _Dots:
    """Dots in the picture plane, in metres.

    Shapes: `places` (n_frames, n_dots, 2), `valid` (n_frames, n_dots); `owners` (n_dots,), the figure that a
    dot belongs to, -1 for noise, and `looks_like` the figure whose colour it has; `names` of points.
    """

    places: Floats
    valid: NDArray[np.bool_]
    owners: NDArray[np.int64]
    looks_like: NDArray[np.int64]
    names: tuple[str, ...]


def in_time(figures: Sequence[Motion], spec: StimulusSpec) -> list[Motion]:
    """The frames of each figure shown by a spec, at the display rate; arguments as above."""
    if not figures:
        raise UsageError("a stimulus needs at least one figure")
    rates = {f.fps for f in figures}
    if len(rates) > 1:
        listed = ", ".join(f"{rate:g}" for rate in sorted(rates))
        raise UsageError(f"figures that are shown together must have one frame rate, these have {listed}")
    shortest = min(f.n_frames for f in figures)
    motions = [trimmed(part(f, 0, shortest - 1), spec.trim_share) for f in figures]
    if spec.fps is not None:
        motions = [resampled(f, spec.fps) for f in motions]
    available = (motions[0].n_frames - 1) // spec.step + 1
    n_frames = available if spec.n_frames is None else spec.n_frames
    if n_frames > available:
        raise UsageError(
            f"{n_frames} frames in steps of {spec.step} are wanted, and there are {available} "
            f"(at {motions[0].fps:g} frames per second, without {spec.trim_share:.0%} at both ends)"
        )
    length = (n_frames - 1) * spec.step + 1
    start = (motions[0].n_frames - length) // 2 if spec.start_frame is None else spec.start_frame
    return [part(f, start, start + length - 1, step=spec.step) for f in motions]


def _pictured(figures: Sequence[Motion], spec: StimulusSpec) -> tuple[list[_Dots], float, Floats]:
    """The dots of each figure in the picture plane, mirrored and inverted, and its scale and centre.

    The second is pixels per metre, the third the place in the middle of the picture, for the whole clip.
    Points that are left out are gone from the dots only: heading, path and scale are those of the body.
    """
    values = np.concatenate([f.positions_m for f in figures], axis=1)
    valid = np.concatenate([f.is_valid for f in figures], axis=1)
    if not valid.any():
        raise DataError("no point of these motions is seen in the frames that are wanted")
    turn_deg = heading_deg(figures) if spec.heading == "viewer" else 0.0
    way = floor_path(figures, spec.framing)
    values = turned(np.where(valid[..., None], values, np.nan) - way, turn_deg)
    centre_m = (np.nanmin(values, axis=(0, 1)) + np.nanmax(values, axis=(0, 1))) / 2
    sign = np.array([-1.0 if spec.is_mirrored else 1.0, -1.0 if spec.is_inverted else 1.0])
    entries = []
    for owner, figure in enumerate(figures):
        there = turned(figure.positions_m - way, turn_deg)
        place = seen(there, spec.view, centre_m=centre_m)
        owners = np.full(len(figure.names), owner, np.int64)
        entries.append(
            _Dots(
                places=place * sign,
                valid=figure.is_valid & np.isfinite(place).all(axis=2),
                owners=owners,
                looks_like=owners,
                names=figure.names,
            )
        )
    px_per_m, middle = _scale(entries, values[valid] - centre_m, spec)
    return entries, px_per_m, middle


def _scale(figures: Sequence[_Dots], points_m: Floats, spec: StimulusSpec) -> tuple[float, Floats]:
    """Pixels per metre, and the position at the middle of the picture, for the whole clip."""
    all_places = np.concatenate([f.places[f.valid] for f in figures])
    if len(all_places) == 0:
        raise DataError("no point of these motions is in front of the viewer; choose a larger distance_m")
    if spec.fit == "view":
        low, high = all_places.min(axis=0), all_places.max(axis=0)
        middle, size = (low + high) / 2, high - low
    else:
        middle = np.zeros(2)
        size = middle if spec.px_per_m is not None else 2 * extent(points_m, spec.view)
    if spec.px_per_m is not None:
        return spec.px_per_m, middle
    size = np.maximum(size, 1e-6)
    return float((room_px(spec) / size).min()), middle


def _without(dots: _Dots, left_out: Sequence[str]) -> _Dots:
    """The dots of a figure without those left out."""
    kept = kept_points(dots.names, left_out)
    return _Dots(
        places=dots.places[:, kept],
        valid=dots.valid[:, kept],
        owners=dots.owners[kept],
        looks_like=dots.looks_like[kept],
        names=tuple(dots.names[i] for i in kept),
    )


def _disturbed(dots: _Dots, spec: StimulusSpec, *, rng: np.random.Generator) -> _Dots:
    """The dots of one figure, scrambled according to the spec."""
    places, valid = dots.places, dots.valid
    if spec.scramble in {"places", "both"}:
        places = scrambled_places(places, valid, rng=rng)
    if spec.scramble in {"phases", "both"}:
        places, valid = scrambled_phases(places, valid, rng=rng)
    return replace(dots, places=places, valid=valid)


def _joined(parts: Sequence[_Dots]) -> _Dots:
    return _Dots(
        places=np.concatenate([p.places for p in parts], axis=1),
        valid=np.concatenate([p.valid for p in parts], axis=1),
        owners=np.concatenate([p.owners for p in parts]),
        looks_like=np.concatenate([p.looks_like for p in parts]),
        names=tuple(name for p in parts for name in p.names),
    )


def _box(dots: _Dots) -> Floats:
    """The corners of the area of all visible dots, shape (2, 2)."""
    seen = dots.places[dots.valid]
    return np.stack([seen.min(axis=0), seen.max(axis=0)]) if len(seen) else np.zeros((2, 2))


def _noise(figures: _Dots, spec: StimulusSpec, *, picture: Floats, rng: np.random.Generator) -> _Dots:
    """The noise dots, over the picture (`picture`, a radius from its edge) or around the figures.

    Scrambled ones move, look and are hidden as the figures' dots; none belongs to a figure.
    """
    n_frames, n = len(figures.places), spec.n_noise
    box = picture if spec.noise_area == "picture" else _box(figures)
    nobody = np.full(n, -1, np.int64)
    if spec.noise == "random":
        places = mask_random(n_frames, n, box, life_frames=spec.noise_life_frames, rng=rng)
        valid, looks_like = np.ones((n_frames, n), bool), nobody
    else:
        phases = spec.noise_phases == "drawn"
        places, valid, copied = mask_scrambled(
            figures.places, figures.valid, n, box=box, phases=phases, rng=rng
        )
        looks_like = figures.looks_like[copied]
    return _Dots(places=places, valid=valid, owners=nobody, looks_like=looks_like, names=("",) * n)


def _levels(owner: NDArray[np.int64], spec: StimulusSpec) -> NDArray[np.uint8]:
    """The colour of each dot, shape (n_dots, 3): a blend of the background and its own."""
    target = np.full((len(owner), 3), 255.0)
    if spec.colours == "two":
        for figure, colour in enumerate(_COLOURS):
            target[owner == figure] = colour
    return np.rint(spec.background + spec.contrast * (target - spec.background)).astype(np.uint8)


def kept_points(names: Sequence[str], left_out: Sequence[str]) -> list[int]:
    """The indices of the points not left out.

    Raises:
        UsageError: nothing is left, or a name that there is not.
    """
    unknown = [n for n in left_out if n not in names]
    kept = [i for i, n in enumerate(names) if n not in left_out]
    if unknown or not kept:
        raise UsageError(f"{', '.join(unknown) or 'all points'} cannot be left out of {', '.join(names)}")
    return kept


def without_dots(figure: Motion, names: Sequence[str]) -> Motion:
    """A figure without some points; `StimulusSpec.leave_out` hides them but keeps scale and path.

    Raises:
        UsageError: nothing is left, or a name that it does not have.
    """
    kept = kept_points(figure.names, names)
    return replace(
        figure,
        positions_m=figure.positions_m[:, kept],
        is_valid=figure.is_valid[:, kept],
        names=tuple(figure.names[i] for i in kept),
        parents=(),
    )
