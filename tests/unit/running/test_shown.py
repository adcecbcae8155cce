"""What is shown of items with several media, wrong files, and nothing to show."""

from pathlib import Path

import anyio
import numpy as np
import pytest

from vidence.errors import (
    MissingMediaError,
    RejectedRequestError,
    ServerDownError,
    TransientModelError,
    UsageError,
)
from vidence.media.clip import Clip
from vidence.media.encode import Encoding
from vidence.media.sizes import Size
from vidence.records import Item, Media, Sampling
from vidence.running.choosing import needs_media, positions_of
from vidence.running.limits import AdaptiveLimit, Backoff, Budget, DownDetector, Limits
from vidence.running.plan import _check_sampling
from vidence.running.prepare import _with_media, open_selector
from vidence.running.showing import ViewRules


def clip_and_item(kinds: list[tuple[str, int]]) -> tuple[Clip, Item]:
    """A clip of several media: (kind, frames) each."""
    media_indices = np.concatenate([np.full(n, i) for i, (_, n) in enumerate(kinds)]).astype(np.int64)
    frame_indices = np.concatenate([np.arange(n) for _, n in kinds]).astype(np.int64)
    clip = Clip(times_s=frame_indices / 10, media_indices=media_indices, frame_indices=frame_indices, fps=0.0)
    media = tuple(Media(path=f"m{i}", kind=kind) for i, (kind, _) in enumerate(kinds))
    return clip, Item(item_id="q", media=media, question="?", answer="A")


def shown(kinds: list[tuple[str, int]], selector: str, n_frames: int) -> list[tuple[int, int]]:
    clip, item = clip_and_item(kinds)
    view = ViewRules(
        selector=open_selector(selector),
        selector_name=selector,
        n_frames=n_frames,
        encoding=Encoding(size=Size.parse("native")),
    )
    positions = positions_of(view, clip, item)
    return [(int(clip.media_indices[p]), int(clip.frame_indices[p])) for p in positions]


def test_single_images_are_always_shown_and_the_budget_thins_the_video():
    kinds = [("video", 100), ("image", 1), ("image", 1)]
    assert shown(kinds, "midpoints", 4) == [(0, 25), (0, 75), (1, 0), (2, 0)]
    assert shown(kinds, "midpoints", 2) == [(0, 50), (1, 0), (2, 0)]


def test_several_images_are_all_shown_whatever_the_budget():
    assert shown([("image", 1)] * 6, "midpoints", 2) == [(i, 0) for i in range(6)]
    assert shown([("image", 1)] * 6, "mmvu-api", 32) == [(i, 0) for i in range(6)]


def test_selectors_that_ignore_the_budget_choose_from_everything():
    kinds = [("image", 1)] * 5
    assert shown(kinds, "central", 2) == [(2, 0)]
    assert shown(kinds, "none", 2) == []
    assert len(shown([("video", 9), ("image", 1)], "all", 2)) == 10


def test_text_only_needs_no_media():
    assert not needs_media(open_selector("none"))
    assert needs_media(open_selector("midpoints"))


def test_a_path_of_another_kind_does_not_take_other_questions_along(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(b"x")
    items = [
        Item(item_id=kind, media=(Media(path="a.png", kind=kind),), question="?", answer="A")
        for kind in ("image", "frames")
    ]
    kept, notes = _with_media(items, tmp_path, allow_missing=True)
    assert [i.item_id for i in kept] == ["image"]
    assert notes == ["1 of 2 questions are left out: their media are missing"]
    with pytest.raises(MissingMediaError, match="No question is left"):
        _with_media(items[1:], tmp_path, allow_missing=True)


@pytest.mark.parametrize(
    "sampling",
    [
        {"temperature": -1.0},
        {"temperature": float("nan")},
        {"top_p": 5.0},
        {"top_p": 0.0},
        {"max_tokens": 0},
    ],
)
def test_what_no_model_can_draw_with_is_refused(sampling):
    with pytest.raises(UsageError, match=f"{next(iter(sampling))} is .*; expected"):
        _check_sampling(Sampling(**sampling))
    _check_sampling(Sampling(temperature=None, top_p=1.0, max_tokens=None))


def test_a_server_that_rejects_everything_ends_the_run():
    down = DownDetector(most=9, most_rejected=3)
    error = RejectedRequestError("at most 8 images")
    down.on_rejection(error)
    down.on_rejection(error)
    with pytest.raises(
        ServerDownError, match=r"all of the first 3 questions were rejected.*at most 8 images"
    ):
        down.on_rejection(error)


def test_one_answer_shows_that_rejections_are_of_single_questions():
    down = DownDetector(most=9, most_rejected=3)
    down.on_reply()
    for _ in range(10):
        down.on_rejection(RejectedRequestError("too long"))
    down.on_failure(TransientModelError("500"))  # and the count of failures in a row starts anew
    assert (down._n_rejected, down._n_in_a_row) == (10, 1)


def test_a_wait_that_nobody_sits_through_ends_the_run():
    async def go() -> None:
        limits = Limits(
            in_flight=AdaptiveLimit(1, clock=anyio.current_time),
            backoff=Backoff(rng=np.random.default_rng(0)),
            budget=Budget(),
            attempts=1,
            timeout_s=1.0,
        )
        limits.check_wait(TransientModelError("busy", retry_after_s=60))
        with pytest.raises(ServerDownError, match=r"asks to wait 99999 s \(busy\)"):
            limits.check_wait(TransientModelError("busy", retry_after_s=99999))

    anyio.run(go)
