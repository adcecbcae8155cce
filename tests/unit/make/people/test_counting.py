"""What counters agree on."""

from vidence.make.people.checks import check_of_video
from vidence.make.people.counting import agreed_counts
from vidence.make.people.rows import CountRow

SHA256 = "ab" * 32


def row(counter, n, low, high, *, place="entered:left", window="whole", sha256=SHA256, frames=()):
    return CountRow(
        video_id="v",
        check=check_of_video(sha256),
        window=window,
        place=place,
        n=n,
        n_low=low,
        n_high=high,
        counter=counter,
        frames=frames,
        where=f"people/counts.csv:{n}",
    )


def agreed(*rows):
    return agreed_counts(rows, sha256=SHA256, n_frames=100)


def test_the_range_holds_what_any_counter_holds_possible():
    (count,), unused = agreed(row("a", 6, 5, 7), row("b", 7, 7, 9, frames=(1, 2)), row("c", 7, 6, 8))
    assert (count.n, count.n_low, count.n_high, count.frames) == (7, 5, 9, (1, 2))
    assert count.counters == ("a 6 (5 to 7)", "b 7 (7 to 9)", "c 7 (6 to 8)")
    assert unused == ()


def test_who_disagrees_is_named_and_other_places_count():
    counts, unused = agreed(row("a", 5, 5, 5), row("b", 7, 6, 8), row("a", 9, 9, 9, place="left:top"))
    assert [count.place for count in counts] == ["left:top"]
    assert [one.where for one in unused] == ["people/counts.csv:5", "people/counts.csv:7"]
    assert unused[0].why == "counters disagree: a 5 (5 to 5); b 7 (6 to 8)"


def test_windows_are_apart_and_lie_in_the_video():
    counts, unused = agreed(row("a", 5, 5, 5, window="0-49"), row("b", 7, 7, 7, window="50-99"))
    assert [count.window for count in counts] == [(0, 49), (50, 99)]
    _, unused = agreed(row("a", 5, 5, 5, window="0-100"))
    assert unused[0].why == "the video has 100 frames"


def test_a_count_in_another_video_is_not_used():
    counts, unused = agreed(row("a", 5, 5, 5, sha256="cd" * 32))
    assert counts == ()
    assert unused[0].why == "the video has changed since; count again"
