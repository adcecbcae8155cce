"""Pages out of templates: every text is escaped, and the page may load nothing from elsewhere."""

import base64
import hashlib
from itertools import groupby

import jinja2
from markupsafe import Markup

from vidence import __version__
from vidence.tables.cells import Table
from vidence.tables.visible import visible


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
    environment.globals.update(header_groups=header_groups)
    return environment.get_template(template).render(
        css=Markup(css),  # noqa: S704 - our own file
        js=Markup(js),  # noqa: S704 - our own file
        css_hash=_hash(css),
        js_hash=_hash(js),
        version=__version__,
        **values,
    )


def _finalize(value: object) -> object:
    """Every text that a template writes passes here, before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    """A source expression of the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def header_groups(table: Table) -> list[tuple[str, int]]:
    """The headings over neighbouring columns with their widths; nothing where no column has one."""
    if not any(column.group for column in table.columns):
        return []
    return [(name, len(list(columns))) for name, columns in groupby(table.columns, key=lambda c: c.group)]
