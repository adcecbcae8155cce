"""Frames for questions: workers that hang or crash, spans, and several media."""

import hashlib
import os
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import msgspec
import numpy as np
import pytest
from PIL import Image

from servers.objects import on_loopback
from servers.virtual_time import in_loop
from subjects import with_sound
from vidence.ask.prompting.templates import Templates
from vidence.catalog import create
from vidence.contracts import View
from vidence.engine import frames
from vidence.engine.bounds import Bounds
from vidence.engine.engine import Engine
from vidence.engine.executor import Workers
from vidence.engine.frames import FrameDesk, FrameStore
from vidence.engine.limits import AskLimits
from vidence.engine.views import DecodeCount, OpenView, ViewContent, clip_of, video_type
from vidence.errors import DataError, UsageError
from vidence.media.address import Address
from vidence.media.encode import Encoding, Size
from vidence.media.files import MediaFacts
from vidence.media.probe import Claimed, PacketCounts, Probe
from vidence.media.silent import Silent
from vidence.records import Failed, Item, Media, VideoPart
from videos import stamped


class Desk(FrameDesk):
    """A desk of one view."""

    async def show(self, items):
        return {item_id: views[""] for item_id, views in (await super().show(items)).items()}


def show(folder: Path, items: list[Item], troubles: list[str] | None = None, **changes) -> dict:
    """What these questions are shown, in a loop of its own."""

    async def go() -> dict[str, ViewContent | Failed]:
        async with desk(folder, [] if troubles is None else troubles, **changes) as it:
            return await it.show(items)

    return anyio.run(go)


@asynccontextmanager
async def desk(
    tmp_path: Path,
    troubles: list[str],
    *,
    selector: str = "all",
    broken: object = None,
    count: DecodeCount | None = None,
    **changes: object,
) -> AsyncIterator[FrameDesk]:
    view = OpenView(
        rules=View(selector=selector, n_frames=4),
        selector=broken or create("selector", selector),
        encoding=Encoding(size=Size.parse("native")),
        words=Templates.load("plain"),
    )
    place = FrameStore(
        media_root=tmp_path, cache_root=tmp_path / "cache", cache_max_bytes=10**9, deadline_s=60.0
    )
    place = replace(place, **changes)
    engine = Engine(memory=tmp_path / "replies.sqlite", limits=AskLimits(), on_event=print)
    bounds = Bounds(reads=(tmp_path, place.media_root), writes=(place.cache_root, tmp_path))
    async with Workers(1, bounds=bounds) as workers:
        yield Desk(
            views={"": view},
            place=place,
            workers=workers,
            engine=engine,
            count=count or DecodeCount(),
            on_trouble=troubles.append,
        )


def picture(path: Path, shade: int) -> None:
    Image.fromarray(np.full((20, 30, 3), shade, np.uint8)).save(path)


def test_several_images_are_shown_in_their_order(tmp_path: Path):
    for name, shade in [("b.png", 10), ("a.png", 200)]:
        picture(tmp_path / name, shade)
    media = tuple(Media(path=name, kind="image") for name in ("b.png", "a.png"))
    item = Item(item_id="q", media=media, question="?", answer="A")

    shown = show(tmp_path, [item])["q"]
    assert isinstance(shown, ViewContent)
    assert [(r.media_index, r.frame_index) for r in shown.selection.frames] == [(0, 0), (1, 0)]
    assert len(shown.frames) == 2
    assert shown.frames[0].frame.digest != shown.frames[1].frame.digest


def test_a_missing_and_a_broken_image_fail_their_questions_only(tmp_path: Path):
    picture(tmp_path / "good.png", 10)
    (tmp_path / "bad.png").write_text("no picture")
    items = [
        Item(item_id=name, media=(Media(path=f"{name}.png", kind="image"),), question="?", answer="A")
        for name in ("good", "bad", "absent")
    ]
    troubles: list[str] = []

    shown = show(tmp_path, items, troubles)
    assert isinstance(shown["good"], ViewContent)
    assert isinstance(shown["bad"], Failed)
    assert isinstance(shown["absent"], Failed)
    assert sum("bad.png" in t for t in troubles) == 1
    assert sum("absent.png" in t for t in troubles) == 1


