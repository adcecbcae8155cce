"""Check video licences through the YouTube API or a two-person sheet."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from vidence.console.files import screen, write_asked, write_said
from vidence.console.flags import CSV, JSON, argument, command, flag
from vidence.console.screen import say
from vidence.engine.environment import now
from vidence.errors import UsageError
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.make.gates.licence_youtube import YouTube

GROUP = "videos"

_NOT_ALL = 1


class Check(Record):
    """Which videos to check."""

    videos: Annotated[tuple[str, ...], argument()]
    kept: Annotated[Path, flag("File of all lookups; new results are appended.")] = Path("licences.jsonl")
    manual: Annotated[Path | None, flag("Sheet that two people filled in; both must agree.")] = None
    sheet: Annotated[Path | None, flag("Write an empty sheet for people to fill in; look nothing up.")] = None
    csv_path: Annotated[Path | None, CSV] = None
    json_path: Annotated[Path | None, JSON] = None


@command()
def licence(given: Check) -> int:
    """Ask YouTube for the licence of VIDEOS: addresses, names, or files that list them.

    The key is read from YOUTUBE_API_KEY (YouTube Data API v3). Creative Commons passes; the standard
    licence, a removed video and an unknown licence do not. An answer is valid for 30 days. The exit code is 1
    if a video does not pass.
    """
    from vidence.make.gates import licences as by_people
    from vidence.make.gates.licence_checking import check_licences, licence_table, named_videos, summary
    from vidence.media.whole import write_file
    from vidence.tables.export import table_as_csv
    from vidence.tables.terminal import print_table

    console = screen(given.csv_path, given.json_path)
    films = named_videos(given.videos)
    if (sheet := given.sheet) is not None:
        if sheet.exists():
            raise UsageError(f"{sheet} exists already; give another name, or move it away")
        write_asked((sheet, lambda file: write_file(file, by_people.sheet(films))))
        return 0
    *_, checked = check_licences(films, kept=given.kept, now=now(), api=client, manual=given.manual)
    table, sentence = licence_table(checked), summary(checked)
    write_asked((given.csv_path, lambda file: write_file(file, table_as_csv(table))))
    write_said(given.json_path, "licence check", sentences=[sentence], tables=[table])
    if not console.quiet:
        print_table(table, console)
        say(console, f"{sentence}; kept in {given.kept}")
    return 0 if checked.is_free else _NOT_ALL


def client() -> "YouTube":
    """A YouTube Data API client with the key from the environment.

    Raises:
        MissingKeyError: there is none.
    """
    from vidence.ask.models.http import read_key
    from vidence.make.gates import licence_youtube as youtube

    key = read_key(youtube.KEY_VARIABLE, example=youtube.KEY_VARIABLE)
    return youtube.YouTube(key, address=os.environ.get(youtube.ADDRESS_VARIABLE) or youtube.ADDRESS, now=now)
