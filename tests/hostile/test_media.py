"""Damaged and hostile media and data: each ends in a value or an error of ours, within time and memory.

All is read in worker processes, as a run reads it, so that a crash is seen.
"""

import gzip
import json
import os
import random
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import anyio
import numpy as np
import pytest
from PIL import Image

from subjects.damaged import damaged, look_at, misspelt, walk_through
from subjects.hostile_templates import NEVER_ENDING, generated
from subjects.mocap_files import AMC, ASF, BVH, cmu_bvh
from vidence.ask.benchmarks import table
from vidence.ask.mapping.items import ItemReader
from vidence.ask.mapping.mapping import read_map
from vidence.ask.prompting.templates import VARIABLES, Template, choices_of
from vidence.contracts import Loaded
from vidence.engine.bounds import Bounds
from vidence.engine.config_file import config_of
from vidence.engine.executor import Workers
from vidence.engine.plan import Plan, read_plan_file
from vidence.engine.prepare import choose_items, make_plan
from vidence.errors import DecodeTimeoutError, VidenceError
from vidence.media.files import missing
from vidence.pointlight.formats.expmap import JOINTS, N_COLUMNS
from vidence.records import Item, Media
from videos.hostile import huge_png, playlists, programs, video_of_png, with_edits
from videos.stamped import copy, write

_DEADLINE_S = 30.0
_MOST_BYTES = 2 * 2**30
# Errors of ours that stand for a crash, a hang or an exception that nobody foresaw.
_NOT_HELD = ("the decoder crashed", "reading it ended with", "was killed twice")

Try = Callable[[str, Callable[[], object]], Awaitable[str]]


def tried(go: Callable[[Try], Awaitable[None]], folder: Path) -> dict[str, str]:
    """What came of each case, by its name: what went wrong, or an empty text where it held.

    Files that are read lie in the folder.
    """
    ended: dict[str, str] = {}

    async def all_of_them() -> None:
        async with Workers(1, most_bytes=_MOST_BYTES, bounds=Bounds(reads=(folder,))) as workers:

            async def one(name: str, work: Callable[[], object]) -> str:
                ended[name] = ""
                try:
                    return repr(await workers.run(name, work, deadline_s=_DEADLINE_S))
                except VidenceError as error:
                    is_held = not isinstance(error, DecodeTimeoutError)
                    if not is_held or any(words in str(error) for words in _NOT_HELD):
                        ended[name] = str(error)
                    return str(error)

            await go(one)

    anyio.run(all_of_them)
    return ended


