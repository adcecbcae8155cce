"""Ideal observer: how well point-light actions can be told apart by one who knows every motion.

The observer knows the motions pixel by pixel (view, size, place and phase included), how large the jitter
is, and how many noise dots there are, which it takes for ones that lie anywhere, anew in each frame. Nobody
can do better with the labelled dots that it is given; people and models do worse, and how much worse is their
efficiency.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.pointlight.stimulus import Stimulus
from vidence.records import Estimate, Record
from vidence.statistics.intervals import proportion

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Template:
    """One motion as the observer knows it: undisturbed dots in the picture.

    Shapes: `places_px` (n_frames, n_dots, 2), NaN where a dot is not shown. `sd_px` is the standard deviation
    of each coordinate of a dot around its place, in pixels: the jitter of the display and what the observer
    adds. `group` is the semantic group of the label; labels of one group are no choices together. `noise_px`
    (n_frames, n_noise, 2) are the noise dots of this clip, those that models are shown; None: no noise.
    """

    label: str
    places_px: Floats
    sd_px: float
    group: str = ""
    noise_px: Floats | None = None

    def __post_init__(self) -> None:
        if self.noise_px is not None and len(self.noise_px) != len(self.places_px):
            raise ValueError(f"noise of {len(self.noise_px)} frames for {len(self.places_px)} of places")
        if self.places_px.ndim != 3 or self.places_px.shape[2] != 2:
            raise ValueError(f"places of shape {self.places_px.shape}; expected (n_frames, n_dots, 2)")
        if not self.sd_px > 0:
            raise UsageError(f"an observer needs a jitter above 0, not {self.sd_px:g} px")


class Viewing(Record, omit_defaults=True):
    """What the observer is shown of a motion, and how it is asked.

    `n_frames` are taken from the middle (None: all); `n_dots` of the dots are drawn anew for each trial
    (None: all). With `is_labelled` the observer knows which dot is which and of how many, so that noise dots
    are none; without, all dots look alike, in a picture of `width_px` by `height_px`.
    """

    n_frames: int | None = None
    n_dots: int | None = None
    width_px: int = 128
    height_px: int = 128
    is_labelled: bool = False
    n_choices: int = 3
    n_trials: int = 400


def template(stimulus: Stimulus, *, label: str, group: str, jitter_m: float, own_sd_px: float) -> Template:
    """What the observer knows of a stimulus, and the noise dots that it is shown with it.

    Args:
        stimulus: made without jitter and dropout.
        label: what it shows.
        group: the semantic group of the label.
        jitter_m: the jitter of the display, in metres.
        own_sd_px: what the observer itself adds, in pixels; its variance is added to that of the jitter.
    """
    sd_px = float(np.hypot(jitter_m * stimulus.px_per_m, own_sd_px))
    is_noise = stimulus.owners < 0
    return Template(
        label=label,
        places_px=stimulus.centres_px[:, ~is_noise],
        sd_px=sd_px,
        group=group,
        noise_px=stimulus.centres_px[:, is_noise] if is_noise.any() else None,
    )


def observed_accuracy(
    templates: Sequence[Template], viewing: Viewing, *, rng: np.random.Generator, level: float = 0.95
) -> Estimate:
    """The share of trials in which the observer names the right label, with Wilson's interval.

    In each trial a label is drawn, and one of its templates, which is disturbed: independent Gaussian jitter
    of every dot in every frame, and the noise dots of the clip, the same ones that models see. The choices
    are its label and others of other groups, taken as alike likely. The observer sums the likelihoods of all
    templates of a label and takes the label with the largest sum.

    With `is_labelled` this is the ideal observer, and its accuracy bounds everybody's from above. Without,
    it takes each dot of a frame for an independent draw: with chance n_dots / (n_dots + n_noise) one of
    the figure's dots, any of them, else noise, anywhere. It does not use that a frame shows each dot once,
    nor how noise dots move, so that the ideal observer of dots that look alike lies between the two.

    Args:
        templates: the motions that there may be.
        viewing: what is shown of them.
        rng: where trials are drawn from.
        level: coverage of the interval.

    Source: Gold, Tadin, Cook & Blake (2008), "The efficiency of biological motion perception" (an ideal
        observer as the yardstick, which knows the possible stimuli and their noise); Green & Swets (1966),
        chapter 1 (the rule of the largest likelihood); for two templates and labelled dots the accuracy is
        the normal distribution function at d' / 2, d' the distance of the templates over the jitter.
    Departs: Gold et al. add Gaussian noise to the luminance of pixels and vary contrast; here dots are
        displaced and noise dots added, as is usual for point lights.

    Raises:
        UsageError: fewer labels than choices, or more frames or dots than there are.
    """
    labels = {t.label: t.group for t in templates}
    _check(templates, viewing, n_labels=len(labels))
    others = {
        name: [o for o, g in labels.items() if o != name and (not group or g != group)]
        for name, group in labels.items()
    }
    short = [name for name, found in others.items() if len(found) < viewing.n_choices - 1]
    if short:
        raise UsageError(
            f"{short[0]} has {len(others[short[0]])} labels of other groups to stand beside it; "
            f"expected {viewing.n_choices - 1} for {viewing.n_choices} choices"
        )
    cut = [_middle(t, viewing.n_frames) for t in templates]
    n_right = 0
    for _ in range(viewing.n_trials):
        label = list(labels)[int(rng.integers(len(labels)))]
        of_label = [t for t in cut if t.label == label]
        shown = of_label[int(rng.integers(len(of_label)))]
        drawn = rng.choice(len(others[shown.label]), size=viewing.n_choices - 1, replace=False)
        choices = [shown.label, *(others[shown.label][int(i)] for i in drawn)]
        n_right += _trial(shown, choices, cut, viewing=viewing, rng=rng)
    return proportion(n_right, viewing.n_trials, level=level)


def _check(templates: Sequence[Template], viewing: Viewing, *, n_labels: int) -> None:
    if viewing.n_choices < 2 or n_labels < viewing.n_choices:
        raise UsageError(
            f"{n_labels} labels for {viewing.n_choices} choices; expected at least as many, and two"
        )
    fewest = min(t.places_px.shape[0] for t in templates)
    if viewing.n_frames is not None and not 1 <= viewing.n_frames <= fewest:
        raise UsageError(f"{viewing.n_frames} frames are wanted, and the shortest motion has {fewest}")
    least = min(t.places_px.shape[1] for t in templates)
    if viewing.n_dots is not None and not 1 <= viewing.n_dots <= least:
        raise UsageError(f"{viewing.n_dots} dots are wanted, and a motion has {least}")
    if viewing.n_trials < 1:
        raise UsageError(f"{viewing.n_trials} trials make no sense")
    if len({t.places_px.shape[0] for t in templates}) > 1 and viewing.n_frames is None:
        raise UsageError("motions of different length are shown; say how many frames to take (n_frames)")


def _middle(whole: Template, n_frames: int | None) -> Template:
    if n_frames is None:
        return whole
    start = (len(whole.places_px) - n_frames) // 2
    part = slice(start, start + n_frames)
    noise = None if whole.noise_px is None else whole.noise_px[part]
    return replace(whole, places_px=whole.places_px[part], noise_px=noise)


def _trial(
    shown: Template,
    choices: Sequence[str],
    templates: Sequence[Template],
    *,
    viewing: Viewing,
    rng: np.random.Generator,
) -> bool:
    """Whether the observer names `choices[0]`, the label of the template that is shown."""
    n_dots = shown.places_px.shape[1]
    kept = np.arange(n_dots)
    if viewing.n_dots is not None:
        kept = np.sort(rng.permutation(n_dots)[: viewing.n_dots])
    places = shown.places_px[:, kept]
    dots = places + rng.normal(0.0, shown.sd_px, places.shape)
    if viewing.is_labelled:
        fits = [
            _labelled(dots, t, kept) if t.places_px.shape[1] == n_dots else -np.inf
            for t in templates
            if t.label in choices
        ]
    else:
        noise = np.empty((len(dots), 0, 2)) if shown.noise_px is None else shown.noise_px
        everything = np.concatenate([dots, noise], axis=1)
        share = len(kept) / (len(kept) + noise.shape[1])
        even = (1 - share) / (viewing.width_px * viewing.height_px)
        fits = [_alike(everything, t, share=share, even=even) for t in templates if t.label in choices]
    of = [t.label for t in templates if t.label in choices]
    sums = []
    for label in choices:
        own = np.array([fit for fit, name in zip(fits, of, strict=True) if name == label])
        sums.append(float(np.logaddexp.reduce(own)) - np.log(len(own)))
    best = np.flatnonzero(np.asarray(sums) >= max(sums) - 1e-9)  # equal up to rounding
    return bool(best[int(rng.integers(len(best)))] == 0)


def _labelled(dots: Floats, known: Template, kept: NDArray[np.int64]) -> float:
    """The log-likelihood of dots that are told apart; dots that either side does not show say nothing."""
    squared = ((dots - known.places_px[:, kept]) / known.sd_px) ** 2
    n_seen = int(np.isfinite(squared).sum())
    return float(-0.5 * np.nansum(squared) - n_seen * np.log(known.sd_px))


def _alike(dots: Floats, known: Template, *, share: float, even: float) -> float:
    """The log-likelihood of dots that look alike: each one of the figure's, any of them, or noise."""
    away = (dots[:, :, None] - known.places_px[:, None]) / known.sd_px
    squared = (away**2).sum(axis=3)
    n_shown = np.isfinite(known.places_px).all(axis=2).sum(axis=1)[:, None]
    nearest = np.where(np.isfinite(squared), squared, 1e9).min(axis=2, keepdims=True)
    total = np.nansum(np.exp(-0.5 * (squared - nearest)), axis=2)
    density = np.log(2 * np.pi * known.sd_px**2 * np.maximum(n_shown, 1))
    of_figure = np.log(np.maximum(total, 1e-300)) - 0.5 * nearest[..., 0] - density
    with np.errstate(divide="ignore"):
        each = np.logaddexp(np.log(share) + of_figure, np.log(even))
    is_dot = np.isfinite(dots).all(axis=2)
    return float(each[is_dot].sum())
