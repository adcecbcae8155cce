"""Things that are made in a thread."""

from threading import Event

import pytest

from vidence.errors import UsageError
from vidence.studio.bridge.later import Later, Worker


def test_a_thing_is_made_once_and_waited_for_no_longer_than_said():
    later, go, made = Later(Worker("test"), most=2), Event(), []

    def make():
        go.wait(20)
        made.append(1)
        return "thing"

    assert later.get("a", make, wait_s=0.0) is None
    go.set()
    assert later.get("a", make, wait_s=20) == "thing"
    assert later.get("a", make, wait_s=20) == "thing"
    assert made == [1]


def test_what_goes_wrong_is_raised_each_time_and_stops_no_other():
    later = Later(Worker("test"), most=5)

    def fail():
        raise UsageError("no")

    for _ in range(2):
        with pytest.raises(UsageError, match="no"):
            later.get("bad", fail, wait_s=20)
    assert later.get("good", lambda: 3, wait_s=20) == 3
