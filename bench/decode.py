"""Sparse reading, side by side with other libraries and with the pure decode of the packets needed.

    python bench/decode.py [--quick] [--out FILE.md]

Makes its own videos, reads N evenly spread frames of each as RGB arrays with every parser that is
installed (vidence, decord, torchcodec, OpenCV), interleaved in one run, and takes the least of several
times, of ratios the median over the rounds. Then asks every parser for frames of the files that are easy
to get wrong, and counts right ones.
"""

import argparse
import contextlib
import importlib.util
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from decode_videos import FPS, QUICK, VIDEOS, Video, make, path_of

HERE = Path(__file__).parent
COUNTS = (16, 32, 64)
REPEATS = 5
HANDED_ON, FLOOR = "vidence, handed on", "floor"
MOST_OF_FLOOR, LEAST_GAIN = (
    1.15,
    {1: 1.3, 2: 1.8},
)  # handed on over the floor; best other over ours, by threads
MOST_REPEATS = 25  # of rows that take so little that one disturbance shows
ENOUGH_S = 12.0


# --------------------------------------------------------------------------- parsers


def with_vidence(path: str, indices: list[int], threads: int) -> Sequence[np.ndarray]:
    from vidence.media.video import FrameProblem, open_video

    images = open_video(path).frames(indices, threads=threads)
    problems = [image.message for image in images if isinstance(image, FrameProblem)]
    if problems:
        raise ValueError(problems[0])
    return images


def handed_on(path: str, indices: list[int], threads: int) -> list[None]:
    """As a run reads: each picture is made and handed on, none is kept. The floor keeps none either."""
    from vidence.media.video import FrameProblem, open_video

    found = open_video(path).read(indices, lambda _, image: None, threads=threads)
    problems = [one.message for one in found.values() if isinstance(one, FrameProblem)]
    if problems:
        raise ValueError(problems[0])
    return [found[index] for index in indices]


def with_decord(path: str, indices: list[int], threads: int) -> Sequence[np.ndarray]:
    import decord

    return decord.VideoReader(path, num_threads=threads).get_batch(indices).asnumpy()


def with_torchcodec(path: str, indices: list[int], threads: int) -> Sequence[np.ndarray]:
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(path, seek_mode="exact", num_ffmpeg_threads=threads, dimension_order="NHWC")
    return decoder.get_frames_at(indices).data.numpy()


