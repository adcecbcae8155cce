"""What of a release is taken, and what was fetched last."""

import hashlib
import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from vidence.ask.fetching.address import HubAddress
from vidence.ask.fetching.archives import is_archive
from vidence.ask.fetching.hub import DatasetListing, HubFile
from vidence.catalog import ready
from vidence.engine import get
from vidence.errors import DataError, StoreError, UsageError
from vidence.records import Item, Media

COMMIT = "ab" * 20


class Listed:
    """A hub that lists some files."""

    def __init__(self, *paths):
        self.paths = paths

    def listing(self, address):
        files = tuple(HubFile(path=path, n_bytes=1, git_sha1="") for path in self.paths)
        return DatasetListing(
            address=HubAddress(address.repo, COMMIT, address.folder), licence="", is_gated=False, files=files
        )


def offered(name, *paths, config=None):
    return get.offer(name, hub=Listed(*paths), config=config)


def items(*paths):
    return [
        Item(item_id=path, media=(Media(path=path),), question="?", choices=("a", "b"), answer="A")
        for path in paths
    ]


def paths(files):
    return [one.path for one in files]


def test_each_benchmark_that_has_a_release_says_where_or_why_not() -> None:
    for name in ready("benchmark"):
        if name in ("table", "phantom"):
            with pytest.raises(UsageError, match="its questions are your own"):
                get.release_of(name)
            continue
        release = get.release_of(name)
        assert bool(release.absent) != bool(release.hub and (release.questions or release.github)), name


def test_a_split_may_have_a_release_of_its_own() -> None:
    found = get.offer("mlvu", hub=Listed("test-ground-truth/test_mcq_gt.json"), split="test")
    assert (found.listing.address.repo, paths(found.questions)) == (
        "MLVU/MLVU_Test",
        ["test-ground-truth/test_mcq_gt.json"],
    )
    assert get.release_of("mlvu", "dev-open") == get.release_of("mlvu")
    assert get.benchmark_at("hf:MLVU/MLVU_Test", is_mapped=False)[0] == "mlvu"


def test_the_first_form_of_the_questions_is_taken_and_nothing_else() -> None:
    found = offered(
        "herbench", "data/tasks/a.json", "data/tasks/b.json", "full/x.parquet", "other.json", "v.zip"
    )
    assert paths(found.questions) == ["data/tasks/a.json", "data/tasks/b.json"]
    assert paths(found.media) == ["v.zip"]
    assert found.folder == ""


def test_configurations_are_chosen_by_folder() -> None:
    tables = ("full/x-0.parquet", "full/x-1.parquet", "lite/x.parquet")
    with pytest.raises(UsageError, match="add --config with one of full, lite"):
        offered("herbench", *tables)
    found = offered("herbench", *tables, config="full")
    assert (paths(found.questions), found.folder) == (["full/x-0.parquet", "full/x-1.parquet"], "full")
    with pytest.raises(UsageError, match=r"no configuration named 'lit'.*full, lite"):
        offered("herbench", *tables, config="lit")


def test_a_release_without_questions_in_a_known_form_says_what_it_holds() -> None:
    with pytest.raises(DataError, match=r"has no file .*validation\.json.*it holds README\.md, a\.csv"):
        offered("mmvu", "README.md", "a.csv")


def test_a_name_that_is_no_benchmark_is_answered_with_those_that_have_a_release() -> None:
    with pytest.raises(UsageError, match="no release named 'mmvo'") as refused:
        get.release_of("mmvo")
    assert "mmvu" in str(refused.value)
    assert "phantom" not in str(refused.value)
    assert "table" not in str(refused.value)


def test_any_data_set_gives_questions_and_videos() -> None:
    found = offered("hf:a/b@v1", "q.jsonl", "t.parquet", "v/1.mkv", "x.bin")
    assert (paths(found.questions), paths(found.media)) == (["q.jsonl", "t.parquet"], ["v/1.mkv"])