def facts(times_s: list[float]) -> MediaFacts:
    probe = Probe(
        path="film.mp4",
        kind="video",
        container="mp4",
        codec="h264",
        width_px=4,
        height_px=4,
        rotation_deg=0,
        claimed=Claimed(n_frames=None, duration_s=None, fps=None),
        counted=PacketCounts(
            n_frames=len(times_s), duration_s=times_s[-1] + 0.1, fps=10.0, is_variable=False
        ),
        has_audio=False,
        problem="",
    )
    return MediaFacts(probe=probe, times_s=np.array(times_s), content_hash="h")


def test_a_span_is_cut_out_half_open():
    clip = clip_of([(Media(path="film.mp4", start_s=0.2, end_s=0.4), facts([0.0, 0.1, 0.2, 0.3, 0.4]))])
    assert clip.frame_indices.tolist() == [2, 3]
    assert clip.times_s.tolist() == [0.2, 0.3]
    assert clip.fps == 10.0


@pytest.mark.parametrize(("time_s", "frame"), [(0.0, 0), (0.1, 1), (0.19, 1), (0.4, 4), (0.43, 4)])
def test_a_span_without_length_is_the_frame_on_screen(time_s, frame):
    film = facts([0.0, 0.1, 0.2, 0.3, 0.4])
    clip = clip_of([(Media(path="film.mp4", start_s=time_s, end_s=time_s), film)])
    assert clip.frame_indices.tolist() == [frame]
    with pytest.raises(DataError, match="no frame lies in"):
        clip_of([(Media(path="film.mp4", start_s=0.6, end_s=0.6), film)])


def test_a_span_beyond_the_video_says_where_it_ends():
    with pytest.raises(
        DataError, match=r"film\.mp4: no frame lies in \[9 s, 12 s\); its 2 frames end at 0\.100 s"
    ):
        clip_of([(Media(path="film.mp4", start_s=9, end_s=12), facts([0.0, 0.1]))])


def pictures(tmp_path: Path, *names: str) -> list[Item]:
    for shade, name in enumerate(names):
        picture(tmp_path / name, 10 + shade)
    return [
        Item(item_id=name, media=(Media(path=name, kind="image"),), question="?", answer="A")
        for name in names
    ]


class BadSelector:
    """A plug-in that breaks on one question."""

    version = 1
    budget = "ignored"

    def __init__(self, chosen: list[int] | Exception) -> None:
        self.chosen = chosen

    def select(self, clip, item, *, n_frames):
        if item.item_id != "bad.png":
            return np.array([0])
        if isinstance(self.chosen, Exception):
            raise self.chosen
        return np.array(self.chosen)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (ValueError("bad shape"), r"the selector 'all' broke on item 'bad\.png': ValueError: bad shape"),
        ([1], "IndexError"),
        ([0, -1], "it chose position -1"),
        (UsageError("an argument is missing"), "^an argument is missing$"),
    ],
)
def test_a_selector_that_breaks_fails_its_question_only(tmp_path: Path, chosen, message: str):
    items = pictures(tmp_path, "good.png", "bad.png")

    shown = show(tmp_path, items, broken=BadSelector(chosen))
    assert isinstance(shown["good.png"], ViewContent)
    assert isinstance(shown["bad.png"], Failed)
    assert shown["bad.png"].stage == "selection"
    assert re.search(message, shown["bad.png"].message)


def test_a_file_that_was_set_aside_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (item,) = pictures(tmp_path, "slow.png")
    pair = Item(item_id="pair", media=item.media * 2, question="?", answer="A")
    monkeypatch.setattr(frames, "read_facts", hang)
    troubles: list[str] = []

    async def go() -> list[ViewContent | Failed]:
        async with desk(tmp_path, troubles, deadline_s=0.5) as it:
            return [(await it.show([i]))[i.item_id] for i in (item, pair, item)]

    shown = anyio.run(go)
    assert all(isinstance(s, Failed) and s.error == "DecodeTimeoutError" for s in shown)
    assert len(troubles) == 1


def hang(path: Path, *, kind: str, cache_root: Path) -> None:
    time.sleep(60)


