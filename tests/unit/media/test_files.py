"""Facts are found once, kept, and not used for another file."""

import hashlib
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from vidence.errors import DataError, MediaError
from vidence.media.cache import warn_once
from vidence.media.encode import Encoding, Size, decode_image
from vidence.media.files import Job, cached_facts, deliver, known_video, missing, outside, read_facts, resolve
from vidence.media.video import Video
from vidence.records import Item, Media, Subtitles
from videos.special import MAKERS
from videos.stamped import damage, packet_places, read_number, write


def test_the_hash_is_that_of_the_file(plain):
    facts = read_facts(plain, kind="video", cache_root=None)
    assert facts.content_hash == hashlib.sha256(plain.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["vfr", "raw", "turned-90"])
def test_kept_facts_are_the_facts(name, clip, tmp_path):
    path = clip(name).path
    assert cached_facts(path, kind="video", cache_root=tmp_path) is None
    found = read_facts(path, kind="video", cache_root=tmp_path)
    kept = cached_facts(path, kind="video", cache_root=tmp_path)
    assert (kept.probe, kept.content_hash) == (found.probe, found.content_hash)
    np.testing.assert_array_equal(kept.times_s, found.times_s)
    video, _ = known_video(path, kind="video", cache_root=tmp_path)
    fresh, _ = known_video(path, kind="video", cache_root=None)
    for kept_image, image in zip(video.frames([3, 31]), fresh.frames([3, 31]), strict=True):
        np.testing.assert_array_equal(kept_image, image)


def test_kept_facts_never_open_the_file(plain, tmp_path, monkeypatch):
    read_facts(plain, kind="video", cache_root=tmp_path)

    def refuse(*_, **__):
        raise AssertionError("the file was opened")

    monkeypatch.setattr("av.open", refuse)
    monkeypatch.setattr("vidence.media.files._hash_of", refuse)
    assert cached_facts(plain, kind="video", cache_root=tmp_path) is not None


def test_a_swapped_file_is_another_file(plain, tmp_path):
    path, cache = tmp_path / "a.mp4", tmp_path / "cache"
    shutil.copy(plain, path)
    before = read_facts(path, kind="video", cache_root=cache)
    write(path, numbers=range(500, 530), movflags="faststart")
    assert cached_facts(path, kind="video", cache_root=cache) is None
    after, content_hash = known_video(path, kind="video", cache_root=cache)
    assert content_hash != before.content_hash
    assert after.n_frames == 30
    assert read_number(after.frames([7])[0]) == 507


@pytest.mark.parametrize("content", [b"", b"\x00", b"not what it was", b"\x80"])
def test_a_damaged_keep_is_ignored(content, plain, tmp_path):
    read_facts(plain, kind="video", cache_root=tmp_path)
    (place,) = (tmp_path / "facts").glob("*/*")
    place.write_bytes(content)
    assert cached_facts(plain, kind="video", cache_root=tmp_path) is None
    assert read_facts(plain, kind="video", cache_root=tmp_path).probe.counted.n_frames == 120


def test_a_cache_that_cannot_be_written_does_no_harm(plain, tmp_path, caplog):
    warn_once.cache_clear()
    (tmp_path / "file").write_text("in the way")
    for _ in range(2):
        facts = read_facts(plain, kind="video", cache_root=tmp_path / "file")
        assert facts.probe.counted.n_frames == 120
    assert len(caplog.records) == 1


def test_a_file_that_is_still_being_written_is_an_error(plain, tmp_path, monkeypatch):
    path = tmp_path / "growing.mp4"
    shutil.copy(plain, path)
    from vidence.media import files

    hash_of = files._hash_of

    def grow(where, kind):
        with where.open("ab") as file:
            file.write(b"more")
        return hash_of(where, kind)

    monkeypatch.setattr(files, "_hash_of", grow)
    with pytest.raises(MediaError, match="changed while it was being read"):
        read_facts(path, kind="video", cache_root=tmp_path)


