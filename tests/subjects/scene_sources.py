"""Sources of scenes as the tests make them: with a sample, and with replies in place of a model."""

import tomllib
from pathlib import Path

from subjects.samples import GOLDEN, argument_of
from vidence import catalog
from vidence.make.sources.scene_writing import SceneSet, SceneSource
from vidence.records import Reply
from videos.samples import squares, write_video

SCENES = GOLDEN / "scenes"
SAID = (SCENES / "model" / "reply.txt").read_text(encoding="utf-8")


def sample_spec(name: str, folder: Path) -> str:
    """The spec of a source's sample; videos are written into the folder."""
    text = tomllib.loads((SCENES / "specs.toml").read_text(encoding="utf-8")).get(name, "")
    video = folder / "clip.mp4"
    if "{video}" in text:
        write_video(video, squares())
    argument = text.format(here=SCENES, video=video) or argument_of("scene-source", name)
    assert argument, f"add the spec of a sample at {SCENES / 'specs.toml'} (see VIDENCE_SAMPLES)"
    return f"{name}:{argument}"


def source(name: str, folder: Path, more: str = "") -> SceneSource:
    """A source with its sample, and perhaps more options."""
    spec = sample_spec(name, folder)
    made: SceneSource = catalog.create(
        "scene-source", spec + (("&" if "?" in spec else "?") + more if more else "")
    )
    return made


def told(made: SceneSource, *replies: str) -> SceneSet:
    """What a source says, with these texts in place of a model's replies, the last again and again."""
    flow, waiting = made.read(), list(replies or [SAID])
    try:
        asked = next(flow)
        while True:
            text = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            asked = flow.send([Reply(text=text) for _ in asked])
    except StopIteration as end:
        found: SceneSet = end.value
        return found
