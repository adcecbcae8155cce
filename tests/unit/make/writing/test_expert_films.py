"""Videos: three forms of addresses, what cannot be used, and the licences that let them pass."""

import json
from datetime import UTC, date, datetime

import pytest

from vidence.errors import DataError
from vidence.make.writing.expert_films import (
    Film,
    Length,
    LicenceDesk,
    not_selected,
    read_films,
    read_selection,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FAULTS = {
    "no-place": {},
    "no-film-name": {"url": "https://www.youtube.com/watch?v=short"},
    "refused-by-people": {"url": "https://youtu.be/aaaaaaaaaaa", "refused": "a lecture"},
    "unreadable": {"url": 3},
    "repeated-id": {"video_id": "good", "path": "x.mp4"},
}


@pytest.mark.parametrize(
    "url",
    [
        " https://www.youtube.com/watch?v=aaaaaaaaaaa&t=15s",
        "https://youtu.be/aaaaaaaaaaa",
        "https://www.youtube.com/shorts/aaaaaaaaaaa",
    ],
)
def test_a_film_by_its_address(url):
    assert Film(video_id="v", url=url).film == "aaaaaaaaaaa"
    assert Film(video_id="v", url=url).source == "aaaaaaaaaaa"


def test_each_planted_fault_of_a_video_is_found_and_no_other(tmp_path):
    path = tmp_path / "videos.jsonl"
    lines = [{"video_id": "good", "url": "https://youtu.be/aaaaaaaaaaa"}]
    lines += [{"video_id": reason} | changes for reason, changes in FAULTS.items()]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    found = read_films(path)
    assert [one.reason for one in found.dropped] == list(FAULTS)
    assert len({one.video_id for one in found.films}) == len(lines)


def test_licences_pass_or_are_told_apart(tmp_path):
    looks = {
        "passedxxxxx": ("passed", "2026-02-20"),
        "refusedxxxx": ("refused", "2026-02-20"),
        "gonexxxxxxx": ("gone", "2026-02-20"),
        "unknownxxxx": ("unknown", "2026-02-20"),
        "oldxxxxxxxx": ("passed", "2026-01-01"),
    }
    kept = tmp_path / "licences.jsonl"
    kept.write_text(
        "".join(
            json.dumps({"video": name, "outcome": outcome, "at": f"{day}T10:00:00Z"}) + "\n"
            for name, (outcome, day) in looks.items()
        )
    )
    sheet = tmp_path / "look.csv"
    sheet.write_text(
        "video,licence,by,date,page\n"
        + "".join(f"peoplexxxxx,creativeCommon,{who},2026-01-01,p.html\n" for who in ("ann", "ben"))
    )
    films = [
        Film(video_id=name, url=f"https://youtu.be/{name}") for name in (*looks, "peoplexxxxx", "newxxxxxxxx")
    ]
    films += [Film(video_id="own", path="own.mp4", licence="CC BY 4.0"), Film(video_id="mute", path="m.mp4")]
    passed, dropped = LicenceDesk.open(kept, manual=sheet, now=NOW, days=30).look(films)
    assert {name: one and one.way for name, one in passed.items()} == {
        "passedxxxxx": "api",
        "peoplexxxxx": "manual",
        "own": None,
    }
    assert {one.what: one.reason for one in dropped} == {
        "refusedxxxx": "licence-refused",
        "gonexxxxxxx": "licence-gone",
        "unknownxxxx": "licence-unknown",
        "oldxxxxxxxx": "licence-old",
        "newxxxxxxxx": "licence-not-checked",
        "mute": "licence-not-checked",
    }


HEAD = "video,outcome,reasons,published,sha256\n"


def written(folder, kept: str, sources: str | None = None):
    (folder / "kept.csv").write_text(HEAD + kept)
    if sources is not None:
        (folder / "sources.csv").write_text(HEAD + kept + sources)
    return folder / "kept.csv"


def left_out(path, *films: Film, **lengths: Length) -> dict[str, str]:
    return {one.what: one.detail for one in not_selected(films, lengths, read_selection(path))}


def test_a_video_is_known_by_its_hash_its_path_its_id_or_its_address(tmp_path):
    path = written(
        tmp_path, "b.mp4,kept,,,\nc,kept,,,\nhttps://youtu.be/x,kept,,,\nelsewhere/a.mp4,kept,,,aa\n"
    )
    films = [
        Film(video_id="a", path="a.mp4"),
        Film(video_id="b", path="b.mp4"),
        Film(video_id="c", path="d.mp4"),
    ]
    films += [Film(video_id="d", url=" https://youtu.be/x "), Film(video_id="e", path="e.mp4")]
    assert left_out(path, *films, a=Length(sha256="aa")) == {"e": "the selection has no such video"}
    assert "a" in left_out(path, *films, a=Length(sha256="bb"))


def test_what_was_left_out_keeps_its_reason(tmp_path):
    path = written(
        tmp_path, "a,kept,,2025-02-03,\n", "b,dropped,12 s; expected 60 or more,,\nc,unreadable,cut off,,\n"
    )
    films = [Film(video_id=name, path=f"{name}.mp4") for name in "abc"]
    assert left_out(path, *films) == {"b": "12 s; expected 60 or more", "c": "cut off"}
    assert read_selection(path).published == {"a": date(2025, 2, 3)}


def test_a_hash_goes_before_a_name(tmp_path):
    path = written(tmp_path, "a.mp4,kept,,,aa\n", "b.mp4,dropped,a lecture,,bb\n")
    assert left_out(path, Film(video_id="v", path="a.mp4"), v=Length(sha256="bb")) == {"v": "a lecture"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("video,path\n", "outcome"),
        (HEAD + "a,kept,,yesterday,\n", "'yesterday' is no day"),
        (HEAD + "a,kept\n", "kept.csv:2"),
    ],
)
def test_what_is_no_selection_is_refused(tmp_path, content, said):
    (tmp_path / "kept.csv").write_text(content)
    with pytest.raises(DataError, match=said):
        read_selection(tmp_path / "kept.csv")
