"""Videos of folders and tables, and the sheets of people."""

from datetime import date

import pytest

from vidence.errors import DataError, UsageError
from vidence.make.gates.video_list import empty_sheet, list_videos, read_sheet


def test_a_folder_gives_its_videos_with_their_folders_as_domains(tmp_path) -> None:
    for name in ("b.mp4", "sport/a.MKV", "sport/.hidden.mp4", "notes.txt", "sport/deep/c.webm"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = list_videos(tmp_path)
    assert [(one.video_id, one.domain) for one in found.videos] == [
        ("b.mp4", ""),
        ("sport/a.MKV", "sport"),
        ("sport/deep/c.webm", "sport/deep"),
    ]


def test_a_table_gives_domain_and_day_and_names_its_bad_rows(tmp_path) -> None:
    table = tmp_path / "list.csv"
    table.write_text(
        "video,domain,published\na.mp4,sport,2026-01-31\n,x,\nb.mp4,,soon\na.mp4,,\nc.mp4,news,\n"
    )
    found = list_videos(table)
    assert [(one.video_id, one.domain, one.published) for one in found.videos] == [
        ("a.mp4", "sport", date(2026, 1, 31)),
        ("c.mp4", "news", None),
    ]
    assert [one.split(": ")[0].rpartition(":")[2] for one in found.problems] == ["3", "4", "5"]
    assert "YYYY-MM-DD" in found.problems[1]


def test_a_table_says_how_many_people_a_person_counted(tmp_path) -> None:
    table = tmp_path / "list.csv"
    table.write_text("video,people\na.mp4,0\nb.mp4,2.5\nc.mp4,\nd.mp4,-1\ne.mp4,few\n")
    found = list_videos(table)
    assert [(one.video_id, one.people) for one in found.videos] == [
        ("a.mp4", 0.0),
        ("b.mp4", 2.5),
        ("c.mp4", None),
    ]
    assert len(found.problems) == 2
    assert "a number under people" in found.problems[0]


@pytest.mark.parametrize(("name", "words"), [("gone", "no file or folder"), (".", "lists no video")])
def test_nothing_to_list_is_said(tmp_path, name, words) -> None:
    with pytest.raises(UsageError, match=words):
        list_videos(tmp_path / name)


def test_a_sheet_goes_out_and_comes_back(tmp_path) -> None:
    for name in ("a.mp4", "b.mp4"):
        (tmp_path / name).write_bytes(b"")
    videos = list_videos(tmp_path).videos
    sheet = tmp_path / "sheet.csv"
    assert empty_sheet(videos) == "video,text,lecture,by\na.mp4,,,\nb.mp4,,,\n"
    sheet.write_text("video,text,lecture,by\na.mp4,0.5,no,Ann\nb.mp4,,,\n")
    found = read_sheet(sheet, videos)
    assert {name: (one.text, one.lecture, one.by) for name, one in found.items()} == {
        "a.mp4": (0.5, 0.0, "Ann")
    }


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("z.mp4,1,1,Ann", "not among the videos"),
        ("a.mp4,2,1,Ann", "expected 0 to 1"),
        ("a.mp4,maybe,1,Ann", "expected 0 to 1"),
        ("a.mp4,1,1,", "no signature"),
        ("a.mp4,1,1,Ann\na.mp4,1,1,Ben", "twice"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_with_its_line(tmp_path, row, words) -> None:
    (tmp_path / "a.mp4").write_bytes(b"")
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(f"video,text,lecture,by\n{row}\n")
    with pytest.raises(DataError, match=words):
        read_sheet(sheet, list_videos(tmp_path).videos)