def check(area: str, ended: dict[str, str], record_attack: Callable[[str, int, int], None]) -> None:
    fallen = {name: how for name, how in ended.items() if how}
    record_attack(area, len(ended), len(ended) - len(fallen))
    assert not fallen, f"{len(fallen)} of {len(ended)}: {dict(list(fallen.items())[:5])}"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Small files that are sound, by name."""
    folder = tmp_path_factory.mktemp("whole")
    numbers = range(14)
    clip = write(folder / "a.mp4", numbers=numbers)
    for ending in ("mkv", "ts", "mov", "h264"):
        copy(clip, folder / f"a.{ending}")
    copy(clip, folder / "fragmented.mp4", movflags="frag_keyframe+empty_moov")
    write(folder / "b.avi", codec="mpeg4", options={"bf": "2", "g": "5"}, numbers=numbers)
    write(folder / "c.avi", codec="mjpeg", options={}, pix_fmt="yuvj420p", numbers=numbers)
    write(folder / "a.webm", codec="libvpx", options={"deadline": "realtime", "g": "5"}, numbers=numbers)
    write(folder / "b.ts", codec="mpeg2video", options={"bf": "1", "g": "5"}, numbers=numbers)
    write(folder / "a.gif", codec="gif", options={}, pix_fmt="rgb8", numbers=numbers)
    picture = Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 60, 3), np.uint8))
    for ending in ("jpg", "png", "webp", "bmp", "tif", "gif"):
        picture.save(folder / f"image.{ending}")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_damaged_media(whole, tmp_path, effort, record_attack):
    said: dict[str, str] = {}

    async def go(one: Try) -> None:
        names = sorted(whole)
        for name in names:
            (tmp_path / name).write_bytes(whole[name])
            kind = "image" if name.startswith("image") else "video"
            said[name] = await one(name, partial(look_at, tmp_path / name, kind))
        for seed in range(effort(64, 2_400)):
            rng = random.Random(seed)
            name = names[seed % len(names)]
            path = tmp_path / f"{seed}-{name}"
            path.write_bytes(damaged(whole[name], rng, others=[*whole.values()]))
            await one(path.name, partial(look_at, path, "image" if name.startswith("image") else "video"))
            path.unlink()

    check("damaged media", tried(go, tmp_path), record_attack)
    assert all(words.isdecimal() for words in said.values()), said


def mocap_files() -> dict[str, tuple[bytes, dict[str, str]]]:
    """Files of motion that are sound, by name, each with the options that it needs."""
    rows = [[0.0, 17.0, 0.1 * t, 1.0, 2.0, 3.0] for t in range(12)]
    marker_row = "{n}\t{t:.4f}\t1{n}0\t200\t300\t1\t2\t3\n"
    heading = "Field\tTime\tAnn:C7:X\tAnn:C7:Y\tAnn:C7:Z\tAnn:RBAC:X\tAnn:RBAC:Y\tAnn:RBAC:Z\n"
    places = np.random.default_rng(1).uniform(0, 300, (4, 3, 13)).round(2)
    texts = {
        "leg.bvh": (BVH, {"units": "cm"}),
        "02_01.bvh": (cmu_bvh(rows), {}),
        "03_01.bvh": (cmu_bvh(rows), {"skeleton": "bones.asf"}),
        "toy.amc": (AMC, {"skeleton": "bones.asf", "units": "cm"}),
        "walk.txt": (heading + "".join(marker_row.format(n=n, t=n / 120) for n in range(12)), {}),
        "60_06.data3d.txt": ("\n".join("\t".join(map(str, r)) for f in places for r in f) + "\n", {}),
        "stand.rex": (
            "frames = 4 markers = 13 Hz = 30\r\n"
            + "".join(f"{x} {y} {z}\r\n" for f in places for x, y, z in f.T),
            {},
        ),
        "walking_1.txt": ("\n".join([",".join(["0.1"] * N_COLUMNS)] * 4) + "\n", {"skeleton": "bones.asf"}),
    }
    return {name: (text.encode(), options) for name, (text, options) in texts.items()}


def skeleton_file(name: str) -> str:
    """The skeleton that goes with a file of motion."""
    toy = ASF.format(length="0.45")
    if name == "toy.amc":
        return toy
    bones = sorted({bone for _, _, bone in JOINTS if bone})
    head, _, _ = toy.partition("  begin\n")
    data = "".join(
        f"  begin\n    id {i}\n    name {bone}\n    direction 0 -1 0\n    length 2\n    axis 0 0 0 XYZ\n"
        "    dof rx ry rz\n  end\n"
        for i, bone in enumerate(bones, 1)
    )
    return f"{head}{data}:hierarchy\n  begin\n    root {' '.join(bones)}\n  end\n"


def c3d_file(folder: Path) -> bytes:
    """A C3D as a library writes it."""
    ezc3d = pytest.importorskip("ezc3d", reason="the test group has ezc3d")
    made = ezc3d.c3d()
    made["parameters"]["POINT"]["RATE"]["value"] = [120.0]
    made["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    made["parameters"]["POINT"]["LABELS"]["value"] = ["LKNE", "RKNE", "LANK"]
    made["data"]["points"] = np.random.default_rng(2).uniform(0, 900, (4, 3, 12))
    made.write(str(folder / "a.c3d"))
    return (folder / "a.c3d").read_bytes()


def test_damaged_motion(tmp_path, effort, record_attack):
    whole = mocap_files() | {"a.c3d": (c3d_file(tmp_path), {})}
    contents = [content for content, _ in whole.values()]
    said: dict[str, str] = {}

    def placed(options: dict[str, str]) -> dict[str, str]:
        return {k: str(tmp_path / v) if k == "skeleton" else v for k, v in options.items()}

    async def go(one: Try) -> None:
        names = sorted(whole)
        for name, (content, options) in whole.items():
            (tmp_path / "bones.asf").write_text(skeleton_file(name))
            (tmp_path / name).write_bytes(content)
            said[name] = await one(name, partial(walk_through, tmp_path / name, placed(options)))
        for seed in range(effort(200, 12_000)):
            rng = random.Random(seed)
            name = names[seed % len(names)]
            content, options = whole[name]
            skeleton = skeleton_file(name)
            if rng.random() < 0.5 and name != "a.c3d":
                is_skeleton = "skeleton" in options and rng.random() < 0.5
                skeleton = misspelt(skeleton, rng) if is_skeleton else skeleton
                made = content if is_skeleton else misspelt(content.decode(), rng).encode()
            else:
                made = damaged(content, rng, others=contents)
            (tmp_path / "bones.asf").write_text(skeleton)
            path = tmp_path / name
            path.write_bytes(gzip.compress(made, 1) if rng.random() < 0.1 else made)
            await one(f"{seed} {name}", partial(walk_through, path, placed(options)))

    check("damaged motion capture", tried(go, tmp_path), record_attack)
    read = {name for name, words in said.items() if words.isdecimal()}
    assert read == whole.keys() - {"03_01.bvh"}, said  # its release has a joint more


def questions(path: Path) -> int:
    """How many questions a file holds."""
    return len(table.create().load(path, split=table.create().splits[0], strict=False).items)


def test_damaged_questions(tmp_path, effort, record_attack):
    line = (
        '{"item_id": "q%d", "question": "what?", "choices": ["a", 2, "c"], "answer": "A", "media": [{"path": '
        '"a.mp4", "start_s": 1.5}], "tags": {"task": "x"}, "evidence": [{"start_s": 0.5, "end_s": 2}]}'
    )
    lines = [line % n for n in range(6)]
    whole = {
        "q.jsonl": "\n".join(lines),
        "q.json": "[" + ",\n".join(lines) + "]",
        "q.csv": "item_id,question,choice_a,choice_b,answer,video\n" + "q,what?,a,b,A,a.mp4\n" * 6,
    }
    contents = [text.encode() for text in whole.values()]

    async def go(one: Try) -> None:
        for seed in range(effort(200, 3_000)):
            rng = random.Random(seed)
            name = sorted(whole)[seed % 3]
            text = whole[name]
            made = misspelt(text, rng).encode() if seed % 2 else damaged(text.encode(), rng, others=contents)
            path = tmp_path / (f"{name}.gz" if rng.random() < 0.2 else name)
            path.write_bytes(gzip.compress(made, 1) if path.suffix == ".gz" else made)
            if path.suffix == ".gz" and rng.random() < 0.5:
                path.write_bytes(damaged(path.read_bytes(), rng, others=contents))
            await one(f"{seed} {path.name}", partial(questions, path))

    check("damaged files of questions", tried(go, tmp_path), record_attack)


def fill(text: str) -> int:
    """How much a template says of a question."""
    item = Item(item_id="q", question="What?\n\u202e{{ " * 500, choices=("a", "b", "c"), answer="A")
    made = Template.parse(text, place="a.txt", variables=VARIABLES)
    values = {"question": item.question, "letters": item.letters, "choices": choices_of(item)}
    numbers = {"n_frames": 8, "duration_s": 2.5, "columns": 1, "rows": 1}
    return len(made.fill({**values, **numbers, "modality": "video", "frames": "\0"}))


def test_templates_that_never_end(effort, tmp_path, record_attack):
    """Each is filled or refused within the worker's memory and deadline."""

    async def go(one: Try) -> None:
        for n, text in enumerate(NEVER_ENDING):
            await one(f"{n} {text[:60]}", partial(fill, text))
        for seed in range(effort(300, 10_000)):
            text = generated(random.Random(seed))
            await one(f"{seed} {text}", partial(fill, text))

    check("templates that never end", tried(go, tmp_path), record_attack)


