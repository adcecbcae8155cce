"""The record stored with imported templates: authors, file, and whether the text is known."""

from pathlib import Path

import msgspec

from vidence.errors import UsageError, cause
from vidence.installation import toml_of
from vidence.records import Record

ORIGIN_FILE = "origin.toml"
AUTHORS, UNCHECKED = "authors-", "unchecked-"
"""Prefixes of set names in stored prompts' labels: imported, and imported with an unknown text."""


class ImportedText(Record):
    """An imported text: its file, and the SHA-256 of text and template."""

    template: str
    file: str
    sha256: str
    template_sha256: str
    revision: str = ""
    """The authors' revision with exactly this text; empty if unknown."""


class ImportedSet(Record):
    """The contents of ``origin.toml``."""

    name: str
    paper: str
    repository: str
    texts: tuple[ImportedText, ...]

    def label(self, template: str, template_sha256: str) -> str:
        """Return the set that a template belongs to; empty if it is not the imported one."""
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
