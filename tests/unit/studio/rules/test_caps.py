"""What a day allows, and what is left of it."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from vidence.make.review.protocol import load_protocol
from vidence.studio.rules.caps import DailyAllowance, day_of, most_of, piece_of

counts = st.integers(0, 100)


def test_caps_are_those_of_the_protocol():
    mmvu, herbench = load_protocol("mmvu"), load_protocol("herbench")
    assert (most_of(mmvu, "annotation"), most_of(mmvu, "validation")) == (10, 50)
    assert most_of(herbench, "annotation") == 0
    assert piece_of("reviewer") == "validation"
    assert piece_of("operator") is None


@given(most=st.integers(1, 60), done=counts, held=counts)
def test_more_is_refused_exactly_where_nothing_is_left(most, done, held):
    end = datetime(2026, 11, 24, tzinfo=UTC)
    left = DailyAllowance(piece="validation", most=most, n_done=done, n_held=held, again_at=end)
    assert left.n == max(0, most - done - held)
    assert bool(left.refusal) == (left.n == 0)
    if left.refusal:
        assert f"{most} validations a day" in left.refusal
        assert "2026-11-24 00:00 UTC" in left.refusal


@given(told=st.datetimes(timezones=st.timezones()))
def test_a_day_holds_its_time(told):
    begin, end = day_of(told)
    assert begin <= told < end
    assert end - begin == timedelta(days=1)
    assert day_of(end)[0] == end
