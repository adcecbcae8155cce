"""Import the prompts that the authors of a benchmark released."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.flags import argument, command, flag
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.ask.prompting.origin import ImportedSet
    from vidence.ask.prompting.templates import Template

SECTION = "Ask"

DEFAULT_FOLDER = Path("prompts")


@click.group()
def prompts() -> None:
    """Import prompts from your copy of a release; `vidence list prompts` shows all."""


class ImportPrompts(Record):
    """The prompts to import, and their source."""

    name: Annotated[str, argument()]
    source: Annotated[
        Path,
        flag("The folder of the authors' repository, or a text file with one prompt (with --as).", "--from"),
    ]
    template: Annotated[str, flag("The template that the text file holds, such as choice-cot.", "--as")] = ""
    out: Annotated[Path | None, flag("The new folder (default: prompts/NAME).")] = None
    unchecked: Annotated[bool, flag("Accept texts with an unknown SHA-256; every report notes it.")] = False


@command("import", group=prompts)
def import_prompts(given: ImportPrompts) -> None:
    """Convert the prompts that the authors of NAME released to templates for --prompts-dir."""
    from vidence.ask.prompting.released import released, take, write

    name = given.name
    imported = take(name, given.source, template=given.template, is_unchecked=given.unchecked)
    folder = given.out or DEFAULT_FOLDER / name
    paths = write(imported, folder)
    for text in imported.about.texts:
        known = f"as in {text.revision}" if text.revision else "NOT CHECKED: unknown SHA-256"
        click.echo(f"{text.template}.txt  sha256 {text.sha256}  {known}")
    click.echo(
        f"wrote {len(paths)} files into {folder}; use them with {released()[name].flag} {folder}", err=True
    )


def listed() -> Mapping[str, str]:
    """Return sets of prompts with origin and hash: built-in, in prompts/, and importable."""
    from vidence.ask.prompting.origin import read_origin
    from vidence.ask.prompting.released import released
    from vidence.ask.prompting.templates import Templates, digest_of, own_files, sets

    sets_there = {name: f"own wording  {Templates.load(name).digest}" for name in sets()}
    for folder in _imported(DEFAULT_FOLDER):
        about = read_origin(folder)
        files = own_files(folder, _known(about))
        sets_there[str(folder)] = f"{_origin(about, files)}  {digest_of(files.values())}"
    wanted = {
        released_set.name: released_set
        for released_set in released().values()
        if str(DEFAULT_FOLDER / released_set.name) not in sets_there
    }
    return sets_there | {
        f"({name})": f"vidence prompts import {name} --from CLONE  ({released_set.repository})"
        for name, released_set in wanted.items()
    }


def _known(about: "ImportedSet | None") -> Mapping[str, Mapping[str, str]]:
    """Return the templates that a folder can contain, by what was imported."""
    from vidence.ask.judging.templates import known_of
    from vidence.ask.prompting.released import released
    from vidence.ask.prompting.templates import KNOWN

    released_set = released().get(about.name) if about is not None else None
    return known_of(released_set.judge) if released_set is not None and released_set.judge else KNOWN


def _imported(folder: Path) -> tuple[Path, ...]:
    """Return the template folders in the folder of imports."""
    if not folder.is_dir():
        return ()
    return tuple(sorted(path for path in folder.iterdir() if path.is_dir() and any(path.glob("*.txt"))))


def _origin(about: "ImportedSet | None", files: "Mapping[str, Template]") -> str:
    """Return whose prompts a folder contains; changed ones are the user's own."""
    from vidence.ask.prompting.released import wording_of

    if about is None:
        return "a folder of your own"
    values: dict[str, list[str]] = {}
    for text in about.texts:
        kind: str = wording_of(files[text.template].label) if text.template in files else "own"
        values.setdefault(kind, []).append(text.template)
    says = {
        "authors": f"the authors' wording, {about.repository}",
        "unchecked": f"imported as {about.name}, not checked",
        "own": f"changed since it was imported as {about.name}",
    }
    if len(values) == 1:
        return says[next(iter(values))]
    return "; ".join(f"{says[kind]} ({', '.join(names)})" for kind, names in values.items())