def test_only_media_that_are_needed_are_wanted() -> None:
    found = offered("mmvu", "validation.json", "videos/Art/1.mp4", "videos/Law/1.mp4", "videos/Art/2.mp4")
    wanted = get.wanted_media(found, items("videos/Art/1.mp4", "videos/Art/1.mp4", "videos/Art/9.mp4"))
    assert paths(wanted.files) == ["videos/Art/1.mp4"]
    assert wanted.left == ("videos/Art/9.mp4",)


def test_archives_of_the_folders_that_are_needed_are_taken_else_all() -> None:
    names_of = ("data/tasks/a.json", "videos/WildTrack.tar.gz", "videos/trailers.zip")
    found = offered("herbench", *names_of)
    wanted = get.wanted_media(found, items("videos/WildTrack/1.mp4"))
    assert paths(wanted.packed) == ["videos/WildTrack.tar.gz"]
    assert paths(get.wanted_media(found, items("other/1.mp4")).packed) == list(names_of[1:])


def test_a_path_of_a_question_never_leaves_the_folder() -> None:
    found = offered("mmvu", "validation.json", "videos/Art/1.mp4", "x.zip")
    wanted = get.wanted_media(found, items("../../1.mp4", "/1.mp4"))
    assert wanted.plain == {}
    assert wanted.left == ("../../1.mp4", "/1.mp4")


def test_a_note_is_read_as_it_was_written_and_a_damaged_one_is_said(tmp_path) -> None:
    time = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    got = get.Got(
        data="hf:a/b@c", media="/m", release="hf:a/b@c", fetched_at=time.isoformat(timespec="seconds")
    )
    get.note(tmp_path, "mmvu", got)
    assert get.noted(tmp_path, "mmvu") == got
    (tmp_path / "got" / "mmvu.json").write_text("{")
    with pytest.raises(StoreError, match="fetch it again: vidence get mmvu"):
        get.noted(tmp_path, "mmvu")


def test_hashes_are_those_of_the_listing() -> None:
    large = HubFile(path="a", n_bytes=1, git_sha1="1", sha256="2")
    small = HubFile(path="b", n_bytes=1, git_sha1="1")
    assert get.file_hashes([large, small]) == {"a": "2", "b": "git:1"}


def test_configurations_in_one_folder_are_told_apart_by_their_names() -> None:
    tables = ("data/lite-00000-of-00002.parquet", "data/lite-00001-of-00002.parquet", "data/lite_v2.parquet")
    with pytest.raises(UsageError, match="add --config with one of lite, lite_v2"):
        offered("herbench", *tables)
    found = offered("herbench", *tables, config="lite")
    assert (paths(found.questions), found.config) == (list(tables[:2]), "lite")
    assert offered("herbench", *tables, config="lite_v2").config == "lite_v2"
    assert offered("herbench", *tables[:2], config="lite").config == ""


class Fetched(Listed):
    """A hub whose files are there already."""

    def __init__(self, cache, **contents):
        super().__init__(*contents)
        self.cache = cache
        for path, content in contents.items():
            (cache / path).parent.mkdir(parents=True, exist_ok=True)
            (cache / path).write_bytes(content)

    def fetch(self, listing, files, *, named, on_file):
        return self.cache

    def absent(self, listing, files):
        return files


def test_a_configuration_beside_others_lies_in_a_folder_of_its_own(tmp_path) -> None:
    hub = Fetched(tmp_path / "hub", **{"data/full.parquet": b"full", "data/lite.parquet": b"lite"})
    found = get.offer("herbench", hub=hub, config="lite")
    data = get.get_questions(found, cache_root=tmp_path / "c", github="", own=None, on_file=lambda file: None)
    assert [path.name for path in Path(data).iterdir()] == ["lite.parquet"]


