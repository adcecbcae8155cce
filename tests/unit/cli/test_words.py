"""What a word of the command line can be."""

import click

from vidence.cli.words import ListedName, NameOfKind, WordList, with_names

CONTEXT = click.Context(click.Command("list"))
WORD = click.Argument(["word"])


def offered(kind: click.ParamType, beginning: str) -> list[str]:
    return [item.value for item in kind.shell_complete(CONTEXT, WORD, beginning)]


def test_words_are_offered_by_their_beginning() -> None:
    assert offered(WordList(["once", "only", "two"]), "on") == ["once", "only"]
    assert offered(NameOfKind("strategy"), "self-c") == ["self-consistency"]
    assert offered(NameOfKind("model"), "open") == ["openai:"]
    assert offered(NameOfKind("benchmark", is_path_too=True), "runs/") == ["runs/"]
    assert offered(ListedName(), "a") == []


def test_a_command_knows_which_names_its_arguments_take() -> None:
    command = click.Command("diagnose", params=[click.Argument(["name"]), click.Argument(["other"])])
    name, other = with_names(command, "diagnose").params
    assert offered(name.type, "mrf") == ["mrfs"]
    assert other.type is click.STRING
