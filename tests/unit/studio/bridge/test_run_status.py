"""How runs stand."""

import time
from datetime import UTC, datetime

import pytest

from subjects.viewed import TRIALS, write_run
from vidence.engine.store import RunStore
from vidence.studio.bridge.places import find_places
from vidence.studio.bridge.run_status import Standings, age


@pytest.mark.usefixtures("view")  # the index is a table of a studio
def test_a_run_that_goes_on_is_running_and_its_score_follows_its_rows(tmp_path):
    run = write_run(tmp_path / "a", trials=TRIALS[:1])
    standings = Standings(wait_s=20)
    with RunStore(run, is_writer=True) as store:
        assert _of(standings, run).score == "100.0"
        store.add(TRIALS[1])
        found = _of(standings, run)
        assert (found.score, found.is_running) == ("50.0", True)
    assert not _of(standings, run).is_running


def _of(standings, run):
    (one,) = standings.of(find_places([run]), clock=time.monotonic)
    return one


@pytest.mark.parametrize(
    ("began", "expected"),
    [
        ("2026-11-20T09:00:00+00:00", "3 days"),
        ("2026-11-23T08:00:00", "1 hour"),
        ("2026-11-23T08:59:58+00:00", "2 seconds"),
        ("2026-11-24T00:00:00+00:00", "now"),
        ("", ""),
    ],
)
def test_ages_are_in_their_largest_unit(began, expected):
    assert age(began, datetime(2026, 11, 23, 9, tzinfo=UTC)) == expected
