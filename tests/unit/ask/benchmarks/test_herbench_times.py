"""Time stamps as HERBench writes them."""

import pytest

from vidence.ask.benchmarks.herbench import evidence


def seconds(stamps: object) -> list[tuple[float | None, float | None]] | None:
    found = evidence(stamps)
    return None if found is None else [(one.start_s, one.end_s) for one in found]


@pytest.mark.parametrize(
    ("stamp", "start_s", "end_s"),
    [
        ("00:08.0-00:09.0", 8.0, 9.0), ("02:04.9-02:06.0", 124.9, 126.0), ("2:04-2:06", 124.0, 126.0),
        ("01:02:03.5-01:02:04.5", 3723.5, 3724.5), ("59:59.5-01:00:01.0", 3599.5, 3601.0),
        ("75:00.0-76:00.0", 4500.0, 4560.0), (" 00:01.0 - 00:02.0 ", 1.0, 2.0),
        ("00:01.0\N{EN DASH}00:02.0", 1.0, 2.0), ("00:08.0-00:08.0", 8.0, 8.1), ("00:08.0", 8.0, 8.1),
    ],
)  # fmt: skip
def test_a_stamp_is_a_span_in_seconds(stamp: str, start_s: float, end_s: float) -> None:
    assert seconds([stamp, "00:01.0-00:02.0"]) == [(start_s, end_s), (1.0, 2.0)]
    assert seconds(None) == seconds([]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "00:08.0-00:09.0", ["8.0-9.0"], ["00:09.0-00:08.0"], ["-00:01.0-00:02.0"], ["00:01.0-"],
        ["00:01.0-00:02.0", None], [1.5], {"start": 1},
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_none(wrong: object) -> None:
    assert seconds(wrong) is None
