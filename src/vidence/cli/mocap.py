"""``vidence mocap``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.cli.outputs import PATH, json_option, screen, write_said

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from vidence.pointlight.checks import MotionReport
    from vidence.pointlight.motion import Motion


@click.command()
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option(
    "--format", "format_name", default="", help="The format; otherwise the name and the first lines tell."
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the format, such as fps=120.",
)
@click.option(
    "--template",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a map of names for the first of FILES, with guesses, to fill in and take as --option map=.",
)
@click.option(
    "--walks",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Fit a space of walks to FILES and write it; pointlight walks:FILE?pc1=2 shows what is in it.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path, dir_okay=False),
    help="For --walks a CSV with the column file, and for each axis one of numbers, such as happy.",
)
@json_option
def mocap(
    *,
    files: tuple[Path, ...],
    format_name: str,
    options: tuple[str, ...],
    template: Path | None,
    walks: Path | None,
    labels: Path | None,
    json_path: Path | None,
) -> int:
    """What FILES of motion capture hold, which defects were mended, and what is doubtful.

    The exit code is 1 when one cannot be read; the others are still shown.
    """
    from vidence.catalog import parse_spec
    from vidence.errors import UsageError, VidenceError
    from vidence.pointlight.body_maps import template as map_template
    from vidence.pointlight.checks import inspect
    from vidence.pointlight.reading import read_motions
    from vidence.report.export import write_file

    given = parse_spec("mocap?" + "&".join(options)).options if options else {}
    if labels is not None and walks is None:
        raise UsageError("--labels are those of a space of walks; give --walks FILE, too")
    is_quiet = screen(json_path).quiet
    reports: list[MotionReport] = []
    motions: list[Motion] = []
    n_bad = 0
    for path, read in read_motions(files, format=format_name, options=given):
        if isinstance(read, VidenceError):
            click.echo(f"{read}" if is_quiet else f"{path}: not read\n  {read}", err=True)
            n_bad += 1
            continue
        reports.append(inspect(read))
        motions.append(read)
        if template is not None and len(reports) == 1:
            write_file(template, map_template(read.names, file=path.name).encode())
            click.echo(f"wrote {template}", err=True)
        if not is_quiet:
            click.echo("\n".join(_lines(reports[-1])))
    if walks is not None:
        told = _write_walks(walks, motions, labels)
        click.echo("\n".join(told), err=is_quiet)
    write_said(json_path, "mocap", values={"files": reports})
    return int(n_bad > 0)


def _write_walks(path: Path, motions: "Sequence[Motion]", labels: Path | None) -> list[str]:
    """Fit a space of walks and write it; what there is to say of it."""
    import msgspec
    import numpy as np

    from vidence.errors import DataError
    from vidence.pointlight.walk_spaces import fit_walks, read_labels
    from vidence.pointlight.walks import Walk, walk_of
    from vidence.report.export import write_file

    walks: list[Walk] = []
    lines: list[str] = []
    for motion in motions:
        try:
            walks.append(walk_of(motion))
        except DataError as error:
            lines.append(f"left out: {error}")
            continue
        one = walks[-1]
        lines.append(
            f"{Path(one.file).name}: {one.rate_hz:.3f} cycles a second, {one.speed_m_s:.2f} m/s, "
            f"{one.span_s[0]:.1f} to {one.span_s[1]:.1f} s, {one.explained:.1%} of its motion"
        )
    known = read_labels(labels, [m.source.file for m in motions]) if labels is not None else {}
    space = fit_walks(walks, known)
    shares = np.square(space.deviations) / np.square(space.deviations).sum()
    lines.append(
        f"wrote {path}: {len(walks)} walks; pc1 to pc{len(shares)} have {_shares(shares)} of the variance"
    )
    for name, axis in space.axes.items():
        said = "unknown" if axis.r_left_out is None else f"{axis.r_left_out:.2f}"
        lines.append(f"  {name}: {axis.n} walks; correlation with each as the others predict it {said}")
    write_file(path, msgspec.json.encode(space))
    return lines


def _shares(shares: "NDArray[np.float64]") -> str:
    return ", ".join(f"{share:.0%}" for share in shares[:4]) + (" ..." if len(shares) > 4 else "")


def _lines(report: "MotionReport") -> list[str]:
    """A report for people."""
    claims = f"{report.fps_claimed:g} claimed" if report.fps_claimed else "none claimed"
    lines = [
        report.file,
        f"  {report.format}, {report.kind}, {len(report.points)} points, {report.n_frames} frames, "
        f"{report.duration_s:.2f} s",
        f"  {report.fps:g} frames per second ({claims})"
        + (f": {report.fps_note}" if report.fps_note else ""),
        f"  one unit is {report.metres_per_unit:g} m",
    ]
    if report.points_missing:
        lines.append(f"  no {', '.join(report.points_missing)}")
    lines += [f"  note: {note}" for note in report.notes]
    for check in report.checks:
        value = "" if check.value is None else f" {check.value:.4g} {check.unit}"
        told = f": {check.message}" if check.message else ""
        if check.verdict == "doubtful":
            lines.append(f"  DOUBTFUL {check.name}{value}{told}")
        elif check.verdict == "fine" and check.value is not None:
            lines.append(f"  {check.name}{value}, fine")
    return lines
