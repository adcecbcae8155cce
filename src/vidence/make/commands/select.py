"""Select source videos: measured, gated, kept or dropped with reasons."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.files import screen, show, write_asked, write_said
from vidence.console.flags import FILE, JOBS, JSON, PROGRESS, TRUST, argument, command, flag
from vidence.console.progress import interruptible
from vidence.console.screen import Screen
from vidence.engine.environment import environment, now
from vidence.errors import UsageError
from vidence.make.commands.make import NOTHING_MADE, MakeDisplay
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.make.gates.video_rules import SelectRules
    from vidence.make.gates.video_selection import Selection

GROUP = "videos"

_MOST_SHOWN = 60  # rows in the terminal; files have all


class Select(Record):
    """Which videos to measure, and which to keep."""

    source: Annotated[Path, argument()]
    preset: Annotated[str, flag("Gates of a paper: perceptioncomp, mmvu, humanpcr-r.", metavar="NAME")] = ""
    rules_file: Annotated[
        Path | None,
        flag(
            "TOML file of gates, quotas, detectors and models; its gates override those of the preset.",
            "--rules",
            type=FILE,
            metavar="FILE",
        ),
    ] = None
    detector: Annotated[
        str | None,
        flag("People detector, as for vidence videos track; none: do not count people.", metavar="SPEC"),
    ] = None
    manual: Annotated[Path | None, flag("Sheet that people filled in; overrides models.", metavar="FILE")] = (
        None
    )
    sheet: Annotated[
        Path | None,
        flag("Write an empty sheet for people to fill in (text, lecture); measure nothing.", metavar="FILE"),
    ] = None
    out: Annotated[Path, flag("Working folder.")] = Path("selected")
    trust: Annotated[bool, TRUST] = False
    jobs: Annotated[int | None, JOBS] = None
    json_path: Annotated[Path | None, JSON] = None
    progress: Annotated[str, PROGRESS] = "auto"


@command()
def select(given: Select) -> int:
    """Measure the videos of SOURCE, a folder or CSV, and keep those that pass every gate.

    Writes sources.csv, kept.csv, dropped.jsonl, account.json and a page. A video that cannot be measured
    passes no gate. A rerun decodes nothing and asks no model again. The exit code is 3 if no video is kept.
    """
    from vidence.make.gates.video_list import empty_sheet, list_videos, read_sheet
    from vidence.make.gates.video_selection import SelectJob, select_videos
    from vidence.make.pipeline.session import BuildContext
    from vidence.media.whole import write_file

    listing = list_videos(given.source)
    if (sheet := given.sheet) is not None:
        if sheet.exists():
            raise UsageError(f"{sheet} exists already; give another name, or move it away")
        write_asked((sheet, lambda file: write_file(file, empty_sheet(listing.videos))))
        return 0
    job = SelectJob(
        listing=listing,
        rules=_rules(given),
        rules_file=given.rules_file or Path("rules.toml"),
        today=now().date(),
        said={} if given.manual is None else read_sheet(given.manual, listing.videos),
    )
    console = Screen(stderr=True)
    display = MakeDisplay(console, mode=given.progress)
    with display.progress, interruptible(console):
        context = BuildContext.of(
            environment(), on_event=display, on_asking=display.asking, is_trusted=given.trust, jobs=given.jobs
        )
        selection = select_videos(job, out=given.out, context=context)
    _say(selection, given.json_path)
    return 0 if selection.selected.kept else NOTHING_MADE


def _say(selection: "Selection", json_path: Path | None) -> None:
    """Write and print the results."""
    import msgspec

    from vidence.make.gates.video_gates import gate_table, video_table

    selected = selection.selected
    tables = [*([gate_table(selected)] if selected.gates else []), video_table(selected)]
    values = {"files": [str(path) for path in selection.files]}
    write_said(json_path, "videos select", sentences=selected.sentences, tables=tables, values=values)
    result = screen(json_path)
    if len(tables[-1].rows) > _MOST_SHOWN:
        more = f"The first {_MOST_SHOWN} of {len(tables[-1].rows):,}; sources.csv has all."
        tables[-1] = msgspec.structs.replace(tables[-1], rows=tables[-1].rows[:_MOST_SHOWN], note=more)
    show(result, selected.sentences, tables)
    for path in selection.files:
        click.echo(f"wrote {path}", err=True)


def _rules(given: Select) -> "SelectRules":
    """Return the rules of the file, overridden by the flags."""
    import msgspec

    from vidence.make.gates.video_rules import read_rules

    rules = read_rules(given.rules_file, preset=given.preset)
    if given.detector is not None:
        wanted = "" if given.detector == "none" else given.detector
        rules = msgspec.structs.replace(
            rules, measure=msgspec.structs.replace(rules.measure, detector=wanted)
        )
    return rules