def test_every_kind_of_file_keeps_its_table(clip, tmp_path):
    counted = {
        n
        for n in MAKERS
        if known_video(clip(n).path, kind="video", cache_root=tmp_path)[0].scan.table is None
    }
    # These are decoded from the start; all others are read sparsely.
    assert counted == {"vp8", "mpeg4-avi-b", "gif", "avi", "raw", "interlaced-ts"}


_PNG = Encoding(size=Size(), format="png")


def job(path, indices, *, cache=None, **options):
    settings = {"kind": "video", "encoding": _PNG, "cache_max_bytes": 1 << 26} | options
    return Job(
        path=str(path), frame_indices=indices, cache_root=None if cache is None else str(cache), **settings
    )


def numbers(delivery):
    return {index: read_number(decode_image(frame.data)) for index, frame in delivery.frames.items()}


def test_frames_come_encoded_and_counted(plain):
    delivery = deliver(job(plain, (100, 3, 64, 3)))
    assert numbers(delivery) == {3: 3, 64: 64, 100: 100}
    assert list(delivery.frames) == [3, 64, 100]
    assert (delivery.n_decoded, delivery.n_from_cache, delivery.problems) == (3, 0, {})


def test_only_what_is_missing_is_decoded(plain, tmp_path, monkeypatch):
    first = deliver(job(plain, (3, 64), cache=tmp_path))
    second = deliver(job(plain, (3, 64, 100), cache=tmp_path))
    assert (second.n_decoded, second.n_from_cache) == (1, 2)
    assert second.frames[3] == first.frames[3]
    monkeypatch.setattr("av.open", lambda *_, **__: pytest.fail("the file was opened"))
    third = deliver(job(plain, (3, 64, 100), cache=tmp_path))
    assert (third.n_decoded, third.n_from_cache) == (0, 3)
    assert third.frames == second.frames


def test_other_encodings_and_copies(plain, tmp_path):
    cache = tmp_path / "cache"
    deliver(job(plain, (3,), cache=cache))
    small = Encoding(size=Size.parse("short:54"), format="png")
    delivery = deliver(job(plain, (3,), cache=cache, encoding=small))
    assert delivery.n_decoded == 1
    assert (delivery.frames[3].width_px, delivery.frames[3].height_px) == (96, 54)
    shutil.copy(plain, tmp_path / "copy.mp4")
    assert deliver(job(tmp_path / "copy.mp4", (3,), cache=cache)).n_from_cache == 1


def test_a_damaged_file_gives_the_whole_frames_and_names_the_others(plain, tmp_path):
    start = packet_places(plain)[60][0]
    path = damage(plain, tmp_path / "d.mp4", places=[start + 40], n_bytes=120)
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        delivery = deliver(job(path, (0, 45, 70, 110, 400), cache=cache))
        assert numbers(delivery) == {0: 0, 45: 45, 110: 110}
        assert list(delivery.problems) == [70, 400]
        assert delivery.problems[70].startswith(f"{path}: frame 70 (at 2.333 s) is damaged")
        assert "frame 400 does not exist; there are 120" in delivery.problems[400]


def test_images_and_folders_are_delivered_too(tmp_path, plain):
    from PIL import Image

    folder = tmp_path / "frames"
    folder.mkdir()
    for index, frame in deliver(job(plain, (4, 9, 11))).frames.items():
        Image.fromarray(decode_image(frame.data)).save(folder / f"{index}.png")
    assert numbers(deliver(job(folder, (0, 1, 2), kind="frames", cache=tmp_path))) == {0: 4, 1: 9, 2: 11}
    assert numbers(deliver(job(folder / "9.png", (0,), kind="image", cache=tmp_path))) == {0: 9}


