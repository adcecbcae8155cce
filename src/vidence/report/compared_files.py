"""A comparison as a part of a page, as CSV with one row for each question, and as JSON."""

import csv
import io
from pathlib import Path

import msgspec

from vidence.report.compared_tables import tables_of_many, tables_of_two
from vidence.report.compared_words import ranked_sentences, sentences
from vidence.report.comparing import Compared, Ranked
from vidence.report.export import csv_cell, table_as_json, write_whole
from vidence.report.pairing import Paired
from vidence.report.sections import Section

JSON_FORMAT = "vidence-comparison/1"


def section(compared: Compared | Ranked) -> Section:
    """What a page shows of a comparison, tables with their figures."""
    match compared:
        case Compared():
            said, tables = sentences(compared), tables_of_two(compared)
        case Ranked():
            said, tables = ranked_sentences(compared), tables_of_many(compared)
    return Section(title="Compared question by question", paragraphs=said, tables=tables)


def write_comparison_csv(paired: Paired, path: Path) -> None:
    """Write one row for each question: its video, its tags, and its mark in each run, 0 to 1.

    Raises:
        StoreError: the file cannot be written.
    """
    tags = list(dict.fromkeys(tag for item in paired.items for tag in item.tags))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("item_id", "video", *(f"tag:{tag}" for tag in tags), *(f"mark:{name}" for name in paired.names))
    writer.writerow([csv_cell(name) for name in names])
    for item, marks in zip(paired.items, paired.values.tolist(), strict=True):
        row = (item.item_id, item.video_id, *(item.tags.get(tag, "") for tag in tags), *marks)
        writer.writerow([csv_cell(cell) for cell in row])
    write_whole(path, text.getvalue().encode("utf-8", errors="backslashreplace"))


def write_comparison_json(paired: Paired, compared: Compared | Ranked, path: Path) -> None:
    """Write sentences, tables and all figures as one JSON object; a number that does not exist is null.

    Raises:
        StoreError: the file cannot be written.
    """
    shown = section(compared)
    whole = {
        "format": JSON_FORMAT,
        "runs": [
            {"name": name, "folder": run.name, "plan": run.plan, "facts": run.facts}
            for name, run in zip(paired.names, paired.runs, strict=True)
        ],
        "sentences": shown.paragraphs,
        "compared": compared,
        "tables": [table_as_json(table) for table in shown.tables],
    }
    write_whole(path, msgspec.json.encode(whole) + b"\n")
