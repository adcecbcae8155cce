"""What many files hold: found out by other processes, kept by this one, and found again."""

from pathlib import Path

import pytest

from vidence.engine.side_by_side import Parallelism
from vidence.errors import MediaError
from vidence.make.pipeline import probing
from vidence.make.pipeline.probing import look_side_by_side
from vidence.media.files import cached_facts, read_facts
from videos import pans


@pytest.fixture
def films(tmp_path) -> list[Path]:
    (tmp_path / "bad.mp4").write_bytes(b"no film")
    return [
        pans.write(tmp_path / "a.mp4", pans.pan(5, n_frames=10)),
        tmp_path / "bad.mp4",
        pans.write(tmp_path / "c.mp4", pans.pan(5, n_frames=12)),
    ]


def looked(files, cache_root):
    return dict(
        look_side_by_side(files, Parallelism(n_workers=2), cache_root=cache_root, on_trouble=lambda _: None)
    )


def test_facts_are_those_that_this_process_would_read_and_are_kept_by_it(films, tmp_path, monkeypatch):
    found = looked(films, tmp_path / "cache")
    for number in (0, 2):
        facts = read_facts(films[number], kind="video", cache_root=None)
        kept = cached_facts(films[number], kind="video", cache_root=tmp_path / "cache")
        for one in (found[number].made, kept):
            assert (one.probe, one.content_hash) == (facts.probe, facts.content_hash)
            assert one.times_s.tolist() == facts.times_s.tolist()
        assert not found[number].was_kept
    assert isinstance(found[1].made, MediaError)
    assert "bad.mp4" in str(found[1].made)
    monkeypatch.setattr(probing, "side_by_side", None)
    again = looked([films[0], films[2]], tmp_path / "cache")
    assert all(one.was_kept for one in again.values())


def test_what_has_changed_is_looked_for_again(films, tmp_path):
    looked(films[:1], tmp_path / "cache")
    pans.write(films[0], pans.pan(5, n_frames=15))
    assert cached_facts(films[0], kind="video", cache_root=tmp_path / "cache") is None
    assert len(looked(films[:1], tmp_path / "cache")[0].made.times_s) == 15
