"""Show a page of the documentation."""

import difflib
from collections.abc import Collection
from typing import Annotated

import click
from rich.console import Console
from rich.markdown import Markdown

from vidence.console.flags import argument, command
from vidence.errors import UsageError
from vidence.installation import pages
from vidence.records import Record

SECTION = "Look up"

_WIDTH = 100


class Page(Record):
    """The page to show."""

    page: Annotated[str | None, argument()] = None


@command("help")
def show_page(given: Page) -> None:
    """Show PAGE of the documentation, for example item-format; without PAGE list all pages."""
    try:
        texts = pages()
    except ImportError as error:
        raise UsageError(
            f"the pages are packed with bzip2, which this Python was built without: {error}"
        ) from error
    if not texts:
        raise UsageError("this installation has no pages of documentation; reinstall it from a wheel")
    if given.page is None:
        for name in sorted(texts):
            click.echo(f"{name:<32} {_title(texts[name])}")
        return
    text = texts[_named(given.page, texts)]
    console = Console()
    if console.is_terminal:
        console.print(Markdown(text), width=min(console.width, _WIDTH))
    else:
        click.echo(text)


def _named(page: str, known: Collection[str]) -> str:
    """Return the name of a page given in full, by its last part, or as a path."""
    asked = page.removeprefix("docs/").removesuffix(".md")
    if asked in known:
        return asked
    ending = sorted(name for name in known if name.rpartition("/")[2] == asked)
    if len(ending) == 1:
        return ending[0]
    near = ending or difflib.get_close_matches(asked, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "`vidence help` lists all pages"
    raise UsageError(f"there is no page {page!r}; {hint}")


def _title(text: str) -> str:
    """Return the heading of a page."""
    return next((line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")), "")
