"""Verdicts of boards: each act once for each person, counts within their range, cards by video."""

import pytest

from vidence.studio.records.boards import FalseCheckRow, MadeSetRow, TrackVerdictRow, WindowCountRow


def refused(write):
    from django.db import IntegrityError, transaction

    with pytest.raises(IntegrityError), transaction.atomic():
        write()


def test_an_act_stands_once_for_each_person(team):
    made = MadeSetRow.objects.create(folder="/made/a", people_folder="/made/a/people")
    act = {
        "made_set": made,
        "video_id": "v",
        "seen": "abcdefghijkl",
        "track_id": "3",
        "act": "ok",
        "at": team.clock(),
    }
    TrackVerdictRow.objects.create(by_name="p001", **act)
    TrackVerdictRow.objects.create(by_name="p002", **act)
    refused(lambda: TrackVerdictRow.objects.create(by_name="p001", **act))
    refused(lambda: MadeSetRow.objects.create(folder="/made/a", people_folder="x"))


def test_a_count_lies_in_its_range_and_a_window_is_counted_once(team):
    made = MadeSetRow.objects.create(folder="/made/a", people_folder="/made/a/people")
    count = {
        "made_set": made,
        "video_id": "v",
        "seen": "a",
        "by_name": "p001",
        "at": team.clock(),
        "place": "left:top",
    }
    for n, low, high in [(5, 6, 7), (5, 4, 4)]:
        refused(lambda n=n, low=low, high=high: WindowCountRow.objects.create(
            n=n, n_low=low, n_high=high, window="0-9", **count
        ))  # fmt: skip
    WindowCountRow.objects.create(n=5, n_low=4, n_high=6, window="0-9", **count)
    WindowCountRow.objects.create(n=5, n_low=4, n_high=6, window="whole", **count)
    refused(lambda: WindowCountRow.objects.create(n=6, n_low=6, n_high=6, window="0-9", **count))


def test_cards_of_two_videos_may_have_one_name(team):
    made = MadeSetRow.objects.create(folder="/made/a", people_folder="/made/a/people")
    check = {
        "made_set": made,
        "seen": "a",
        "by_name": "p001",
        "at": team.clock(),
        "card_id": "shot-0001-false",
    }
    FalseCheckRow.objects.create(video_id="v", **check)
    FalseCheckRow.objects.create(video_id="w", **check)
    refused(lambda: FalseCheckRow.objects.create(video_id="v", **check))
