"""Show a page of the documentation."""

import difflib
from pathlib import Path
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
    """Which page is shown."""

    page: Annotated[str | None, argument()] = None


@command("help")
def show_page(given: Page) -> None:
    """Show PAGE of the documentation, for example item-format; without PAGE list all pages."""
    folder = pages()
    if folder is None:
        raise UsageError("this installation has no pages of documentation; reinstall it from a wheel")
    values = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")}
    if given.page is None:
        for name in sorted(values):
            click.echo(f"{name:<32} {_title(values[name])}")
        return
    text = _found(given.page, values).read_text(encoding="utf-8")
    console = Console()
    if console.is_terminal:
        console.print(Markdown(text), width=min(console.width, _WIDTH))
    else:
        click.echo(text)


def _found(page: str, known: dict[str, Path]) -> Path:
    """The page of a name, or of its last part, which the message of an error may give as a path."""
    asked = page.removeprefix("docs/").removesuffix(".md")
    if asked in known:
        return known[asked]
    ending = sorted(name for name in known if name.rpartition("/")[2] == asked)
    if len(ending) == 1:
        return known[ending[0]]
    near = ending or difflib.get_close_matches(asked, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "`vidence help` lists all pages"
    raise UsageError(f"there is no page {page!r}; {hint}")


def _title(path: Path) -> str:
    """The heading of a page."""
    with path.open(encoding="utf-8") as file:
        return next((line.removeprefix("# ").strip() for line in file if line.startswith("# ")), "")
