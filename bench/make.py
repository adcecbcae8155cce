"""What making questions costs: tracks cleaned and ranked, questions drafted, videos read."""

import csv
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import measure
import numpy as np
from harness import HERE, VIDENCE, Bench, Row, below, cpu_wall

sys.path.append(str(HERE.parent / "tests"))  # planted streets, films and kitchens

N_TRACKS, N_BOXES = 10_000, 300
N_QUESTIONS = 26_000
N_WATCHED_S = 20
N_READ_S = 4
N_KITCHENS, N_EVENTS, PER_VIDEO = 260, 80, 40
# What a model would answer that writes questions; those of agbi and agar are drafted from it.
WRITTEN = json.dumps(
    {
        "possible": True,
        "question": "How does this person cross the frame?",
        "answer": "On a straight line without a stop",
        "distractors": ["In a circle", "Back and forth twice", "Along the edge only", "With many stops"],
    }
)


# --------------------------------------------------------------------------- tracks


def crowd(n_tracks: int, *, seed: int = 0):
    """A video in which thirty people are always in view, each for 300 boxes: some lost, some that jump."""
    from vidence.seeing.tracks import PERSON, Track, TrackedVideo

    rng = np.random.default_rng(seed)
    n_frames = n_tracks * N_BOXES // 30 + N_BOXES
    n_span = round(N_BOXES / 0.95)  # one box in twenty is lost
    tracks = []
    for number in range(n_tracks):
        first = int(rng.integers(0, n_frames - n_span))
        kept = np.sort(rng.choice(n_span, size=N_BOXES, replace=False))
        start, end = rng.uniform((100, 200), (1820, 880), (2, 2))
        centres = start + (end - start) * (kept / n_span)[:, None] + rng.normal(0, 1.5, (N_BOXES, 2))
        centres[rng.random(N_BOXES) < 0.01] += 300
        half = np.array([40.0, 100.0]) * rng.uniform(0.7, 1.3)
        tracks.append(
            Track(
                track_id=str(number),
                class_name=PERSON,
                frame_indices=first + kept,
                boxes_px=np.hstack([centres - half, centres + half]),
                confidences=rng.uniform(0.5, 1, N_BOXES),
                is_detected=np.ones(N_BOXES, bool),
            )
        )
    video = TrackedVideo(
        width_px=1920, height_px=1080, times_s=np.arange(n_frames) / 25.0, tracks=tuple(tracks)
    )
    looks = rng.dirichlet(np.ones(522), n_tracks)
    return video, {str(number): looks[number] for number in range(n_tracks)}


def timed(work: Callable[[], object]) -> tuple[float, float, object]:
    """CPU and wall seconds of a call, and its result."""
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    made = work()
    return time.process_time() - cpu_s, time.perf_counter() - wall_s, made