def mapped(path: Path) -> object:
    """What a mapping makes of a row."""
    return ItemReader(read_map(str(path)), folder=path.parent).row({"id": "a" * 90})


def test_configurations_that_never_end(tmp_path, record_attack):
    """TOML that is nested too deeply, and patterns of mappings that fit in endless ways."""
    texts = ["a = " + "[" * 5_000, "a = " + "9" * 5_000, "a = " + "{a = " * 5_000, "a." * 50_000 + "a = 1"]
    whole = 'item_id = "id"\nquestion = "q"\nanswer = "a"\npatterns.id = %s\n'
    patterns = (
        "(a+)+$",
        "(a|aa)*$",
        "(a|ab)(a|ab)*b",
        "a*a*a*a*a*$b",
        "(?x)(a+) +$",
        "a?" * 40 + "b",
        "(" * 9_000,
    )
    for n, text in enumerate([*texts, *(whole % json.dumps(one) for one in patterns)]):
        (tmp_path / f"{n}.toml").write_text(text)

    async def go(one: Try) -> None:
        for n in range(len(texts) + len(patterns)):
            await one(f"mapping {n}", partial(mapped, tmp_path / f"{n}.toml"))
            if n < len(texts):
                await one(f"plan {n}", partial(read_plan_file, tmp_path / f"{n}.toml"))
                await one(f"configuration {n}", partial(config_of, texts[n], Plan, name="a.toml"))

    check("configurations that never end", tried(go, tmp_path), record_attack)


