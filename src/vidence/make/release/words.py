"""The papers of a release: its datasheet, how to cite it, and what the Hugging Face hub reads of it."""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass

import jinja2
from markupsafe import Markup

from vidence.installation import __version__
from vidence.make.gates.rules import ReleaseRules
from vidence.make.pipeline.ledger import Account
from vidence.report.set_statistics import Described
from vidence.tables.table import Table, shown_columns, shown_rows
from vidence.text import visible

_STATISTICS = ("words", "counts", "videos", "evidence", "vocabulary")


def plain(text: str) -> str:
    """A foreign text that no Markdown can hide in, on one line."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in " ".join(visible(text).split()))


def rendered(template: str, **values: object) -> str:
    """A template of Markdown with all texts of others as `plain` ones."""
    return _environment().get_template(template).render(version=__version__, table=_table, **values)


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("vidence.make"),
        autoescape=False,  # noqa: S701 - Markdown, in which `plain` lets no markup stand
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: plain(value) if type(value) is str else value,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def stages_of(account: Account) -> list[tuple[object, ...]]:
    """For each stage what came in, what came out, and why the rest did not."""
    return [
        (s.stage, s.unit, s.n_in, s.n_out, ", ".join(f"{n} {why}" for why, n in s.dropped.items()))
        for s in account.stages
    ]


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A table of the statistics as a datasheet has it."""

    title: str
    note: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def statistics_of(described: Described) -> list[Statistic]:
    """The tables of the statistics that a datasheet has."""
    return [statistic_of(table) for table in described.tables if table.name in _STATISTICS]


def statistic_of(table: Table) -> Statistic:
    """A table as a datasheet has it."""
    return Statistic(
        title=table.title,
        note=table.note,
        headings=tuple(column.title for column in shown_columns(table)),
        rows=tuple(tuple(cell.text for cell in row.cells) for row in shown_rows(table)),
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    lines = [headings, ["---"] * len(headings), *rows]
    cells = [[cell if i == 1 else plain(str(cell)) for cell in map(str, row)] for i, row in enumerate(lines)]
    text = "\n".join(f"| {' | '.join(row)} |" for row in cells)
    return Markup(text)  # noqa: S704 - its cells are plain


def citation(rules: ReleaseRules, *, name: str, message: str) -> str:
    """A ``CITATION.cff``; quoted as JSON, which YAML reads, so that no text can break it."""
    authors = rules.authors or ("The makers of this set",)
    lines = [
        "cff-version: 1.2.0",
        "type: dataset",
        f"message: {_quoted(message)}",
        f"title: {_quoted(rules.title or name)}",
        f"version: {_quoted(rules.version)}",
        "authors:",
        *(f"  - name: {_quoted(name)}" for name in authors),
    ]
    for key, value in (
        ("date-released", rules.date),
        ("license", rules.licence),
        ("url", rules.url),
    ):
        if value:
            lines.append(f"{key}: {_quoted(value)}")
    if rules.contact:
        lines += ["contact:", f"  - name: {_quoted(rules.contact)}"]
    return "\n".join(lines) + "\n"


def eval_yaml(rules: ReleaseRules, splits: Sequence[str], *, name: str, said: str) -> str:
    """What the Hugging Face hub reads of a benchmark: ``eval.yaml`` of its data set, a task for each split.

    Quoted as JSON, as `citation`. The framework is vidence: those that the hub lists ask without the video.

    Args:
        rules: under which title.
        splits: those whose answers are released.
        name: of the set.
        said: what it holds.
    """
    lines = [
        f"name: {_quoted(rules.title or name)}",
        f"description: {_quoted(said)}",
        "evaluation_framework: vidence",
        "tasks:",
    ]
    for split in splits:
        lines += [f"  - id: {_quoted(f'{name}-{split}')}", f"    split: {_quoted(split)}"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(visible(text), ensure_ascii=False)
