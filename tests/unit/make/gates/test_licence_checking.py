"""Licences: asked of a server that speaks the API's format, kept with their date, or looked up by people."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from servers.youtube import KEY, YouTubeServer
from vidence.errors import AccessError, DataError, MissingKeyError, UsageError
from vidence.make.gates.licence_checking import check_licences, named_videos, summary
from vidence.make.gates.licence_youtube import YouTube
from vidence.make.gates.licences import LicenceCheck, believed, read_looks, read_sheet, sheet

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FREE, SHUT, GONE, ODD = "aaaaaaaaaaa", "bbbbbbbbbbb", "ccccccccccc", "ddddddddddd"
LICENCES = {FREE: "creativeCommon", SHUT: "youtube", GONE: None, ODD: "standardYoutube"}


@pytest.fixture
def server():
    with YouTubeServer(licences=LICENCES) as running:
        yield running


def checked(server, videos, kept, *, now=NOW, key=KEY, waits=None, manual=None, days=30.0):
    def api() -> YouTube:
        return YouTube(key, address=server.url, now=lambda: now, wait=([] if waits is None else waits).append)

    *_, last = check_licences(videos, kept=kept, now=now, api=api, manual=manual, days=days)
    return last


def test_each_licence_has_its_outcome_and_what_the_server_said(server, tmp_path) -> None:
    found = checked(server, [FREE, SHUT, GONE, ODD], tmp_path / "kept.jsonl")
    assert [one.outcome for one in found.checks] == ["passed", "refused", "gone", "unknown"]
    first = found.checks[0]
    assert (first.licence, first.privacy, first.duration_s) == ("creativeCommon", "public", 373.0)
    assert first.published == "2024-05-01T10:00:00Z"
    assert first.answer["id"] == FREE
    assert len(first.answer_sha256) == 64
    assert "standardYoutube" in found.checks[3].why
    assert not found.is_free
    assert summary(found) == "4 videos: 1 passed, 1 refused, 1 gone, 1 unknown; 4 asked for now"


def test_what_was_found_is_believed_for_thirty_days_and_the_rest_is_asked_again(server, tmp_path) -> None:
    kept = tmp_path / "kept.jsonl"
    checked(server, [FREE, SHUT, GONE], kept)
    again = checked(server, [FREE, SHUT, GONE], kept, now=NOW + timedelta(days=29))
    assert server.asked == [[FREE, SHUT, GONE], [GONE]]
    assert again.n_asked == 1
    checked(server, [FREE], kept, now=NOW + timedelta(days=31))
    assert server.asked[-1] == [FREE]
    assert [one.video for one in read_looks(kept, LicenceCheck)] == [FREE, SHUT, GONE, GONE, FREE]


def test_a_later_refusal_goes_before_an_earlier_pass() -> None:
    looks = [
        LicenceCheck(video=FREE, outcome="passed", at=NOW),
        LicenceCheck(video=FREE, outcome="refused", at=NOW + timedelta(days=1)),
        LicenceCheck(video=FREE, outcome="unknown", at=NOW + timedelta(days=2)),
    ]
    assert believed(looks, now=NOW + timedelta(days=3))[FREE].outcome == "refused"
    assert believed(looks, now=NOW - timedelta(days=1)) == {}


def test_fifty_are_asked_at_once_and_kept_before_the_next(server, tmp_path) -> None:
    videos = [f"{n:011d}" for n in range(120)]
    server.licences = dict.fromkeys(videos, "creativeCommon")
    server.faults = [None, "keyInvalid"]
    with pytest.raises(AccessError, match="YOUTUBE_API_KEY"):
        checked(server, videos, tmp_path / "kept.jsonl")
    assert [len(call) for call in server.asked] == [50, 50]
    assert len(read_looks(tmp_path / "kept.jsonl", LicenceCheck)) == 50
    assert checked(server, videos, tmp_path / "kept.jsonl").n_asked == 70


def test_a_spent_quota_ends_the_asking_and_passes_nothing(server, tmp_path) -> None:
    videos = [f"{n:011d}" for n in range(60)]
    server.licences = dict.fromkeys(videos, "creativeCommon")
    server.faults = ["quotaExceeded"]
    found = checked(server, videos, tmp_path / "kept.jsonl")
    assert len(server.asked) == 1
    assert {one.outcome for one in found.checks} == {"unknown"}
    assert all("quota" in one.why for one in found.checks)


@pytest.mark.parametrize("fault", [500, 503, 429, "cut", "rateLimitExceeded"])
def test_what_passes_is_tried_again_with_longer_waits(server, tmp_path, fault) -> None:
    waits: list[float] = []
    server.faults = [fault, fault]
    assert checked(server, [FREE], tmp_path / "kept.jsonl", waits=waits).is_free
    assert waits == [1.0, 2.0]


@pytest.mark.parametrize(
    ("fault", "says"), [(500, "500"), ("cut", "no list of videos"), ("forbidden", "403")]
)
def test_what_stays_is_unknown_with_its_reason(server, tmp_path, fault, says) -> None:
    server.faults = [fault] * 9
    (one,) = checked(server, [FREE], tmp_path / "kept.jsonl").checks
    assert one.outcome == "unknown"
    assert says in one.why
    assert KEY not in one.why


def test_a_wrong_key_and_none_are_said(server, tmp_path) -> None:
    with pytest.raises(AccessError, match="keyInvalid"):
        checked(server, [FREE], tmp_path / "kept.jsonl", key="wrong")
    with pytest.raises(MissingKeyError, match="YOUTUBE_API_KEY"):
        checked(server, [FREE], tmp_path / "kept.jsonl", key="")


# ----------------------------------------------------------------------------------- people


def rows(*lines: str) -> str:
    return "\n".join(("video,licence,by,date,page", *lines)) + "\n"


def test_two_people_who_agree_pass_and_ask_nothing(server, tmp_path) -> None:
    filled = tmp_path / "sheet.csv"
    filled.write_text(
        rows(
            f"https://youtu.be/{FREE},Creative Commons,Ann,2026-02-01,a.png",
            f"{FREE},cc by,Ben,2026-02-03,b.png",
            f"{SHUT},creativeCommon,Ann,2026-02-01,c.png",
            f"{SHUT},youtube,Ben,2026-02-01,d.png",
            f"{GONE},creativeCommon,Ann,2026-02-01,e.png",
            f"{GONE},creativeCommon,ann ,2026-02-01,e.png",
        ),
        encoding="utf-8",
    )
    found = checked(server, [FREE, SHUT, GONE], tmp_path / "kept.jsonl", manual=filled)
    assert [one.outcome for one in found.checks] == ["passed", "unknown", "unknown"]
    assert (found.checks[0].by, f"{found.checks[0].at:%Y-%m-%d}") == (("ann", "ben"), "2026-02-01")
    assert "different" in found.checks[1].why
    assert "second person" in found.checks[2].why
    assert server.asked == []
    checked(server, [FREE], tmp_path / "kept.jsonl", manual=filled)
    assert len(read_looks(tmp_path / "kept.jsonl", LicenceCheck)) == 3


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (f"{FREE},mine,Ann,2026-02-01,a", "licence: 'mine'"),
        (f"{FREE},youtube,Ann,yesterday,a", "date: 'yesterday'"),
        (f"{FREE},youtube,Ann,2027-02-01,a", "lies in the future"),
        (f"{FREE},youtube,,2026-02-01,a", "by: the cell is empty"),
    ],
)
def test_a_faulty_row_is_named_with_its_line(tmp_path, row, says) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(rows(row), encoding="utf-8")
    with pytest.raises(DataError, match=says) as error:
        read_sheet(path, today=NOW.date())
    assert f"{path}:2" in str(error.value)


def test_the_empty_sheet_has_two_rows_a_video_and_is_refused_until_filled(tmp_path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(sheet([FREE]), encoding="utf-8")
    with pytest.raises(DataError, match=r":2: licence.*\n.*:3: licence"):
        read_sheet(path, today=NOW.date())


# ----------------------------------------------------------------------------------- lists


def test_videos_are_named_by_address_name_or_file(tmp_path) -> None:
    (tmp_path / "list.txt").write_text(f"https://www.youtube.com/watch?v={SHUT}&t=3\n\n{FREE}\n")
    (tmp_path / "table.csv").write_text(f"id,youtube_url\n1, https://youtu.be/{GONE}\n")
    (tmp_path / "items.jsonl").write_text(
        json.dumps({"item_id": "q", "media": [{"url": f"https://youtu.be/{ODD}"}]}) + "\n"
    )
    (tmp_path / "mmvu.json").write_text(
        json.dumps([{"video": "https://huggingface.co/x/1.mp4", "youtube_url": f" https://youtu.be/{FREE}"}])
    )
    names = [str(tmp_path / name) for name in ("list.txt", "table.csv", "items.jsonl", "mmvu.json")]
    assert named_videos([FREE, *names]) == [FREE, SHUT, GONE, ODD]


def test_videos_of_ones_own_with_a_licence_are_passed_over(tmp_path, caplog) -> None:
    own = {"video_id": "a", "path": "a.mp4", "licence": "CC BY 4.0"}
    (tmp_path / "videos.jsonl").write_text(
        json.dumps(own) + "\n" + json.dumps({"url": f"https://youtu.be/{FREE}", "licence": ""}) + "\n"
    )
    (tmp_path / "videos.csv").write_text(f"video,licence\nmine.mp4,CC0\n{SHUT},\n")
    assert named_videos([str(tmp_path / "videos.jsonl"), str(tmp_path / "videos.csv")]) == [FREE, SHUT]
    assert [one.args[1] for one in caplog.records] == ["1 video", "1 video"]


def test_what_names_no_film_is_refused(tmp_path) -> None:
    with pytest.raises(UsageError, match="neither a file nor a YouTube video"):
        named_videos(["holiday.mp4"])
    path = tmp_path / "items.jsonl"
    path.write_text('{"item_id": "q", "media": [{"path": "a.mp4"}]}\n')
    with pytest.raises(DataError, match="names no YouTube video"):
        named_videos([str(path)])
