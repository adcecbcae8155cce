"""Under which licence videos may be used: asked of YouTube, or of two people."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.console.files import screen, write_asked, write_said
from vidence.console.options import PATH, csv_option, json_option
from vidence.console.screen import say
from vidence.engine.environment import now
from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.make.gates.licence_youtube import YouTube

SECTION = "Make"

_KEPT = Path("licences.jsonl")
_NOT_ALL = 1


@click.group()
def licence() -> None:
    """Under which licence videos may be used."""


@licence.command()
@click.argument("videos", nargs=-1, required=True)
@click.option(
    "--kept",
    type=PATH,
    default=_KEPT,
    show_default=True,
    help="File of all looks; what is found is added to it.",
)
@click.option(
    "--days",
    type=click.FloatRange(min=0),
    default=30,
    show_default=True,
    help="How long an answer is believed.",
)
@click.option("--manual", type=PATH, help="Sheet that people filled; two must say the same.")
@click.option("--sheet", type=PATH, help="Write an empty sheet for people, and ask nothing.")
@csv_option("video")
@json_option
def check(
    *,
    videos: tuple[str, ...],
    kept: Path,
    days: float,
    manual: Path | None,
    sheet: Path | None,
    csv_path: Path | None,
    json_path: Path | None,
) -> int:
    """Ask YouTube for the licence of VIDEOS: addresses, names, or files that list them.

    The key is read from YOUTUBE_API_KEY (YouTube Data API v3). Creative Commons passes; the standard licence
    is refused; a video that is gone or of which nothing is known does not pass.
    Exit code 1 where one does not.
    """
    from vidence.make.gates import licence_by_people as by_people
    from vidence.make.gates.licence_checking import check_licences, licence_table, named_videos, summary
    from vidence.media.whole import write_file
    from vidence.tables.export import table_as_csv
    from vidence.tables.terminal import print_table

    console = screen(csv_path, json_path)
    films = named_videos(videos)
    if sheet is not None:
        if sheet.exists():
            raise UsageError(f"{sheet} is there; give another name, or move it away")
        write_asked((sheet, lambda file: write_file(file, by_people.sheet(films))))
        return 0

    *_, checked = check_licences(films, kept=kept, now=now(), api=client, manual=manual, days=days)
    table = licence_table(checked)
    write_asked((csv_path, lambda file: write_file(file, table_as_csv(table))))
    write_said(json_path, "licence check", sentences=[summary(checked)], tables=[table])
    if not console.quiet:
        print_table(table, console)
        say(console, f"{summary(checked)}; kept in {kept}")
    return 0 if checked.is_free else _NOT_ALL


def client() -> "YouTube":
    """The client of the YouTube Data API, with the key of the environment.

    Raises:
        MissingKeyError: there is none.
    """
    from vidence.ask.models.http import read_key
    from vidence.make.gates import licence_youtube as youtube

    key = read_key(youtube.KEY_VARIABLE, example=youtube.KEY_VARIABLE)
    return youtube.YouTube(key, address=os.environ.get(youtube.ADDRESS_VARIABLE) or youtube.ADDRESS, now=now)
