"""The record kept with imported templates: their authors, their file, and whether their text is known."""

from pathlib import Path

import msgspec

from vidence.errors import UsageError, cause
from vidence.installation import toml_of
from vidence.records import Record

ORIGIN_FILE = "origin.toml"
AUTHORS, UNCHECKED = "authors-", "unchecked-"
"""Before the name of a set, in the label of a stored prompt: what was imported, and whether it is known."""


class ImportedText(Record):
    """One text that was taken over: from which file, and the SHA-256 of text and template."""

    template: str
    file: str
    sha256: str
    template_sha256: str
    revision: str = ""
    """The authors' revision that has this very text; empty where none is known to."""


class ImportedSet(Record):
    """What stands in ``origin.toml``."""

    name: str
    paper: str
    repository: str
    texts: tuple[ImportedText, ...]

    def label(self, template: str, template_sha256: str) -> str:
        """The set that a template counts to; empty where it is not the one that was imported."""
        for text in self.texts:
            if (text.template, text.template_sha256) == (template, template_sha256):
                return f"{AUTHORS if text.revision else UNCHECKED}{self.name}"
        return ""


def read_origin(folder: Path) -> ImportedSet | None:
    """Read ``origin.toml`` of a folder; None without that file.

    Raises:
        UsageError: it cannot be read.
    """
    path = folder / ORIGIN_FILE
    if not path.is_file():
        return None
    try:
        return msgspec.convert(toml_of(path.read_text("utf-8")), ImportedSet)
    except (OSError, ValueError) as error:  # TOML, Unicode and validation errors are ValueErrors
        raise UsageError(f"{path}: {cause(error)}; expected what `vidence prompts import` wrote") from error