def test_archives_of_any_data_set_are_unpacked_once_beside_the_other_media(tmp_path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("1.mp4", b"1")
        archive.writestr("../2.mp4", b"2")
    hub = Fetched(tmp_path / "hub", **{"q.jsonl": b"", "video/a.zip": file.getvalue(), "video/3.mp4": b"3"})
    found = get.offer("hf:a/b", hub=hub)
    for again in (False, True):
        folder, media, refused = get.get_files(
            found, cache_root=tmp_path / "c", with_media=True, on_file=lambda file: None
        )
        assert (folder, refused) == (hub.cache, ("../2.mp4",))
        assert {path.name: path.read_bytes() for path in (media / "video").iterdir()} == {
            "1.mp4": b"1",
            "3.mp4": b"3",
        }, again
        (hub.cache / "video" / "a.zip").write_bytes(b"not read again")
    assert get.get_files(found, cache_root=tmp_path / "c", with_media=False, on_file=lambda file: None) == (
        hub.cache,
        None,
        (),
    )


def test_what_does_not_fit_is_refused_before_it_is_fetched(tmp_path, monkeypatch) -> None:
    hub = Fetched(tmp_path / "hub", **{"a.zip": b"x", "1.mp4": b"x"})
    found = get.offer("hf:a/b", hub=hub)

    def check(*, free, is_unpacked):
        monkeypatch.setattr(get.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
        get.check_room(found, found.media, cache_root=tmp_path / "not" / "made", is_unpacked=is_unpacked)

    check(free=2, is_unpacked=False)
    check(free=3, is_unpacked=True)
    with pytest.raises(StoreError, match=r"set HF_HOME to a folder of a larger disk, or fetch fewer"):
        check(free=1, is_unpacked=False)
    with pytest.raises(StoreError, match=r"set VIDENCE_CACHE"):
        check(free=2, is_unpacked=True)


def test_where_data_came_from_is_found_by_the_data_of_a_plan(tmp_path) -> None:
    got = get.Got(data=f"hf:a/b@{COMMIT}", release=f"hf:a/b@{COMMIT}", licence="mit", fetched_at="then")
    get.note(tmp_path, "", got)
    assert get.fetched_from(tmp_path, f"hf:a/b@{COMMIT}") == got
    assert get.fetched_from(tmp_path, f"hf:a/b@{COMMIT}/data") == got
    assert get.fetched_from(tmp_path, "/some/where") is None
    with pytest.raises(UsageError, match="mmvu was not fetched"):
        get.noted(tmp_path, "mmvu")


def quiet(file):
    """Nobody is told of files."""


def got_questions(found, tmp_path, **own):
    given = {"github": "", "own": None} | own
    return get.get_questions(found, cache_root=tmp_path / "c", on_file=quiet, **given)


def test_questions_of_the_hub_are_named_by_their_address_and_others_by_their_path(tmp_path, monkeypatch):
    hub = Fetched(tmp_path / "hub", **{"full/x.parquet": b"x"})
    found = get.offer("herbench", hub=hub, config="full")
    assert found.config == ""
    assert got_questions(found, tmp_path) == f"hf:{found.release.hub}@{COMMIT}/full"
    mine = tmp_path / "mine.json"
    mine.write_bytes(b"mine")
    path = Path(got_questions(found, tmp_path, own=mine))
    assert (path.read_bytes(), path.name) == (b"mine", "mine.json")
    digest = hashlib.sha256(b"mine").hexdigest()
    assert path == tmp_path / "c" / "got" / "herbench" / digest[:16] / "mine.json"
    with pytest.raises(DataError, match="cannot be read"):
        got_questions(found, tmp_path, own=tmp_path / "none.json")


def test_questions_of_github_are_read_from_there(tmp_path, monkeypatch):
    of_github = [name for name in ready("benchmark")
                 if (release := get._release(name)) and release.github and not release.absent]  # fmt: skip
    asked = []
    monkeypatch.setattr(get, "read_web", lambda address: asked.append(address) or b"[]")
    for name in of_github:
        release = get.release_of(name)
        hub = Fetched(tmp_path / name)
        found = get.Offer(
            benchmark=name,
            release=release,
            named=HubAddress(release.hub or "a/b", COMMIT),
            hub=hub,
            listing=hub.listing(HubAddress(release.hub or "a/b", COMMIT)),
            questions=(),
            media=(),
        )
        path = Path(got_questions(found, tmp_path, github="https://raw.example"))
        read = [path] if path.is_file() else sorted(path.iterdir())
        assert asked == [f"https://raw.example/{place}" for place in release.github]
        assert [one.name for one in read] == [place.rpartition("/")[2] for place in release.github]
        assert {one.read_bytes() for one in read} == {b"[]"}
        asked.clear()
    assert of_github


def got_media(found, asked, tmp_path):
    wanted = get.wanted_media(found, items(*asked))
    return get.get_media(found, wanted, cache_root=tmp_path / "c", on_file=quiet)


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "/"), content)
    return file.getvalue()


