"""What counters agree on."""

from msgspec import structs

from vidence.make.review.people.checks import check_of_video
from vidence.make.review.people.counting import agreed_counts
from vidence.make.review.people.rows import CountRow

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


def agree(counter, n, low, high, *, among=("a", "b"), frames=()):
    return structs.replace(row(counter, n, low, high, frames=frames), agreed=among, where=f"{counter} agrees")


def test_what_counters_agreed_on_goes_before_what_they_counted_alone():
    alone = row("a", 5, 5, 5, frames=(1, 2, 3, 4, 5)), row("b", 7, 7, 7, frames=tuple(range(7)))
    (count,), unused = agreed(*alone, agree("a", 6, 6, 6), agree("b", 6, 6, 6, frames=(1, 2, 3, 4, 5, 9)))
    assert (count.n, count.n_low, count.n_high, count.frames) == (6, 6, 6, (1, 2, 3, 4, 5, 9))
    assert count.counters == ("a 5 (5 to 5)", "b 7 (7 to 7)", "agreed 6 (6 to 6)")
    assert unused == ()


def test_without_frames_of_their_own_the_moments_are_of_whoever_counted_so_many():
    alone = row("a", 5, 5, 5, frames=(1, 2, 3, 4, 5)), row("b", 7, 7, 7, frames=tuple(range(7)))
    (count,), _ = agreed(*alone, agree("a", 5, 5, 5), agree("b", 5, 5, 5))
    assert count.frames == (1, 2, 3, 4, 5)


def test_an_agreement_waits_for_everybody_and_one_number():
    alone = row("a", 5, 5, 6), row("b", 6, 6, 7)
    (count,), unused = agreed(*alone, agree("a", 6, 6, 6))
    assert (count.n_low, count.n_high) == (5, 7)
    assert [(one.where, one.why) for one in unused] == [("a agrees", "b has not agreed yet")]
    _, unused = agreed(*alone, agree("a", 6, 6, 6), agree("b", 7, 7, 7))
    assert unused[0].why == "they say different numbers: a 6 (6 to 6); b 7 (7 to 7)"


def test_who_counts_later_opens_an_agreement_again():
    said = agree("a", 6, 6, 6), agree("b", 6, 6, 6)
    (count,), unused = agreed(row("a", 5, 5, 6), row("b", 6, 6, 7), row("c", 6, 6, 6), *said)
    assert count.counters == ("a 5 (5 to 6)", "b 6 (6 to 7)", "c 6 (6 to 6)")
    assert {one.why for one in unused} == {"others have counted, or taken back, since they agreed"}
