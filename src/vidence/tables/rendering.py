"""Render pages from templates: every text is escaped, and pages load nothing from elsewhere."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache, partial
from importlib import resources
from itertools import groupby

import jinja2
import msgspec
from markupsafe import Markup

from vidence.installation import __version__
from vidence.tables.charts import Statement, table_of
from vidence.tables.figures import draw_figure
from vidence.tables.plots import draw_plot
from vidence.tables.svg import Drawing
from vidence.tables.table import DASH, Table, filled, has_interval, shown, shown_columns, shown_rows
from vidence.text import unsaid, visible


def render(template: str, **values: object) -> str:
    """Render a page.

    Style and script are ours, and the content security policy allows them by hash.

    Args:
        template: its file in ``templates/``.
        values: values besides ``css``, ``js``, their hashes, ``version``, the functions that show tables,
            figures and settings, and ``fresh``, which leaves out sentences already on the page.
    """
    printed: set[str] = set()
    return _environment().get_template(template).render(fresh=partial(unsaid, printed=printed), **values)


def style_sheet() -> str:
    """Return the style sheet that reports, figures and the studio share."""
    return resources.files("vidence.tables").joinpath("templates", "looks.css").read_text("utf-8")


@cache
def _environment() -> jinja2.Environment:
    """Compile each template once."""
    loader = jinja2.PackageLoader("vidence.tables")
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    css = style_sheet() + loader.get_source(environment, "page.css")[0]
    js = loader.get_source(environment, "page.js")[0]
    environment.globals.update(
        header_groups=header_groups,
        columns_of=shown_columns,
        rows_of=shown_rows,
        filled=filled,
        dash=DASH,
        drawing_of=drawing_of,
        table_of=table_of,
        settings_of=settings_of,
        shown=shown,
        has_interval=has_interval,
        css=css,
        js=js,
        css_hash=_hash(css),
        js_hash=_hash(js),
        version=__version__,
    )
    return environment


def drawing_of(statement: Statement) -> Drawing | None:
    """Return the figure of a table or plot; None for tables without one.

    Templates may insert its SVG unescaped: figures escape all their texts (see `svg` and its tests).
    """
    return draw_figure(statement) if isinstance(statement, Table) else draw_plot(statement)


def settings_of(record: object, leave_out: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return a record's fields as names and texts; nested records and dicts on one line."""
    built: dict[str, object] = msgspec.to_builtins(record)
    return tuple((key, _words(value)) for key, value in built.items() if key not in leave_out)


def _words(value: object) -> str:
    match value:
        case None | "":
            return DASH
        case dict() | list() | tuple() if not value:
            return "none"
        case dict():
            return ", ".join(f"{key} {_words(inner)}" for key, inner in value.items())
        case list() | tuple():
            return ", ".join(map(_words, value))
        case True | False:
            return "yes" if value else "no"
        case _:
            return str(value)


def _finalize(value: object) -> object:
    """Process every text that a template writes, before escaping."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    """Return a source expression for the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def header_groups(table: Table) -> list[tuple[str, int]]:
    """Return the headings over adjacent columns with their widths; empty if no column has one."""
    columns = shown_columns(table)
    if not any(column.group for column in columns):
        return []
    return [(name, len(list(some))) for name, some in groupby(columns, key=lambda c: c.group)]