def test_media_that_lie_as_they_are_stay_at_their_address(tmp_path):
    hub = Fetched(tmp_path / "hub", **{"validation.json": b"", "videos/Art/1.mp4": b"1"})
    found = get.offer("mmvu", hub=hub)
    where, left, refused = got_media(found, ["Art/1.mp4", "Art/9.mp4"], tmp_path)
    assert where == f"hf:{found.release.hub}@{COMMIT}/videos"
    assert (left, refused) == (("Art/9.mp4",), ())
    assert got_media(found, [], tmp_path) == (None, (), ())


def test_media_of_two_folders_lie_together(tmp_path):
    files = {"validation.json": b"", "videos/Art/1.mp4": b"1", "videos/more/Law/2.mp4": b"2"}
    hub = Fetched(tmp_path / "hub", **files)
    found = get.offer("mmvu", hub=hub)
    where, left, _ = got_media(found, ["Art/1.mp4", "Law/2.mp4"], tmp_path)
    assert left == ()
    assert (Path(where) / "Art/1.mp4").read_bytes() == b"1"
    assert (Path(where) / "Law/2.mp4").read_bytes() == b"2"


def test_media_out_of_archives_lie_together_with_the_others_and_are_unpacked_once(tmp_path):
    packed = zipped(Art_2="two", Art_3="three")
    hub = Fetched(tmp_path / "hub", **{"q.jsonl": b"", "videos/Art/1.mp4": b"1", "videos/Art.zip": packed})
    found = get.offer("hf:a/b", hub=hub)
    assert [is_archive(one.path) for one in found.media] == [False, True]
    asked = ["videos/Art/1.mp4", "videos/Art/2", "videos/Art/9"]
    for again in (False, True):
        where, left, refused = got_media(found, asked, tmp_path)
        folder = Path(where)
        assert folder == tmp_path / "c" / "got" / "a--b" / COMMIT
        assert (folder / "videos/Art/1.mp4").read_bytes() == b"1"
        assert (folder / "videos/Art/2").read_bytes() == b"two"
        assert not (folder / "videos/Art/3").exists()
        assert (left, refused) == (("videos/Art/9",), ()), again


def test_a_name_a_file_and_an_address_are_told_apart(tmp_path):
    named = {"mmvu": ("mmvu", None), "mmvuu": ("mmvuu", None), "toml:x.toml": ("toml:x.toml", None)}
    for text in ("questions.jsonl", str(tmp_path), "hf:some/where"):
        named[text] = ("table", Path(text))
    named["hf:lmms-lab/Video-MME@main"] = ("video-mme", Path("hf:lmms-lab/Video-MME@main"))
    for text, found in named.items():
        assert get.benchmark_at(text, is_mapped=False) == found
    assert get.benchmark_at("hf:lmms-lab/Video-MME", is_mapped=True)[0] == "table"
    with pytest.raises(UsageError, match="'hf:foo' is not an address"):
        get.benchmark_at("hf:foo", is_mapped=False)


def test_a_note_that_is_damaged_and_benchmarks_without_a_release_are_said(tmp_path):
    got = get.Got(data="/some/where", release="hf:a/b@c")
    get.note(tmp_path, "", got)
    for path in (tmp_path / "got" / "notes").iterdir():
        path.write_text("{")
    with pytest.raises(StoreError, match="remove it, or fetch /some/where again"):
        get.fetched_from(tmp_path, "/some/where")
    with pytest.raises(UsageError, match=r"name the questions of phantom with --data$"):
        get.noted(tmp_path, "phantom")
    for name in ready("benchmark"):
        if (release := get._release(name)) is not None and release.absent:
            with pytest.raises(UsageError, match=f"name the questions of {name} with --data; "):
                get.noted(tmp_path, name)
            assert get.command_for(name) == ""
