"""The ideal observer against closed forms, and where its bounds must lie."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from vidence.errors import UsageError
from vidence.pointlight.figures import staged
from vidence.pointlight.observer import Template, Viewing, observed_accuracy, template
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.stimulus import make_stimulus
from vidence.records import Estimate

N_TRIALS = 1200


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def two(d_prime: float, *, sd_px: float = 2.0, n_frames: int = 4, n_dots: int = 5) -> list[Template]:
    """Two motions whose distance over the jitter is `d_prime`."""
    draws = np.random.default_rng(3)
    first = draws.uniform(30, 90, (n_frames, n_dots, 2))
    apart = draws.normal(size=first.shape)
    second = first + apart / np.linalg.norm(apart) * d_prime * sd_px
    return [
        Template(label=name, places_px=places, sd_px=sd_px) for name, places in (("a", first), ("b", second))
    ]


def close(estimate: Estimate, expected: float) -> bool:
    """Within four standard errors of what is expected."""
    return abs(estimate.value - expected) < 4 * np.sqrt(expected * (1 - expected) / estimate.n) + 1e-9


@pytest.mark.parametrize("d_prime", [0.0, 0.5, 1.0, 2.0, 3.5])
def test_two_motions_are_told_apart_as_the_closed_form_says(d_prime: float):
    """Green & Swets: the accuracy is the normal distribution function at half of d'."""
    viewing = Viewing(is_labelled=True, n_choices=2, n_trials=N_TRIALS)
    assert close(observed_accuracy(two(d_prime), viewing, rng=rng()), float(norm.cdf(d_prime / 2)))


def test_more_frames_add_up_by_the_root_of_their_number():
    """The same frame n times: d' grows with the root of n."""
    one = two(1.0, n_frames=1)
    for n_frames in (1, 4, 9):
        many = [
            Template(label=t.label, places_px=np.repeat(t.places_px, n_frames, axis=0), sd_px=t.sd_px)
            for t in one
        ]
        viewing = Viewing(is_labelled=True, n_choices=2, n_trials=N_TRIALS)
        expected = float(norm.cdf(np.sqrt(n_frames) / 2))
        assert close(observed_accuracy(many, viewing, rng=rng()), expected)


def test_one_dot_of_two_that_differ_alike_gives_a_root_of_a_half():
    """Dots moved by the same step, and one of two shown: half of the squared d' is left."""
    first = np.array([[[40.0, 40.0], [80.0, 80.0]]])
    pair = [
        Template(label="a", places_px=first, sd_px=2.0),
        Template(label="b", places_px=first + np.array([2.0, 0.0]), sd_px=2.0),
    ]
    viewing = Viewing(is_labelled=True, n_dots=1, n_choices=2, n_trials=N_TRIALS)
    assert close(observed_accuracy(pair, viewing, rng=rng()), float(norm.cdf(1.0 / 2)))


def test_among_three_motions_equally_far_apart_the_best_of_three_wins():
    """Three orthogonal steps of length c: the right one is the largest of three normal draws."""
    length, sd_px = 2.0, 1.0
    base = np.full((1, 3, 2), 50.0)
    templates = []
    for n in range(3):
        places = base.copy()
        places[0, n, 0] += length * sd_px
        templates.append(Template(label=str(n), places_px=places, sd_px=sd_px))
    x = np.linspace(-10, 14, 40001)
    expected = float(np.trapezoid(norm.pdf(x - length) * norm.cdf(x) ** 2, x))
    found = observed_accuracy(templates, Viewing(is_labelled=True, n_trials=N_TRIALS), rng=rng())
    assert close(found, expected)


def test_dots_that_look_alike_without_noise_far_apart_are_as_good_as_labelled():
    first = np.array([[[20.0, 20.0], [100.0, 100.0]]])
    pair = [
        Template(label="a", places_px=first, sd_px=2.0),
        Template(label="b", places_px=first + np.array([2.0, 0.0]), sd_px=2.0),
    ]
    viewing = Viewing(n_choices=2, n_trials=N_TRIALS)
    assert close(observed_accuracy(pair, viewing, rng=rng()), float(norm.cdf(np.sqrt(2) / 2)))


