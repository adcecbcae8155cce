"""What a word of the command line can be, for the completion of the shell."""

from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from vidence.catalog import FOLDERS, names, plural
from vidence.installation import pages

# Which kind of name each argument and option takes, by the name that it has in the code.
_KINDS = {
    "benchmark": "benchmark",
    "model": "model",
    "models": "model",
    "judge_model": "model",
    "judge_models": "model",
    "selector": "selector",
    "strategy": "strategy",
    "parser": "parser",
    "text_parser": "parser",
    "judge": "judge",
    "judges": "judge",
    "detector": "detector",
    "tracker": "tracker",
    "describer": "describer",
    "embedder": "embedder",
}
# Of commands whose argument of a general name takes something of one kind.
_OF_COMMAND = {
    ("diagnose", "name"): "diagnostic",
    ("make", "name"): "maker",
    ("get", "name"): "benchmark",
    ("audit", "what"): "benchmark",
    ("diagnose", "what"): "benchmark",
    ("diagnose", "named"): "diagnostic",
}
_PATHS = ("what",)


class NameOfKind(StringParamType):
    """A word that names something of a kind; only for completion, where nothing is checked."""

    name = "name"

    def __init__(self, kind: str, *, is_path_too: bool = False) -> None:
        self._kind, self._is_path_too = kind, is_path_too

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so; a model's with the colon that its argument follows."""
        end = ":" if self._kind == "model" else ""
        found = _beginning([name + end for name in names(self._kind)], incomplete)
        return found or ([CompletionItem(incomplete, type="file")] if self._is_path_too else [])


class WordList(StringParamType):
    """One of some words; only for completion."""

    name = "word"

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The words that begin so."""
        return _beginning(self._words, incomplete)


class ListedName(StringParamType):
    """The name of one thing behind the kind that ``vidence list`` was given; only for completion."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names of that kind that begin so."""
        kind = next((one for one in FOLDERS if plural(one) == ctx.params.get("kind")), None)
        return _beginning(names(kind), incomplete) if kind else []


def _beginning(words: Sequence[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def with_names(command: click.Command, name: str) -> click.Command:
    """Tell a command which names its arguments and options take; the command completes words then."""
    for one in command.params:
        found = _type_of(name, one.name or "")
        if found is not None:
            one.type = found
    return command


def _type_of(command: str, param: str) -> StringParamType | None:
    if kind := _OF_COMMAND.get((command, param)) or _KINDS.get(param):
        return NameOfKind(kind, is_path_too=param in _PATHS)
    if command == "list":
        return {"kind": WordList([plural(kind) for kind in FOLDERS]), "name": ListedName()}.get(param)
    if command == "help":
        folder = pages()
        found = [] if folder is None else sorted(folder.rglob("*.md"))
        return WordList([path.relative_to(folder).with_suffix("").as_posix() for path in found if folder])
    return None
