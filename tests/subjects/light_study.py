"""A study of point lights on clips of a few dots, drawn, for tests: nothing of it was filmed."""

import json
from pathlib import Path

import msgspec

from vidence.engine.environment import Environment
from vidence.media.lights import Light, LightFrame, Lights, lights_path
from vidence.study.assignment import DrawnFolder
from vidence.study.drawing import draw, write_drawn
from vidence.study.study import read_study

STUDY = """
preset = "point-light"
title = "Moving points"
items = "items.jsonl"
split = ""
shuffle_choices = true
[draw]
n = 3
by = ""
[practice]
n = 1
[catch]
n = 1
"""
RIGHT = "B"


def lights(number: int, *, fps: float = 30.0, n_frames: int = 9) -> Lights:
    """A dot that moves to the right, lower for each further number."""
    frames = tuple(
        LightFrame(x_px=(float(n), None), y_px=(-float(number), None), visible=(1, 0))
        for n in range(n_frames)
    )
    size = {"width_px": 64, "height_px": 64, "fps": fps, "background": 0, "radius_px": 3.0}
    return Lights(**size, dots=(Light(rgb=(255, 255, 255)),) * 2, frames=frames)


def clips(folder: Path, n: int = 4, *, fps: float = 30.0, n_frames: int = 9) -> None:
    """Items whose clips are no films, with their lights beside them; the second choice is right."""
    lines = []
    for i in range(n):
        clip = folder / f"secretwalk{i}.mp4"
        clip.write_bytes(b"no film")
        lights_path(clip).write_bytes(msgspec.json.encode(lights(i, fps=fps, n_frames=n_frames)))
        item = {"item_id": f"secretwalk{i}/label", "question": "Which action is it?", "answer": RIGHT}
        item |= {"media": [{"path": clip.name}], "choices": [f"jump {i}", f"walk {i}", f"wave {i}"]}
        lines.append(json.dumps(item))
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "consent.txt").write_text("You may stop at any time.")


def light_study(folder: Path, text: str = STUDY, **made: float) -> DrawnFolder:
    """The study in a folder, drawn."""
    folder.mkdir(exist_ok=True)
    clips(folder, **made)
    (folder / "study.toml").write_text(text)
    file = read_study(folder)
    write_drawn(file, draw(file, environment=Environment(cache_root=folder / "cache")))
    return DrawnFolder.read(file)
