"""What is shown of items with several media, wrong files, and nothing to show."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from vidence.ask.prompting.compose import ShownFrame
from vidence.ask.prompting.templates import Templates
from vidence.ask.selection.search import SearchResult
from vidence.catalog import create
from vidence.contracts import Loaded, View
from vidence.engine.prepare import choose_items, make_plan
from vidence.engine.session import ShownSubject
from vidence.engine.views import (
    Clipped,
    DecodeCount,
    OpenView,
    ViewContent,
    budget_left,
    check_some,
    few_words,
    positions_of,
)
from vidence.errors import DataError, MissingMediaError
from vidence.media.clip import Clip
from vidence.media.encode import Encoding, Size, encode
from vidence.media.files import Delivery
from vidence.records import Item, Media, Selection

VIEW_ENCODING = Encoding(size=Size.parse("native"))


def clip_and_item(kinds: list[tuple[str, int]]) -> tuple[Clip, Item]:
    """A clip of several media: (kind, frames) each."""
    media_indices = np.concatenate([np.full(n, i) for i, (_, n) in enumerate(kinds)]).astype(np.int64)
    frame_indices = np.concatenate([np.arange(n) for _, n in kinds]).astype(np.int64)
    clip = Clip(times_s=frame_indices / 10, media_indices=media_indices, frame_indices=frame_indices, fps=0.0)
    media = tuple(Media(path=f"m{i}", kind=kind) for i, (kind, _) in enumerate(kinds))
    return clip, Item(item_id="q", media=media, question="?", answer="A")


def view_of(selector: str, n_frames: int, **more: object) -> OpenView:
    return OpenView(
        rules=View(selector=selector, n_frames=n_frames, **more),
        selector=create("selector", selector),
        encoding=VIEW_ENCODING,
        words=Templates.load("plain"),
    )


def shown(
    kinds: list[tuple[str, int]], selector: str, n_frames: int, *, scores: object = None, **more: object
) -> list[tuple[int, int]]:
    clip, item = clip_and_item(kinds)
    positions = positions_of(view_of(selector, n_frames, **more), clip, item, scores=scores)
    return [(int(clip.media_indices[p]), int(clip.frame_indices[p])) for p in positions]


def test_single_images_are_always_shown_and_the_budget_thins_the_video():
    kinds = [("video", 100), ("image", 1), ("image", 1)]
    assert shown(kinds, "midpoints", 4) == [(0, 25), (0, 75), (1, 0), (2, 0)]
    assert shown(kinds, "midpoints", 2) == [(0, 50), (1, 0), (2, 0)]


def test_a_frame_of_a_video_is_shown_as_an_image_is():
    clip, item = clip_and_item([("video", 100), ("video", 1)])
    film, moment = item.media
    item = msgspec.structs.replace(
        item, media=(film, msgspec.structs.replace(moment, start_s=3.0, end_s=3.0))
    )
    assert positions_of(view_of("midpoints", 3), clip, item).tolist() == [25, 75, 100]


def test_several_images_are_all_shown_whatever_the_budget():
    assert shown([("image", 1)] * 6, "midpoints", 2) == [(i, 0) for i in range(6)]
    assert shown([("image", 1)] * 6, "mmvu-api", 32) == [(i, 0) for i in range(6)]


BETWEEN = [("image", 1), ("video", 100), ("image", 1)]


def test_single_images_come_first_in_a_ranking():
    # the middle of what is left comes before its neighbours
    assert shown(BETWEEN, "midpoints", 4, is_ranked=True) == [(0, 0), (2, 0), (1, 75), (1, 25)]
    assert shown([("image", 1)] * 3, "midpoints", 2, is_ranked=True) == [(0, 0), (1, 0), (2, 0)]


def test_single_images_are_shown_beside_frames_that_are_chosen_by_scores():
    # a score for each tenth frame of the video, none for the images
    scores = np.array([0.0, 0.1, 0.9, 0.2, 0.3, 0.8, 0.0, 0.0, 0.0, 0.0])
    found = shown(BETWEEN, "similarity:x?grid=uniform:10", 4, scores=scores)
    assert found == [(0, 0), (1, 20), (1, 50), (2, 0)]
    ranked = shown(BETWEEN, "similarity:x?grid=uniform:10", 4, scores=scores, is_ranked=True)
    assert ranked == [(0, 0), (2, 0), (1, 20), (1, 50)]
    searched = SearchResult(positions=np.array([70, 30]), note="")
    assert shown(BETWEEN, "tstar:x", 4, scores=searched) == [(0, 0), (1, 30), (1, 70), (2, 0)]


def test_a_retry_shows_the_single_images_too_and_ends_where_there_is_nothing_else():
    first = shown(BETWEEN, "actpld", 5)
    other = shown(BETWEEN, "actpld", 5, retry=1)
    assert first[0] == other[0] == (0, 0)
    assert first[-1] == other[-1] == (2, 0)
    assert len(first) == len(other) == 5
    assert first != other
    assert shown(BETWEEN, "midpoints", 5, retry=1) == []
    assert shown([("image", 1)] * 2, "actpld", 5, retry=1) == []


def test_a_choice_of_nothing_is_refused_and_a_short_one_is_noted():
    clip, item = clip_and_item([("video", 400)])
    question = Clipped(item=item, clip=clip, sources=((Path("m0"), "video"),), hashes=("h",))
    view = view_of("aks:x?mode=official", 16)
    # bins of depth 5 give 16 // 32 frames
    assert len(positions_of(view, clip, item, scores=np.sin(np.arange(40.0)))) == 0
    with pytest.raises(DataError, match=r"item 'q': aks:x\?mode=official chose none of 400 frames.*of 16"):
        check_some(view, question)
    check_some(view_of("none", 16), question)
    assert few_words(view, question, 12) == ["12 frames chosen, 16 allowed"]
    assert few_words(view, question, 16) == []


def test_several_media_have_times_one_after_the_other():
    clip, item = clip_and_item([("video", 20), ("image", 1), ("video", 10)])
    refs = tuple(clip.refs((0, 19, 20, 21, 30)))
    frame = ShownFrame(frame=encode(np.zeros((2, 2, 3), np.uint8), VIEW_ENCODING), time_s=0.0)
    selection = Selection(selector="s", version=1, frames=refs, n_candidates=31)
    view = ViewContent(selection=selection, frames=(frame,) * 5, duration_s=3.0, starts_s=(0.0, 2.0, 2.0))
    subject = ShownSubject(item=item, prepared=None, views={"v": view})
    # 2 s, an image, and 1 s of which the first and the last frame are shown
    assert subject.times_s("v") == pytest.approx((0.0, 1.9, 2.0, 2.0, 2.9))
    assert sorted(range(5), key=subject.times_s("v").__getitem__) == [0, 1, 2, 3, 4]
    alone = ViewContent(selection=selection, frames=(frame,) * 5, duration_s=3.0)
    plain = ShownSubject(item=item, prepared=None, views={"v": alone})
    assert plain.times_s("v") == pytest.approx((0.0, 1.9, 0.0, 0.0, 0.9))


def test_selectors_that_ignore_the_budget_choose_from_everything():
    kinds = [("image", 1)] * 5
    assert shown(kinds, "central", 2) == [(2, 0)]
    assert shown(kinds, "none", 2) == []
    assert len(shown([("video", 9), ("image", 1)], "all", 2)) == 10


def test_a_path_of_another_kind_does_not_take_other_questions_along(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(b"x")
    items = [
        Item(item_id=kind, media=(Media(path="a.png", kind=kind),), question="?", answer="A")
        for kind in ("image", "frames")
    ]
    plan = make_plan("table", data=tmp_path, model="scripted:A", overrides={"allow_missing": True})
    loaded = Loaded(items=tuple(items), media_root=tmp_path, content_hash="", revision="")
    kept, notes = choose_items(loaded, plan, model=create("model", "scripted:A"))
    assert [i.item_id for i in kept] == ["image"]
    assert notes == ("1 of 2 questions are left out: their media are missing",)
    with pytest.raises(MissingMediaError, match="No question is left"):
        choose_items(replace(loaded, items=tuple(items[1:])), plan, model=create("model", "scripted:A"))


def test_passes_are_counted_by_file_and_those_for_scores_apart():
    count = DecodeCount()
    for path, n_decoded, n_from_cache, is_scoring in (
        ("a", 3, 1, False),
        ("a", 5, 2, True),
        ("a", 7, 4, False),
        ("b", 0, 0, False),
    ):
        delivery = Delivery(frames={}, problems={}, n_decoded=n_decoded, n_from_cache=n_from_cache)
        count.add(delivery, path, is_scoring=is_scoring)
    assert count == DecodeCount(n_passes=3, n_scoring_passes=1, n_decoded=15, passes_by_file={"a": 2, "b": 1})


def test_images_leave_one_frame_at_least_of_a_budget():
    assert [budget_left(8, n) for n in (0, 3, 7, 8, 9)] == [8, 5, 1, 1, 1]
