"""From a motion to dots: timing, views, framing, what is done to dots, colours, refusals."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.pointlight.motion import Motion, part, resampled, trimmed
from vidence.pointlight.specs import StimulusSpec, View, seen, spec_of
from vidence.pointlight.stimulus import in_time, make_stimulus, without_dots

NAMES = ("left_hip", "left_knee", "left_ankle", "head")


def moving(n_frames=40, *, fps=40.0, shift_m=0.0):
    """Four points at heights 1, 0.5, 0 and 1.7 m that walk along x at 1 m/s; the ankle swings in z."""
    time_s = np.arange(n_frames) / fps
    places = np.zeros((n_frames, 4, 3))
    places[:, :, 0] = time_s[:, None] + shift_m
    places[:, :, 1] = (1.0, 0.5, 0.0, 1.7)
    places[:, 2, 2] = 0.3 * np.sin(2 * np.pi * time_s)
    return Motion(
        positions_m=places, is_valid=np.ones((n_frames, 4), bool), names=NAMES, fps=fps, kind="body"
    )


def spec(**overrides):
    return StimulusSpec(**{"width_px": 200, "height_px": 200, "fps": None} | overrides)


def test_a_quarter_turn_shows_the_front_from_the_side():
    nose = np.array([[0.0, 0.0, 1.0]])  # towards the viewer
    turned = seen(nose, View(yaw_deg=90), centre_m=np.zeros(3))
    assert np.allclose(turned, [[1.0, 0.0]])
    up = np.array([[0.0, 1.0, 0.0]])
    assert np.allclose(seen(up, View(roll_deg=90), centre_m=np.zeros(3)), [[-1.0, 0.0]])
    behind = np.array([[0.0, 0.0, -1.0]])
    assert np.allclose(seen(behind, View(pitch_deg=90), centre_m=np.zeros(3)), [[0.0, 1.0]])


def test_perspective_makes_near_things_larger_and_leaves_the_centre_alone():
    places = np.array([[1.0, 0, 0], [1.0, 0, 2.0], [1.0, 0, -4.0], [0, 0, 9.0]])
    found = seen(places, View(projection="perspective", distance_m=4.0), centre_m=np.zeros(3))
    assert np.allclose(found[:3, 0], [1.0, 2.0, 0.5])
    assert np.isnan(found[3]).all()  # behind the viewer


@pytest.mark.parametrize("wrong", [{"yaw_deg": np.nan}, {"distance_m": 0.0}])
def test_views_that_make_no_sense_are_refused(wrong):
    with pytest.raises(UsageError):
        View(**wrong)


def test_trimming_rounds_up_as_in_actpld():
    assert trimmed(moving(41)).n_frames == 41 - 2 * 5
    with pytest.raises(UsageError, match="leaves nothing"):
        trimmed(moving(2), 0.4)


def test_resampling_keeps_the_path_and_the_time():
    halved = resampled(moving(41), 20.0)
    assert halved.n_frames == 21
    assert np.allclose(halved.positions_m, moving(41).positions_m[::2])
    finer = resampled(moving(41), 120.0)
    assert np.allclose(finer.positions_m[:, 0, 0], np.arange(finer.n_frames) / 120.0)
    assert finer.duration_s == pytest.approx(41 / 40, abs=1 / 40)


def test_a_frame_between_a_seen_and_an_unseen_one_is_not_seen():
    hidden = moving(5)
    hidden.is_valid[2, 1] = False
    assert resampled(hidden, 80.0).is_valid[:, 1].tolist() == [1, 1, 1, 0, 0, 0, 1, 1, 1]


def test_the_window_lies_in_the_middle_unless_it_is_said_where():
    shown = in_time([moving(41)], spec(n_frames=5, step=2))
    assert np.allclose(shown[0].positions_m[:, 0, 0] * 40, [16, 18, 20, 22, 24])
    assert shown[0].fps == 20
    first = in_time([moving(41)], spec(n_frames=5, start_frame=0))
    assert np.allclose(first[0].positions_m[:, 0, 0] * 40, range(5))
    with pytest.raises(UsageError, match="there are 41"):
        in_time([moving(41)], spec(n_frames=42))


def test_figures_share_a_clock_and_the_shortest_decides():
    both = in_time([moving(41), moving(31)], spec())
    assert [f.n_frames for f in both] == [31, 31]
    with pytest.raises(UsageError, match="40, 60"):
        in_time([moving(), moving(fps=60.0)], spec())
    with pytest.raises(UsageError, match="at least one figure"):
        in_time([], spec())


def test_the_figure_fills_the_picture_less_the_margin_with_one_scale():
    made = make_stimulus([moving()], spec(margin=0.1, dot_radius_px=5.0))
    assert made.px_per_m == pytest.approx((200 * 0.8 - 10) / 1.7)
    assert np.nanmin(made.centres_px[..., 1]) == pytest.approx(25.0)  # the head
    assert np.nanmax(made.centres_px[..., 1]) == pytest.approx(175.0)  # the ankle
    speed = np.diff(made.centres_px[:, 0, 0])
    assert np.allclose(speed, made.px_per_m / 40)


def test_following_takes_the_way_along_the_floor_away_and_nothing_else():
    made = make_stimulus([moving()], spec(framing="follow", px_per_m=50.0))
    assert np.allclose(np.ptp(made.centres_px[:, :, 0], axis=0), 0.0, atol=1e-9)
    assert np.allclose(made.centres_px[0, :, 1], 100 - 50 * (np.array([1, 0.5, 0, 1.7]) - 0.85))


def test_following_keeps_the_bounce_of_a_jump():
    still = moving()
    height_m = 0.3 * np.abs(np.sin(2 * np.pi * np.arange(still.n_frames) / still.fps))
    jumping = replace(still, positions_m=still.positions_m + height_m[:, None, None] * [0.0, 1.0, 0.0])
    made = make_stimulus([jumping], spec(framing="follow", px_per_m=50.0))
    rise_px = made.centres_px[0, :, 1] - made.centres_px[:, :, 1]  # y points down
    assert np.allclose(rise_px, 50.0 * height_m[:, None])


def test_mirroring_and_inverting_swap_the_sides_of_the_picture():
    plain = make_stimulus([moving()], spec())
    mirrored = make_stimulus([moving()], spec(is_mirrored=True))
    inverted = make_stimulus([moving()], spec(is_inverted=True))
    assert np.allclose(mirrored.centres_px, [200, 0] + plain.centres_px * [-1, 1])
    assert np.allclose(inverted.centres_px, [0, 200] + plain.centres_px * [1, -1])


def test_scrambled_places_keep_every_motion_and_stay_in_the_box():
    plain = make_stimulus([moving()], spec(framing="follow", px_per_m=50.0, view=View(yaw_deg=90)))
    made = make_stimulus(
        [moving()], spec(framing="follow", px_per_m=50.0, view=View(yaw_deg=90), scramble="places", seed=3)
    )
    offset = made.centres_px - plain.centres_px
    assert np.allclose(offset, offset[:1])
    assert not np.allclose(offset[0], 0.0, atol=1.0)
    own = plain.centres_px.mean(axis=0)
    assert (made.centres_px.mean(axis=0) >= own.min(axis=0) - 1e-6).all()
    assert (made.centres_px.mean(axis=0) <= own.max(axis=0) + 1e-6).all()


def test_scrambled_phases_take_every_step_once_and_none_besides():
    overrides = {"px_per_m": 50.0, "view": View(yaw_deg=60)}
    plain = make_stimulus([moving()], spec(**overrides)).centres_px
    made = make_stimulus([moving()], spec(**overrides, scramble="phases", seed=5)).centres_px
    steps, moved = np.diff(plain, axis=0), np.diff(made, axis=0)
    for dot in range(4):
        assert any(np.allclose(np.roll(steps[:, dot], -shift, axis=0), moved[:, dot]) for shift in range(39))
    assert np.allclose(made.mean(axis=0), plain.mean(axis=0))


def test_the_seed_decides_every_draw():
    overrides = {"scramble": "both", "n_noise": 9}
    first = make_stimulus([moving()], spec(**overrides, seed=1))
    same = make_stimulus([moving()], spec(**overrides, seed=1))
    other = make_stimulus([moving()], spec(**overrides, seed=2))
    assert np.array_equal(first.centres_px, same.centres_px, equal_nan=True)
    assert not np.array_equal(first.centres_px, other.centres_px, equal_nan=True)
    for noise in ("random", "scrambled"):  # leaves the figure as it is
        noisy = make_stimulus([moving()], spec(n_noise=30, noise=noise, seed=2))
        assert (noisy.owners == -1).sum() == 30
        assert np.array_equal(noisy.centres_px[:, :4], make_stimulus([moving()], spec()).centres_px)


def test_contrast_and_colours():
    light = make_stimulus([moving()], spec(contrast=0.5))
    assert light.levels[0].tolist() == [128, 128, 128]
    grey = make_stimulus([moving()], spec(contrast=0.5, background=100))
    assert grey.levels[0].tolist() == [178, 178, 178]
    two = make_stimulus([moving(), moving(shift_m=1.0)], spec(colours="two"))
    assert two.owners.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert two.levels[0].tolist() != two.levels[4].tolist()


def test_points_that_are_not_seen_are_not_shown():
    hidden = moving()
    hidden.is_valid[10:, 1] = False
    hidden.positions_m[10:, 1] = np.nan
    made = make_stimulus([hidden], spec())
    assert np.isnan(made.centres_px[10:, 1]).all()
    assert np.isfinite(made.centres_px[:10]).all()
    with pytest.raises(DataError, match="no point"):
        make_stimulus([replace(moving(), is_valid=np.zeros((40, 4), bool))], spec())


@pytest.mark.parametrize(
    "wrong",
    [
        {"width_px": 4},
        {"n_frames": 0},
        {"margin": 0.6},
        {"contrast": 1.5},
        {"dot_radius_px": 0.0},
        {"background": 300},
        {"fps": 0.0},
        {"step": 0},
    ],
)
def test_specs_that_make_no_sense_are_refused(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        spec_of({name: str(value) for name, value in wrong.items()})


def test_what_leaves_nothing_to_show_is_refused():
    with pytest.raises(UsageError, match="no room"):
        make_stimulus([moving()], StimulusSpec(width_px=16, height_px=16, dot_radius_px=8.0, fps=None))
    with pytest.raises(UsageError, match="40 frames"):
        part(moving(), 0, 40)
    assert without_dots(moving(), ["head"]).names == NAMES[:3]
    for names in (["nose"], list(NAMES)):
        with pytest.raises(UsageError):
            without_dots(moving(), names)
