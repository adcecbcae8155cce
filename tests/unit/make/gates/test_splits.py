"""Splits: no source in two of them, shares exact to one source, and what two sets have in common."""

from collections import Counter

import msgspec
import numpy as np
import pytest
from PIL import Image

from subjects.asked_items import question
from vidence.errors import UsageError
from vidence.make.gates.splits import hashes_of, near_images, shared_between, sources_of, split_items
from vidence.records import Item, Media

SHARES = {"validation": 1 / 3, "test": 2 / 3}


def film(number: int, source: str, path: str, **changes: object) -> Item:
    return question(number, media=(Media(path=path),), source=source, **changes)


def test_what_shares_a_file_or_a_source_is_of_one_source_also_through_others(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.mp4").write_bytes(b"same" if name != "c" else b"other")
    items = [film(0, "one", "a.mp4"), film(1, "two", "b.mp4"), film(2, "two", "c.mp4"), film(3, "", "d.mp4")]
    assert sources_of(items, {}) == (0, 1, 1, 3)
    hashes = hashes_of(items, tmp_path)
    assert set(hashes) == {"a.mp4", "b.mp4", "c.mp4"}
    assert sources_of(items, hashes) == (0, 0, 0, 3)
    stated = msgspec.structs.replace(items[3], media=(Media(path="d.mp4", sha256=hashes["a.mp4"].upper()),))
    assert sources_of([*items[:3], stated], hashes_of([*items[:3], stated], tmp_path)) == (0, 0, 0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_shares_are_exact_to_one_source_and_strata_are_spread(seed):
    rng = np.random.default_rng(seed)
    items = [
        film(i, f"s{rng.integers(60)}", f"{i}.mp4", tags={"kind": "ab"[int(rng.integers(2))]})
        for i in range(300)
    ]
    found = split_items(items, SHARES, hashes={}, stratify=["kind"], seed=seed)
    assert sorted(one.item_id for mine in found.parts.values() for one in mine) == sorted(
        one.item_id for one in items
    )
    sources = [{one.source_id for one in mine} for mine in found.parts.values()]
    assert not sources[0] & sources[1]
    for name, mine in found.parts.items():
        assert abs(len(mine) - SHARES[name] * len(items)) <= found.largest_source
        kinds = Counter(one.tags["kind"] for one in mine)
        whole = Counter(one.tags["kind"] for one in items)
        assert all(abs(kinds[k] - SHARES[name] * whole[k]) <= found.largest_source for k in "ab")
    assert found == split_items(items, SHARES, hashes={}, stratify=["kind"], seed=seed)


@pytest.mark.parametrize(
    ("shares", "stratify", "said"),
    [
        ({"a": 0.5, "b": 0.6}, (), "1 together"),
        ({"a": 1.5, "b": -0.5}, (), "above 0"),
        ({}, (), "none"),
        (SHARES, ("colour",), "no question has the tag 'colour'; tags are task"),
    ],
)
def test_shares_and_tags_that_make_no_sense_are_refused(shares, stratify, said):
    with pytest.raises(UsageError, match=said):
        split_items([question(1)], shares, hashes={}, stratify=stratify)
    with pytest.raises(UsageError, match="no question to split"):
        split_items([], SHARES, hashes={})


def test_what_two_splits_share_is_found():
    long = "When the tall man in the red coat opens the second door on the left side, what does he hold"
    ones = [
        film(1, "film", "a.mp4", question=f"{long}?"),
        question(2, media=(Media(path="b.mp4", start_s=0, end_s=10),)),
        question(3, media=(Media(path="c.mp4", start_s=0, end_s=10),)),
    ]
    others = [
        film(1, "film", "x.mp4", question=f"{long} up?"),
        question(2, media=(Media(path="b.mp4", start_s=8, end_s=20),)),
        question(9, media=(Media(path="c.mp4", start_s=10, end_s=20),)),
    ]
    found = shared_between(ones, others, hashes={"a.mp4": "f", "x.mp4": "f"})
    kinds = Counter(one.kind for one in found)
    assert kinds == {"source": 1, "path": 2, "file": 1, "span": 1, "question": 1, "near-question": 1}
    (span,) = (one for one in found if one.kind == "span")
    assert span.what == "b.mp4 8 to 10 s"
    assert shared_between(ones[:1], others[2:], hashes={}) == ()


def test_an_image_that_was_only_scaled_is_near_and_another_is_not(tmp_path):
    pixels = np.random.default_rng(1).integers(0, 255, (48, 64, 3), np.uint8)
    big = Image.fromarray(pixels).resize((640, 480))
    big.save(tmp_path / "big.png")
    big.resize((320, 240)).save(tmp_path / "small.jpg", quality=60)
    Image.fromarray(pixels[::-1, ::-1].copy()).save(tmp_path / "other.png")
    one, small, other = (
        question(i, media=(Media(path=name, kind="image"),))
        for i, name in enumerate(("big.png", "small.jpg", "other.png"))
    )
    absent = question(8, media=(Media(path="absent.png", kind="image"),))
    (found,) = near_images([one, absent], [small, other], roots=(tmp_path, tmp_path))
    assert (found.kind, found.first, found.second) == ("near-image", ("q0",), ("q1",))
