"""Which machine has which piece of work, and what becomes of those of a lost one; the test sets the time."""

import pytest

from vidence.engine.executors.pieces import MOST_LOSSES, PieceQueue


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def queue(n, clock):
    return PieceQueue([(f"{number}.mp4", print) for number in range(n)], clock=clock)


def numbers(given):
    return None if given is None else given[0]


def test_pieces_are_given_in_order_and_each_once(clock):
    pieces = queue(3, clock)
    assert [numbers(pieces.give(machine)) for machine in ("a", "b", "a", "b")] == [0, 1, 2, None]
    assert not pieces.is_over
    assert [pieces.done(number) for number in (2, 0, 1)] == [True] * 3
    assert pieces.is_over


def test_a_piece_is_taken_when_a_machine_has_room(clock):
    taken = []

    def some():
        for number in range(5):
            taken.append(number)
            yield f"{number}.mp4", print

    pieces = PieceQueue(some(), clock=clock)
    pieces.give("a")
    assert taken == [0]


def test_what_a_lost_machine_had_goes_to_others_before_what_is_new(clock):
    pieces = queue(4, clock)
    assert [numbers(pieces.give(machine)) for machine in "aab"] == [0, 1, 2]
    assert pieces.lost("a") == {}
    assert [numbers(pieces.give("b")) for _ in range(4)] == [0, 1, 3, None]


def test_a_piece_that_machines_are_lost_with_is_given_up(clock):
    pieces = queue(2, clock)
    for n in range(MOST_LOSSES):
        assert numbers(pieces.give(f"m{n}")) == 0
        given_up = pieces.lost(f"m{n}")
    assert given_up == {0: "0.mp4"}
    assert numbers(pieces.give("other")) == 1
    assert pieces.done(1)
    assert pieces.give("other") is None
    assert pieces.is_over


def test_a_slow_piece_is_given_to_a_second_machine_and_the_first_result_counts(clock):
    pieces = queue(2, clock)
    pieces.give("slow")
    pieces.give("fast")
    clock.now_s = 5.0
    assert pieces.give("fast") is None  # nobody knows yet how long one takes
    pieces.done(1)
    clock.now_s = 10.0
    assert pieces.give("fast") is None
    clock.now_s = 10.1
    assert pieces.give("slow") is None
    assert numbers(pieces.give("fast")) == 0
    assert pieces.give("third") is None
    assert pieces.lost("slow") == {}
    assert pieces.done(0)
    assert not pieces.done(0)
    pieces.give("fast")
    assert pieces.is_over


def test_it_knows_how_much_is_left_and_for_whom():
    queue = PieceQueue([("a", int), ("b", int)], clock=lambda: 0.0)
    assert (queue.is_waiting, queue.n_left, queue.has_work("m")) == (True, 2, True)
    queue.give("m")
    queue.give("m")
    assert (queue.is_waiting, queue.n_left, queue.has_work("m"), queue.has_work("n")) == (
        False,
        2,
        True,
        False,
    )
    queue.done(0)
    assert queue.n_left == 1
    queue.lost("m")
    assert (queue.is_waiting, queue.n_left, queue.has_work("n")) == (True, 1, True)


def test_nobody_knows_how_many_come_of_those_that_are_made_on_the_way():
    queue = PieceQueue(iter([("a", int)]), clock=lambda: 0.0)
    assert (queue.is_waiting, queue.n_left) == (True, None)
    queue.give("m")
    assert (queue.is_waiting, queue.n_left) == (True, None)
    assert queue.give("m") is None
    assert (queue.is_waiting, queue.n_left) == (False, 1)
