"""A plain table of events: a CSV file with one row per event."""

from pathlib import Path

from vidence.ask.files import usable
from vidence.make.pipeline.material import Event
from vidence.make.sources.event_log import EventLog, EventLogReader
from vidence.make.sources.logs.files import Row, csv_rows, log_files
from vidence.make.sources.logs.rows import ClassSettings, LogBuilder, given_classes, plain, span

Settings = ClassSettings


class PlainLog:
    """Reads tables with the columns ``video_id, start, end, narration, verb, noun``.

    Times are seconds or ``HH:MM:SS.ff``. Further columns that are understood: ``event_id``, ``verb_class``,
    ``noun_class``, and ``nouns``, everything that the narration names, with ``|`` between. Without classes,
    events count by their own words, so that "take cup" and "pick up cup" are two actions.
    """

    needs: tuple[str, ...] = ("video_id", "start", "end", "narration", "verb", "noun")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self, path: Path) -> EventLog:
        """The events in a file, or in every CSV and TSV file of a folder except class tables.

        Raises:
            DataError: there is nothing at `path`, or not one row in it can be used.
        """
        builder = self._settings.builder(path, worded=plain, noun_worded=plain)
        for file in log_files(path, endings=(".csv", ".tsv"), but=("classes",)):
            for number, (where, row) in enumerate(csv_rows(file, needs=self.needs), 1):
                with builder.row(where):
                    builder.add(where, _event(usable(row), builder, f"{file.name}#{number}"))
        return builder.log(path)


def create(settings: Settings) -> EventLogReader:
    """The reader of this format."""
    return PlainLog(settings)


def _event(row: Row, builder: LogBuilder, event_id: str) -> Event:
    when, classes = span(row, "start", "end"), given_classes(row)
    noun = plain(row["noun"])
    others = [plain(text) for text in row.get("nouns", "").split("|") if text.strip()]
    nouns = [(noun, classes[1]), *((text, -1) for text in dict.fromkeys(others) if text != noun)]
    verb = (plain(row["verb"]), classes[0])
    return builder.event(row.get("event_id") or event_id, row, when, verb=verb, nouns=nouns)
