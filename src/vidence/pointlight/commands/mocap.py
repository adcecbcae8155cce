"""Report what motion-capture files hold, which defects were corrected, and which checks fail."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.files import screen, write_said
from vidence.console.flags import JSON, argument, command, flag
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.pointlight.checks import MotionReport

GROUP = "lights"


class Mocap(Record):
    """The files to inspect, and how to read them."""

    files: Annotated[tuple[Path, ...], argument()]
    format: Annotated[str, flag("Format (default: from the file's name and first lines).")] = ""
    options: Annotated[
        tuple[str, ...],
        flag("Option of the format, such as fps=120; repeatable.", "--option", metavar="KEY=VALUE"),
    ] = ()
    json_path: Annotated[Path | None, JSON] = None


@command()
def mocap(given: Mocap) -> int:
    """Report what motion-capture FILES hold, which defects were corrected, and which checks fail.

    The exit code is 1 if a file cannot be read; the others are still reported.
    """
    from vidence.catalog import parse_spec
    from vidence.errors import VidenceError
    from vidence.pointlight.checks import inspect
    from vidence.pointlight.reading import read_motions

    options = parse_spec("mocap?" + "&".join(given.options)).options if given.options else {}
    is_quiet = screen(given.json_path).quiet
    reports: list[MotionReport] = []
    n_bad = 0
    for path, read in read_motions(given.files, format=given.format, options=options):
        if isinstance(read, VidenceError):
            click.echo(f"{read}" if is_quiet else f"{path}: not read\n  {read}", err=True)
            n_bad += 1
            continue
        reports.append(inspect(read))
        if not is_quiet:
            click.echo("\n".join(_lines(reports[-1])))
    write_said(given.json_path, "mocap", values={"files": reports})
    return int(n_bad > 0)


def _lines(report: "MotionReport") -> list[str]:
    """Format a report as text."""
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
        message = f": {check.message}" if check.message else ""
        if check.verdict == "doubtful":
            lines.append(f"  DOUBTFUL {check.name}{value}{message}")
        elif check.verdict == "fine" and check.value is not None:
            lines.append(f"  {check.name}{value}, fine")
    return lines
