"""Show motion capture, or a built-in figure, as points of light."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import msgspec

from vidence.console.flags import argument, command, flag
from vidence.errors import UsageError
from vidence.media.whole import own_folder
from vidence.records import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vidence.media.written import Sink
    from vidence.pointlight.figures import Staging
    from vidence.pointlight.motion import Motion
    from vidence.pointlight.stimulus import Stimulus

GROUP = "lights"

# A metre that is less than this share of the picture's height makes a figure that is hard to see.
_SMALL = 0.12
_VIDEOS = {"mp4": "clip.mp4", "lossless": "clip-lossless.mp4"}
_KINDS = (*_VIDEOS, "png", "psychopy", "jspsych")


class Shown(Record):
    """What to show as points of light, and what to write."""

    sources: Annotated[tuple[str, ...], argument()] = ()
    out: Annotated[Path, flag("Output folder.")]
    settings: Annotated[
        dict[str, str],
        flag(
            "Setting of the stimulus, such as yaw_deg=45, scramble=places, n_noise=30; repeatable.", "--set"
        ),
    ] = msgspec.field(default_factory=dict)
    points: Annotated[
        str, flag("Points of the body: 12, 13, 15, upper, lower, hands, feet; markers: all in the file.")
    ] = "13"
    hold_hands: Annotated[bool, flag("Move the second figure until clasped hands meet.")] = False
    options: Annotated[
        dict[str, str], flag("Option of the file format, such as fps=60; repeatable.", "--option")
    ] = msgspec.field(default_factory=dict)
    kinds: Annotated[
        tuple[str, ...],
        flag(
            "Output: a video, numbered PNG files, or a folder for PsychoPy or jsPsych; repeatable.",
            "--write",
            type=_KINDS,
        ),
    ] = ("mp4",)
    again: Annotated[
        Path | None,
        flag("Rebuild the stimulus of this stimulus.json and compare every pixel; give SOURCES that moved."),
    ] = None


@command()
def render(given: Shown) -> None:
    """Render one or two SOURCES as points of light: motion-capture files, or walker:ACTION.

    Writes the clip, a contact sheet, and stimulus.json, which is enough to rebuild the same stimulus.
    """
    from vidence.installation import __version__
    from vidence.pointlight.experiments import PLAYERS, write_player
    from vidence.pointlight.figures import Staging
    from vidence.pointlight.specs import spec_of
    from vidence.pointlight.stimulus import make_stimulus
    from vidence.pointlight.writing import sidecar

    sources, out = given.sources, given.out
    staging = Staging(
        sources=sources, points=given.points, hold_hands=given.hold_hands, options=given.options
    )
    if given.again is not None:
        is_plain = msgspec.structs.replace(staging, sources=()) == Staging(sources=())
        if given.settings or not is_plain:
            raise UsageError(
                "--again takes everything from the file; leave out --set, --points, --hold-hands and --option"
            )
        stimulus, figures, staging = _again(given.again, sources)
    elif not sources:
        raise UsageError("name a file of motion capture, or walker:walk")
    else:
        spec = spec_of(given.settings)
        figures = staging.figures()
        stimulus = make_stimulus(figures, spec)
    kinds = tuple(dict.fromkeys(given.kinds))
    own_folder(out, ".vidence-pointlight")
    digest = _written(stimulus, kinds, out)
    for player in PLAYERS:
        if player in kinds:
            write_player(player, stimulus, out / player)
    kept = sidecar(stimulus, figures, digest, vidence=__version__, staging=staging)
    (out / "stimulus.json").write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=2))
    for line in _lines(stimulus, figures, is_same=given.again is not None):
        click.echo(line if line.startswith(" ") else f"{out}: {line}")


def _again(path: Path, sources: tuple[str, ...]) -> "tuple[Stimulus, list[Motion], Staging]":
    """Rebuild the stimulus of a sidecar; return it with its figures and how they were made."""
    from vidence.pointlight.figures import Staging
    from vidence.pointlight.writing import read_sidecar, remake

    kept = read_sidecar(path)
    staging = kept.staging or Staging(sources=())
    if sources:
        staging = msgspec.structs.replace(staging, sources=sources)
    if not staging.sources:
        raise UsageError(
            f"{path} was made by vidence {kept.vidence} and does not name its sources; name them"
        )
    figures = staging.figures()
    return remake(kept, figures), figures, staging


def _written(stimulus: "Stimulus", kinds: tuple[str, ...], out: Path) -> str:
    """Write pictures, videos and contact sheet in one pass; the digest over all pixels."""
    from contextlib import ExitStack

    from PIL import Image

    from vidence.media.written import video_file
    from vidence.pointlight.drawing import contact_sheet, evenly, frames
    from vidence.pointlight.writing import numbered_pictures, passed

    on_sheet, values = evenly(stimulus.n_frames, 12), dict[int, "NDArray[np.uint8]"]()
    numbers = iter(range(stimulus.n_frames))

    def keep(picture: "NDArray[np.uint8]") -> None:
        number = next(numbers)
        if number in on_sheet:
            values[number] = picture.copy()

    size_px = (stimulus.spec.width_px, stimulus.spec.height_px)
    with ExitStack() as files:
        sinks: list[Sink] = [keep]
        for kind in kinds:
            if kind in _VIDEOS:
                video = video_file(
                    out / _VIDEOS[kind], fps=stimulus.fps, size_px=size_px, is_lossless=kind == "lossless"
                )
                sinks.append(files.enter_context(video))
            elif kind == "png":
                sinks.append(files.enter_context(numbered_pictures(out / "frames")))
        digest = passed(frames(stimulus), sinks)
    Image.fromarray(contact_sheet(values, fps=stimulus.fps)).save(out / "sheet.png")
    return digest


def _lines(stimulus: "Stimulus", figures: "Sequence[Motion]", *, is_same: bool) -> list[str]:
    """Summarize the files written, with notes."""
    from vidence.pointlight.checks import absences, spans
    from vidence.pointlight.stimulus import in_time

    message = (
        f"{stimulus.n_frames} frames at {stimulus.fps:g} per second, {stimulus.centres_px.shape[1]} dots"
        + (", the same as before, pixel by pixel" if is_same else "")
    )
    lines = [message]
    outside = _share_outside(stimulus)
    if outside > 0:
        lines.append(f"  {outside:.0%} of the dots are outside the picture; a smaller px_per_m shows them")
    if stimulus.px_per_m < _SMALL * stimulus.spec.height_px:
        lines.append(
            f"  a metre is {stimulus.px_per_m:.0f} px, as the whole way fits in from every side; "
            "framing=follow or fit=view shows the figure larger"
        )
    for figure, motion in zip(figures, in_time(figures, stimulus.spec), strict=True):
        if away := absences(motion):
            lines.append(
                f"  {figure.source.file or 'walker'}: frames {spans(away)} of the display show fewer than "
                "half of the points; start_frame and n_frames leave them out"
            )
    lines += [
        f"  {figure.source.file or 'walker'}: {note}" for figure in figures for note in figure.source.notes
    ]
    return lines


def _share_outside(stimulus: "Stimulus") -> float:
    """Return the share of the figures' dots, over all frames, with their centre outside the picture."""
    import numpy as np

    own = stimulus.centres_px[:, stimulus.owners >= 0]
    values = own[np.isfinite(own).all(axis=-1)]
    size = np.array([stimulus.spec.width_px, stimulus.spec.height_px])
    return float(((values < 0) | (values > size)).any(axis=-1).mean()) if len(values) else 0.0
