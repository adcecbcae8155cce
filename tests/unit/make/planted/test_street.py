"""The drawn street: figures are where the plan has them, in the film and in the file of boxes."""

import numpy as np
import pytest

from vidence.ask.phantom.looks import LOOKS, look_of
from vidence.errors import DataError, UsageError
from vidence.make.planted.street import (
    FIGURE_PX,
    FPS,
    HEIGHT_PX,
    N_FRAMES,
    WIDTH_PX,
    Passer,
    Street,
    plan_street,
    write_street,
)
from vidence.make.planted.street_claims import n_counted, true_choices
from vidence.media.video import open_video


def passer(look, first, last, enters, leaves, *, start=(1, 80), end=(200, 80)) -> Passer:
    return Passer(
        look=look,
        first_frame=first,
        last_frame=last,
        enters=enters,
        leaves=leaves,
        start_px=start,
        end_px=end,
    )


# At 8 frames a second: red 1-11 s, green 2-7 s, blue 6-16 s (downwards), yellow from the start to 4 s.
RED, GREEN, BLUE, YELLOW = (LOOKS[i].words for i in range(4))
STREET = Street(
    name="s",
    passers=(
        passer(0, 8, 88, "left", "right"),
        passer(1, 16, 56, "left", "bottom"),
        passer(2, 48, 128, "top", "right", start=(160, 1), end=(160, 179)),
        passer(3, 0, 32, None, "left"),
    ),
)


def trues(question: str, choices: list[str], task: str, structure: str) -> list[str]:
    found = true_choices(STREET, question, choices=choices, task=task, structure=structure)
    return [choice for choice, is_true in zip(choices, found, strict=True) if is_true]


def listing(*texts: str) -> str:
    return "These people:\n" + "\n".join(f"{i}. {text}" for i, text in enumerate(texts, 1)) + "\n"


@pytest.mark.parametrize("seed", range(5))
def test_a_figure_begins_and_ends_at_its_edges(seed):
    street = plan_street("s", looks=range(8), rng=np.random.default_rng(seed))
    assert (street.passers[0].enters, street.passers[0].first_frame) == (None, 0)
    assert (street.passers[1].leaves, street.passers[1].last_frame) == (None, N_FRAMES - 1)
    for one in street.passers:
        for edge, frame in ((one.enters, one.first_frame), (one.leaves, one.last_frame)):
            left, top, right, bottom = one.box_px(frame)
            gaps = {"left": left, "top": top, "right": WIDTH_PX - right, "bottom": HEIGHT_PX - bottom}
            assert {name for name, gap in gaps.items() if gap <= 1} == ({edge} if edge else set())
        assert one.box_px(one.first_frame - 1) is None
        assert one.box_px(one.last_frame + 1) is None


def test_a_plan_follows_from_its_seed_and_bad_looks_are_refused():
    one, same, other = (plan_street("s", looks=[1, 2], rng=np.random.default_rng(n)) for n in (1, 1, 2))
    assert one == same != other
    for looks in ([1, 1], [len(LOOKS)]):
        with pytest.raises(UsageError, match="each once"):
            plan_street("s", looks=looks, rng=np.random.default_rng(0))


def test_film_and_boxes_show_the_plan(tmp_path):
    film, boxes = write_street(STREET, tmp_path)
    video = open_video(film)
    assert video.n_frames == N_FRAMES
    rows = [line.split(",") for line in boxes.read_text().splitlines()]
    assert len(rows) == 81 + 41 + 81 + 33
    for cells in rows[::29]:
        frame, left, top = int(cells[0]) - 1, float(cells[2]), float(cells[3])
        assert cells[1] == "-1"  # who is who is not told
        (seen,) = [
            p for p in STREET.passers if (p.box_px(frame) or ())[:2] == pytest.approx((left, top), abs=0.01)
        ]
        (image,) = video.frames([frame])
        around = image[round(top) : round(top) + FIGURE_PX[1], round(left) : round(left) + FIGURE_PX[0]]
        if not any(p is not seen and _overlap(p.box_px(frame), seen.box_px(frame)) for p in STREET.passers):
            assert look_of([around]).words == LOOKS[seen.look].words
    with pytest.raises(UsageError, match="there are none"):
        look_of([])


def _overlap(one, other) -> bool:
    return (
        one is not None
        and one[0] < other[2]
        and other[0] < one[2]
        and one[1] < other[3]
        and other[1] < one[3]
    )