def test_formats_that_are_not_opened(whole, tmp_path, monkeypatch, record_attack):
    """No program is started, and no file is read but the one that is named."""
    for name in ("a.mp4", "a.ts", "image.jpg"):
        (tmp_path / name).write_bytes(whole[name])
    (tmp_path / "a-%03d.jpg").write_bytes(whole["image.jpg"])
    started = tmp_path / "started"
    for program in ("gs", "gswin64c", "gswin32c", "rsvg-convert"):
        script = tmp_path / "bin" / program
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\ntouch {started}\n")
        script.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for name, text in playlists("a.mp4", "a.ts").items():
        (tmp_path / name).write_text(text)
    for name, content in programs().items():
        (tmp_path / name).write_bytes(content)
    names = [*playlists("", ""), *programs(), "a-%03d.jpg"]
    said: dict[str, str] = {}

    async def go(one: Try) -> None:
        for name in names:
            for kind in ("video", "image"):
                if (name, kind) != ("a-%03d.jpg", "image"):  # an image like others
                    said[f"{name} as {kind}"] = await one(
                        f"{name} as {kind}", partial(look_at, tmp_path / name, kind)
                    )

    ended = tried(go, tmp_path)
    for name, words in said.items():
        ended[name] = ended[name] or ("" if not words.isdecimal() else "it was opened")
    check("formats that name files or are programs", ended, record_attack)
    assert not started.exists()
    assert "is an HLS playlist" in said["list.m3u8 as video"]
    assert "is a list of files (ffconcat)" in said["files.mp4 as video"]
    assert "PostScript is unsupported" in said["eps.jpg as image"]
    assert "PDF is unsupported" in said["pdf.jpg as image"]


def test_media_that_fill_the_memory(whole, tmp_path, effort, record_attack):
    side = effort(14_000, 16_000)
    png = huge_png(side)
    (tmp_path / "huge.png").write_bytes(png)
    video_of_png(tmp_path / "huge.mov", png, claimed_px=side)
    video_of_png(tmp_path / "lies.mov", png, claimed_px=16)
    (tmp_path / "edits.mp4").write_bytes(with_edits(whole["a.mp4"], effort(2_000, 1_000_000)))
    (tmp_path / "few.mp4").write_bytes(with_edits(whole["a.mp4"], 20))
    (tmp_path / "deep.json").write_text("[" * 2_000_000)
    (tmp_path / "deep.jsonl").write_text('{"item_id":' + "[" * 2_000_000)
    zeros = gzip.compress(bytes(64 * 2**20))
    data = ["deep.json", "deep.jsonl", *["bomb.jsonl.gz"] * effort(0, 1)]
    (tmp_path / "bomb.jsonl.gz").write_bytes(zeros * 64)
    (tmp_path / "bomb.bvh").write_bytes(zeros * effort(5, 64))
    said: dict[str, str] = {}

    async def go(one: Try) -> None:
        for name, kind in [("huge.png", "image"), ("huge.mov", "video"), ("lies.mov", "video")]:
            said[name] = await one(name, partial(look_at, tmp_path / name, kind))
        for name in ("edits.mp4", "few.mp4"):
            said[name] = await one(name, partial(look_at, tmp_path / name, "video"))
        for name in data:
            said[name] = await one(name, partial(questions, tmp_path / name))
        said["bomb.bvh"] = await one("bomb.bvh", partial(walk_through, tmp_path / "bomb.bvh", {}))

    check("media and data that fill the memory", tried(go, tmp_path), record_attack)
    for name in ("huge.png", "huge.mov", "lies.mov"):
        assert "the picture is too large" in said[name]
    assert "edits, more than 1,000" in said["edits.mp4"]
    assert said["few.mp4"] == "3"
    assert "nested in brackets too deeply" in said["deep.json"]
    assert "bomb.jsonl.gz" not in data or "unpacks to more than 512 MB" in said["bomb.jsonl.gz"]
    assert "unpacks to more than 256 MB" in said["bomb.bvh"]