def test_noise_dots_lower_what_dots_that_look_alike_tell_and_nothing_else():
    templates = two(4.0, sd_px=6.0)
    values = {}
    for n_noise in (0, 20, 400):
        for is_labelled in (True, False):
            shape = (len(templates[0].places_px), n_noise, 2)
            noisy = [replace(one, noise_px=rng().uniform(0, 128, shape)) for one in templates]
            viewing = Viewing(is_labelled=is_labelled, n_choices=2, n_trials=400)
            values[n_noise, is_labelled] = observed_accuracy(noisy, viewing, rng=rng()).value
    assert values[0, True] == values[20, True] == values[400, True]
    assert values[0, False] > values[20, False] > values[400, False]
    assert all(values[n, True] >= values[n, False] for n in (0, 20, 400))
    assert values[400, False] > 0.5 - 0.07


def test_the_noise_dots_are_those_of_the_clip():
    spec = StimulusSpec(width_px=128, height_px=128, n_noise=7, noise_phases="kept")
    made = make_stimulus(staged(["walker:walk"]), spec)
    known = template(made, label="walk", group="", jitter_m=0.0, own_sd_px=1.0)
    assert known.noise_px is not None
    assert np.array_equal(known.noise_px, made.centres_px[:, 13:])
    with pytest.raises(ValueError, match="noise of 1 frames"):
        replace(known, noise_px=known.noise_px[:1])


def test_a_label_with_many_motions_has_no_advantage():
    """Four copies of one motion against one of an equal motion: the labels stay alike likely."""
    one, other = two(0.0)
    copies = [one] * 4 + [Template(label="b", places_px=other.places_px, sd_px=other.sd_px)]
    viewing = Viewing(is_labelled=True, n_choices=2, n_trials=N_TRIALS)
    assert close(observed_accuracy(copies, viewing, rng=rng()), 0.5)


def test_built_in_motions_are_told_apart_better_with_more_frames():
    names = {"walk": "a", "wave": "b", "squat": "c"}
    spec = StimulusSpec(width_px=128, height_px=128, dot_radius_px=1.5, n_frames=8)
    known = [
        template(make_stimulus(staged([f"walker:{n}"]), spec), label=n, group=g, jitter_m=0.0, own_sd_px=25.0)
        for n, g in names.items()
    ]
    found = [observed_accuracy(known, Viewing(n_frames=n, n_trials=500), rng=rng()).value for n in (1, 8)]
    assert 1 / 3 < found[0] < found[1]


def test_who_tells_dots_apart_knows_one_figure_from_two():
    """The second motion is the first with another figure beside it: whoever counts tells them apart."""
    one = two(0.0)[0]
    both = Template(label="b", places_px=np.concatenate([one.places_px] * 2, axis=1), sd_px=one.sd_px)
    viewing = Viewing(is_labelled=True, n_choices=2, n_trials=50)
    assert observed_accuracy([one, both], viewing, rng=rng()).value == 1.0


@pytest.mark.parametrize(
    ("viewing", "message"),
    [
        (Viewing(), "2 labels for 3 choices"),
        (Viewing(n_choices=2, n_frames=9), "9 frames are wanted, and the shortest motion has 4"),
        (Viewing(n_choices=2, n_dots=6), "6 dots are wanted, and a motion has 5"),
        (Viewing(n_choices=2, n_trials=0), "make no sense"),
    ],
)
def test_what_cannot_be_shown_is_refused(viewing: Viewing, message: str):
    with pytest.raises(UsageError, match=message):
        observed_accuracy(two(1.0), viewing, rng=rng())


def test_labels_of_one_group_cannot_stand_beside_each_other():
    alike = [Template(label=t.label, places_px=t.places_px, sd_px=2.0, group="same") for t in two(1.0)]
    with pytest.raises(UsageError, match="0 labels of other groups"):
        observed_accuracy(alike, Viewing(n_choices=2), rng=rng())


def test_without_jitter_there_is_nothing_to_observe():
    with pytest.raises(UsageError, match="jitter above 0"):
        Template(label="a", places_px=np.zeros((1, 1, 2)), sd_px=0.0)
