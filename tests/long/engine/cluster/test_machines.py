"""Pieces of work on a cluster whose machines are processes of this one; faults cost the pieces under way."""

import os
import platform
import threading
import time
from functools import partial

import numpy as np
import pytest

from servers import detector_standin
from servers.ray_machines import PATIENCE_S, decoders, kill_one, mark, marks, wait_for, workers
from subjects.streets import plan_street, write_street
from vidence.engine.cluster.machines import PULSE_S, SILENT_S
from vidence.engine.executor import Parallelism
from vidence.engine.side_by_side import side_by_side
from vidence.errors import MediaError, UsageError
from vidence.make.herbench.session import Cutting
from vidence.make.makers import herbench
from vidence.make.pipeline.cache import ArtifactCache
from vidence.make.pipeline.ledger import UnitDone
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.pipeline.watching import KeptWork, Parted, watch_side_by_side
from vidence.media.video import open_video
from vidence.seeing import chunks
from vidence.seeing.chunks import Eyes, Watch
from vidence.seeing.following import open_detector
from vidence.seeing.track_run import TrackJob, track_video
from videos.walkers import STREET, film

RAY = Parallelism(on="ray")
SPEC = "hog:?least_px=90&ladder=1.3"
CONFIG = f"""
name = "street"
videos = "videos"

[[sources]]
path = "*.mp4"

[tracking]
detector = "{SPEC}"
rate = 2.0

[shots]
detector = "content"
"""
SHEETS = """
name = "street"
videos = "videos"
[[sources]]
path = "north.mp4"
detections = "videos/{video_id}.txt"
[tracking]
tracker = "deepsort"
[tracking.refine.filter]
least_area_px = 1000.0
[tracking.pick]
n_tracks = 2
[shots]
[cards]
file = "sheets/{video_id}/cards.csv"
[cards.crops]
gap_s = 0.25
[tasks.aglt]
"""
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)


def unheard(message):
    raise AssertionError(message)


def test_every_piece_comes_back_with_its_number_or_its_error(on_ray):
    pieces = [(f"{n}.mp4", partial(pow, n, 2)) for n in range(20)]
    pieces += [("bad.mp4", os.abort), ("odd.mp4", partial(int, "x"))]
    found = dict(side_by_side(pieces, RAY, on_trouble=unheard))
    assert [found[n] for n in range(20)] == [n * n for n in range(20)]
    assert isinstance(found[20], MediaError)
    assert "bad.mp4: the decoder crashed" in str(found[20])
    assert "odd.mp4: reading it ended with ValueError" in str(found[21])


def begun(pieces, folder, n_marks, act):
    """The results, and what was said, where something is done as soon as so many pieces were begun."""
    said = []

    def wait():
        wait_for(lambda: len(marks(folder)) >= n_marks)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    found = dict(side_by_side(pieces, RAY.touching((), folder), on_trouble=said.append))
    thread.join()
    return found, said


def test_a_machine_that_is_killed_costs_what_it_had_under_way(on_ray, tmp_path):
    pieces = [(f"{n}.mp4", partial(mark, tmp_path, f"{n:02}", 0.2)) for n in range(12)]
    found, said = begun(pieces, tmp_path, 4, kill_one)
    names = [f"{n:02}" for n in range(12)]
    assert [found[n] for n in range(12)] == names
    assert len(said) == 1
    assert "its worker is lost" in said[0]
    assert sorted(set(marks(tmp_path))) == names
    assert len(marks(tmp_path)) <= 12 + 1  # the one that was lost


def test_a_machine_that_hangs_costs_fifteen_seconds_at_most(on_ray, tmp_path):
    pieces = [(f"{n}.mp4", partial(mark, tmp_path, f"{n:02}", 0.3)) for n in range(12)]
    stopped_s = []

    def stop():
        workers()[0].suspend()
        stopped_s.append(time.monotonic())

    found, said = begun(pieces, tmp_path, 4, stop)
    assert [found[n] for n in range(12)] == [f"{n:02}" for n in range(12)]
    assert len(said) == 1
    assert "its worker is lost (it says nothing)" in said[0]
    assert time.monotonic() - stopped_s[0] < SILENT_S + PULSE_S + PATIENCE_S  # others begin in its place


def test_a_caller_who_stops_leaves_nothing_running(on_ray, tmp_path):
    results = side_by_side(
        [("f.mp4", partial(pow, 2, 2)), ("f.mp4", partial(mark, tmp_path, "long", 600))],
        RAY.touching((), tmp_path),
    )
    assert next(results) == (0, 4)
    results.close()
    wait_for(lambda: not workers() and not decoders())
    assert not workers()
    assert not decoders()


# ------------------------------------------------------------------ making


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    folder = tmp_path_factory.mktemp("street")
    (folder / "videos").mkdir()
    for n in range(4):
        film(folder / "videos" / f"{n}.mp4", STREET, n_frames=24 + n)
    (folder / "videos" / "bad.mp4").write_bytes(b"no film")
    (folder / "config.toml").write_text(CONFIG)
    return folder


