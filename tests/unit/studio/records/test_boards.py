"""Verdicts of boards: each act once for each person, counts within their range."""

import pytest

from vidence.studio.records.boards import MadeSetRow, TrackVerdictRow, WindowCountRow


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


def test_a_count_lies_in_its_range_and_a_window_goes_forward(team):
    made = MadeSetRow.objects.create(folder="/made/a", people_folder="/made/a/people")
    count = {
        "made_set": made,
        "video_id": "v",
        "seen": "a",
        "by_name": "p001",
        "at": team.clock(),
        "place": "left",
    }
    for n, low, high, start_s, end_s in [(5, 6, 7, 0, 1), (5, 4, 4, 0, 1), (5, 4, 6, 1, 1)]:
        refused(lambda n=n, low=low, high=high, start_s=start_s, end_s=end_s: WindowCountRow.objects.create(
            n=n, n_low=low, n_high=high, start_s=start_s, end_s=end_s, **count
        ))  # fmt: skip
    WindowCountRow.objects.create(n=5, n_low=4, n_high=6, start_s=0, end_s=1, **count)
