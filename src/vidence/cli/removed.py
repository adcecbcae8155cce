"""What replaces a command, a flag or a name that has been removed; for this version only."""

import tomllib
from importlib import resources


def replacement(table: str, name: str) -> str | None:
    """The sentence about a removed name; `table` is commands, options or names of ``removed.toml``.

    >>> replacement("commands", "run") is None
    True
    """
    text = (resources.files("vidence.cli") / "removed.toml").read_text("utf-8")
    sentence: str | None = tomllib.loads(text)[table].get(name)
    return sentence
