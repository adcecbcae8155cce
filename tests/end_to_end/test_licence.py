"""``vidence videos licence`` as a person calls it."""

import gzip
import json

import pytest

from servers.youtube import KEY, YouTubeServer

FREE, SHUT = "aaaaaaaaaaa", "bbbbbbbbbbb"


@pytest.fixture
def server():
    with YouTubeServer(licences={FREE: "creativeCommon", SHUT: "youtube"}) as running:
        yield running


@pytest.fixture
def vidence(server, vidence):
    vidence.env.update({"VIDENCE_YOUTUBE_API": server.url, "YOUTUBE_API_KEY": KEY})
    return vidence


def test_a_free_video_passes_and_is_not_asked_for_again(server, vidence) -> None:
    first = vidence("videos", "licence", f"https://youtu.be/{FREE}")
    assert (first.code, server.asked) == (0, [[FREE]])
    assert "1 video: 1 passed; 1 asked for now; kept in licences.jsonl" in first.out
    vidence.env.pop("YOUTUBE_API_KEY")
    again = vidence("videos", "licence", FREE, "--json", "-")
    assert (again.code, len(server.asked)) == (0, 1)
    assert "0 asked for now" in json.loads(again.out)["sentences"][0]


def test_a_video_that_is_not_free_ends_with_one(vidence) -> None:
    done = vidence("videos", "licence", FREE, SHUT, "ccccccccccc", "--csv", "out.csv")
    assert done.code == 1
    rows = (vidence.folder / "out.csv").read_text().splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [
        [FREE, "passed"],
        [SHUT, "refused"],
        ["ccccccccccc", "gone"],
    ]


def test_without_a_key_the_two_ways_are_named(vidence) -> None:
    vidence.env.pop("YOUTUBE_API_KEY")
    done = vidence("videos", "licence", FREE)
    assert done.code == 2
    assert "YOUTUBE_API_KEY" in done.err
    assert "--manual" in done.err


def test_two_people_look_where_there_is_no_key(vidence) -> None:
    vidence.env.pop("YOUTUBE_API_KEY")
    assert vidence("videos", "licence", FREE, "--sheet", "sheet.csv").code == 0
    sheet = vidence.folder / "sheet.csv"
    header, *rows = sheet.read_text().splitlines()
    filled = [f"{FREE},creativeCommon,{who},2026-01-02,page.png" for who in ("Ann", "Ben")]
    assert len(rows) == 2
    sheet.write_text("\n".join([header, *filled]) + "\n")
    done = vidence("videos", "licence", FREE, "--manual", "sheet.csv")
    assert done.code == 0
    assert "ann, ben" in done.out


@pytest.mark.parity
def test_the_films_of_mmvu_are_asked_for_fifty_at_a_time(checks_dir, server, vidence) -> None:
    """453 sources (counted in the released file; SPEC)."""
    packed = checks_dir / "mmvu" / "validation.json.gz"
    rows = json.loads(gzip.decompress(packed.read_bytes()))
    done = vidence("videos", "licence", str(packed), "--json", "-")
    asked = [one for call in server.asked for one in call]
    assert len(asked) == len(set(asked)) == 453
    assert [len(call) for call in server.asked] == [50] * 9 + [3]
    assert done.code == 1
    assert "453 gone" in json.loads(done.out)["sentences"][0]
    assert all(one in json.dumps(rows) for one in asked)
