"""One question as all models of the panel answered it."""

from typing import Annotated

from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Item, Record
from vidence.report.pairing import own_answer, own_item
from vidence.report.panel_grid import Grid, GridCell, PanelView, SettingsView
from vidence.report.results import STATUSES, Row
from vidence.report.scores import Draws
from vidence.tables.charts import Statement
from vidence.tables.table import Column, Measure, RowSpec, Table, count, tabulate, words

MOST_LETTERS = 600  # of a reply


class Settings(Record):
    """Options of the view."""

    positional = "item"

    item: Annotated[str, Meta(description="the id of the question")]


class Items(SettingsView[Settings]):
    """Frames, reply and mark of one question, a row for each trial of each model.

    Source: HumanPCR, figures 28 to 31.
    Departs: kinds of errors are not told.
    """

    name = "items"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """Return the table of the question.

        Raises:
            UsageError: no run has a trial of it.
        """
        del draws
        wanted = self.settings.item
        rows = [(cell, row) for cell in grid.cells for row in cell.run.rows if row.item.item_id == wanted]
        if not rows:
            raise UsageError(f"no run of the panel was asked the question {wanted!r}; give the id of one")
        return (_table(wanted, rows),)


def create(settings: Settings) -> PanelView:
    """Create the view."""
    return Items(settings)


Found = tuple[GridCell, Row]


def _table(item_id: str, rows: list[Found]) -> Table:
    measures: tuple[Measure[Found], ...] = (
        words("answer", lambda at: own_answer(at[1]), "answer"),
        words("status", lambda at: STATUSES[at[1].status], "became"),
        count("frames", lambda at: len(at[1].trial.selection.frames) if at[1].trial.selection else None),
        words("times", lambda at: _times(at[1]), "frames at, s"),
        words("reply", lambda at: _said(at[1]), "reply"),
    )
    item = own_item(rows[0][1])
    return tabulate(
        f"items:{item_id}",
        f"Question {item_id}",
        label=Column(key="name", title="model"),
        rows=(RowSpec(f"trial:{i}", at[0].label, at, detail=at[0].benchmark) for i, at in enumerate(rows)),
        measures=measures,
        notes=(item.question, _choices(item), f"Answer: {item.answer or 'hidden'}."),
    )


def _choices(item: Item) -> str:
    return " ".join(f"{letter}. {choice}" for letter, choice in zip(item.letters, item.choices, strict=True))


def _times(row: Row) -> str | None:
    if row.trial.selection is None:
        return None
    return ", ".join(f"{frame.time_s:.1f}" for frame in row.trial.selection.frames)


def _said(row: Row) -> str | None:
    if row.trial.reply is None:
        return None
    text = row.trial.reply.text
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} …"
