"""A name that has been removed is refused with what replaces it."""

import tomllib
from importlib import resources

import pytest

from vidence import catalog
from vidence.cli.main import main, replacement

TABLES = tomllib.loads((resources.files("vidence.cli") / "removed.toml").read_text("utf-8"))


def said(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    return " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.mark.parametrize("name", TABLES["commands"])
def test_a_removed_command_says_what_replaces_it(name, capsys):
    assert TABLES["commands"][name] in said(name.split(), capsys)


@pytest.mark.parametrize("name", TABLES["options"])
def test_a_removed_option_says_what_replaces_it(name, capsys):
    command, _, flag = name.rpartition(" ")
    assert TABLES["options"][name] in said([*command.split(), flag], capsys)


@pytest.mark.parametrize("name", TABLES["names"])
def test_a_removed_name_is_no_name_of_the_catalog(name):
    kind, _, thing = name.partition(" ")
    if kind in catalog.FOLDERS:
        assert thing not in catalog.names(kind)


def test_a_name_that_is_there_has_no_replacement():
    assert replacement("commands", "run") is None
