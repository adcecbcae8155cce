"""Make a point-light stimulus: place, size and brightness of every dot in every frame.

Everything that was decided is in a `StimulusSpec`, and every draw follows from its seed, so that the same
motion and the same spec give the same picture, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.body import limbs_of
from vidence.pointlight.manipulations import (
    jittered,
    limited_life,
    lost_dots,
    mask_linear,
    mask_random,
    mask_scrambled,
    scrambled_phases,
    scrambled_places,
)
from vidence.pointlight.motion import Motion, backwards, part, resampled, seamless, trimmed
from vidence.pointlight.specs import StimulusSpec, seen

Floats = NDArray[np.float64]
# Told apart by most kinds of colour blindness.
_COLOURS = ((255, 176, 0), (100, 180, 255))


@dataclass(frozen=True, kw_only=True)
class Stimulus:
    """The dots of every frame.

    Shapes: `centres_px` (n_frames, n_dots, 2), x to the right and y down from the upper left corner, NaN for
    a dot that is not shown; `radii_px` (n_frames, n_dots); `levels` (n_dots, 3), RGB 0..255; `owners`
    (n_dots,), the figure that a dot belongs to, -1 for noise.
    """

    spec: StimulusSpec
    centres_px: Floats
    radii_px: Floats
    levels: NDArray[np.uint8]
    owners: NDArray[np.int64]
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
    timed = in_time(figures, spec)
    places, scales, valid = _pictured(timed, spec)
    px_per_m, middle = _scale(places, valid, spec)
    rng = np.random.default_rng(spec.seed)
    made = [
        _disturbed(places[i], valid[i], names=timed[i].names, spec=spec, rng=rng) for i in range(len(timed))
    ]
    fps = timed[0].fps
    noise = _noise(made, spec, px_per_m=px_per_m, middle=middle, fps=fps, rng=rng)
    owners = [np.full(p.shape[1], i, np.int64) for i, (p, _) in enumerate(made)]
    all_places = np.concatenate([p for p, _ in [*made, noise]], axis=1)
    all_valid = np.concatenate([v for _, v in [*made, noise]], axis=1)
    owner = np.concatenate([*owners, np.full(noise[0].shape[1], -1, np.int64)])
    radii = _radii(scales, owner, spec)
    flip = np.array([1.0, -1.0])
    centres = (all_places - middle) * px_per_m * flip + np.array([spec.width_px, spec.height_px]) / 2
    background = _background(spec)
    return Stimulus(
        spec=spec,
        centres_px=np.where(all_valid[..., None], centres, np.nan),
        radii_px=radii,
        levels=_levels(owner, spec, background=background, rng=rng),
        owners=owner,
        fps=fps,
        px_per_m=px_per_m,
        background=background,
    )


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


def _pictured(
    figures: Sequence[Motion], spec: StimulusSpec
) -> tuple[list[Floats], list[Floats], list[NDArray[np.bool_]]]:
    """Places in the picture plane (metres), scales and validity of each figure, mirrored and inverted."""
    together = np.concatenate([f.positions_m for f in figures], axis=1)
    valid = np.concatenate([f.is_valid for f in figures], axis=1)
    if not valid.any():
        raise DataError("no point of these motions is seen in the frames that are wanted")
    together = np.where(valid[..., None], together, np.nan)
    positions = [f.positions_m for f in figures]
    if spec.framing == "follow":
        way = _floor_path(together, valid)
        positions, together = [p - way for p in positions], together - way
    low, high = np.nanmin(together, axis=(0, 1)), np.nanmax(together, axis=(0, 1))
    sign = np.array([-1.0 if spec.is_mirrored else 1.0, -1.0 if spec.is_inverted else 1.0])
    places, scales, shown = [], [], []
    for figure, where in zip(figures, positions, strict=True):
        place, scale = seen(where, spec.view, centre_m=(low + high) / 2)
        places.append(place * sign)
        scales.append(scale)
        shown.append(figure.is_valid & np.isfinite(scale))
    return places, scales, shown


def _floor_path(together: Floats, valid: NDArray[np.bool_]) -> Floats:
    """Where the middle of all points moves along the floor, shape (n_frames, 1, 3); heights stay."""
    counted = np.maximum(valid.sum(axis=1), 1)[:, None]
    mean = np.nansum(together, axis=1) / counted
    seen_at = np.flatnonzero(valid.any(axis=1))
    frames = np.arange(len(mean))
    way = np.stack([np.interp(frames, seen_at, mean[seen_at, axis]) for axis in range(3)], axis=1)
    way[:, 1] = 0.0
    made: Floats = way[:, None, :]
    return made


def _scale(
    places: Sequence[Floats], valid: Sequence[NDArray[np.bool_]], spec: StimulusSpec
) -> tuple[float, Floats]:
    """Pixels per metre, and the place in the middle of the picture, for the whole clip."""
    all_places = np.concatenate([p[v] for p, v in zip(places, valid, strict=True)])
    if len(all_places) == 0:
        raise DataError("no point of these motions is in front of the viewer; choose a larger distance_m")
    low, high = all_places.min(axis=0), all_places.max(axis=0)
    middle: Floats = (low + high) / 2
    if spec.px_per_m is not None:
        return spec.px_per_m, middle
    room = np.array([spec.width_px, spec.height_px]) * (1 - 2 * spec.margin) - 2 * spec.dot_radius_px
    size = np.maximum(high - low, 1e-6)
    if room.min() <= 0:
        raise UsageError(
            f"dots of radius {spec.dot_radius_px} px and a margin of {spec.margin:g} leave no room in "
            f"{spec.width_px}x{spec.height_px} px"
        )
    return float((room / size).min()), middle


def _disturbed(
    places: Floats,
    valid: NDArray[np.bool_],
    *,
    names: tuple[str, ...],
    spec: StimulusSpec,
    rng: np.random.Generator,
) -> tuple[Floats, NDArray[np.bool_]]:
    """The dots of one figure with everything done to them that the spec says."""
    if spec.life_frames > 0:
        places, valid = limited_life(
            places,
            valid,
            limbs_of(names),
            n_dots=spec.n_life_dots,
            life_frames=spec.life_frames,
            rng=rng,
        )
    if spec.scramble in {"places", "both"}:
        places = scrambled_places(places, valid, rng=rng)
    if spec.scramble in {"phases", "both"}:
        places, valid = scrambled_phases(places, valid, rng=rng)
    if spec.jitter_m > 0:
        places = jittered(places, spec.jitter_m, rng=rng)
    if spec.dropout > 0:
        valid = lost_dots(valid, spec.dropout, rng=rng)
    return places, valid


def _noise(
    made: Sequence[tuple[Floats, NDArray[np.bool_]]],
    spec: StimulusSpec,
    *,
    px_per_m: float,
    middle: Floats,
    fps: float,
    rng: np.random.Generator,
) -> tuple[Floats, NDArray[np.bool_]]:
    """The noise dots: anywhere in the picture, a radius away from its edge."""
    n_frames = len(made[0][0])
    if spec.n_noise == 0:
        return np.zeros((n_frames, 0, 2)), np.zeros((n_frames, 0), bool)
    half = (np.array([spec.width_px, spec.height_px]) / 2 - spec.dot_radius_px) / px_per_m
    box = np.stack([middle - half, middle + half])
    everywhere = np.ones((n_frames, spec.n_noise), bool)
    if spec.noise == "random":
        life = spec.noise_life_frames
        return mask_random(n_frames, spec.n_noise, box, life_frames=life, rng=rng), everywhere
    if spec.noise == "linear":
        step_m = spec.noise_speed_m_s / fps
        return mask_linear(n_frames, spec.n_noise, box, step_m=step_m, rng=rng), everywhere
    places = np.concatenate([p for p, _ in made], axis=1)
    valid = np.concatenate([v for _, v in made], axis=1)
    return mask_scrambled(places, valid, spec.n_noise, box=box, rng=rng)


def _radii(scales: Sequence[Floats], owner: NDArray[np.int64], spec: StimulusSpec) -> Floats:
    n_frames = len(scales[0])
    radii = np.full((n_frames, len(owner)), spec.dot_radius_px)
    if spec.depth_dots and spec.life_frames == 0:
        n_own = int((owner >= 0).sum())
        own = np.concatenate(list(scales), axis=1)
        radii[:, :n_own] *= np.nan_to_num(own, nan=1.0)
    return radii


def _background(spec: StimulusSpec) -> int:
    if spec.background is not None:
        return spec.background
    return {"light": 0, "dark": 255, "mixed": 128}[spec.polarity]


def _levels(
    owner: NDArray[np.int64], spec: StimulusSpec, *, background: int, rng: np.random.Generator
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
    made: NDArray[np.uint8] = np.rint(background + spec.contrast * (target - background)).astype(np.uint8)
    return made


def without_dots(figure: Motion, names: Sequence[str]) -> Motion:
    """A figure without some of its points.

    Raises:
        UsageError: nothing is left, or a name that it does not have.
    """
    unknown = [n for n in names if n not in figure.names]
    kept = [i for i, n in enumerate(figure.names) if n not in names]
    if unknown or not kept:
        raise UsageError(
            f"{', '.join(unknown) or 'all points'} cannot be left out of {', '.join(figure.names)}"
        )
    return replace(
        figure,
        positions_m=figure.positions_m[:, kept],
        is_valid=figure.is_valid[:, kept],
        names=tuple(figure.names[i] for i in kept),
        parents=(),
    )
