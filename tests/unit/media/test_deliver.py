"""What a worker process delivers."""

import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from vidence.errors import MediaError
from vidence.media.deliver import Delivery, Job, deliver
from vidence.media.encode import Encoding, Size, decode_image
from videos.special import truncated
from videos.stamped import damage, packet_places, read_number, write

_PNG = Encoding(size=Size(), format="png")


def job(path: Path, indices: tuple[int, ...], *, cache: Path | None = None, **options: object) -> Job:
    settings = {"kind": "video", "encoding": _PNG, "cache_max_bytes": 1 << 26} | options
    return Job(
        path=str(path), frame_indices=indices, cache_root=None if cache is None else str(cache), **settings
    )


def numbers(delivery: Delivery) -> dict[int, int]:
    return {index: read_number(decode_image(frame.data)) for index, frame in delivery.frames.items()}


def test_frames_come_encoded_and_counted(plain) -> None:
    delivery = deliver(job(plain, (100, 3, 64, 3)))
    assert numbers(delivery) == {3: 3, 64: 64, 100: 100}
    assert list(delivery.frames) == [3, 64, 100]
    assert (delivery.n_decoded, delivery.n_from_cache, delivery.problems) == (3, 0, {})


def test_only_what_is_missing_is_decoded(plain, tmp_path: Path, monkeypatch) -> None:
    first = deliver(job(plain, (3, 64), cache=tmp_path))
    second = deliver(job(plain, (3, 64, 100), cache=tmp_path))
    assert (second.n_decoded, second.n_from_cache) == (1, 2)
    assert second.frames[3] == first.frames[3]
    monkeypatch.setattr("av.open", lambda *_, **__: pytest.fail("the file was opened"))
    third = deliver(job(plain, (3, 64, 100), cache=tmp_path))
    assert (third.n_decoded, third.n_from_cache) == (0, 3)
    assert third.frames == second.frames


def test_an_encoding_is_never_served_for_another(plain, tmp_path: Path) -> None:
    deliver(job(plain, (3,), cache=tmp_path))
    small = Encoding(size=Size.parse("short:54"), format="png")
    delivery = deliver(job(plain, (3,), cache=tmp_path, encoding=small))
    assert delivery.n_decoded == 1
    assert (delivery.frames[3].width_px, delivery.frames[3].height_px) == (96, 54)


def test_a_swapped_file_gives_no_stale_frame(plain, tmp_path: Path) -> None:
    path, cache = tmp_path / "a.mp4", tmp_path / "cache"
    shutil.copy(plain, path)
    assert numbers(deliver(job(path, (7,), cache=cache))) == {7: 7}
    write(path, numbers=range(500, 530))
    assert numbers(deliver(job(path, (7,), cache=cache))) == {7: 507}


def test_the_same_content_elsewhere_is_found_again(plain, tmp_path: Path) -> None:
    deliver(job(plain, (7,), cache=tmp_path / "cache"))
    shutil.copy(plain, tmp_path / "copy.mp4")
    assert deliver(job(tmp_path / "copy.mp4", (7,), cache=tmp_path / "cache")).n_from_cache == 1


def test_a_damaged_file_gives_the_whole_frames_and_names_the_others(plain, tmp_path: Path) -> None:
    start = packet_places(plain)[60][0]
    path = damage(plain, tmp_path / "d.mp4", places=[start + 40], n_bytes=120)
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        delivery = deliver(job(path, (0, 45, 70, 110, 400), cache=cache))
        assert numbers(delivery) == {0: 0, 45: 45, 110: 110}
        assert list(delivery.problems) == [70, 400]
        assert delivery.problems[70].startswith(f"{path}: frame 70 (at 2.333 s) is damaged")
        assert "frame 400 does not exist; there are 120" in delivery.problems[400]


def test_a_truncated_file_gives_the_frames_that_exist(clip_folder) -> None:
    path = truncated(clip_folder, "mp4")
    delivery = deliver(job(path, (0, 30, 60, 90)))
    assert numbers(delivery) == {0: 0, 30: 30, 60: 60}
    assert list(delivery.problems) == [90]


def test_large_gaps_and_threads_give_the_same_bytes(plain) -> None:
    indices = (0, 1, 58, 59, 60, 119)
    one, two = (deliver(job(plain, indices, threads=threads)) for threads in (1, 2))
    assert one.frames == two.frames
    assert numbers(one) == {i: i for i in indices}


def test_nothing_wanted_is_nothing_done(plain) -> None:
    assert deliver(job(plain, ())) == Delivery(frames={}, problems={}, n_decoded=0, n_from_cache=0)


def test_images_and_folders_are_delivered_too(tmp_path: Path, plain) -> None:
    from PIL import Image

    folder = tmp_path / "frames"
    folder.mkdir()
    for index, frame in deliver(job(plain, (4, 9, 11))).frames.items():
        Image.fromarray(decode_image(frame.data)).save(folder / f"{index}.png")
    assert numbers(deliver(job(folder, (0, 1, 2), kind="frames", cache=tmp_path))) == {0: 4, 1: 9, 2: 11}
    assert numbers(deliver(job(folder / "9.png", (0,), kind="image", cache=tmp_path))) == {0: 9}


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="there is no such file"):
        deliver(job(tmp_path / "gone.mp4", (0,), cache=tmp_path))


def test_a_cache_that_cannot_be_written_does_not_stop_delivery(plain, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert numbers(deliver(job(plain, (5,), cache=tmp_path / "file"))) == {5: 5}


def test_two_processes_deliver_into_one_cache(plain, tmp_path: Path) -> None:
    jobs = [job(plain, tuple(range(start, 120, 5)), cache=tmp_path) for start in (0, 0, 2, 2)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        deliveries = list(pool.map(deliver, jobs))
    for delivery in deliveries:
        assert all(index == number for index, number in numbers(delivery).items())
        assert len(delivery.frames) == 24
    assert deliveries[0].frames == deliveries[1].frames


def test_a_delivery_survives_the_way_between_processes(plain) -> None:
    delivery = deliver(job(plain, (1, 500)))
    assert pickle.loads(pickle.dumps(delivery)) == delivery  # noqa: S301 - our own bytes
    assert np.array_equal(decode_image(delivery.frames[1].data).shape, (108, 192, 3))
