"""Questions over real logs and tracks: every answer and witness is read again from the published files.

Nothing of `vidence` is used but its command: it writes scenes and proofs, this file reads the CSV and the
tracks by itself, compares times without margins for the answers, and tries every event for the witnesses.
"""

import csv
import json
import os
import random
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from conftest import IS_THOROUGH
from subjects.command_line import CommandLine
from subjects.composed_reader import Reader, Thing

pytestmark = pytest.mark.parity
CLEAR_S = 0.5
N_DRAWN, LEAST_PROOFS, LEAST_WITNESSES = (900, 100, 150) if IS_THOROUGH else (200, 20, 30)


def need(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path} is not there; set VIDENCE_DATA to a folder that has it")
    return path


def vidence(*arguments: object) -> None:
    done = CommandLine(Path.cwd(), dict(os.environ))(*map(str, arguments))
    assert done.code in (0, 1), done.err


def proved(folder: Path, programs: dict[str, str], scenes: Path) -> dict[str, dict]:
    """The proofs of programs by id."""
    text = "\n---\n".join(f'id = "{name}"\n{program}' for name, program in programs.items())
    (folder / "mine.txt").write_text(text + "\n")
    vidence("items", "prove", folder / "mine.txt", "--scenes", scenes, "--json", folder / "said.json")
    said = json.loads((folder / "said.json").read_text())
    return {
        one["composition"]: one["proof"]
        for one in said["verdicts"]
        if one.get("proof") and not one.get("problems")
    }


def seconds(clock: str) -> float:
    hours, minutes, rest = clock.split(":")
    return round(3600 * int(hours) + 60 * int(minutes) + float(rest), 6)


def said_so(text: str) -> str:
    head, *rest = text.split(":")
    return " ".join((*rest, head)).replace("-", " ")


