"""Sets as boards open them: by their configuration, kept until a making changes them; what tracks count."""

import pytest

from vidence.errors import UsageError
from vidence.studio.bridge.board_sets import board_set, counted_by_tracks, crop, offered


def test_sets_are_offered_by_their_configuration_or_its_folder(street, tmp_path):
    (street.folder / "other.toml").write_text("a = 1\n")
    (street.folder / "not-made.toml").write_text(street.config.read_text().replace("street", "unmade"))
    (found,) = offered([street.folder])
    assert found.config == street.config.resolve()
    assert found.folder == street.made.resolve()
    assert offered([street.config]) == (found,)
    assert offered([tmp_path, street.folder / "videos"]) == ()


def test_a_set_is_opened_once_until_a_making_changes_it(street):
    first = board_set([street.config], street.made.resolve())
    assert board_set([street.config], street.made.resolve()) is first
    street.config.write_text(street.config.read_text().replace("n_tracks = 4", "n_tracks = 3"))
    street.make()
    again = board_set([street.config], street.made.resolve())
    assert again is not first
    assert len(first.videos["north"].chosen) == 4
    assert len(again.videos["north"].chosen) == 3
    with pytest.raises(UsageError, match="start the studio with the configuration"):
        board_set([street.config], street.folder)


def test_a_set_says_of_itself_what_it_counts_and_crops(street, solo):
    video = board_set([street.config], street.made.resolve()).videos["north"].tracked
    for place, window, n in [
        ("visited:right-third", None, 5),
        ("visited:right-third", (0, 10), 0),
        ("visited:nowhere", None, None),
        ("visited:whole", None, 8),
        ("entered:left", None, 4),
        ("entered:left", (0, 9), 0),
    ]:
        assert counted_by_tracks(video, place=place, window=window) == n, (place, window)
    import asyncio

    opened = board_set([street.config], street.made.resolve())
    north = opened.videos["north"]
    track = north.tracked.tracks[2]
    cut = asyncio.run(crop(north, track, 60, roots=opened.media_roots, is_whole=False))
    whole = asyncio.run(crop(north, track, 60, roots=opened.media_roots, is_whole=True))
    assert cut.height_px > cut.width_px
    assert (whole.width_px, whole.height_px) == (320, 240)
    north = opened.videos["north"]
    assert opened.name == "street"
    assert opened.notes == ()
    assert opened.people_folder == street.people.resolve()
    assert opened.remake("north") == ""
    assert north.file == street.folder.resolve() / "videos" / "north.mp4"
    assert north.reason("6") == "not-picked"
    assert north.reason("99") == ""
    assert north.card("3", "A") is None
    assert len(north.portraits(north.tracked.tracks[0])) == 8
    (street.people / "tracks.csv").write_text("video_id\n")
    assert "until this is fixed" in opened.remake("north")
    text = street.config.read_text().replace("[people]\n", "").replace('model = "people"', "")
    street.config.write_text(text.replace('path = "north.mp4"', 'path = "north.mp4"\ncards = "mine.csv"'))
    (note,) = board_set([street.config], street.made.resolve()).notes
    assert "has no [people]" in note