def test_names_that_no_file_can_have(tmp_path, record_attack):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    os.mkfifo(tmp_path / "pipe.mp4")
    names = [
        "a" * 300 + ".mp4",
        "a\0b.mp4",
        "closed/a.mp4",
        "pipe.mp4",
        "/dev/zero",
        "a/" * 3000,
        "\ud800.mp4",
    ]

    async def go(one: Try) -> None:
        for name in names:
            for kind in ("video", "image", "frames"):
                await one(f"{name[:40]!r} as {kind}", partial(look_at, tmp_path / name, kind))

    check("names that no file can have", tried(go, tmp_path), record_attack)
    items = [
        Item(item_id=str(n), question="?", answer="A", media=(Media(path=name),))
        for n, name in enumerate(names)
    ]
    assert len(missing(tmp_path, items)) == len(names)


def test_one_medium_ends_no_run_that_may_leave_it_out(tmp_path, record_attack):
    """With --allow-missing, whatever one question names is left out, and the others are asked."""
    (tmp_path / "a.mp4").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe.mp4")
    (tmp_path / "loop").symlink_to("loop")
    paths = [
        *(
            "file:///etc/passwd",
            "ftp://h/a.mp4",
            "other://x",
            "http://[",
            "http://h:99999/a.mp4",
            "s3://",
            "hf://a",
        ),
        *("http://me:pw@h/a.mp4", "https://h/a.mp4?sig=1", "http://h/../a.mp4", "s3://not-named/a.mp4"),
        *(
            "a\0b.mp4",
            "a\0b/c.mp4",
            "\ud800/a.mp4",
            "a" * 300,
            "a/" * 3000,
            "/dev/zero",
            "pipe.mp4",
            "loop/a.mp4",
        ),
        *("a.mp4/b.mp4", ".", "..", "/", "\n", "\x1b[31m", "../outside.mp4"),
    ]
    urls = ["http://h/../../a.mp4", "http://[", "\0", "http://h/\ud800", "/etc/passwd", "a" * 5000]
    media = [
        *(Media(path=path) for path in paths),
        *(Media(url=url) for url in urls),
        Media(path="\0", kind="frames"),
    ]
    whole = Item(item_id="whole", question="?", answer="A", media=(Media(path="a.mp4"),))
    model = SimpleNamespace(looks=True)
    held = []
    for medium in media:
        bad = Item(item_id="bad", question="?", answer="A", media=(medium,))
        for overrides in ({"allow_missing": True}, {"allow_missing": True, "media_inside": True}):
            plan = make_plan("table", data=tmp_path, model="baseline:random", overrides=overrides)
            loaded = Loaded(items=(bad, whole), media_root=tmp_path, content_hash="0" * 64)
            kept, notes = choose_items(loaded, plan, model=model)
            held.append(kept == [whole] and "left out" in "".join(notes).replace("leaves", "left"))
    record_attack("a question whose media end a run", len(held), sum(held))
    assert all(held), [medium for medium, is_held in zip(media, held[::2], strict=True) if not is_held]
