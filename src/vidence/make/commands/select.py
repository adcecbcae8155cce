"""Which videos questions are made about: measured, gated, kept with reasons."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.console.files import screen, show, write_asked, write_said
from vidence.console.options import (
    PATH,
    jobs_option,
    json_option,
    on_option,
    progress_option,
    trust_option,
)
from vidence.console.progress import interruptible
from vidence.console.screen import Screen
from vidence.engine.environment import environment, now
from vidence.errors import UsageError
from vidence.make.commands.make import NOTHING_MADE, MakeDisplay

if TYPE_CHECKING:
    from vidence.make.gates.video_rules import SelectRules
    from vidence.make.gates.video_selection import Selection

SECTION = "Make"

_OUT = Path("selected")
_MOST_SHOWN = 60  # rows in the terminal; files have all


@click.group()
def select() -> None:
    """Which videos questions are made about."""


@select.command()
@click.argument("source", type=PATH)
@click.option(
    "--preset", default="", metavar="NAME", help="Gates of a paper: perceptioncomp, mmvu, humanpcr-r."
)
@click.option(
    "--rules",
    "rules_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Gates, quotas, detectors and models, in TOML; its gates go before those of the preset.",
)
@click.option(
    "--detector", metavar="SPEC", help="Who counts people, as for vidence track; none leaves it out."
)
@click.option("--manual", type=PATH, metavar="FILE", help="Sheet that people filled; goes before models.")
@click.option(
    "--sheet",
    type=PATH,
    metavar="FILE",
    help="Write an empty sheet for people (text, lecture), and measure nothing.",
)
@click.option("--out", type=PATH, default=_OUT, show_default=True, help="Folder to work in.")
@trust_option
@jobs_option
@on_option
@json_option
@progress_option
def videos(
    *,
    source: Path,
    preset: str,
    rules_file: Path | None,
    detector: str | None,
    manual: Path | None,
    sheet: Path | None,
    out: Path,
    trust: bool,
    jobs: int | None,
    on: str | None,
    json_path: Path | None,
    progress: str,
) -> int:
    """Measure the videos of SOURCE, a folder or a CSV, and keep those that pass every gate.

    Written are sources.csv, kept.csv, dropped.jsonl, account.json and a page. What could not
    be measured passes no gate. The same command again decodes nothing and asks nobody. The exit code is 3
    when no video is kept.
    """
    from vidence.make.gates.video_list import empty_sheet, list_videos, read_sheet
    from vidence.make.gates.video_selection import SelectJob, select_videos
    from vidence.make.pipeline.session import BuildContext
    from vidence.media.whole import write_file

    listing = list_videos(source)
    if sheet is not None:
        if sheet.exists():
            raise UsageError(f"{sheet} is there; give another name, or move it away")
        write_asked((sheet, lambda file: write_file(file, empty_sheet(listing.videos))))
        return 0
    job = SelectJob(
        listing=listing,
        rules=_rules(rules_file, preset=preset, detector=detector),
        rules_file=rules_file or Path("rules.toml"),
        today=now().date(),
        said={} if manual is None else read_sheet(manual, listing.videos),
    )
    console = Screen(stderr=True)
    display = MakeDisplay(console, mode=progress)
    with display.progress, interruptible(console):
        context = BuildContext.of(
            environment(on=on), on_event=display, on_asking=display.asking, is_trusted=trust, jobs=jobs
        )
        found = select_videos(job, out=out, context=context)
    _say(found, json_path)
    return 0 if found.selected.kept else NOTHING_MADE


def _say(found: "Selection", json_path: Path | None) -> None:
    """Write and print what was found."""
    import msgspec

    from vidence.make.gates.video_report import gate_table, video_table

    selected = found.selected
    tables = [*([gate_table(selected)] if selected.gates else []), video_table(selected)]
    values = {"files": [str(path) for path in found.files]}
    write_said(json_path, "select videos", sentences=selected.sentences, tables=tables, values=values)
    shown = screen(json_path)
    if len(tables[-1].rows) > _MOST_SHOWN:
        more = f"The first {_MOST_SHOWN} of {len(tables[-1].rows):,}; sources.csv has all."
        tables[-1] = msgspec.structs.replace(tables[-1], rows=tables[-1].rows[:_MOST_SHOWN], note=more)
    show(shown, selected.sentences, tables)
    for path in found.files:
        click.echo(f"wrote {path}", err=True)


def _rules(path: Path | None, *, preset: str, detector: str | None) -> "SelectRules":
    """The rules of the file, with what the flags say in its place."""
    import msgspec

    from vidence.make.gates.video_rules import read_rules

    rules = read_rules(path, preset=preset)
    if detector is not None:
        wanted = "" if detector == "none" else detector
        rules = msgspec.structs.replace(
            rules, measure=msgspec.structs.replace(rules.measure, detector=wanted)
        )
    return rules
