"""Media in a release: copied or linked where their licence allows it, named with their hash in any case."""

import hashlib
import json
from dataclasses import replace

import msgspec
import pytest

from subjects.released import MATERIAL, half_hidden, rules_of
from vidence.errors import DataError, UsageError
from vidence.make.release.media import MediaRules, may_be_given
from vidence.make.release.sets import release_set, scan_again
from vidence.records import Media, Provenance


@pytest.mark.parametrize(
    ("licence", "is_open"),
    [
        ("CC-BY-4.0", True),
        ("cc by-nc-sa 4.0", True),
        ("CC BY-ND 2.0", True),
        ("CC0", True),
        ("CC0 1.0 Universal", True),
        ("creativeCommon", True),
        ("Creative Commons Attribution 4.0", True),
        ("Creative Commons Attribution-NonCommercial 4.0 International", True),
        ("https://creativecommons.org/licenses/by-sa/4.0/", True),
        ("Public Domain", True),
        ("youtube", False),
        ("research only", False),
        ("not CC-BY", False),
        ("CC-BY-4.0, but not the music", False),
        ("", False),
    ],
)
def test_which_licences_let_files_be_given_on(licence, is_open):
    assert may_be_given(licence) is is_open
    assert may_be_given("research only", allowed={"research only"})
    assert not may_be_given("")


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    (folder / "videos").mkdir(parents=True)
    for n in range(7):
        (folder / "videos" / f"film-00{n}.mp4").write_bytes(b"film %d of table-001" % n)
    return folder


def items():
    found = list(half_hidden())
    closed = Provenance(source="a channel", licence="research only")
    found[2] = msgspec.structs.replace(found[2], provenance=closed)
    return found


def released(tmp_path, home, how, *, of=None, licences=(), **changes):
    media = MediaRules(files=how, root=home, licences=frozenset(licences))
    rules = rules_of("items", hidden=frozenset({"test"}), media=media, **changes)
    return release_set(of or items(), rules, replace(MATERIAL, agreement=None), into=tmp_path / how)


def rows(found):
    lines = (found.folder / "about" / "media.jsonl").read_text().splitlines()[1:]
    return {row["path"]: row for row in map(json.loads, lines)}


def test_without_files_every_medium_that_is_here_has_its_hash(tmp_path, home):
    found = released(tmp_path, home, "none")
    said = rows(found)
    assert said["videos/film-000.mp4"]["sha256"] == hashlib.sha256(b"film 0 of table-001").hexdigest()
    assert "sha256" not in said["videos/film-007.mp4"]
    assert not (found.folder / "videos").exists()
    assert "Media are not part of this release" in (found.folder / "DATASHEET.md").read_text()


@pytest.mark.parametrize("how", ["copy", "link"])
def test_only_what_the_licence_allows_is_given_and_the_others_are_named(tmp_path, home, how):
    found = released(tmp_path, home, how)
    assert sorted(path.name for path in (found.folder / "videos").iterdir()) == [
        f"film-00{n}.mp4" for n in (0, 1, 3, 4, 5, 6)
    ]
    said = rows(found)
    assert said["videos/film-000.mp4"]["given"] == {"copy": "copied", "link": "linked"}[how]
    assert said["videos/film-002.mp4"]["not_given"] == "under a licence that does not say so: research only"
    assert said["videos/film-007.mp4"]["not_given"] == "not here"
    assert (found.folder / "videos" / "film-000.mp4").is_symlink() is (how == "link")
    sums = (found.folder / "SHA256SUMS").read_text()
    assert f"{said['videos/film-000.mp4']['sha256']}  videos/film-000.mp4\n" in sums
    assert "6 of 8. The others: 1 not here, 1 under a licence" in (found.folder / "DATASHEET.md").read_text()
    again = released(tmp_path, home, how)
    assert not again.is_new
    assert "videos/film-002.mp4" in rows(released(tmp_path / "b", home, how, licences=("research only",)))


def test_a_medium_of_two_questions_is_given_where_both_licences_allow_it(tmp_path, home):
    one, two = items()[0], items()[2]
    two = msgspec.structs.replace(two, media=one.media, source=one.source)
    found = released(tmp_path, home, "copy", of=[one, two, items()[1]])
    assert not (found.folder / "videos" / "film-000.mp4").exists()
    assert (found.folder / "videos" / "film-001.mp4").exists()


def test_a_scan_passes_over_media_as_they_were_released_and_over_nothing_else(tmp_path, home):
    found = released(tmp_path, home, "copy")
    hidden = found.folder.with_name(f"{found.folder.name}.hidden")
    assert scan_again(found.folder, hidden) == ()
    (found.folder / "videos" / "film-000.mp4").write_text("table-001,B\n")
    assert [leak.file for leak in scan_again(found.folder, hidden)] == ["videos/film-000.mp4"]
    with pytest.raises(UsageError, match=r"film-000.mp4 differs"):
        released(tmp_path, home, "copy")


def test_a_folder_of_images_goes_as_a_whole(tmp_path, home):
    (home / "shots").mkdir()
    for name in ("1.png", "2.png"):
        (home / "shots" / name).write_bytes(name.encode())
    one = msgspec.structs.replace(items()[0], media=(Media(path="shots", kind="frames"),))
    found = released(tmp_path, home, "copy", of=[one, items()[1]])
    assert sorted(path.name for path in (found.folder / "shots").iterdir()) == ["1.png", "2.png"]


def test_what_cannot_be_given_is_refused(tmp_path, home):
    wrong = msgspec.structs.replace(items()[0], media=(Media(path="videos/film-000.mp4", sha256="0" * 64),))
    with pytest.raises(DataError, match="not the file that its question names"):
        released(tmp_path, home, "copy", of=[wrong, items()[1]])
    (home / "items.jsonl").write_text("x")
    named = msgspec.structs.replace(items()[0], media=(Media(path="items.jsonl"),))
    with pytest.raises(UsageError, match=r"items.jsonl would overwrite a file"):
        released(tmp_path, home, "copy", of=[named, items()[1]])
    outside = msgspec.structs.replace(items()[0], media=(Media(path="../x.mp4"),))
    with pytest.raises(UsageError, match="lies outside the folder"):
        released(tmp_path, home, "copy", of=[outside, items()[1]])
    with pytest.raises(UsageError, match="name their folder with --media"):
        released(tmp_path, None, "copy")
