"""The pictures of a study are the bytes that models are sent; what cannot be made again is refused."""

import hashlib
import json
from datetime import UTC, datetime

import anyio
import pytest

from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.engine.store import RunStore
from vidence.errors import DataError, UsageError
from vidence.records import ImagePart
from vidence.study.drawing import draw, read_drawn, write_drawn
from vidence.study.frames import read_frames, write_frames
from vidence.study.running import model_plan
from vidence.study.study import read_study
from videos.samples import squares, write_video

NOW = datetime(2026, 3, 1, tzinfo=UTC)
STUDY = """
items = "questions.jsonl"
runs = ["../run"]
[[phases]]
name = "sent"
condition = "frames-of ../run"
[[phases]]
name = "protocol"
condition = "frames"
[[phases]]
name = "whole"
[[form]]
name = "answer"
kind = "answer"
[catch]
n = 1
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "study"
    write_video(folder / "film.mp4", squares())
    lines = [
        {
            "item_id": f"q{i}",
            "question": "What moves?",
            "choices": ["a", "b"],
            "answer": "A",
            "media": [{"path": "film.mp4", "start_s": i, "end_s": i + 2}],
        }
        for i in range(2)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "study.toml").write_text(STUDY)
    return folder


def place(folder):
    return Environment(cache_root=folder.parent / "cache", n_workers=1)


def ask(plan, out, folder):
    async def work():
        await run(plan, out, environment=place(folder), now=NOW, on_event=lambda _: None)

    anyio.run(work)


def model_run(folder, **overrides):
    plan = make_plan("table", data=folder / "questions.jsonl", model="scripted:A", overrides=overrides)
    ask(plan, folder.parent / "run", folder)


def written(folder):
    file = read_study(folder)
    drawn = draw(file, environment=place(folder))

    async def work():
        return await write_frames(file, drawn, environment=place(folder), now=NOW, on_event=lambda _: None)

    frames = anyio.run(work)
    write_drawn(file, drawn)
    return frames


def sent(run_folder):
    with RunStore(run_folder) as store:
        return {
            t.item_id: [p.digest for p in t.prompt.parts if isinstance(p, ImagePart)] for t in store.trials()
        }


@pytest.mark.parametrize("overrides", [{"frames": 3}, {"frames": 5, "layout": "montage:2x1"}])
def test_people_see_the_bytes_that_the_run_was_sent(folder, overrides):
    model_run(folder, **overrides, size="short:32", selector="midpoints")
    frames = written(folder)
    assert read_frames(folder) == frames
    expected = sent(folder.parent / "run")
    assert len(expected) == 2
    for item_id, digests in expected.items():
        shown = frames.items[item_id]["frames-of ../run"]
        assert [one.digest for one in shown] == digests
        assert sum(len(one.times_s) for one in shown) == overrides["frames"]
        for one in shown:
            assert hashlib.sha256((folder / one.file).read_bytes()).hexdigest() == one.digest
        assert {one.file.rpartition(".")[2] for one in shown} == {"jpg"}
    assert set(frames.items) == {"q0", "q1"}  # catch trials show nothing


def test_models_are_sent_the_bytes_that_people_see_in_a_phase(folder):
    model_run(folder, frames=3, size="short:32", selector="fps:2")
    frames = written(folder)
    file = read_study(folder)
    for phase, condition in (("sent", "frames-of ../run"), ("protocol", "frames")):
        out = folder.parent / f"asked-{phase}"
        ask(model_plan(file, model="scripted:B", phase=phase, overrides={}), out, folder)
        assert sent(out) == {
            item_id: [one.digest for one in own[condition]] for item_id, own in frames.items.items()
        }
    assert sent(folder.parent / "asked-sent") != sent(folder.parent / "asked-protocol")


def test_a_medium_that_has_changed_since_the_run_is_refused(folder):
    model_run(folder, frames=3)
    write_video(folder / "film.mp4", reversed(list(squares())))
    with pytest.raises(DataError, match=r"cannot be made again as \.\./run was sent them .* run it again"):
        written(folder)


def test_a_medium_that_has_become_unreadable_is_named(folder):
    model_run(folder, frames=3)
    (folder / "study.toml").write_text(STUDY.replace('name = "whole"', 'name = "bare"\ncondition = "none"'))
    (folder / "film.mp4").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"pictures of 'q0' cannot be made: .*film\.mp4"):
        written(folder)


def test_a_run_without_pictures_of_an_item_is_refused(folder):
    model_run(folder, frames=3, limit=1)
    with pytest.raises(
        DataError, match="was sent no pictures of 1 drawn items: q1; draw from items whose pictures it was"
    ):
        written(folder)


def test_a_run_that_was_sent_whole_videos_has_no_frames(folder):
    lines = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    whole = [line | {"media": [{"path": "film.mp4"}]} for line in lines]
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in whole))
    model_run(folder, layout="video")
    with pytest.raises(UsageError, match="sends whole videos; set the condition to 'whole' or name another"):
        written(folder)


@pytest.mark.parametrize("n_written", [0, 1, 4, 7])
def test_a_draw_that_was_killed_is_no_draw_and_is_made_again(folder, monkeypatch, n_written):
    from vidence.media import whole
    from vidence.study import drawing, frames

    model_run(folder, frames=3)
    own, left = drawing.write_file, [n_written]

    def killed(path, content):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        own(path, content)

    for module in (drawing, frames, whole):
        monkeypatch.setattr(module, "write_file", killed)
    with pytest.raises(KeyboardInterrupt):
        written(folder)
    with pytest.raises(DataError, match="nothing is drawn yet"):
        read_drawn(folder)
    for module in (drawing, frames, whole):
        monkeypatch.setattr(module, "write_file", own)
    frames_now = written(folder)
    assert read_frames(folder) == frames_now
    assert {one.item_id for one in read_drawn(folder).asked} == {"q0", "q1"}


def test_a_folder_without_pictures_says_how_to_make_them(tmp_path):
    with pytest.raises(DataError, match=r"frames\.json cannot be read: .*; run vidence study draw"):
        read_frames(tmp_path)
