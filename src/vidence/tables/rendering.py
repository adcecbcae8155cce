"""Pages out of templates: every text is escaped, and the page may load nothing from elsewhere."""

import base64
import hashlib
from dataclasses import dataclass
from itertools import groupby

import jinja2
from markupsafe import Markup

from vidence import __version__
from vidence.tables.svg import Drawing
from vidence.tables.table import Table, shown_columns, shown_rows
from vidence.text import visible


def render(template: str, **values: object) -> str:
    """A page.

    Style and script of the page are ours, and the content security policy allows them by their hashes.

    Args:
        template: its file in ``templates/``.
        values: what it shows beside ``css``, ``js``, their hashes, ``version`` and ``header_groups``.
    """
    loader = jinja2.PackageLoader("vidence.tables")
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    css = loader.get_source(environment, "page.css")[0]
    js = loader.get_source(environment, "page.js")[0]
    environment.globals.update(header_groups=header_groups, columns_of=shown_columns, rows_of=shown_rows)
    return environment.get_template(template).render(
        css=Markup(css),  # noqa: S704 - our own file
        js=Markup(js),  # noqa: S704 - our own file
        css_hash=_hash(css),
        js_hash=_hash(js),
        version=__version__,
        **values,
    )


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A drawing whose SVG a template may insert as it is."""

    svg: Markup
    legend: tuple[tuple[Markup, str], ...]


def drawn(drawing: Drawing) -> Drawn:
    """A drawing for a template: the figures escape every text that they write (see `svg` and its tests)."""
    legend = tuple((Markup(swatch), words) for swatch, words in drawing.legend)  # noqa: S704
    return Drawn(svg=Markup(drawing.svg), legend=legend)  # noqa: S704


def _finalize(value: object) -> object:
    """Every text that a template writes passes here, before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    """A source expression of the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def header_groups(table: Table) -> list[tuple[str, int]]:
    """The headings over neighbouring columns with their widths; nothing where no column has one."""
    columns = shown_columns(table)
    if not any(column.group for column in columns):
        return []
    return [(name, len(list(some))) for name, some in groupby(columns, key=lambda c: c.group)]
