"""What may come in a while: so many at once, then at a pace; the clock is told."""

from datetime import UTC, datetime, timedelta

from vidence.studio.rules.floods import Floods, Rate

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
RATE = Rate(at_once=3, a_second=2)


def test_so_many_come_at_once_and_then_at_a_pace():
    floods = Floods()
    assert [floods.wait_s("a", RATE, NOW) for _ in range(5)] == [0, 0, 0, 0.5, 0.5]
    assert floods.wait_s("b", RATE, NOW) == 0
    later = NOW + timedelta(seconds=0.5)
    assert [floods.wait_s("a", RATE, later) for _ in range(2)] == [0, 0.5]
    much_later = NOW + timedelta(days=1)
    assert [floods.wait_s("a", RATE, much_later) for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_clock_that_is_set_back_takes_nothing_away():
    floods = Floods()
    floods.wait_s("a", RATE, NOW)
    assert floods.wait_s("a", RATE, NOW - timedelta(hours=1)) == 0
