"""A run in the terminal: the score, what became of the trials, and the scores by tag."""

from collections.abc import Mapping, Sequence

from rich.console import Console, JustifyMethod
from rich.table import Table as Grid
from rich.text import Text

from vidence.report.repeats import REPEAT_TABLES
from vidence.report.results import OUTCOMES, Run
from vidence.report.scores import few_note
from vidence.report.sections import Section
from vidence.report.tables import asked, headline
from vidence.tables.table import Table, shown, shown_columns
from vidence.tables.terminal import new_grid, plain, print_table, shortened

# What fits into 80 columns beside a name of some length.
_SCORE_COLUMNS = ("items", "videos", "accuracy", "chance", "constant")
_AGGREGATE_COLUMNS = ("items", "videos", "accuracy")
_SHORT = {"items": "n", "accuracy": "score, %"}
_GRIDS = {
    "outcomes": ("name", "n", "share"),
    "parsers": ("parser", "read", "changed", "accuracy"),
    "positions": ("letter", "gold", "read", "accuracy"),
}
_WHOLE = ("margin", *REPEAT_TABLES)  # printed with all their columns
_MOST_REASONS = 3  # of each outcome


def draw(run: Run, tables: Sequence[Table], console: Console) -> None:
    """Print a run: headline, outcomes, what other parsers change, and a table for each tag.

    Args:
        run: the run.
        tables: its tables, those of `all_tables` or some of them.
        console: where to; 80 columns are enough.
    """
    by_name = {table.name: table for table in tables}
    named = f"{run.plan.name} · " if run.plan.name else ""
    console.print(plain(f"{run.plan.benchmark} · {named}{run.plan.model}", style="bold"))
    console.print(plain(asked(run), style="dim"))
    if "score" in by_name:
        console.print()
        for sentence in headline(run, by_name["score"]):
            console.print(plain(sentence))
    if not run.no_score:
        _draw_scores([table for table in tables if table.figure == "scores"], console)
    for name in _WHOLE:
        if name in by_name:
            print_table(by_name[name], console)
    for name, columns in _GRIDS.items():
        if name in by_name:
            console.print()
            console.print(_grid(by_name[name], columns))
            for text in _below(name, by_name):
                console.print(text)


def _draw_scores(scores: Sequence[Table], console: Console) -> None:
    for table in scores:
        console.print()
        console.print(_score_grid(table, is_first=table.name == "score"))
    if scores:
        console.print(plain(_legend(scores), style="dim"))


def _legend(scores: Sequence[Table]) -> str:
    """What the short headings of the tables of scores mean."""
    trials = "a/u/r/f: answered, unreadable, refused, failed trials" if len(scores) > 1 else ""
    videos = (table.value(row.key, "videos") for table in scores for row in table.rows)
    few = few_note(n for n in videos if isinstance(n, int))
    return "\n".join(filter(None, ("n: questions", trials, few)))


def draw_section(section: Section, console: Console) -> None:
    """Print a part of a page: its sentences, then its tables."""
    console.print(plain(section.title, style="bold"))
    for paragraph in section.paragraphs:
        console.print(plain(paragraph))
    for table in section.tables:
        print_table(table, console)


def _below(name: str, by_name: Mapping[str, Table]) -> list[Text]:
    """What stands under a table."""
    if name == "outcomes":
        return [plain(reason) for reason in _reasons(by_name["reasons"])] if "reasons" in by_name else []
    noted = "parsers-changed" if name == "parsers" else name
    return [plain(by_name[noted].note, style="dim")] if noted in by_name else []


def _reasons(table: Table) -> list[str]:
    """Why there are answers that do not count, most frequent first; the page lists more."""
    said = []
    for outcome in OUTCOMES[1:]:
        keys = [row.key for row in table.rows if row.label == outcome]
        for key in keys[:_MOST_REASONS]:
            reason = shown(table, key, "reason")
            example = f"; {reason.detail}" if reason.detail else ""
            said.append(f"{shown(table, key, 'n').text} {outcome}: {reason.text}{example}")
        if len(keys) > _MOST_REASONS:
            said.append(f"and {len(keys) - _MOST_REASONS} more reasons for {outcome}")
    return said


def _score_grid(table: Table, *, is_first: bool) -> Grid:
    grid = new_grid(table.title)
    titles = {column.key: column.title for column in shown_columns(table)}
    columns = _AGGREGATE_COLUMNS if is_first else _SCORE_COLUMNS
    grid.add_column(plain(table.labels.title, style="dim"))
    for key in columns:
        heading = plain(_SHORT.get(key, titles[key]), style="dim")
        grid.add_column(heading, justify="right", no_wrap=True)
        if key == "accuracy":
            grid.add_column(plain("interval", style="dim"), justify="right", no_wrap=True)
    if not is_first:
        grid.add_column(plain("a/u/r/f", style="dim"), justify="right", no_wrap=True)
    for row in table.rows:
        label = plain(shortened(row.label))
        cells = [label.append(f" {row.detail}", style="dim") if is_first else label]
        for key in columns:
            cell = shown(table, row.key, key)
            cells.append(plain(" ".join(filter(None, (cell.text, cell.detail if key == "videos" else "")))))
            if key == "accuracy":
                # A reason is longer than an interval and would push the names aside.
                cells.append(plain(cell.detail.replace("too few ", "too few\n"), style="dim"))
        if not is_first:
            cells.append(plain("/".join(shown(table, row.key, name).text for name in OUTCOMES)))
        grid.add_row(*cells)
    return grid


def _grid(table: Table, keys: Sequence[str]) -> Grid:
    grid = new_grid(table.title)
    for column in shown_columns(table):
        if column.key in keys:
            justify: JustifyMethod = "left" if column.kind == "text" else "right"
            grid.add_column(plain(column.title, style="dim"), justify=justify)
    for row in table.rows:
        cells = [shown(table, row.key, key) for key in keys]
        grid.add_row(
            *(plain(f"{shortened(c.text)}  {c.detail}" if c.detail else shortened(c.text)) for c in cells)
        )
    return grid
