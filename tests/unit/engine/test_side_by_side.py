"""Pieces of work in worker processes, for callers that do not await."""

import os
import time
from functools import partial

import pytest

from vidence.engine.executor import Parallelism
from vidence.engine.side_by_side import side_by_side
from vidence.errors import DataError, MediaError

ONE, TWO = Parallelism(), Parallelism(n_workers=2)


def fail(error: Exception) -> None:
    raise error


def test_every_piece_comes_back_with_its_number():
    pieces = [("film.mp4", partial(pow, n, 2)) for n in range(7)]
    assert sorted(side_by_side(pieces, TWO)) == [(n, n * n) for n in range(7)]
    assert list(side_by_side([], TWO)) == []


def test_a_piece_that_fails_is_told_and_the_others_go_on():
    pieces = [
        ("a.mp4", partial(pow, 2, 2)),
        ("b.mp4", os.abort),
        ("c.mp4", partial(fail, DataError("no boxes"))),
        ("d.mp4", partial(pow, 3, 2)),
    ]
    ended = dict(side_by_side(pieces, ONE))
    assert (ended[0], ended[3]) == (4, 9)
    assert isinstance(ended[1], MediaError)
    assert "b.mp4: the decoder crashed" in str(ended[1])
    assert isinstance(ended[2], DataError)


def test_pieces_are_taken_when_a_worker_is_free():
    taken = []

    def pieces():
        for n in range(50):
            taken.append(n)
            yield "film.mp4", partial(pow, n, 2)

    results = side_by_side(pieces(), ONE)
    next(results)
    assert len(taken) < 50
    results.close()


def test_a_caller_who_stops_does_not_wait_for_the_rest():
    began_s = time.monotonic()
    results = side_by_side([("f.mp4", partial(pow, 2, 2)), ("f.mp4", partial(time.sleep, 600))], TWO)
    assert next(results) == (0, 4)
    results.close()
    assert time.monotonic() - began_s < 300


def test_a_fault_of_the_program_ends_the_work():
    with pytest.raises(ExceptionGroup) as raised:
        list(side_by_side([("f.mp4", lambda: 1)], ONE))
    assert "pickle" in str(raised.value.exceptions[0])