def making_tracks(bench: Bench) -> list[Row]:
    """Refining and ranking 10,000 tracks of 300 boxes, and whether it grows faster than their number."""
    from vidence.seeing.refine import refine
    from vidence.seeing.trackrank import rank

    def work(n_tracks: int) -> tuple[float, float, int]:
        video, looks = crowd(n_tracks)

        def both() -> int:
            refined = refine(video).video
            rank(refined, appearances={t.track_id: looks[t.track_id] for t in refined.tracks})
            return len(refined.tracks)

        cpu_s, wall_s, n_left = timed(both)
        return cpu_s, wall_s, int(str(n_left))

    few_s, few_wall_s, few_left = min(work(N_TRACKS // 10) for _ in range(3))
    many_s, many_wall_s, many_left = work(N_TRACKS)
    return [
        Row("(tracks) 1,000 refined and ranked", f"{few_s:.2f} CPU-s, {few_wall_s:.2f} s, {few_left} left"),
        Row(
            "(tracks) 10,000 refined and ranked", f"{many_s:.1f} CPU-s, {many_wall_s:.1f} s, {many_left} left"
        ),
        below("(tracks) CPU of 10,000 x 300 boxes, refined and ranked", many_s, 20, "s"),
        below("(tracks) CPU of a track among 10,000 / among 1,000", many_s / (10 * few_s), 1.5, "x"),
    ]


# --------------------------------------------------------------------------- questions


def drive(flow) -> Sequence[object]:
    """What a flow makes, every prompt answered with `WRITTEN`."""
    from vidence.records import Reply

    try:
        asked = next(flow)
        while True:
            asked = flow.send([Reply(text=WRITTEN) for _ in asked])
    except StopIteration as stopped:
        return stopped.value


def prepared() -> Iterator[tuple[tuple[str, ...], object, object]]:
    """Materials without end, each with the tasks that can be made of it and what foils come from."""
    from subjects import kitchens, planted_people
    from vidence.make.pipeline.material import Corpus

    logs = kitchens.kitchens(60, n_events=N_EVENTS)
    strangers = planted_people.strangers(0)
    for number in range(10_000):
        street = planted_people.street(number, name=f"street-{number}", n_people=10, n_others=20)
        yield ("mpdr", "aglt", "megl", "rlpc", "agbi", "agar"), street.material, strangers
        yield ("tso", "sva"), planted_people.trailer(number, n_shots=10), Corpus()
        name = f"k{number % 60}"
        material = kitchens.material(logs.events[name], video_id=name)
        yield ("asii", "fam", "fom", "ac"), material, logs


def making_questions(bench: Bench) -> list[Row]:
    """26,000 questions from tracks, cards, shots and logs that are there, through the files of all tasks."""
    from vidence.catalog import create, names
    from vidence.make.pipeline.material import Draft

    tasks = {name: create("task", name) for name in names("task")}
    counts = dict.fromkeys(tasks, 0)
    cpu_s = wall_s = 0.0
    share = -(-N_QUESTIONS // len(tasks))
    ready = prepared()
    while sum(counts.values()) < N_QUESTIONS:
        kinds, material, corpus = next(ready)
        for name in kinds:
            if counts[name] >= 4 * share:
                continue
            rng = np.random.default_rng(counts[name])
            task = tasks[name]
            cpu, wall, made = timed(
                lambda task=task, m=material, c=corpus, r=rng: drive(task.draft(m, c, most=60, rng=r))
            )
            cpu_s, wall_s = cpu_s + cpu, wall_s + wall
            counts[name] += sum(isinstance(one, Draft) for one in made)
    n = sum(counts.values())
    listed = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    return [
        Row("(questions) drafted by each task", listed),
        Row(f"(questions) {n:,} drafted by twelve tasks", f"{cpu_s:.1f} CPU-s, {wall_s:.1f} s"),
        below(
            "(questions) CPU of 26,000 from tracks, cards, shots and logs", cpu_s * N_QUESTIONS / n, 60, "s"
        ),
    ]


def making_logs(bench: Bench) -> list[Row]:
    """The same through the maker, from logs alone: read, drafted, accounted for, written, reported."""
    folder = bench.fresh("logs")
    write_log(folder / "log.csv")
    tasks = "".join(f"[tasks.{name}]\nper_video = {PER_VIDEO}\n\n" for name in ("ac", "asii", "fam", "fom"))
    (folder / "config.toml").write_text(
        'name = "kitchens"\n\n[[logs]]\nformat = "plain"\npath = "log.csv"\nmedia = "{video_id}.mp4"\n\n'
        + tasks
    )
    command = [str(VIDENCE), "make", "herbench", str(folder / "config.toml"), "--out", str(folder / "out")]
    env = {"VIDENCE_CACHE": str(bench.fresh("cache"))}
    first, again = (measure.run(command, env=env) for _ in range(2))
    for taken in (first, again):
        if taken.returncode:
            raise RuntimeError(taken.output[-3000:])
    n = sum(1 for _ in (folder / "out" / "items.jsonl").open("rb"))
    return [
        Row(f"(maker) {n:,} questions of {N_KITCHENS} logs, made and written", cpu_wall(first)),
        below("(maker) CPU of 26,000 questions from logs", first.cpu_s * N_QUESTIONS / n, 60, "s"),
        Row("(maker) the same once more, nothing changed", cpu_wall(again)),
    ]


def write_log(path: Path) -> None:
    """A plain log of many kitchens."""
    from subjects import kitchens

    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["video_id", "start", "end", "narration", "verb", "noun"])
        for number in range(N_KITCHENS):
            name = f"kitchen-{number}"
            for event in kitchens.kitchen(number, video_id=name, n_events=N_EVENTS):
                row = [name, event.start_s, event.end_s, event.narration, event.verb, event.noun]
                table.writerow(row)


# --------------------------------------------------------------------------- reading

FILM = """
name = "film"

[[sources]]
path = "street.mp4"

[tracking]
detector = "hog:?least_px=100&ladder=1.15"

[tracking.refine]
for_height_px = 1080

[shots]
detector = "content"

[models]
writer = "scripted:Several people walk past a coloured wall."

[cards]
model = "writer"

[cards.crops]
gap_s = 0.2

[scenes]
model = "writer"
false = false
"""


def making_reads(bench: Bench) -> list[Row]:
    """How often a film is decoded for boxes, looks, shots and crops, and for pictures of shots beside."""
    from subjects import busy_street
    from vidence.make.makers import herbench
    from vidence.make.pipeline.session import BuildContext, MakeOverrides
    from vidence.media.video import Video

    folder = bench.fresh("film")
    busy_street.write(folder, n_s=N_READ_S)
    (folder / "config.toml").write_text(FILM)
    decoded: list[int] = []
    plain = Video.read

    def read(video, indices, make, **rest):
        indices = list(indices)
        decoded.append(len(indices))  # of a video whose frames are kept, those that are missing
        return plain(video, indices, make, **rest)

    def make_until(stage: str) -> int:
        """Go on to the end of a stage; how many frames were decoded."""
        decoded.clear()
        context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
        overrides = MakeOverrides(out=folder / "out", until=stage)
        herbench.create().make(folder / "config.toml", overrides=overrides, context=context)
        return sum(decoded)

    Video.read = read
    try:
        n_cards, n_scenes = make_until("cards"), make_until("scenes")
    finally:
        Video.read = plain
    account = json.loads((folder / "out" / "account.json").read_text())
    n_out = {stage["stage"]: stage["n_out"] for stage in account["stages"]}
    made = {name: n_out[name] for name in ("tracks", "crops", "scene-pictures")}
    if not all(made.values()):
        raise RuntimeError(f"nothing was made of the film: {n_out}")
    n_frames = 30 * N_READ_S
    return [
        Row("(reading) made of one film", ", ".join(f"{name} {n}" for name, n in made.items())),
        below("(reading) passes for boxes, looks, shots and crops together", n_cards / n_frames, 1, ""),
        Row("(reading) frames decoded again for pictures of shots", f"{n_scenes} of {n_frames}"),
    ]


def making_watch(bench: Bench) -> list[Row]:
    """Time `vidence videos track` on a drawn street at 30 frames a second, with one process and with two."""
    from subjects import busy_street

    folder = bench.fresh("watched")
    path = busy_street.write(folder, n_s=N_WATCHED_S)
    env = {"VIDENCE_CACHE": str(bench.fresh("cache"))}
    taken = {}
    for jobs in (1, 2):
        words = ["videos", "track", str(path), "--out", str(folder / f"by-{jobs}"), "--jobs", str(jobs)]
        taken[jobs] = measure.run([str(VIDENCE), *words], env=env)
        if taken[jobs].returncode:
            raise RuntimeError(taken[jobs].output[-3000:])
    tracks = [(folder / f"by-{jobs}" / "tracks.txt").read_bytes() for jobs in taken]
    if tracks[0] != tracks[1]:
        raise RuntimeError("two processes made other tracks than one")
    return [
        Row(f"(watching) {N_WATCHED_S} s of 640 x 360 at 30 fps with hog, by 1 process", cpu_wall(taken[1])),
        Row("(watching) the same by 2 processes", cpu_wall(taken[2])),
        below("(watching) CPU of hog per second of video", taken[1].cpu_s / N_WATCHED_S, 1, "s"),
    ]


ALL = (making_tracks, making_questions, making_logs, making_reads, making_watch)