def make(folder, out, parallel, said=None):
    context = BuildContext(
        cache_root=folder / f"cache-{out}",
        memory=folder / "replies.sqlite",
        parallel=parallel,
        on_event=lambda event: None if said is None else said.append(event),
    )
    overrides = MakeOverrides(out=folder / out, until="watching")
    herbench.create().make(folder / "config.toml", overrides=overrides, context=context)
    return files_of(folder / out)


def files_of(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@pytest.fixture(scope="module")
def alone(street):
    return make(street, "two", Parallelism(n_workers=2))


def nothing_here(monkeypatch):
    """Let nobody watch or look into a video in this process."""

    def here(*given, **more):
        raise AssertionError("it was done in this process")

    monkeypatch.setattr(chunks, "watch_chunk", here)


def test_videos_are_watched_on_a_cluster_with_the_same_bytes(on_ray, street, alone, monkeypatch):
    nothing_here(monkeypatch)
    assert make(street, "ray", RAY) == alone
    kept = list((street / "cache-ray").rglob("*"))
    assert any("facts" in path.parts for path in kept)


def test_a_worker_killed_in_the_middle_of_watching_costs_its_videos_only(on_ray, street, alone, monkeypatch):
    nothing_here(monkeypatch)
    said, is_killed = [], threading.Event()

    def kill():
        wait_for(lambda: list((street / "killed" / "stages").glob("chunks/*")))
        kill_one()
        is_killed.set()

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    assert make(street, "killed", RAY, said) == alone
    thread.join()
    assert is_killed.is_set()
    lost = [one for one in said if "its worker is lost" in getattr(one, "message", "")]
    assert len(lost) == 1


def test_pictures_are_cut_on_a_cluster_with_the_same_bytes(on_ray, tmp_path, monkeypatch):
    plan = plan_street("north", looks=[0, 2, 4], rng=np.random.default_rng(7))
    write_street(plan, tmp_path / "videos")
    (tmp_path / "config.toml").write_text(SHEETS)
    made, heard = {}, []
    for name, parallel in (("here", Parallelism()), ("ray", RAY)):
        context = BuildContext(
            cache_root=tmp_path / f"cache-{name}",
            memory=tmp_path / "replies.sqlite",
            parallel=parallel,
            on_event=heard.append,
        )
        overrides = MakeOverrides(out=tmp_path / name, sheets=str(tmp_path / f"sheets-{name}"))
        herbench.create().make(tmp_path / "config.toml", overrides=overrides, context=context)
        made[name] = files_of(tmp_path / name)
        monkeypatch.setattr(Cutting, "make", None)
    assert made["ray"] == made["here"]
    assert any(path.parts[0] == "pictures" for path in made["ray"])
    assert [one.stage for one in heard if isinstance(one, UnitDone)].count("portraits") == 2


def followed(spec, video, folder, parallel):
    """What is counted of the tracks of a video, and the chunks that are kept of it."""
    kept = KeptWork(ArtifactCache(folder=folder), inputs={"video": "a"}, specs=(spec, ""), parallel=parallel)
    work = kept.work(on_begin=lambda *n: None, on_frames=lambda n: None, on_trouble=unheard)
    job = TrackJob(detector=spec, tracker="sort", cuts="none", rate=0.0)
    _, record = track_video(video, job, work=work)
    return record.counts, files_of(folder)


def in_chunks_of(n_frames, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_FRAMES", n_frames)


def test_a_detector_with_weights_is_kept_by_one_process_of_each_machine(
    on_ray, street, tmp_path, monkeypatch
):
    video, folder = open_video(street / "videos" / "0.mp4"), tmp_path / "weights"
    spec = detector_standin.put(folder)
    in_chunks_of(3, monkeypatch)
    here = followed(spec, video, tmp_path / "here", Parallelism())
    assert set(detector_standin.openers(folder)) == {os.getpid()}
    assert len(here[1]) > 2
    for path in folder.glob("by *"):
        path.unlink()
    nothing_here(monkeypatch)
    assert followed(spec, video, tmp_path / "ray", RAY.touching((), folder)) == here
    openers = [one for one in detector_standin.openers(folder) if one != os.getpid()]
    assert openers
    assert len(openers) <= 2  # each machine has one process, and that has opened it once
    assert here[0]["detections"] > 0


def test_other_weights_on_a_machine_are_refused_and_lacking_ones_are_told(on_ray, street, tmp_path):
    video, folder = open_video(street / "videos" / "0.mp4"), tmp_path / "weights"
    spec = detector_standin.put(folder)
    watch = Watch(video, Eyes(detector=open_detector(spec)), rate=0)
    parted = Parted(watch=watch, detector=spec, describer="")
    (folder / "weights").write_text("second")
    with pytest.raises(
        UsageError, match=r"opens standin:.* as standin/1 second, and the .* as standin/1 first"
    ):
        watch_side_by_side([parted], RAY.touching((), folder), on_trouble=unheard)
    (folder / "weights").unlink()
    with pytest.raises(UsageError, match=f"^{platform.node()}: there are no weights at .*weights"):
        watch_side_by_side([parted], RAY.touching((), folder), on_trouble=unheard)