def test_times_and_names():
    red = STREET.of("  " + RED.upper())
    assert (STREET.start_s(red), STREET.end_s(red)) == (1.0, 11.0)
    assert STREET.of("Nobody like this.") is None
    assert STREET.fps == FPS


@pytest.mark.parametrize(
    ("question", "structure", "n"),
    [
        ("come into view through the left edge of the frame?", "entered", 2),
        ("come into view through the top edge of the frame?", "entered", 1),
        ("go out of view through the right edge of the frame?", "left", 2),
        (
            "through the left edge of the frame and later go out of view through the bottom edge?",
            "crossed",
            1,
        ),
        # all but blue walk at x 1-230 of 320 and y 80-140 of 240; blue goes down at x 160-190
        ("are in the top third of the frame at some time", "visited", 1),
        ("are in the right third of the frame at some time", "visited", 3),
        ("are in the bottom right quarter of the frame at some time", "visited", 1),
        ("in the middle third of the frame, between its left and its right third, at", "visited", 4),
    ],
)
def test_people_are_counted_by_the_plan(question, structure, n):
    if "middle third" in question:
        question = "are in the middle third of the frame, between its left and its right third at some time"
    assert n_counted(STREET, question, structure=structure) == n
    asked = trues(question, [f"{n} to {n}", f"{n + 1} to {n + 3}", f"0 to {n - 1}"], "RLPC", structure)
    assert asked == [f"{n} to {n}"]


@pytest.mark.parametrize(
    ("structure", "listed", "right", "wrong"),
    [
        ("longest", (GREEN, RED, YELLOW), "Person 2", "Person 1"),
        (
            "longest",
            (BLUE, RED, YELLOW),
            "People 1 and 2 equally long (less than 3 seconds apart)",
            "Person 1",
        ),
        ("shortest", (GREEN, RED, BLUE), "Person 1", "Person 3"),
        (
            "first-in",
            (BLUE, RED, GREEN),
            "People 2 and 3 at the same time (less than 3 seconds apart)",
            "Person 2",
        ),
        (
            "last-out",
            (RED, GREEN, BLUE),
            "Person 3",
            "All three at the same time (less than 3 seconds apart)",
        ),
        ("order-in", (BLUE, YELLOW, GREEN), "2 -> 1", "1 -> 2"),
        (
            "overlap",
            (YELLOW, BLUE, RED),
            "Person 3 with each of the others, but never people 1 and 2",
            "Every two of them",
        ),
        ("overlap", (RED, GREEN, BLUE), "Every two of them", "No two of them"),
    ],
)
def test_times_are_compared_by_the_plan(structure, listed, right, wrong):
    assert trues(listing(*listed), [wrong, right], "MPDR", structure) == [right]


@pytest.mark.parametrize(
    ("structure", "question", "right", "wrong"),
    [
        ("which", listing(RED, LOOKS[7].words, BLUE), "Only people 1 and 3", "All three"),
        (
            "which",
            listing(LOOKS[7].words, LOOKS[8].words, RED),
            "Fewer than two of them",
            "Only people 1 and 3",
        ),
        (
            "exits",
            listing(RED, BLUE),
            "Both leave through the right edge",
            "Person 1 leaves through the right edge, person 2 leaves through the top edge",
        ),
        (
            "entries",
            listing(YELLOW, GREEN),
            "Person 1 is there from the start, person 2 enters through the left edge",
            "Both are there from the start",
        ),
        (
            "through",
            listing(RED, GREEN, BLUE) + "through the right edge",
            "Only people 1 and 3",
            "None of them",
        ),
        ("through", listing(RED, GREEN, BLUE) + "through the top edge", "None of them", "Only person 2"),
    ],
)
def test_ways_are_told_by_the_plan(structure, question, right, wrong):
    assert trues(question, [wrong, right], "MEGL", structure) == [right]


@pytest.mark.parametrize(
    ("task", "structure", "question", "said"),
    [
        ("TSO", "first", "", "nothing is planted for the task 'TSO'"),
        ("RLPC", "entered", "through no edge", "question of RLPC"),
        ("RLPC", "visited", "in the corner", "part of the frame"),
        ("MPDR", "tallest", listing(RED, BLUE, GREEN), "a form of MPDR"),
        ("MPDR", "longest", listing(RED, "Somebody else."), "somebody in a list"),
        ("MEGL", "hats", listing(RED, BLUE), "a form of MEGL"),
    ],
)
def test_what_is_not_understood_is_refused(task, structure, question, said):
    with pytest.raises(DataError, match=said):
        trues(question, ["1 to 2"], task, structure)
