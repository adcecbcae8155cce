"""EPIC-KITCHENS-100: one CSV file per split, times as ``HH:MM:SS.ff``."""

from pathlib import Path

from vidence.ask.files import FieldError, usable
from vidence.make.pipeline.material import Event
from vidence.make.sources.event_log import EventLog, EventLogReader
from vidence.make.sources.logs.files import Row, csv_rows, log_files
from vidence.make.sources.logs.rows import (
    ClassSettings,
    LogBuilder,
    given_classes,
    literal_list,
    literal_texts,
    noun_words,
    plain,
    span,
)

Settings = ClassSettings


class EpicLog:
    """Reads the tables of EPIC-KITCHENS-100 (``EPIC_100_train.csv``, ``EPIC_100_validation.csv``).

    The rows of a release stand in the order of their ids as text, so that they are sorted by time here. The
    class tables are looked for beside the log. Classes that the log leaves empty are filled in from them.

    Source: EPIC-KITCHENS-100, its README; HERBench, section 3.2, uses HD-EPIC, of the same making.
    Departs: nouns are written as they are said: ``container:milk`` becomes "milk container", ``put-down``
    becomes "put down".
    """

    needs: tuple[str, ...] = (
        "narration_id",
        "video_id",
        "start_timestamp",
        "stop_timestamp",
        "narration",
        "verb",
        "noun",
    )

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self, path: Path) -> EventLog:
        """The events in a file, or in every CSV file of a folder except class tables and lists of videos.

        Raises:
            DataError: there is nothing at `path`, or not one row in it can be used.
        """
        builder = self._settings.builder(path, worded=plain, noun_worded=noun_words)
        for file in log_files(path, endings=(".csv",), but=("classes", "video_info")):
            for where, row in csv_rows(file, needs=self.needs):
                with builder.row(where):
                    builder.add(where, _event(usable(row), builder))
        return builder.log(path)


def create(settings: Settings) -> EventLogReader:
    """The reader of this format."""
    return EpicLog(settings)


def _event(row: Row, builder: LogBuilder) -> Event:
    when, classes = span(row, "start_timestamp", "stop_timestamp"), given_classes(row)
    nouns = literal_texts(row.get("all_nouns", "")) or (row["noun"],)
    given = literal_list(row.get("all_noun_classes", "") or "[]")
    if given is None or (given and len(given) != len(nouns)):
        reason = f"{row['all_noun_classes']!r} found; expected a list with a class for each of {list(nouns)}"
        raise FieldError("all_noun_classes", reason)
    ids = [value if isinstance(value, int) else -1 for value in given] or [-1] * len(nouns)
    return builder.event(
        row["narration_id"],
        row,
        when,
        verb=(plain(row["verb"]), classes[0]),
        noun=(noun_words(row["noun"]), classes[1]),
        nouns=[(noun_words(text), number) for text, number in zip(nouns, ids, strict=True)],
    )
