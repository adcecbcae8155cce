"""Manipulate the dots of a figure: scrambling, phases, jitter, limited lifetime, masking dots.

All of it works on places in the picture plane in metres, shape (n_frames, n_dots, 2), and takes a seeded
generator. A figure's own motion is what is left when the middle of its dots is taken away frame by frame.
"""

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def middles(places: Floats, valid: Bools) -> Floats:
    """The mean of the dots that are seen, frame by frame, shape (n_frames, 1, 2).

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
    made: Floats = mean[nearest][:, None, :]
    return made


def scrambled_places(places: Floats, valid: Bools, *, rng: np.random.Generator) -> Floats:
    """Spatial scrambling: each dot keeps its own motion, and starts anywhere in the figure's box.

    The mean place of each dot, seen from the middle of the figure, is drawn anew and uniformly from the box
    around the mean places of all dots.

    Source: Cutting, Moore & Morton (1988); Troje & Westhoff (2006): position-scrambled walkers.
    """
    middle = middles(places, valid)
    own = places - middle
    means = _mean_over_time(own, valid)
    low, high = np.nanmin(means, axis=0), np.nanmax(means, axis=0)
    drawn = rng.uniform(size=means.shape) * (high - low) + low
    made: Floats = middle + own - means + drawn
    return made


def scrambled_phases(places: Floats, valid: Bools, *, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Phase scrambling: each dot runs through its own motion from another moment on, in a circle.

    Source: Bertenthal & Pinto (1994): phase-perturbed point-light displays.
    Departs: clips that are no loop jump where their end meets their beginning.
    """
    middle = middles(places, valid)
    own, n_frames = places - middle, len(places)
    shifts = rng.integers(0, n_frames, size=places.shape[1])
    frames = (np.arange(n_frames)[:, None] + shifts) % n_frames
    dots = np.arange(places.shape[1])
    return middle + own[frames, dots], valid[frames, dots]


def jittered(places: Floats, sigma_m: float, *, rng: np.random.Generator) -> Floats:
    """Each dot moved in every frame by a normal error of this standard deviation (metres) on either axis."""
    return places + rng.normal(0.0, sigma_m, size=places.shape)


def lost_dots(valid: Bools, share: float, *, rng: np.random.Generator) -> Bools:
    """Dots that go out for a frame, each with this probability."""
    return valid & (rng.uniform(size=valid.shape) >= share)


def limited_life(
    joints: Floats,
    valid: Bools,
    bones: NDArray[np.int64],
    *,
    n_dots: int,
    life_frames: int,
    rng: np.random.Generator,
) -> tuple[Floats, Bools]:
    """Dots on the limbs that live for some frames and are then placed anew.

    Each dot sits at a random point of a random limb, moves with it for `life_frames` frames, and is drawn
    anew; the first lives are of random length, so that the same share of dots changes in every frame. No dot
    follows one joint for long: what moves is the limb.

    Args:
        joints: places of the joints, shape (n_frames, n_joints, 2).
        valid: which joints are seen.
        bones: pairs of joints, shape (n_bones, 2).
        n_dots: how many dots are shown in each frame.
        life_frames: how long one lives, at least 1.
        rng: draws limbs, points and first ages.

    Source: Beintema & Lappe (2002), section "Stimuli": dots at random points of the limbs, relocated after
        a fixed number of frames.
    Departs: limbs are drawn in proportion to nothing, each as often as the others.

    Raises:
        UsageError: no limbs, no dots, or no life.
    """
    if len(bones) == 0 or n_dots < 1 or life_frames < 1:
        raise UsageError(
            f"dots of limited life need limbs, dots and at least one frame; there are {len(bones)} limbs, "
            f"{n_dots} dots, {life_frames} frames"
        )
    n_frames = len(joints)
    ages = rng.integers(0, life_frames, size=n_dots)
    # Which life each dot is in, frame by frame; every life has its own limb and point.
    lives = (np.arange(n_frames)[:, None] + ages) // life_frames
    n_lives = int(lives.max()) + 1
    limb = rng.integers(0, len(bones), size=(n_lives, n_dots))
    along = rng.uniform(size=(n_lives, n_dots))
    dots = np.arange(n_dots)
    ends = bones[limb[lives, dots]]
    share = along[lives, dots][..., None]
    frames = np.arange(n_frames)[:, None]
    placed = (1 - share) * joints[frames, ends[..., 0]] + share * joints[frames, ends[..., 1]]
    return placed, valid[frames, ends[..., 0]] & valid[frames, ends[..., 1]]


def mask_random(
    n_frames: int, n_dots: int, box: Floats, *, life_frames: int, rng: np.random.Generator
) -> Floats:
    """Dots that stand still anywhere in a box (low, high; shape (2, 2)) and move on after some frames."""
    ages = rng.integers(0, life_frames, size=n_dots)
    lives = (np.arange(n_frames)[:, None] + ages) // life_frames
    places = rng.uniform(size=(int(lives.max()) + 1, n_dots, 2)) * (box[1] - box[0]) + box[0]
    made: Floats = places[lives, np.arange(n_dots)]
    return made


def mask_linear(
    n_frames: int, n_dots: int, box: Floats, *, step_m: float, rng: np.random.Generator
) -> Floats:
    """Dots that move straight on in random directions, `step_m` metres each frame, and come in again."""
    start = rng.uniform(size=(n_dots, 2)) * (box[1] - box[0]) + box[0]
    heading = rng.uniform(0, 2 * np.pi, size=n_dots)
    step = step_m * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    moved = start + np.arange(n_frames)[:, None, None] * step
    made: Floats = box[0] + np.mod(moved - box[0], np.maximum(box[1] - box[0], 1e-12))
    return made


def mask_scrambled(
    places: Floats, valid: Bools, n_dots: int, *, box: Floats, rng: np.random.Generator
) -> tuple[Floats, Bools]:
    """Dots with the motion of the figure's own dots, each placed anywhere in a box.

    Every mask dot copies the motion of one dot of the figure, chosen in turn, from a random moment on.

    Source: Cutting, Moore & Morton (1988): scrambled-walker masks.
    """
    n_frames = len(places)
    own = places - middles(places, valid)
    means = _mean_over_time(own, valid)
    copied = rng.permutation(np.arange(n_dots) % places.shape[1])
    shifts = rng.integers(0, n_frames, size=n_dots)
    frames = (np.arange(n_frames)[:, None] + shifts) % n_frames
    drawn = rng.uniform(size=(n_dots, 2)) * (box[1] - box[0]) + box[0]
    return own[frames, copied] - means[copied] + drawn, valid[frames, copied]


def _mean_over_time(own: Floats, valid: Bools) -> Floats:
    """The mean place of each dot over the frames that show it, shape (n_dots, 2); 0 where none does."""
    total = np.where(valid[..., None], own, 0.0).sum(axis=0)
    made: Floats = total / np.maximum(valid.sum(axis=0), 1)[:, None]
    return made
