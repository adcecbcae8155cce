"""Laws of the codes in pixels and of the worlds they make up."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vidence.ask.phantom.code import Payload, draw, read
from vidence.ask.phantom.plan import WorldSpec, plan_world
from vidence.ask.phantom.planted import visible
from vidence.ask.phantom.questions import N_CHOICES, choose_numbers, partial_sums, understand, wording
from vidence.ask.phantom.scene import COLOURS

payloads = st.builds(
    Payload, world=st.integers(0, 65_535), piece=st.integers(0, 4_095), value=st.integers(0, 4_095)
)
sizes = st.tuples(st.integers(90, 400), st.integers(160, 700))


@given(payload=payloads, size=sizes, background=st.integers(0, 255))
def test_what_is_drawn_is_read(payload: Payload, size: tuple[int, int], background: int):
    assert read(draw(np.full(size, background, np.uint8), payload)) == payload


@given(payload=payloads, seed=st.integers(0, 2**32 - 1), noise=st.floats(0, 400))
def test_noise_never_makes_another_piece(payload: Payload, seed: int, noise: float):
    drawn = draw(np.full((90, 160), 128, np.uint8), payload)
    levels = drawn + np.random.default_rng(seed).normal(0, noise, drawn.shape)
    assert read(np.clip(levels, 0, 255).astype(np.uint8)) in (None, payload)


@given(payload=payloads, flips=st.sets(st.tuples(st.integers(0, 2), st.integers(0, 25)), min_size=1))
def test_any_set_of_flipped_blocks_is_noticed(payload: Payload, flips: set[tuple[int, int]]):
    drawn = draw(np.full((180, 320), 128, np.uint8), payload)
    for row, column in flips:
        y, x = 145 + 10 * row, 30 + 10 * column
        drawn[y : y + 10, x : x + 10] = 255 - drawn[y : y + 10, x : x + 10]
    assert read(drawn) is None


distinct_values = st.lists(st.integers(1, 19), min_size=12, max_size=12, unique=True)


@given(values=distinct_values, demand=st.integers(1, 8), seed=st.integers(0, 10_000))
def test_choices_are_usable_and_a_missed_card_leaves_a_provably_wrong_one(values, demand, seed):
    needed, others = values[:demand], values[demand:]
    numbers = choose_numbers(needed, others, rng=np.random.default_rng(seed))
    assert len(set(numbers)) == len(numbers) == N_CHOICES
    assert sum(needed) in numbers
    assert min(numbers) >= 1
    if demand > 1:  # seen is min(needed) or more, and each card missing adds 1 or more
        assert min(numbers) <= min(needed)


@given(values=st.lists(st.integers(1, 19), min_size=1, max_size=8, unique=True))
def test_every_sum_with_a_card_missing_is_smaller(values: list[int]):
    near, far = partial_sums(values)
    assert all(0 < s < sum(values) for s in near + far)
    assert not set(near) & set(far)


@given(
    colours=st.lists(st.sampled_from(list(COLOURS)), min_size=1, max_size=8, unique=True),
    told=st.none() | st.integers(1, 150),
    numbers=st.lists(st.integers(1, 150), min_size=5, max_size=5),
    form=st.sampled_from(["{}. {}", "{}: {}", "{}) {}", "({}) {}"]),
    gap=st.sampled_from(["\n", ", ", "; "]),
)
def test_what_is_asked_is_understood(colours, told, numbers, form, gap):
    choices = dict(zip("ABCDE", numbers, strict=True))
    lines = gap.join(form.format(letter, number) for letter, number in choices.items())
    asked = understand(f"Frame 1, 2.5 s:\nQuestion: {wording(colours, told)}\n{lines}\nAnswer: X")
    assert asked is not None
    assert asked.colours == tuple(colours)
    assert asked.told == told
    assert asked.choices == choices


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), min_s=st.integers(20, 40))
def test_lifetimes_mean_what_they_say(seed: int, min_s: int):
    """By time, 8 midpoints show lasting cards, 16 long ones too, 32 all; 16 never show a short one."""
    spec = WorldSpec(n_videos=2, min_s=min_s, max_s=min_s + 10, n_variable=0)
    plan = plan_world(spec, seed=seed)
    videos = {video.path: video for video in plan.videos}
    sees = {8: {"lasting"}, 16: {"lasting", "long"}, 32: {"lasting", "long", "short"}}
    for item in plan.items:
        times_s = videos[item.media[0].path or ""].times_s
        for budget, lifetimes in sees.items():
            at = (2 * np.arange(budget) + 1) * len(times_s) // (2 * budget)
            seen = visible(item, times_s[at].tolist())
            if item.tags["lifetime"] in lifetimes:
                assert all(seen)
            if budget == 16 and item.tags["lifetime"] == "short":
                assert not all(seen)