def with_opencv(path: str, indices: list[int], threads: int) -> Sequence[np.ndarray]:
    import cv2

    capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, threads])
    images = []
    for index in indices:
        capture.set(cv2.CAP_PROP_POS_FRAMES, index)
        is_read, image = capture.read()
        if not is_read:
            raise ValueError(f"no frame {index}")
        images.append(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
    return images


PARSERS: dict[str, tuple[str, Callable[[str, list[int], int], Sequence[np.ndarray]]]] = {
    "vidence": ("vidence", with_vidence),
    "decord": ("decord", with_decord),
    "torchcodec": ("torchcodec", with_torchcodec),
    "opencv": ("cv2", with_opencv),
}


def pure_decode(path: str, indices: list[int]) -> tuple[float, float]:
    """Wall and CPU seconds to decode exactly the packets needed, from memory, without RGB."""
    from vidence.media.opened import open_video_stream, packets_to_end
    from vidence.media.probe import plan
    from vidence.media.video import open_video

    table = open_video(path).scan.table
    assert table is not None
    with open_video_stream(Path(path)) as opened:
        packets = [packet for packet in packets_to_end(opened) if packet is not None]
        codec = opened.codec
        wall, cpu = time.perf_counter(), time.process_time()
        n_frames = 0
        for run in plan(table, indices):
            needed = {int(table.packet_of_frame[index]) for index in run.frames}
            for position in range(run.first, run.last + 1):
                codec.skip_frame = "DEFAULT" if position in needed else "NONREF"
                n_frames += len(codec.decode(packets[position]))
            n_frames += len(codec.decode(None))
            codec.flush_buffers()
        taken = time.perf_counter() - wall, time.process_time() - cpu
    assert n_frames >= len(set(indices))
    return taken


# --------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Row:
    """What one parser took on one video: seconds of wall in each round, and the least CPU seconds."""

    video: str
    n_frames: int
    threads: int
    parser: str
    walls_s: tuple[float, ...]
    cpu_s: float

    @property
    def wall_s(self) -> float:
        """The least."""
        return min(self.walls_s)

    def over(self, other: "Row") -> float:
        """The median over rounds of our time over the other's, each a few seconds apart."""
        return statistics.median(a / b for a, b in zip(self.walls_s, other.walls_s, strict=False))


def _timed(parser: str, path: str, indices: list[int], threads: int) -> tuple[float, float]:
    """Runs in a process of its own that has imported the library before."""
    if parser == FLOOR:
        return pure_decode(path, indices)
    read = handed_on if parser == HANDED_ON else PARSERS[parser][1]
    wall, cpu = time.perf_counter(), time.process_time()
    images = read(path, indices, threads)
    assert len(images) == len(indices)
    return time.perf_counter() - wall, time.process_time() - cpu


def _stamps(parser: str, path: str, indices: list[int]) -> list[int] | str:
    """The numbers that a parser finds burnt into frames, or the name of its error."""
    from videos.stamped import read_number

    # Whatever a foreign library raises is a result here: the file defeats it.
    try:
        return [read_number(np.asarray(image)) for image in PARSERS[parser][1](path, indices, 1)]
    except Exception as error:  # noqa: BLE001
        return type(error).__name__


def _works(parser: str, path: str) -> bool:
    found = _stamps(parser, path, [0])
    return isinstance(found, list)


def _prepare() -> None:
    sys.path.insert(0, str(HERE.parent / "tests"))


@contextlib.contextmanager
def workers(names: Sequence[str]):
    """One process per parser, so that no library meets another."""
    context = multiprocessing.get_context("spawn")
    with contextlib.ExitStack() as stack:
        yield {
            name: stack.enter_context(ProcessPoolExecutor(1, mp_context=context, initializer=_prepare))
            for name in names
        }


def installed(pools: dict[str, ProcessPoolExecutor], sample: Path) -> list[str]:
    """The parsers that are there and can read an ordinary file."""
    found = []
    for name in PARSERS:
        if importlib.util.find_spec(PARSERS[name][0]) is None:
            continue
        if pools[name].submit(_works, name, str(sample)).result():
            found.append(name)
    return found


def measure(videos: Sequence[Video], pools: dict[str, ProcessPoolExecutor], parsers: list[str]) -> list[Row]:
    """Every parser on every video, in turns, several times each."""
    rows: list[Row] = []
    for video in videos:
        path = str(path_of(video))
        total = video.seconds * FPS
        for n_frames in COUNTS:
            indices = [int((i + 0.5) * total / n_frames) for i in range(n_frames)]
            for threads in (1, 2):
                taken = take_turns(parsers, pools, (path, indices, threads))
                if threads == 1:  # both in one process
                    pair = dict.fromkeys((HANDED_ON, FLOOR), pools[FLOOR])
                    taken |= take_turns(list(pair), pair, (path, indices, threads))
                for name, times in taken.items():
                    walls_s, cpus_s = zip(*times, strict=True)
                    rows.append(Row(video.name, n_frames, threads, name, walls_s, min(cpus_s)))
    return rows


def take_turns(
    names: list[str], pools: Mapping[str, ProcessPoolExecutor], what: tuple[str, list[int], int]
) -> dict[str, list[tuple[float, float]]]:
    """Wall and CPU seconds of parsers that read the same in turns, until that is enough."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    began_s = time.monotonic()
    for repeat in range(MOST_REPEATS):
        if repeat >= REPEATS and time.monotonic() - began_s > ENOUGH_S:
            break
        for name in names:
            if not repeat or not is_far_behind(taken[name], taken):
                taken[name].append(pools[name].submit(_timed, name, *what).result())
    return taken


def is_far_behind(own: list[tuple[float, float]], all_taken: dict[str, list[tuple[float, float]]]) -> bool:
    """Whether a parser needs over twice the time of the second fastest: no repeat changes the comparison."""
    fastest = sorted(min(times)[0] for times in all_taken.values() if times)
    if len(fastest) < 2:
        return False
    return min(own)[0] > 2 * fastest[1]


def exactness(pools: dict[str, ProcessPoolExecutor], parsers: list[str]) -> dict[str, dict[str, str]]:
    """Of 40 random frames of each special file, how many each parser gets right."""
    _prepare()
    from videos.special import MAKERS, truncated
    from videos.stamped import read_number

    found: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truths = {
            kind: (clip.path, list(clip.numbers))
            for kind, special in MAKERS.items()
            if not (clip := special(folder)).rotation_deg and not clip.is_mirrored
        }
        for suffix in ("mp4", "mkv"):
            path = truncated(folder, suffix)
            truths[f"truncated-{suffix}"] = (path, _in_order(path, read_number))
        for kind, (path, numbers) in truths.items():
            rng = np.random.default_rng(7)
            indices = [int(i) for i in rng.choice(len(numbers), min(40, len(numbers)), replace=False)]
            found[kind] = {}
            for parser in parsers:
                got = pools[parser].submit(_stamps, parser, str(path), indices).result()
                right = (
                    got
                    if isinstance(got, str)
                    else sum(number == numbers[index] for number, index in zip(got, indices, strict=True))
                )
                found[kind][parser] = str(right) if isinstance(right, str) else f"{right}/{len(indices)}"
    return found


def _in_order(path: Path, read_number: Callable[[np.ndarray], int]) -> list[int]:
    numbers: list[int] = []
    with av.open(str(path)) as container, contextlib.suppress(av.FFmpegError):
        for frame in container.decode(video=0):
            if not frame.is_corrupt:
                numbers.append(read_number(frame.to_ndarray(format="rgb24")))
    return numbers


# --------------------------------------------------------------------------- the page


Case = tuple[str, int, int]  # video, number of frames, threads


def by_case(rows: list[Row]) -> dict[Case, dict[str, Row]]:
    """The rows of each case by their parser."""
    cases: dict[Case, dict[str, Row]] = {}
    for row in rows:
        cases.setdefault((row.video, row.n_frames, row.threads), {})[row.parser] = row
    return cases


def named(case: Case) -> str:
    """A case as the table names it."""
    return ", ".join(map(str, case))


def ratios(found: dict[str, Row]) -> tuple[float | None, float | None]:
    """Handed on over the floor, the best other parser over ours; None where there is nothing to compare."""
    others = [
        row.over(found["vidence"]) for name, row in found.items() if name in PARSERS and name != "vidence"
    ]
    to_floor = found[HANDED_ON].over(found[FLOOR]) if FLOOR in found else None
    return to_floor, min(others, default=None)


def missed(rows: list[Row]) -> list[str]:
    """The cases that miss a target."""
    found = {case: ratios(parsers) for case, parsers in by_case(rows).items()}
    return [
        named(case)
        for case, (to_floor, gain) in found.items()
        if (to_floor is not None and to_floor > MOST_OF_FLOOR)
        or (gain is not None and gain < LEAST_GAIN[case[2]])
    ]


def wrong(exact: dict[str, dict[str, str]]) -> list[str]:
    """The files of which vidence did not give every frame right."""
    counts = {kind: found["vidence"].split("/") for kind, found in exact.items()}
    return [kind for kind, count in counts.items() if len(count) != 2 or count[0] != count[1]]


def as_markdown(rows: list[Row], exact: dict[str, dict[str, str]], parsers: list[str]) -> str:
    """The tables of a report: times, targets, exactness."""
    others = [parser for parser in parsers if parser != "vidence"]
    lines = [
        f"Wall / CPU seconds, least of {REPEATS} to {MOST_REPEATS} (of one for a parser that is far behind), "
        "interleaved; ratios are medians over the rounds. Open, index, read, RGB at full size. "
        f"Readers found: {', '.join(parsers)}.",
        "",
        f"| video, N, threads | vidence | {HANDED_ON} | {FLOOR} | "
        + " | ".join(others)
        + " | handed on / floor | best other / vidence | holds |",
        "|---" * (7 + len(others)) + "|",
    ]
    missed_cases = missed(rows)
    for case, found in by_case(rows).items():
        cells = [
            f"{found[r].wall_s:.3f} / {found[r].cpu_s:.3f}" if r in found else "-"
            for r in ["vidence", HANDED_ON, FLOOR, *others]
        ]
        to_floor, gain = (f"{ratio:.2f}" if ratio is not None else "-" for ratio in ratios(found))
        holds = "**no**" if named(case) in missed_cases else "-" if ratios(found) == (None, None) else "yes"
        lines.append(f"| {named(case)} | " + " | ".join([*cells, to_floor, gain, holds]) + " |")
    lines += [
        "",
        "Every parser opens the file, finds its frames and gives RGB arrays; so does vidence handed on, "
        "which keeps none of them, as a run does. The floor decodes the packets needed from memory, "
        "without RGB.",
        "",
        f"Targets: handed on / floor at most {MOST_OF_FLOOR}; best other / vidence at least {LEAST_GAIN[1]} "
        f"on one thread, {LEAST_GAIN[2]} on two.",
        "",
        "Right frames of those asked for, or the error:",
        "",
        "| file | " + " | ".join(parsers) + " |",
        "|---" * (1 + len(parsers)) + "|",
    ]
    lines += [f"| {kind} | " + " | ".join(cells[r] for r in parsers) + " |" for kind, cells in exact.items()]
    return "\n".join(lines)


def run(videos: Sequence[Video] = VIDEOS) -> tuple[list[Row], dict[str, dict[str, str]], list[str]]:
    """Measure; returns times, exactness and the parsers that were found."""
    make(videos)
    with workers([*PARSERS, FLOOR]) as pools:
        parsers = installed(pools, path_of(videos[0]))
        return measure(videos, pools, parsers), exactness(pools, parsers), parsers


def report(videos: Sequence[Video] = VIDEOS) -> tuple[str, list[str]]:
    """Measure; returns the tables in Markdown, and what missed its target."""
    rows, exact, parsers = run(videos)
    return as_markdown(rows, exact, parsers), [*missed(rows), *wrong(exact)]


def main() -> int:
    """Print the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small videos")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text, misses = report(QUICK if options.quick else VIDEOS)
    print(text)
    print(f"targets missed: {'; '.join(misses) or 'none'}")
    if options.out is not None:
        options.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