@pytest.fixture(scope="module")
def log(data_dir):
    """The rows of the validation split, with the commonest word of each class."""
    path = need(data_dir / "ego" / "epic100" / "EPIC_100_validation.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    words: dict[str, dict[str, Counter]] = {"verb": defaultdict(Counter), "noun": defaultdict(Counter)}
    for row in rows:
        words["verb"][row["verb_class"]][said_so(row["verb"])] += 1
        words["noun"][row["noun_class"]][said_so(row["noun"])] += 1
    for row in rows:
        for kind in ("verb", "noun"):
            counts = words[kind][row[f"{kind}_class"]]
            row[kind] = min(counts, key=lambda word: (-counts[word], word))
        row["from"], row["to"] = seconds(row["start_timestamp"]), seconds(row["stop_timestamp"])
    videos = defaultdict(list)
    for row in rows:
        videos[row["video_id"]].append(row)
    return path, videos


PROGRAMS = {
    "count": 'count(event(kind == "{v}", object == "{n}"))',
    "then": 'E = the(event(kind == "{v}", object == "{n}"))\n'
    'first(event(kind == "{w}", after(E)), "begins").object',
    "before": 'E = the(event(kind == "{v}", object == "{n}"))\n'
    'last(event(kind == "{w}", before(E)), "ends").object',
    "count after": 'E = the(event(kind == "{v}", object == "{n}"))\ncount(event(kind == "{w}", after(E)))',
    "during": 'E = the(event(kind == "{v}", object == "{n}"))\ncount(event(during(E)))',
    "what during": 'E = the(event(kind == "{v}", object == "{n}"))\n'
    'the(event(kind == "{w}", during(E))).object',
}
WRITTEN = [
    ("P01_11", "what during", {"v": "close", "n": "bag", "w": "close"}),
    ("P01_11", "then", {"v": "squeeze", "n": "sponge", "w": "wash"}),
    ("P18_08", "then", {"v": "put in", "n": "lid", "w": "put in"}),
    ("P03_24", "then", {"v": "take", "n": "oven glove", "w": "close"}),
    ("P30_08", "then", {"v": "empty", "n": "bottle", "w": "open"}),
    ("P04_29", "before", {"v": "put down", "n": "pan", "w": "put down"}),
    ("P13_03", "before", {"v": "take", "n": "cheese", "w": "take"}),
    ("P10_03", "before", {"v": "take", "n": "ginger", "w": "put in"}),
    ("P28_26", "count after", {"v": "put down", "n": "chopping board", "w": "wash"}),
    ("P04_30", "during", {"v": "put down", "n": "cucumber"}),
    ("P08_17", "during", {"v": "take", "n": "oil"}),
]
"""Written by hand; each has to be proven."""


def meets(pattern: str, row: dict, e: dict, least_s: float) -> bool:
    """The time of an event as the pattern wants it, by at least so much."""
    if pattern in ("then", "count after"):
        gap = row["from"] - e["to"]
    elif pattern == "before":
        gap = e["from"] - row["to"]
    else:
        gap = min(row["to"], e["to"]) - max(row["from"], e["from"])
    return row is not e and gap > least_s


def results(pattern: str, rows: list[dict], p: dict, *, without: str = "", least_s: float = 0.0):
    """Everything that comes out: E, the event that is chosen (or None), the value."""
    if pattern == "count":
        kept = [
            r
            for r in rows
            if (without == "c1" or r["verb"] == p["v"]) and (without == "c2" or r["noun"] == p["n"])
        ]
        return [(None, None, len(kept))]
    found = []
    is_kind = pattern in ("then", "before", "count after", "what during")
    time_id = "c4" if is_kind else "c3"
    for e in rows:
        if (without != "c1" and e["verb"] != p["v"]) or (without != "c2" and e["noun"] != p["n"]):
            continue
        kept = [
            r
            for r in rows
            if (not is_kind or without == "c3" or r["verb"] == p["w"])
            and (without == time_id or meets(pattern, r, e, least_s))
        ]
        if pattern in ("count after", "during"):
            found.append((e["narration_id"], None, len(kept)))
        elif pattern == "what during" or without == "c5":
            found += [(e["narration_id"], r["narration_id"], r["noun"]) for r in kept]
        elif kept:
            key, best = ("from", min) if pattern == "then" else ("to", max)
            one = best(kept, key=lambda r: r[key])
            found.append((e["narration_id"], one["narration_id"], one["noun"]))
    return found


@pytest.fixture(scope="module")
def questions(log, tmp_path_factory):
    """Compositions drawn over the log, with their proofs."""
    path, videos = log
    folder = tmp_path_factory.mktemp("epic")
    vidence("videos", "scenes", f"events:{path}?format=epic&complete=event", "--out", folder / "epic.jsonl")
    rng, drawn = random.Random(19), {}
    small = sorted(name for name, rows in videos.items() if 15 <= len(rows) <= 60)
    for number in range(N_DRAWN):
        video = rng.choice(small)
        pattern = rng.choice(sorted(PROGRAMS))
        counts = Counter((row["verb"], row["noun"]) for row in videos[video])
        alone = [row for row in videos[video] if counts[row["verb"], row["noun"]] == 1]
        one = rng.choice(videos[video] if pattern == "count" or not alone else alone)
        other = rng.choice(videos[video])
        drawn[f"q{number}"] = (video, pattern, {"v": one["verb"], "n": one["noun"], "w": other["verb"]})
    drawn |= {f"w{number}": one for number, one in enumerate(WRITTEN)}
    programs = {
        name: f'scene = "{video}"\n' + PROGRAMS[pattern].format(**p)
        for name, (video, pattern, p) in drawn.items()
    }
    return drawn, proved(folder, programs, folder / "epic.jsonl")


def test_every_answer_is_what_the_log_says(log, questions):
    drawn, proofs = questions
    by_pattern = Counter(drawn[name][1] for name in proofs)
    assert set(by_pattern) == set(PROGRAMS)
    assert {name for name in drawn if name.startswith("w")} <= set(proofs)
    assert len(proofs) >= LEAST_PROOFS, by_pattern
    for name, proof in proofs.items():
        video, pattern, p = drawn[name]
        assert {value for *_, value in results(pattern, log[1][video], p)} == {proof["answer"]["value"]}, name


def test_every_witness_is_in_the_log(log, questions):
    drawn, proofs = questions
    n_witnesses = 0
    for name, proof in proofs.items():
        video, pattern, p = drawn[name]
        for one in proof["conditions"]:
            without = one["without"]
            certain = results(pattern, log[1][video], p, without=one["id"], least_s=CLEAR_S)
            every = results(pattern, log[1][video], p, without=one["id"])
            if without["outcome"] == "nothing-fits":
                assert every == [], (name, one)
                continue
            n_witnesses += 1
            witness, binding = without["witness"], without["witness"]["binding"]
            assert witness["value"] != proof["answer"]["value"]
            told = (binding.get("E"), binding.get("event"), witness["value"])
            assert told in certain, (name, one)
    assert n_witnesses >= LEAST_WITNESSES


TRACKS = {
    "MOT16-11_gt.txt": (30, "true", (1920, 1080)),
    "TUD-Campus_gt.txt": (25, "true", (640, 480)),
    "PETS09-S2L1_tracker_result_devkit.txt": (7, "silver", (768, 576)),
}


def people_in(path: Path) -> dict[str, dict[int, tuple[float, ...]]]:
    found: dict[str, dict[int, tuple[float, ...]]] = defaultdict(dict)
    for line in path.read_text().split():
        cells = [float(cell) for cell in line.split(",")]
        is_classed = len(cells) == 9
        if is_classed and (cells[7] != 1 or cells[6] == 0):
            continue
        left, top, width, height = cells[2:6]
        found[f"p{int(cells[1])}"][int(cells[0]) - 1] = (left, top, left + width, top + height)
    return found


def is_left(a, b, fps) -> bool:
    run = best = 0
    before = None
    for frame in sorted(a.keys() & b.keys()):
        apart = (b[frame][0] + b[frame][2]) / 2 - (a[frame][0] + a[frame][2]) / 2
        width = ((a[frame][2] - a[frame][0]) + (b[frame][2] - b[frame][0])) / 2
        run = (run + 1 if before == frame - 1 else 1) if apart > width / 4 else 0
        before = frame if run else None
        best = max(best, run)
    return best >= fps / 2


def nearest(people, name) -> str:
    to = people[name]

    def away(other) -> float:
        found = [float("inf")]
        for frame in other.keys() & to.keys():
            a, b = other[frame], to[frame]
            x, y = (a[0] + a[2] - b[0] - b[2]) / 2, a[3] - b[3]
            found.append((x * x + y * y) ** 0.5 / ((a[3] - a[1] + b[3] - b[1]) / 2))
        return min(found)

    return min((one for one in people if one != name), key=lambda one: away(people[one]))


def comes_from(track, size) -> str:
    first = min(track)
    return "there already" if first == 0 else side_of(track[first], size)


def leaves(track, last_frame, size) -> str:
    last = max(track)
    return "still there" if last == last_frame else side_of(track[last], size)


def side_of(box, size) -> str:
    left, top, right, bottom = box
    for far, side in ((left / size[0], "left"), (1 - right / size[0], "right")):
        if far <= 0.01:
            return side
    return "bottom" if bottom >= 0.99 * size[1] else "top" if top <= 0.01 * size[1] else "inside"


def stay_of(seconds: float) -> str:
    limits = {1: "less than 1 s", 2: "1 to 2 s", 5: "2 to 5 s", 10: "5 to 10 s", 20: "10 to 20 s"}
    limits |= {60: "20 to 60 s"}
    return next((text for limit, text in limits.items() if seconds < limit), "more than a minute")


def made(folder: Path, source: str, *, per_video: int, margin_s: float | None = None) -> list[dict]:
    """The programs of the questions that `make compose` gives, each with its answer."""
    vidence("videos", "scenes", source, "--out", folder / "scenes.jsonl")
    if margin_s is not None:
        with (folder / "scenes.toml").open("a") as words:
            words.write(f"\n[margins]\ntime_s = {margin_s}\n")
    (folder / "config.toml").write_text(
        f'name = "set"\nscenes = "scenes.jsonl"\n\n[quota]\nper_video = {per_video}\n'
    )
    vidence("make", "compose", folder / "config.toml", "--out", folder / "made")
    lines = (folder / "made" / "compositions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_questions_made_of_a_log_have_the_answers_of_the_log(log, tmp_path):
    path, videos = log
    names = ["P01_11", "P18_08", "P03_24", "P30_08", "P04_29"][: 5 if IS_THOROUGH else 1]
    source = f"events:{path}?format=epic&complete=event&video={'|'.join(names)}"
    programs = made(tmp_path, source, per_video=8)
    for one in programs:
        events = [
            Thing("event", ((row["from"], row["to"]),), {"kind": row["verb"], "object": row["noun"]})
            for row in videos[one["scene"]]
        ]
        assert set(Reader(events).answers(one["steps"])) == {one["answer"]}, one["question"]
    assert {one["scene"] for one in programs} == set(names)
    assert len(programs) >= 6 * len(names)


@pytest.mark.parametrize(("file", "least"), [(file, n) for file, n in zip(TRACKS, (1, 7, 10), strict=True)])
def test_questions_made_of_tracks_have_the_answers_of_the_tracks(file, least, data_dir, tmp_path):
    path = need(data_dir / "tracking" / file)
    fps, identities, size = TRACKS[file]
    people = people_in(path)
    last_frame = max(int(line.split(",")[0]) for line in path.read_text().split()) - 1
    spec = f"tracks:{path}?fps={fps}&identities={identities}&size={size[0]}x{size[1]}"
    margin_s = 0.1 if identities == "true" else None
    programs = made(tmp_path, f"{spec}&complete=person|enter|leave", per_video=12, margin_s=margin_s)
    names, things = {}, []
    for name, track in people.items():
        told = {
            "enters": comes_from(track, size),
            "leaves": leaves(track, last_frame, size),
            "stays": stay_of((max(track) - min(track) + 1) / fps),
        }
        names[name] = Thing("person", seen_in(track, fps), told)
        for kind, frame in (("enter", min(track)), ("leave", max(track))):
            if frame not in (0, last_frame):
                values = {"kind": kind, "who": names[name], "side": side_of(track[frame], size)}
                things.append(Thing("event", ((frame / fps, (frame + 1) / fps),), values))
    by_thing = {thing: people[name] for name, thing in names.items()}

    def related(one: Thing, relation: str, other: Thing) -> bool:
        mine, theirs = by_thing[one], by_thing[other]
        if relation == "nearest_to":
            return by_thing[one] is people[nearest(people, next(n for n, t in names.items() if t is other))]
        return is_left(mine, theirs, fps) if relation == "left_of" else is_left(theirs, mine, fps)

    reader = Reader([*names.values(), *things], related)
    for one in programs:
        assert set(reader.answers(one["steps"])) == {one["answer"]}, one["question"]
    assert len(programs) >= least


def seen_in(track: dict, fps: float) -> tuple[tuple[float, float], ...]:
    """When somebody is in view; a second without a box is out of it."""
    frames = sorted(track)
    cuts = [i for i, (a, b) in enumerate(pairwise(frames), start=1) if b - a > fps + 1]
    parts = [frames[a:b] for a, b in zip([0, *cuts], [*cuts, len(frames)], strict=True)]
    return tuple((part[0] / fps, (part[-1] + 1) / fps) for part in parts)
