"""How runs stand."""

import time
from datetime import UTC, datetime

import pytest

from subjects.viewed import TRIALS, write_run
from vidence.engine.store import RunStore
from vidence.studio.bridge.places import find_places
from vidence.studio.bridge.run_status import Standings, age


def test_a_run_stands_as_its_report_says(tmp_path):
    write_run(tmp_path / "a", plan={"name": "Ours"})
    (one,) = Standings(wait_s=20).of(find_places([tmp_path / "a"]), clock=time.monotonic)
    assert (one.name, one.status, one.score, one.is_fresh, one.is_running) == (
        "Ours",
        "complete",
        "50.0",
        True,
        False,
    )


def test_a_run_that_goes_on_is_running_and_its_score_follows_its_rows(tmp_path):
    run = write_run(tmp_path / "a", trials=TRIALS[:1])
    standings = Standings(wait_s=20)
    with RunStore(run, is_writer=True) as store:
        assert _of(standings, run).score == "100.0"
        store.add(TRIALS[1])
        found = _of(standings, run)
        assert (found.score, found.is_running) == ("50.0", True)
    assert not _of(standings, run).is_running


def test_a_run_that_is_not_added_up_yet_says_so(tmp_path):
    run = write_run(tmp_path / "a")
    found = _of(Standings(wait_s=0.0), run)
    assert found.is_fresh or (found.status, found.score) == ("being read", "")


def test_what_cannot_be_read_says_why(tmp_path):
    run = write_run(tmp_path / "a")
    (run / "plan.toml").write_text("no plan")
    found = _of(Standings(wait_s=20), run)
    assert found.head is None
    assert "plan.toml" in found.listed.problem


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
