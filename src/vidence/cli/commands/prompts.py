"""Sets of prompts; the authors' own from your copy of their release."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.console.options import PATH

if TYPE_CHECKING:
    from vidence.ask.prompting.origin import ImportedSet
    from vidence.ask.prompting.templates import Template

SECTION = "Look up"

DEFAULT_FOLDER = Path("prompts")


@click.group()
def prompts() -> None:
    """The words of the prompts: which sets there are, and the authors' from your own copy."""


@prompts.command("import")
@click.argument("name")
@click.option(
    "--from",
    "source",
    required=True,
    type=PATH,
    help="The folder of the authors' repository, or a text file with one prompt (with --as).",
)
@click.option("--as", "template", help="Which template a text file is, such as choice-cot.")
@click.option("--out", type=PATH, help="The new folder (default: prompts/NAME).")
@click.option(
    "--unchecked", is_flag=True, help="Take texts whose SHA-256 is not known; every report says so."
)
def import_prompts(
    *, name: str, source: Path, template: str | None, out: Path | None, unchecked: bool
) -> None:
    """Make templates of the prompts that the authors of NAME released, for --prompts or --judge-prompts."""
    from vidence.ask.prompting.released import released, take, write

    imported = take(name, source, template=template or "", is_unchecked=unchecked)
    folder = out or DEFAULT_FOLDER / name
    paths = write(imported, folder)
    for text in imported.about.texts:
        known = f"as in {text.revision}" if text.revision else "NOT CHECKED: none that is known"
        click.echo(f"{text.template}.txt  sha256 {text.sha256}  {known}")
    click.echo(
        f"wrote {len(paths)} files into {folder}; use them with {released()[name].flag} {folder}", err=True
    )


@prompts.command("list")
@click.argument("folders", nargs=-1, type=PATH)
def list_prompts(*, folders: tuple[Path, ...]) -> None:
    """The sets that vidence brings and those in FOLDERS (default: in prompts/): label, origin, hash."""
    from vidence.ask.prompting.origin import read_origin
    from vidence.ask.prompting.released import released
    from vidence.ask.prompting.templates import Templates, digest_of, own_files, sets

    lines = [(name, "own wording", Templates.load(name).digest) for name in sets()]
    for folder in folders or _imported(DEFAULT_FOLDER):
        about = read_origin(folder)
        files = own_files(folder, _known(about))
        lines.append((str(folder), _origin(about, files), digest_of(files.values())))
    widths = [max(len(line[i]) for line in lines) for i in (0, 1)]
    for label, origin, digest in lines:
        click.echo(f"{label:{widths[0]}}  {origin:{widths[1]}}  {digest}")
    there = {path.name for path in _imported(DEFAULT_FOLDER)}
    missing = [one for one in released().values() if one.name not in there]
    if missing:
        click.echo("\nTo be had from a copy of what their authors released:")
    for one in missing:
        click.echo(f"vidence prompts import {one.name} --from CLONE  ({one.repository})")


def _known(about: "ImportedSet | None") -> Mapping[str, Mapping[str, str]]:
    """The templates that a folder can hold, by what was imported into it."""
    from vidence.ask.judging.templates import known_of
    from vidence.ask.prompting.released import released
    from vidence.ask.prompting.templates import KNOWN

    one = released().get(about.name) if about is not None else None
    return known_of(one.judge) if one is not None and one.judge else KNOWN


def _imported(folder: Path) -> tuple[Path, ...]:
    """The folders of templates in the folder that imports go to."""
    if not folder.is_dir():
        return ()
    return tuple(sorted(path for path in folder.iterdir() if path.is_dir() and any(path.glob("*.txt"))))


def _origin(about: "ImportedSet | None", files: "Mapping[str, Template]") -> str:
    """Whose words a folder holds; those that were changed since are its own."""
    if about is None:
        return "a folder of your own"
    return "; ".join(_parts(about, files))


def _parts(about: "ImportedSet", files: "Mapping[str, Template]") -> Iterator[str]:
    from vidence.ask.prompting.released import wording_of

    found: dict[str, list[str]] = {}
    for text in about.texts:
        kind: str = wording_of(files[text.template].label) if text.template in files else "own"
        found.setdefault(kind, []).append(text.template)
    says = {
        "authors": f"the authors' wording, {about.repository}",
        "unchecked": f"imported as {about.name}, not checked",
        "own": f"changed since it was imported as {about.name}",
    }
    for kind, names in found.items():
        yield says[kind] if len(found) == 1 else f"{says[kind]} ({', '.join(names)})"
