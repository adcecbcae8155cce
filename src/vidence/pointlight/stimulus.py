"""Make a point-light stimulus: place, size and brightness of every dot in every frame.

Everything that was decided is in a `StimulusSpec`, and every draw follows from its seed, so that the same
motion and the same spec give the same picture, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.framing import extent, floor_path, heading_deg, room_px, turned
from vidence.pointlight.manipulations import (
    jittered,
    lost_dots,
    mask_linear,
    mask_random,
    mask_scrambled,
    scrambled_phases,
    scrambled_places,
)
from vidence.pointlight.motion import Motion, backwards, part, resampled, seamless, trimmed
from vidence.pointlight.specs import StimulusSpec, in_pixels, rotation, seen

Floats = NDArray[np.float64]
# Told apart by most kinds of colour blindness.
_COLOURS = ((255, 176, 0), (100, 180, 255))


@dataclass(frozen=True, kw_only=True)
class Stimulus:
    """The dots of every frame.

    Shapes: `centres_px` (n_frames, n_dots, 2), x to the right and y down from the upper left corner, NaN for
    a dot that is not shown; `depths_m` (n_frames, n_dots), towards the viewer from the middle of the figures,
    NaN for a dot that has no place in the room; `radii_px` (n_frames, n_dots); `levels` (n_dots, 3), RGB
    0..255; `owners` (n_dots,), the figure that a dot belongs to, -1 for noise; `names` (n_dots,), the point
    of the body that a dot shows, "" for noise.
    """

    spec: StimulusSpec
    centres_px: Floats
    depths_m: Floats
    radii_px: Floats
    levels: NDArray[np.uint8]
    owners: NDArray[np.int64]
    names: tuple[str, ...]
    fps: float
    px_per_m: float
    background: int

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.centres_px)


def make_stimulus(figures: Sequence[Motion], spec: StimulusSpec) -> Stimulus:
    """The dots of one or more figures that share a room and a clock.

    Figures of different length are cut to the shortest.

    Args:
        figures: bodies or markers, one for each actor; usually what `body` gives.
        spec: how they are shown.

    Raises:
        UsageError: no figure, figures of different frame rates, or a spec that leaves nothing to show.
        DataError: no dot is seen anywhere.
    """
    given, spec = spec, in_pixels(spec)
    timed = in_time(figures, spec)
    pictured, px_per_m, middle = _pictured(timed, spec)
    rng = np.random.default_rng(spec.seed)
    half = (np.array([spec.width_px, spec.height_px]) / 2 - spec.dot_radius_px) / px_per_m
    picture = np.stack([middle - half, middle + half])
    shown = [_without(figure, spec.leave_out) for figure in pictured]
    of_figures = _joined([_disturbed(figure, spec, rng=rng) for figure in shown])
    noise = _noise(
        of_figures, spec, picture=picture, edge_m=spec.dot_radius_px / px_per_m, fps=timed[0].fps, rng=rng
    )
    dots = _joined([of_figures, noise])
    centres = _in_picture(dots.places, spec, px_per_m=px_per_m, middle=middle)
    background = _background(spec)
    return Stimulus(
        spec=given,
        centres_px=np.where(dots.valid[..., None], centres, np.nan),
        depths_m=np.where(dots.valid, dots.depths, np.nan),
        radii_px=spec.dot_radius_px * dots.scales,
        levels=_levels(dots.looks_like, spec, background=background, rng=rng),
        owners=dots.owners,
        names=dots.names,
        fps=timed[0].fps,
        px_per_m=px_per_m,
        background=background,
    )


def _in_picture(places: Floats, spec: StimulusSpec, *, px_per_m: float, middle: Floats) -> Floats:
    """Pixels from the upper left corner, of places in the picture plane in metres."""
    flip = np.array([1.0, -1.0])
    made: Floats = (places - middle) * px_per_m * flip + np.array([spec.width_px, spec.height_px]) / 2
    return made


@dataclass(frozen=True, kw_only=True)
class _Dots:
    """Dots in the picture plane, in metres.

    Shapes: `places` (n_frames, n_dots, 2), `valid` and `scales` (n_frames, n_dots), how large a dot looks;
    `depths` (n_frames, n_dots), towards the viewer, NaN for none; `owners` (n_dots,), the figure that a dot
    belongs to, -1 for noise, and `looks_like` the figure whose colour it has; `names` of points.
    """

    places: Floats
    depths: Floats
    valid: NDArray[np.bool_]
    scales: Floats
    owners: NDArray[np.int64]
    looks_like: NDArray[np.int64]
    names: tuple[str, ...]


def in_time(figures: Sequence[Motion], spec: StimulusSpec) -> list[Motion]:
    """The frames of each figure that a spec shows, at the rate of the display; arguments as above."""
    if not figures:
        raise UsageError("a stimulus needs at least one figure")
    rates = {f.fps for f in figures}
    if len(rates) > 1:
        listed = ", ".join(f"{rate:g}" for rate in sorted(rates))
        raise UsageError(f"figures that are shown together must have one frame rate, these have {listed}")
    shortest = min(f.n_frames for f in figures)
    made = [trimmed(part(f, 0, shortest - 1), spec.trim_share) for f in figures]
    if spec.fps is not None:
        made = [resampled(f, spec.fps) for f in made]
    available = (made[0].n_frames - 1) // spec.step + 1
    n_frames = available if spec.n_frames is None else spec.n_frames
    if n_frames > available:
        raise UsageError(
            f"{n_frames} frames in steps of {spec.step} are wanted, and there are {available} "
            f"(at {made[0].fps:g} frames per second, without {spec.trim_share:.0%} at both ends)"
        )
    length = (n_frames - 1) * spec.step + 1
    start = (made[0].n_frames - length) // 2 if spec.start_frame is None else spec.start_frame
    made = [part(f, start, start + length - 1, step=spec.step) for f in made]
    made = [backwards(f) for f in made] if spec.is_backwards else made
    return [seamless(f) for f in made] if spec.is_loop else made


def _pictured(figures: Sequence[Motion], spec: StimulusSpec) -> tuple[list[_Dots], float, Floats]:
    """The dots of each figure in the picture plane, mirrored and inverted; and how the picture shows it.

    The second is pixels per metre, the third the place in the middle of the picture, for the whole clip.
    Points that are left out are gone from the dots only: heading, path and scale are those of the body.
    """
    together = np.concatenate([f.positions_m for f in figures], axis=1)
    valid = np.concatenate([f.is_valid for f in figures], axis=1)
    if not valid.any():
        raise DataError("no point of these motions is seen in the frames that are wanted")
    turn_deg = heading_deg(figures) if spec.heading == "viewer" else 0.0
    way = floor_path(figures, spec.framing)
    together = turned(np.where(valid[..., None], together, np.nan) - way, turn_deg)
    centre_m = (np.nanmin(together, axis=(0, 1)) + np.nanmax(together, axis=(0, 1))) / 2
    sign = np.array([-1.0 if spec.is_mirrored else 1.0, -1.0 if spec.is_inverted else 1.0])
    made = []
    for owner, figure in enumerate(figures):
        there = turned(figure.positions_m - way, turn_deg)
        place, scale = seen(there, spec.view, centre_m=centre_m)
        owners = np.full(len(figure.names), owner, np.int64)
        made.append(
            _Dots(
                places=place * sign,
                depths=(there - centre_m) @ rotation(spec.view)[2],
                valid=figure.is_valid & np.isfinite(scale),
                scales=scale,
                owners=owners,
                looks_like=owners,
                names=figure.names,
            )
        )
    px_per_m, middle = _scale(made, together[valid] - centre_m, spec)
    return made, px_per_m, middle


def _scale(figures: Sequence[_Dots], points_m: Floats, spec: StimulusSpec) -> tuple[float, Floats]:
    """Pixels per metre, and the place in the middle of the picture, for the whole clip."""
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
    """The dots of a figure less those that are left out."""
    kept = kept_points(dots.names, left_out)
    return _Dots(
        places=dots.places[:, kept],
        depths=dots.depths[:, kept],
        valid=dots.valid[:, kept],
        scales=dots.scales[:, kept],
        owners=dots.owners[kept],
        looks_like=dots.looks_like[kept],
        names=tuple(dots.names[i] for i in kept),
    )


def _disturbed(dots: _Dots, spec: StimulusSpec, *, rng: np.random.Generator) -> _Dots:
    """The dots of one figure with everything done to them that the spec says."""
    places, valid, owner = dots.places, dots.valid, int(dots.owners[0])
    depths = dots.depths
    scales = np.nan_to_num(dots.scales, nan=1.0) if spec.depth_dots else np.ones(valid.shape)
    if spec.scramble in {"places", "both"}:
        places = scrambled_places(places, valid, rng=rng)
    if spec.scramble in {"phases", "both"}:
        places, valid, frames = scrambled_phases(places, valid, rng=rng)
        scales = scales[frames, np.arange(frames.shape[1])]
        depths = depths[frames, np.arange(frames.shape[1])]
    if spec.jitter_m > 0:
        places = jittered(places, spec.jitter_m, rng=rng)
    if spec.dropout > 0:
        valid = lost_dots(valid, spec.dropout, rng=rng)
    owners = np.full(places.shape[1], owner, np.int64)
    return _Dots(
        places=places,
        depths=depths,
        valid=valid,
        scales=scales,
        owners=owners,
        looks_like=owners,
        names=dots.names,
    )


def _joined(parts: Sequence[_Dots]) -> _Dots:
    return _Dots(
        places=np.concatenate([p.places for p in parts], axis=1),
        depths=np.concatenate([p.depths for p in parts], axis=1),
        valid=np.concatenate([p.valid for p in parts], axis=1),
        scales=np.concatenate([p.scales for p in parts], axis=1),
        owners=np.concatenate([p.owners for p in parts]),
        looks_like=np.concatenate([p.looks_like for p in parts]),
        names=tuple(name for p in parts for name in p.names),
    )


def _box(dots: _Dots) -> Floats:
    """The corners of the area in which dots are ever seen, shape (2, 2)."""
    seen = dots.places[dots.valid]
    return np.stack([seen.min(axis=0), seen.max(axis=0)]) if len(seen) else np.zeros((2, 2))


def _copies(dots: _Dots, n_copies: int, *, box: Floats, phases: bool, rng: np.random.Generator) -> _Dots:
    """Dots that move, look and go out as these do, elsewhere; they belong to nobody."""
    made = mask_scrambled(dots.places, dots.valid, n_copies, box=box, phases=phases, rng=rng)
    return _Dots(
        places=made.places,
        depths=dots.depths[made.frames, made.copied],
        valid=made.valid,
        scales=dots.scales[made.frames, made.copied],
        owners=np.full(n_copies, -1, np.int64),
        looks_like=dots.looks_like[made.copied],
        names=("",) * n_copies,
    )


def _noise(
    figures: _Dots,
    spec: StimulusSpec,
    *,
    picture: Floats,
    edge_m: float,
    fps: float,
    rng: np.random.Generator,
) -> _Dots:
    """The noise dots, in the picture (`picture`, a radius away from its edge) or where the figures are."""
    n_frames, n = len(figures.places), spec.n_noise
    box = picture if spec.noise_area == "picture" else _box(figures)
    if spec.noise == "scrambled" and n > 0:
        return _copies(figures, n, box=box, phases=spec.noise_phases == "drawn", rng=rng)
    if spec.noise == "linear" and n > 0:
        given = spec.noise_speed_m_s
        steps_m = _steps(figures, n, rng=rng) if given is None else np.full(n, given / fps)
        places, valid = mask_linear(n_frames, box, steps_m=steps_m, edge_m=edge_m, rng=rng)
    elif n > 0:
        life = spec.noise_life_frames
        places = mask_random(n_frames, n, box, life_frames=life, rng=rng)
        valid = np.ones((n_frames, n), bool)
    else:
        places, valid = np.zeros((n_frames, 0, 2)), np.zeros((n_frames, 0), bool)
    if spec.dropout > 0:
        valid = lost_dots(valid, spec.dropout, rng=rng)
    nobody = np.full(n, -1, np.int64)
    return _Dots(
        places=places,
        depths=np.full((n_frames, n), np.nan),
        valid=valid,
        scales=np.ones((n_frames, n)),
        owners=nobody,
        looks_like=nobody,
        names=("",) * n,
    )


def _steps(figures: _Dots, n: int, *, rng: np.random.Generator) -> Floats:
    """For each of `n` dots the mean step of one of the figure's, in metres; each taken as often."""
    steps = np.linalg.norm(np.diff(figures.places, axis=0), axis=2)
    both = figures.valid[1:] & figures.valid[:-1]
    mean = np.where(both, steps, 0.0).sum(axis=0) / np.maximum(both.sum(axis=0), 1)
    made: Floats = mean[rng.permutation(np.arange(n) % len(mean))]
    return made