def crash(job: object) -> None:
    os.abort()


@in_loop
async def test_a_file_whose_frames_crash_the_decoder_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    good, bad = pictures(tmp_path, "good.png", "bad.png")
    troubles: list[str] = []
    async with desk(tmp_path, troubles) as it:
        monkeypatch.setattr(frames, "deliver", crash)
        for _ in range(2):
            shown = (await it.show([bad]))["bad.png"]
            assert isinstance(shown, Failed)
            assert "crashed on this file" in shown.message
        monkeypatch.undo()
        assert isinstance((await it.show([good]))["good.png"], ViewContent)
    assert len(troubles) == 1


@in_loop
async def test_a_decoder_that_hangs_blocks_only_its_worker(tmp_path: Path):
    items = pictures(tmp_path, *[f"{i}.png" for i in range(3)])
    async with Workers(2, bounds=Bounds(reads=(tmp_path,))) as workers, anyio.create_task_group() as tasks:
        tasks.start_soon(partial(workers.run, "film.mp4", partial(time.sleep, 60), deadline_s=60))
        await anyio.sleep(0.1)
        async with desk(tmp_path, []) as it:
            it.workers = workers
            with anyio.fail_after(20):
                shown = await it.show(items)
        assert all(isinstance(s, ViewContent) for s in shown.values())
        tasks.cancel_scope.cancel()


def video_item(item_id: str, name: str, start_s: float | None = None, end_s: float | None = None) -> Item:
    return Item(
        item_id=item_id, media=(Media(path=name, start_s=start_s, end_s=end_s),), question="?", answer="A"
    )


def test_damage_fails_only_the_questions_whose_frames_it_hit(tmp_path: Path):
    whole = stamped.write(tmp_path / "whole.mp4")  # a keyframe each 30 frames, 30 frames per second
    places = stamped.packet_places(whole)
    second_group = [i for i, (*_, is_key) in enumerate(places) if is_key][1]
    hit = [place for place, *_ in places[second_group : second_group + 5]]
    stamped.damage(whole, tmp_path / "hit.mp4", places=[h + 8 for h in hit])
    items = [video_item("before", "hit.mp4", 0.0, 0.9), video_item("in", "hit.mp4", 1.0, 1.3)]
    troubles: list[str] = []
    count = DecodeCount()

    shown = show(tmp_path, items, troubles, count=count)
    assert isinstance(shown["before"], ViewContent)
    assert isinstance(shown["in"], Failed)
    assert shown["in"].stage == "media"
    assert "hit.mp4" in shown["in"].message
    assert any("hit.mp4" in t for t in troubles)
    assert count.passes_by_file == {str(tmp_path / "hit.mp4"): 1}


def test_a_file_that_is_not_whole_is_said_to_be_so_and_what_it_holds_is_shown(tmp_path: Path):
    stamped.cut_off(stamped.write(tmp_path / "whole.mkv"), tmp_path / "cut.mkv", share=0.6)
    troubles: list[str] = []

    async def go() -> list[ViewContent | Failed]:
        async with desk(tmp_path, troubles, selector="midpoints") as it:
            return [(await it.show([video_item("q", "cut.mkv")]))["q"] for _ in range(2)]

    first, again = anyio.run(go)
    assert isinstance(first, ViewContent)
    assert first == again
    assert first.selection.note in troubles[0]
    assert 0 < first.selection.n_candidates < stamped.N_FRAMES


def test_a_file_that_is_not_the_one_of_the_item_is_not_shown(tmp_path: Path):
    (right,) = pictures(tmp_path, "a.png")
    digest = hashlib.sha256((tmp_path / "a.png").read_bytes()).hexdigest()
    wanted = {"same": digest, "other": "0" * 64}
    items = [
        Item(
            item_id=name, media=(Media(path="a.png", kind="image", sha256=sha256),), question="?", answer="A"
        )
        for name, sha256 in wanted.items()
    ]

    shown = show(tmp_path, [right, *items])
    assert isinstance(shown["same"], ViewContent)
    assert isinstance(shown["other"], Failed)
    assert shown["other"].error == "WrongFile"
    assert f"{'0' * 64}" in shown["other"].message