def test_two_processes_deliver_into_one_cache(plain, tmp_path):
    jobs = [job(plain, tuple(range(start, 120, 10)), cache=tmp_path) for start in (0, 0, 2, 2)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        deliveries = list(pool.map(deliver, jobs))
    for delivery in deliveries:
        assert all(index == number for index, number in numbers(delivery).items())
        assert len(delivery.frames) == 12
    assert deliveries[0].frames == deliveries[1].frames


def asking(item_id, *media):
    return Item(item_id=item_id, question="?", answer="A", choices=("x", "y"), media=media)


def test_a_medium_lies_by_its_path_or_else_by_its_url(tmp_path):
    assert resolve(tmp_path, Media(path="clips/a b.mp4")) == tmp_path / "clips" / "a b.mp4"
    assert resolve(tmp_path / "q", Media(path="../a.mp4")).resolve() == (tmp_path / "a.mp4").resolve()
    assert resolve(Path("elsewhere"), Media(path=str(tmp_path / "a.mp4"))) == tmp_path / "a.mp4"
    assert resolve(tmp_path, Media(path="a.mp4", url="https://example.org/b.mp4")) == tmp_path / "a.mp4"
    for place in ("example.org/clips/a.mp4", "example.org/watch?v=1", "example.org/watch?v=2"):
        assert resolve(tmp_path, Media(url=f"https://{place}")) == tmp_path / place


@pytest.mark.parametrize(
    "url",
    [
        "http://../secret/a.mp4",
        "http://h/../../a.mp4",
        "http://h/a?/../../../b",
        "../a.mp4",
        "file:///../a",
        "http://h/a\0",
        "http://[::1/a.mp4",
    ],
)
def test_a_url_that_leads_out_of_the_folder_is_refused(tmp_path, url):
    with pytest.raises(DataError, match=r"leads out of|is not a valid URL"):
        resolve(tmp_path, Media(url=url))


def test_media_outside_the_folder_are_found_however_they_are_named(tmp_path):
    root, other = tmp_path / "data", tmp_path / "other"
    (root / "h").mkdir(parents=True)
    (root / "frames").mkdir()
    (root / "inner").mkdir()
    other.mkdir()
    (other / "a.mp4").write_bytes(b"x")
    (root / "link.mp4").symlink_to(other / "a.mp4")
    (root / "h" / "b.mp4").symlink_to(other / "a.mp4")
    (root / "frames" / "1.jpg").symlink_to(other / "a.mp4")
    (root / "folder").symlink_to(other)
    (root / "own.mp4").symlink_to(root / "inner" / "c.mp4")
    (root / "loop").symlink_to(root / "loop")
    inside = [
        Media(path="c.mp4"),
        Media(path=str(root / "inner" / "c.mp4")),
        Media(path="inner/../c.mp4"),
        Media(path="own.mp4"),
        Media(path="inner", kind="frames"),
        Media(path="absent", kind="frames"),
        Media(path="loop/a.mp4"),
        Media(path="l" * 300),
        Media(url="http://h/c.mp4"),
    ]
    out = [
        Media(path=str(other / "a.mp4")),
        Media(path="../other/a.mp4"),
        Media(path="link.mp4"),
        Media(path="frames", kind="frames"),
        Media(path="folder", kind="frames"),
        Media(path="folder/a.mp4"),
        Media(path="inner/../.."),
        Media(url="http://h/b.mp4"),
    ]
    items = [asking(str(i), medium) for i, medium in enumerate([*inside, *out, *out])]
    assert outside(root, items) == tuple(resolve(root, medium) for medium in out)
    said = Item(item_id="s", question="What?", subtitles=Subtitles(path="../other/a.srt"))
    assert outside(root, [said]) == ()
    assert outside(root, [said], subtitled=True) == (root / "../other/a.srt",)
    (tmp_path / "by-link").symlink_to(root)
    assert outside(tmp_path / "by-link", [asking("1", Media(path="c.mp4"))]) == ()


def test_missing_lists_each_absent_file_once_in_order(tmp_path):
    (tmp_path / "there.mp4").write_bytes(b"x")
    items = [
        asking("1", Media(path="z.mp4")),
        asking("2", Media(path="there.mp4"), Media(path="a.mp4")),
        asking("3", Media(path="z.mp4", start_s=1.0, end_s=2.0)),
        asking("4"),
    ]
    assert missing(tmp_path, items) == (tmp_path / "z.mp4", tmp_path / "a.mp4")
    assert missing(tmp_path, items[3:]) == ()
    names = ["a" * 300, "b\0", "closed/a.mp4"]  # what cannot be reached
    unreachable = [asking(name, Media(path=name)) for name in names]
    assert missing(tmp_path, unreachable) == tuple(tmp_path / name for name in names)
    with pytest.raises(DataError, match="neither path nor url"):
        resolve(tmp_path, Media())
    place = tmp_path / "example.org" / "b.mp4"
    by_url = [asking("1", Media(url="https://example.org/b.mp4"))]
    assert missing(tmp_path, by_url) == (place,)
    place.parent.mkdir()
    place.write_bytes(b"x")
    assert missing(tmp_path, by_url) == ()
    wrong = [asking("1", Media(path="example.org")), asking("2", Media(path="there.mp4", kind="frames"))]
    assert missing(tmp_path, wrong) == (tmp_path / "example.org", tmp_path / "there.mp4")
    right = [asking("1", Media(path="example.org", kind="frames")), asking("2", Media(path="there.mp4"))]
    assert missing(tmp_path, right) == ()


def test_frames_of_another_file_than_was_meant_are_not_delivered(plain, tmp_path, monkeypatch):
    """What is decoded is what the hash was checked of."""
    path = tmp_path / "a.mp4"
    shutil.copy(plain, path)
    meant = read_facts(path, kind="video", cache_root=None).content_hash
    first = job(path, (3,), cache=tmp_path / "cache", content_hash=meant)
    assert list(deliver(first).frames) == [3]
    shutil.copy(MAKERS["mpeg4"](tmp_path).path, path)
    with pytest.raises(MediaError, match=r"a\.mp4: changed since its frames were selected"):
        deliver(first)
    shutil.copy(plain, path)
    read = Video.read

    def exchange(self, *more, **named):
        made = read(self, *more, **named)
        path.write_bytes(b"another")
        return made

    monkeypatch.setattr(Video, "read", exchange)
    with pytest.raises(MediaError, match=r"a\.mp4: changed while it was being read"):
        deliver(job(path, (5,), cache=tmp_path / "cache"))


def test_in_the_cache_of_the_hub_the_contents_of_the_same_data_set_are_inside(tmp_path):
    sets = [tmp_path / f"datasets--a--{name}" for name in "bc"]
    for folder in sets:
        (folder / "blobs").mkdir(parents=True)
        (folder / "blobs" / "1234").write_bytes(b"x")
        (folder / "snapshots" / "c0" / "videos").mkdir(parents=True)
    snapshot = sets[0] / "snapshots" / "c0"
    (snapshot / "videos" / "own.mp4").symlink_to("../../../blobs/1234")
    (snapshot / "videos" / "other.mp4").symlink_to(sets[1] / "blobs" / "1234")
    (tmp_path / "mine").write_bytes(b"x")
    (snapshot / "videos" / "mine.mp4").symlink_to(tmp_path / "mine")
    items = [asking(name, Media(path=f"{name}.mp4")) for name in ("own", "other", "mine")]
    root = snapshot / "videos"
    assert [path.name for path in outside(root, items)] == ["other.mp4", "mine.mp4"]
    inner = [asking("own", Media(path="videos/own.mp4"))]
    assert outside(snapshot, inner) == ()
    shutil.move(sets[0] / "blobs", tmp_path / "elsewhere")
    (sets[0] / "blobs").symlink_to(tmp_path / "elsewhere")
    assert outside(snapshot, inner) == (snapshot / "videos" / "own.mp4",)
