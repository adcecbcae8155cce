"""When seeks, key marks or frame tables are wrong, reading is slower and still exact."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.media import sparse
from vidence.media.video import FrameProblem, Video, open_video
from videos.stamped import read_number


def with_table(video, **changes):
    return Video(replace(video.scan, table=replace(video.scan.table, **changes)))


@pytest.mark.parametrize(
    "name", ["hevc-open", "vp9", "av1", "mpeg4", "mpeg2-ts", "open-gop", "intra-refresh"]
)
def test_packets_that_are_wrongly_marked_as_keyframes_do_no_harm(name, opened):
    video = opened(name)
    indices = range(3, video.n_frames, 29)
    expected = video.frames(indices)
    lying = with_table(video, is_key=np.ones_like(video.scan.table.is_key))
    for index, image in zip(indices, expected, strict=True):
        np.testing.assert_array_equal(lying.frames([index])[0], image)


@pytest.mark.parametrize("name", ["ts", "vp9"])
def test_seeks_that_land_nowhere_do_no_harm(name, clip, monkeypatch):
    monkeypatch.setattr(sparse._Session, "_landed", lambda *_: False)
    video = open_video(clip(name).path)
    assert [read_number(image) for image in video.frames([2, 50, 119], threads=2)] == [2, 50, 119]


@pytest.mark.parametrize("name", ["h264", "ts"])
def test_seeks_that_land_too_late_are_tried_further_back(name, clip, monkeypatch):
    landed, targets = sparse._Session._landed, []

    def late(session, target, first):
        targets.append(target)
        second = round(1 / session._opened.stream.time_base)
        return landed(session, target + second, first)

    monkeypatch.setattr(sparse._Session, "_landed", late)
    video = open_video(clip(name).path)
    (image,) = video.frames([40])
    assert read_number(image) == 40
    assert len(targets) > 1
    assert targets == sorted(targets, reverse=True)


def test_a_table_that_does_not_fit_the_file_gives_problems_not_wrong_frames(clip):
    video = open_video(clip("h264").path)
    shifted = with_table(video, packet_pts=video.scan.table.packet_pts + 1)
    for frame in shifted.frames([0, 40, 90]):
        assert isinstance(frame, FrameProblem)
        assert "did not come out of the decoder" in frame.message


def test_a_retry_finds_a_frame_that_the_first_try_did_not_give(clip, monkeypatch):
    decode_run, n_runs = sparse._Session.decode_run, []

    def forgetful(session, run, *, skip):
        n_runs.append(run)
        found = decode_run(session, run, skip=skip)
        return sparse.SparseFrames(missing=set(run.frames)) if len(n_runs) == 1 else found

    monkeypatch.setattr(sparse._Session, "decode_run", forgetful)
    (image,) = open_video(clip("h264").path).frames([77])
    assert read_number(image) == 77
    first, second = n_runs
    assert second.first < first.first
    assert second.last > first.last
