"""Contact sheets of all clips of a set, so that a person sees whether each shows what its label says."""

import base64
import io
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

import jinja2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vidence.ask.selection.actpld import Settings as Window
from vidence.ask.selection.actpld import create as window
from vidence.errors import DataError
from vidence.make.lights.clips import ClipMade
from vidence.make.lights.trials import Trial
from vidence.media.clip import Clip
from vidence.media.video import open_video
from vidence.media.whole import write_whole
from vidence.pointlight.drawing import evenly
from vidence.records import Item

N_SHOWN = 8


def write_sheets(
    clips: Mapping[str, ClipMade], trials: Mapping[str, Trial], folder: Path
) -> tuple[Path, ...]:
    """Write ``sheet-single.html`` and ``sheet-social.html``, a page for each set that has clips.

    Each clip is there with its label, eight frames from its beginning to its end, and the eight that
    ``vidence run actpld`` shows to a model at first. The frames come from the films themselves.

    Args:
        clips: the clips, by their ids.
        trials: what they show.
        folder: that of the benchmark.

    Returns:
        The pages.

    Raises:
        DataError: a frame of a film is damaged.
    """
    files = []
    for name in ("single", "social"):
        rows = [
            {
                "clip": clip,
                "trial": trials[clip_id],
                "duration_s": f"{clip.n_frames / clip.fps:.2f}",
                **_strips(folder / clip.path, clip.n_frames),
            }
            for clip_id, clip in clips.items()
            if trials[clip_id].set == name
        ]
        if rows:
            path = folder / f"sheet-{name}.html"
            write_whole(
                path, template("pld_sheet.html").render(set=name, rows=rows, n_shown=N_SHOWN).encode()
            )
            files.append(path)
    return tuple(files)


def window_of(n_frames: int) -> list[int]:
    """The frames of a clip that a model is shown at first (see `vidence.ask.selection.actpld`)."""
    numbers = np.arange(n_frames)
    clip = Clip(times_s=numbers.astype(float), media_indices=0 * numbers, frame_indices=numbers, fps=1.0)
    item = Item(item_id="", question="", answer="A")
    return [int(n) for n in window(Window()).select(clip, item, n_frames=N_SHOWN)]


def _strips(path: Path, n_frames: int) -> dict[str, str]:
    """Frames of the whole clip and those that a model sees, each as a picture in a page."""
    whole, middle = evenly(n_frames, N_SHOWN), window_of(n_frames)
    frames = open_video(path).frames([*whole, *middle])
    pictures = [entry for entry in frames if isinstance(entry, np.ndarray)]
    if len(pictures) < len(frames):
        raise DataError(f"{path}: a frame is damaged; remove the film, and it is made again")
    return {"whole": _picture(pictures[: len(whole)]), "middle": _picture(pictures[len(whole) :])}


def _picture(pictures: Sequence[NDArray[np.uint8]]) -> str:
    """Pictures side by side, with a line between them, as a data URL."""
    line = np.full((pictures[0].shape[0], 1, 3), 90, np.uint8)
    parts = [part for picture in pictures for part in (picture, line)][:-1]
    out = io.BytesIO()
    Image.fromarray(np.concatenate(parts, axis=1)).quantize(32, dither=Image.Dither.NONE).save(out, "png")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def template(name: str) -> jinja2.Template:
    """A page of ``templates/``, by the name of its file."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    text = resources.files("vidence.make").joinpath("templates", name).read_text("utf-8")
    return environment.from_string(text)