def show_at(root: Path | Address, tmp_path: Path, item: Item, troubles: list[str], **changes):
    return show(tmp_path, [item], troubles, media_root=root, **changes)[item.item_id]


def test_videos_at_an_address_are_shown_as_those_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = stamped.write(tmp_path / "a.mp4", numbers=range(10))
    with on_loopback(monkeypatch) as server:
        server.put("lab", "v/a.mp4", path.read_bytes())
        root, item = Address(f"{server.url}/lab/v"), video_item("q", "a.mp4")
        ours = show_at(tmp_path, tmp_path, item, [])
        theirs = show_at(root, tmp_path / "there", item, [])
        assert [one.frame.digest for one in theirs.frames] == [one.frame.digest for one in ours.frames]
        assert theirs.selection == ours.selection
        server.sent.clear()
        again = show_at(root, tmp_path / "there", item, [])
        assert (again, server.sent["lab/v/a.mp4"]) == (theirs, 0)  # facts and frames were kept


@pytest.mark.parametrize(
    ("status", "said"),
    [(0, "there is no such file"), (403, "its server refuses access"), (500, "in 4 tries")],
)
def test_an_address_that_fails_fails_its_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, said: str
):
    with on_loopback(monkeypatch) as server:
        server.always["lab/v/a.mp4"] = status
        troubles: list[str] = []
        failed = show_at(Address(f"{server.url}/lab/v"), tmp_path, video_item("q", "a.mp4"), troubles)
    assert isinstance(failed, Failed)
    assert (failed.stage, len(troubles)) == ("media", 1)
    assert said in failed.message


def test_a_hash_that_no_server_tells_is_said_not_to_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = stamped.write(tmp_path / "a.mp4", numbers=range(10))
    item = Item(item_id="q", media=(Media(path="a.mp4", sha256="0" * 64),), question="?", answer="A")
    troubles: list[str] = []
    with on_loopback(monkeypatch) as server:
        server.put("lab", "a.mp4", path.read_bytes())
        shown = show_at(Address(f"{server.url}/lab"), tmp_path, item, troubles)
    assert isinstance(shown, ViewContent)
    assert len(troubles) == 1
    assert "the SHA-256 of its item is not checked" in troubles[0]


@pytest.mark.parametrize("audio", ["drop", "keep"])
@pytest.mark.parametrize("sound", ["aac", ""])
def test_a_whole_video_at_an_address_is_fetched_to_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, audio: str, sound: str
):
    if sound:
        path = with_sound.write(tmp_path / "a.mp4", codec="mpeg4", sound=sound)
    else:
        path = stamped.write(tmp_path / "a.mp4", numbers=range(10))
    item = video_item("q", "a.mp4")
    with on_loopback(monkeypatch) as server:
        server.put("lab", "a.mp4", path.read_bytes())
        root = Address(f"{server.url}/lab")
        ours = show_at(tmp_path, tmp_path, item, [], whole_video=True, audio=audio)
        theirs = show_at(root, tmp_path / "there", item, [], whole_video=True, audio=audio)
    assert (
        theirs.video.digest
        == ours.video.digest
        == hashlib.sha256(Path(theirs.video.path).read_bytes()).hexdigest()
    )
    assert Path(theirs.video.path).is_relative_to(tmp_path / "there" / "cache")
    assert theirs.selection.note == ours.selection.note


def test_a_selector_that_shows_nothing_opens_nothing(tmp_path: Path):
    troubles: list[str] = []

    nothing = Item(item_id="q", question="?", answer="A")
    assert show(tmp_path, [nothing], selector="midpoints")["q"].frames == ()
    shown = show(tmp_path, [video_item("q", "absent.mp4")], troubles, selector="none")["q"]
    assert isinstance(shown, ViewContent)
    assert (shown.frames, shown.selection.selector, troubles) == ((), "none", [])


