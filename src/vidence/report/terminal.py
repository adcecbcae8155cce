"""A run in the terminal: the score and its caveats, then its tables by importance."""

from collections.abc import Sequence

from vidence.engine.specs import label
from vidence.report.parsers import LOG
from vidence.report.repeats import REPEAT_TABLES
from vidence.report.results import OUTCOMES, Run
from vidence.report.sections import Section
from vidence.report.tables import PREFERENCE, asked, headline
from vidence.tables.table import Table, shown
from vidence.tables.terminal import Sheet

# The columns of scores that go first where there is no room for all.
_SCORE_COLUMNS = ("accuracy", "items", "videos", "unreadable", "refused", "failed", "chance", "constant")
_LATER = ("score", "outcomes", "reasons", "parsers", "positions", "usage", "parsers-changed")
_MOST_REASONS = 2  # of each outcome


def draw_head(run: Run, tables: Sequence[Table], sheet: Sheet) -> None:
    """Print a run's description, its score, why trials have no answer, and other warnings.

    Args:
        run: the run.
        tables: its tables, all or some of `all_tables`.
        sheet: the output; 80 columns suffice.
    """
    by_name = {table.name: table for table in tables}
    sheet.words(f"{run.plan.benchmark} · {label(run.plan)}", style="bold")
    sheet.words(asked(run), style="dim")
    if not sheet.is_brief:
        sheet.words(run.plan.model, style="dim")
    if "score" in by_name:
        sheet.words(*headline(run, by_name["score"]))
    if "reasons" in by_name:
        sheet.words(*_reasons(by_name["reasons"]))
    if sheet.is_brief and "positions" in by_name and by_name["positions"].note.startswith(PREFERENCE):
        sheet.words(f"{by_name['positions'].note.partition(').')[0]}).")


def draw_tables(tables: Sequence[Table], sheet: Sheet) -> None:
    """Print a run's tables: scores by tag, then the others."""
    for table in sorted(tables, key=_place):
        if len(table.rows) > int(table.name == "parsers"):  # the parser of the run alone says nothing new
            sheet.table(table, first=_SCORE_COLUMNS if table.name.startswith("score") else ())


def _place(table: Table) -> int:
    if table.keys and table.keys[-1].endswith(f":{LOG}"):
        return 0  # how an import agrees
    if table.name in _LATER:
        return 2 + _LATER.index(table.name)
    return int(table.name not in ("margin", *REPEAT_TABLES))


def draw_section(section: Section, sheet: Sheet, *, is_ranking: bool = False) -> None:
    """Print a section: sentences, then tables; for a ranking, its table first."""
    n = int(is_ranking)
    if section.paragraphs or not sheet.is_brief:
        sheet.words(section.title, style="bold")
    sheet.words(*section.paragraphs[:n])
    for table in section.tables[:n]:
        sheet.table(table)
    sheet.words(*section.paragraphs[n:])
    for table in section.tables[n:]:
        sheet.table(table)


def _reasons(table: Table) -> list[str]:
    """Return why answers do not count, most frequent first; the table has more."""
    reasons = []
    for outcome in OUTCOMES[1:]:
        keys = [row.key for row in table.rows if row.label == outcome]
        for key in keys[:_MOST_REASONS]:
            reason = shown(table, key, "reason")
            example = f"; {reason.detail}" if reason.detail else ""
            reasons.append(f"{shown(table, key, 'n').text} {outcome}: {reason.text}{example}")
        if len(keys) > _MOST_REASONS:
            reasons.append(f"and {len(keys) - _MOST_REASONS} more reasons for {outcome}")
    return reasons
