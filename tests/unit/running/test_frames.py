"""Frames for questions: workers that hang or crash, spans, and several media."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import numpy as np
import pytest
from PIL import Image

from vidence.errors import DataError
from vidence.media.encode import Encoding
from vidence.media.facts import MediaFacts
from vidence.media.probe import Claimed, Counted, Probe
from vidence.media.sizes import Size
from vidence.records import Failed, Item, Media
from vidence.running.frames import DecodeCount, FrameDesk, Shown, ShowRules, clip_of
from vidence.running.prepare import open_selector
from vidence.running.workers import Workers


@asynccontextmanager
async def desk(
    tmp_path: Path, troubles: list[str], *, selector: str = "all", deadline_s: float = 60.0
) -> AsyncIterator[FrameDesk]:
    rules = ShowRules(
        selector=open_selector(selector),
        selector_name=selector,
        n_frames=4,
        encoding=Encoding(size=Size.parse("native")),
        media_root=tmp_path,
        whole_video=False,
        cache_root=tmp_path / "cache",
        cache_max_bytes=10**9,
        deadline_s=deadline_s,
    )
    async with Workers(1) as workers:
        yield FrameDesk(rules, workers=workers, count=DecodeCount(), on_trouble=troubles.append)


def picture(path: Path, shade: int) -> None:
    Image.fromarray(np.full((20, 30, 3), shade, np.uint8)).save(path)


def test_several_images_are_shown_in_their_order(tmp_path: Path):
    for name, shade in [("b.png", 10), ("a.png", 200)]:
        picture(tmp_path / name, shade)
    media = tuple(Media(path=name, kind="image") for name in ("b.png", "a.png"))
    item = Item(item_id="q", media=media, question="?", answer="A")

    async def go() -> dict[str, Shown | Failed]:
        async with desk(tmp_path, []) as it:
            return await it.show([item])

    shown = anyio.run(go)["q"]
    assert isinstance(shown, Shown)
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

    async def go() -> dict[str, Shown | Failed]:
        async with desk(tmp_path, troubles) as it:
            return await it.show(items)

    shown = anyio.run(go)
    assert isinstance(shown["good"], Shown)
    assert isinstance(shown["bad"], Failed)
    assert isinstance(shown["absent"], Failed)
    assert sum("bad.png" in t for t in troubles) == 1
    assert sum("absent.png" in t for t in troubles) == 1


def test_an_item_without_media_is_shown_nothing(tmp_path: Path):
    async def go() -> dict[str, Shown | Failed]:
        async with desk(tmp_path, [], selector="midpoints") as it:
            return await it.show([Item(item_id="q", question="?", answer="A")])

    shown = anyio.run(go)["q"]
    assert isinstance(shown, Shown)
    assert shown.frames == ()


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
        counted=Counted(n_frames=len(times_s), duration_s=times_s[-1], fps=10.0, is_variable=False),
        has_audio=False,
        problem="",
    )
    return MediaFacts(probe=probe, times_s=np.array(times_s), content_hash="h")


def test_a_span_is_cut_out_half_open():
    clip = clip_of([(Media(path="film.mp4", start_s=0.2, end_s=0.4), facts([0.0, 0.1, 0.2, 0.3, 0.4]))])
    assert clip.frame_indices.tolist() == [2, 3]
    assert clip.times_s.tolist() == [0.2, 0.3]
    assert clip.fps == 10.0


def test_a_span_beyond_the_video_says_where_it_ends():
    with pytest.raises(
        DataError, match=r"film\.mp4: no frame lies in \[9 s, 12 s\); its 2 frames end at 0\.100 s"
    ):
        clip_of([(Media(path="film.mp4", start_s=9, end_s=12), facts([0.0, 0.1]))])
