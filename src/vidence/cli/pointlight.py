"""``vidence pointlight``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vidence.pointlight.motion import Motion
    from vidence.pointlight.stimulus import Stimulus

# A metre that is less than this share of the picture's height makes a figure that is hard to see.
_SMALL = 0.12
_KINDS = ("mp4", "webm", "gif", "png", "montage")


@click.command()
@click.argument("sources", nargs=-1)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the files.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the stimulus, such as yaw_deg=45, scramble=places, n_noise=30; repeatable.",
)
@click.option(
    "--points",
    default="13",
    show_default=True,
    help="12, 13 or 15 points of a body, upper, lower, hands, feet, or markers for all that a file holds.",
)
@click.option(
    "--hold-hands",
    is_flag=True,
    help="Move the second of two figures until hands that hold each other meet.",
)
@click.option("--leave-out", multiple=True, metavar="POINT", help="A point that is not shown; repeatable.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the format of the files, such as fps=60.",
)
@click.option(
    "--write",
    "kinds",
    multiple=True,
    type=click.Choice(_KINDS),
    default=("mp4",),
    show_default=True,
    help="What is written; repeatable. A montage has 4 columns and 2 rows of 8 frames.",
)
@click.option(
    "--again",
    type=click.Path(path_type=Path),
    help="A stimulus.json: make that stimulus again from the same SOURCES, and check every pixel.",
)
def pointlight(
    *,
    sources: tuple[str, ...],
    out: Path,
    settings: tuple[str, ...],
    points: str,
    hold_hands: bool,
    leave_out: tuple[str, ...],
    options: tuple[str, ...],
    kinds: tuple[str, ...],
    again: Path | None,
) -> int:
    """Show one or two SOURCES as points of light: files of motion capture, or walker:ACTION.

    The folder gets the clip, a contact sheet, a picture of the paths of all dots, and stimulus.json, from
    which the same stimulus can be made again.
    """
    import msgspec

    from vidence import __version__
    from vidence.cli.run import pairs
    from vidence.pointlight.drawing import frames
    from vidence.pointlight.figures import staged
    from vidence.pointlight.specs import spec_of
    from vidence.pointlight.stimulus import make_stimulus
    from vidence.pointlight.writing import read_sidecar, remake, sidecar

    if not sources:
        raise UsageError("name a file of motion capture, or walker:walk")
    figures = staged(
        sources,
        points=points,
        hold_hands=hold_hands,
        options=pairs(options, "--option"),
    )
    if again is not None:
        if settings or leave_out:
            raise UsageError("--again takes its settings from the file; leave out --set and --leave-out")
        stimulus, pictures = remake(read_sidecar(again), figures)
    else:
        given = pairs(settings, "--set")
        if leave_out:
            given = {**given, "leave_out": ",".join(leave_out)}
        stimulus = make_stimulus(figures, spec_of(given))
        pictures = list(frames(stimulus))
    kept = sidecar(stimulus, figures, pictures, vidence=__version__)
    out.mkdir(parents=True, exist_ok=True)
    for kind in dict.fromkeys(kinds):
        _write(kind, pictures, out, fps=stimulus.fps)
    from PIL import Image

    from vidence.pointlight.drawing import contact_sheet, path_plot

    Image.fromarray(contact_sheet(pictures, fps=stimulus.fps)).save(out / "sheet.png")
    Image.fromarray(path_plot(stimulus)).save(out / "paths.png")
    (out / "stimulus.json").write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=2))
    for line in _lines(stimulus, figures, is_same=again is not None):
        click.echo(line if line.startswith(" ") else f"{out}: {line}")
    return 0


def _write(kind: str, pictures: "list[NDArray[np.uint8]]", out: Path, *, fps: float) -> None:
    """Write one kind of file."""
    from PIL import Image

    from vidence.pointlight.drawing import montage_of
    from vidence.pointlight.writing import write_pictures, write_video

    if kind == "png":
        write_pictures(pictures, out / "frames")
    elif kind == "montage":
        Image.fromarray(montage_of(pictures)).save(out / "montage.png")
    else:
        write_video(pictures, out / f"clip.{kind}", fps=fps)


def _lines(stimulus: "Stimulus", figures: "Sequence[Motion]", *, is_same: bool) -> list[str]:
    """What was made, and what there is to say of it."""
    told = (
        f"{stimulus.n_frames} frames at {stimulus.fps:g} per second, {stimulus.centres_px.shape[1]} dots"
        + (", the same as before, pixel by pixel" if is_same else "")
    )
    lines = [told]
    if stimulus.px_per_m < _SMALL * stimulus.spec.height_px:
        lines.append(
            f"  a metre is {stimulus.px_per_m:.0f} px, as the whole way fits in from every side; "
            "framing=follow or fit=view shows the figure larger"
        )
    lines += [
        f"  {figure.source.file or 'walker'}: {note}" for figure in figures for note in figure.source.notes
    ]
    return lines