def _background(spec: StimulusSpec) -> int:
    if spec.background is not None:
        return spec.background
    middle = 128 if spec.gamma == 1 else round(255 * 0.5 ** (1 / spec.gamma))
    return {"light": 0, "dark": 255, "mixed": middle}[spec.polarity]


def _between(target: Floats, share: Floats, *, gamma: float, background: int) -> NDArray[np.uint8]:
    """The value a share of the way from the background to another, in luminance where there is a gamma."""
    if gamma == 1:
        made = background + share * (target - background)
    else:
        low, high = (background / 255) ** gamma, (target / 255) ** gamma
        made = 255 * (low + share * (high - low)) ** (1 / gamma)
    return np.rint(made).astype(np.uint8)


def _levels(
    owner: NDArray[np.int64],
    spec: StimulusSpec,
    *,
    background: int,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """The colour of each dot, shape (n_dots, 3)."""
    up = {
        "light": np.ones(len(owner), bool),
        "dark": np.zeros(len(owner), bool),
        "mixed": rng.permutation(len(owner)) % 2 == 0,
    }[spec.polarity]
    target = np.where(up, 255.0, 0.0)[:, None].repeat(3, axis=1)
    if spec.colours == "two":
        for figure, colour in enumerate(_COLOURS):
            target[owner == figure] = colour
    share = np.full((len(owner), 1), spec.contrast)
    return _between(target, share, gamma=spec.gamma, background=background)


def kept_points(names: Sequence[str], left_out: Sequence[str]) -> list[int]:
    """The places of the points that are not left out.

    Raises:
        UsageError: nothing is left, or a name that there is not.
    """
    unknown = [n for n in left_out if n not in names]
    kept = [i for i, n in enumerate(names) if n not in left_out]
    if unknown or not kept:
        raise UsageError(f"{', '.join(unknown) or 'all points'} cannot be left out of {', '.join(names)}")
    return kept


def without_dots(figure: Motion, names: Sequence[str]) -> Motion:
    """A figure without some of its points; `StimulusSpec.leave_out` hides them, and keeps scale and path.

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