@pytest.mark.parametrize("audio", ["drop", "keep"])
def test_a_whole_video_is_sent_without_its_sound_unless_that_is_kept(tmp_path: Path, audio: str):
    path = with_sound.write(tmp_path / "a.mp4", codec="mpeg4", sound="aac")

    shown = show(tmp_path, [video_item("q", "a.mp4")], whole_video=True, audio=audio)["q"]
    assert isinstance(shown, ViewContent)
    assert shown.video is not None
    assert (Path(shown.video.path) == path) == (audio == "keep")
    assert shown.selection.note == ("sent without its sound" if audio == "drop" else "")
    digest = hashlib.sha256(Path(shown.video.path).read_bytes()).hexdigest()
    assert shown.video.digest == digest


def name_keys(path: Path, **named: object) -> Silent:
    """A worker that a file has taken over."""
    return Silent(path=path.parent / "credentials", digest="0" * 64, is_copy=True)


def test_a_worker_does_not_choose_the_file_that_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stamped.write(tmp_path / "a.mp4", numbers=range(10))
    (tmp_path / "credentials").write_text("planted")
    monkeypatch.setattr(frames, "without_sound", name_keys)
    troubles: list[str] = []
    shown = show(tmp_path, [video_item("q", "a.mp4")], troubles, whole_video=True)["q"]
    assert isinstance(shown, Failed)
    assert re.search(r"its worker names \S+credentials as its copy", shown.message)
    assert troubles == [shown.message]


def test_a_whole_video_is_named_and_not_decoded(tmp_path: Path):
    path = stamped.write(tmp_path / "a.webm", codec="libvpx-vp9", numbers=range(10))
    items = [video_item("q", "a.webm"), Item(item_id="text", question="?", answer="A")]
    spanned = video_item("part", "a.webm", 0.0, 0.1)
    count = DecodeCount()

    shown = show(tmp_path, [*items, spanned], whole_video=True, count=count)
    assert isinstance(shown["q"], ViewContent)
    assert shown["q"].frames == ()
    assert shown["q"].video == VideoPart(
        path=str(path), digest=hashlib.sha256(path.read_bytes()).hexdigest(), media_type="video/webm"
    )
    assert isinstance(shown["text"], ViewContent)
    assert shown["text"].video is None
    assert isinstance(shown["part"], Failed)
    assert count == DecodeCount()


@pytest.mark.parametrize("whole_video", [False, True])
def test_who_is_sent_the_whole_video_has_seen_all_and_is_not_shown_it_again(
    tmp_path: Path, whole_video: bool
):
    """A retry of ActPLD shows another window; beside a video there is none, and no view of it is recorded."""
    stamped.write(tmp_path / "a.webm", codec="libvpx-vp9", numbers=range(40))

    async def go() -> dict[str, ViewContent | Failed]:
        async with desk(tmp_path, [], selector="actpld", whole_video=whole_video) as it:
            (view,) = it.views.values()
            again = replace(view, rules=msgspec.structs.replace(view.rules, retry=1))
            it.views = {"plan": view, "retry 1": again}
            return await FrameDesk.show(it, [video_item("q", "a.webm")])

    shown = anyio.run(go)["q"]
    assert list(shown) == (["plan"] if whole_video else ["plan", "retry 1"])
    assert (shown["plan"].video is None, len(shown["plan"].frames)) == (
        not whole_video,
        0 if whole_video else 4,
    )
    if not whole_video:
        assert shown["retry 1"].selection.note.startswith("retry 1: other frames")
        assert shown["retry 1"].selection.frames != shown["plan"].selection.frames


@pytest.mark.parametrize("n", [1, 2])
def test_only_one_whole_video_is_sent_whole(tmp_path: Path, n: int):
    media = tuple(item.media[0] for item in pictures(tmp_path, "a.png", "b.png"))
    item = Item(item_id="q", media=media[:n], question="?", answer="A")

    shown = show(tmp_path, [item], whole_video=True)["q"]
    assert isinstance(shown, Failed)
    assert shown.stage == "selection"
    assert "not about exactly one whole video" in shown.message


def test_the_media_type_is_that_of_the_name():
    kinds = {"a.mp4": "mp4", "a.MOV": "quicktime", "a.mkv": "x-matroska", "a.ts": "mp4"}
    assert {name: video_type(Path(name)) for name in kinds} == {k: f"video/{v}" for k, v in kinds.items()}
