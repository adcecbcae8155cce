"""Every command that the documentation shows is one that vidence understands."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import vidence
from vidence import catalog
from vidence.ask.prompting.templates import sets
from vidence.cli.finding import CommandGroup, all_commands, find_command
from vidence.cli.main import app

# Names that a page makes up for the parser to replace.
_PLACEHOLDERS = {"BENCHMARK", "SPEC", "NAME", "..."}


@pytest.fixture(scope="module")
def commands() -> dict[str, click.Command]:
    return {name: find_command(name) for name in all_commands()}


def split_words(words: list[str], commands: dict[str, click.Command]) -> tuple[str, list[str]]:
    """The name of the command that words begin with, and the rest of them."""
    n = 2 if " ".join(words[:2]) in commands else 1
    return " ".join(words[:n]), words[n:]


def flags(command: click.Command) -> set[str]:
    """Every flag of a command, the two of help included."""
    known = {"-h", "--help", *(["--all"] if command.name == "run" else [])}
    if isinstance(command, click.Group):
        known |= {flag for part in command.commands.values() for flag in flags(part)}
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            known |= {*parameter.opts, *parameter.secondary_opts}
    return known


def own_names(pages) -> set[str]:
    """The names of the things that the pages teach to write."""
    return {b.title.removesuffix(".py").replace("_", "-") for p in pages for b in p.blocks() if b.title}


def complaint(command: click.Command, words: list[str], *, own: set[str]) -> str:
    """What is wrong with the words after the name of a command; nothing when they make sense."""
    if isinstance(command, click.Group) and words:
        if words[0] not in command.commands:
            return f"there is no {command.name} {words[0]}"
        return complaint(command.commands[words[0]], words[1:], own=own)
    try:
        found = command.make_context(command.name or "", [w for w in words if w != "[flags]"]).params
    except click.ClickException as error:
        return error.format_message()
    named = {
        "benchmark": [found.get("benchmark")],
        "model": [catalog.parse_spec(found["model"]).name] if found.get("model") else [],
        "selector": [catalog.parse_spec(found["selector"]).name] if found.get("selector") else [],
        "parser": [catalog.parse_spec(found["parser"]).name] if found.get("parser") else [],
    }
    for kind, names in named.items():
        known = {*catalog.names(kind), *own, *_PLACEHOLDERS}
        for name in filter(None, names):
            if name not in known:
                return f"there is no {kind} {name!r}"
    if found.get("prompts") and found["prompts"] not in sets():
        return f"there is no set of prompts {found['prompts']!r}"
    return ""


def test_every_command_in_a_block_is_understood(pages, commands):
    own, wrong, n_seen = own_names(pages), [], 0
    for page in pages:
        for line in page.commands():
            n_seen += 1
            name, words = split_words(line, commands)
            said = complaint(commands[name], words, own=own) if name in commands else "no such command"
            if said:
                wrong.append(f"{page.name}: vidence {name} {' '.join(words)}: {said}")
    assert wrong == []
    assert n_seen > 20


@pytest.mark.parametrize(
    "words",
    [
        "run table --data d",
        "run table --data d --model m:x --frams 3",
        "run tabel --data d --model scripted:A",
        "run table --data d --model openia:x",
        "run table --data d --model scripted:A --style slow",
        "run table --data d --model scripted:A --prompts plane",
        "list models scripted everything",
        "report",
    ],
)
def test_a_wrong_command_would_be_seen(commands, words):
    name, *rest = words.split()
    assert complaint(commands[name], rest, own=set())


def test_every_command_in_the_text_exists_with_its_flags(pages, commands):
    wrong = []
    for page in pages:
        for code in page.inline():
            words = code.split()
            if words[0] != "vidence" or len(words) == 1:
                continue
            if words[1].startswith("-"):
                ok = {w for w in words[1:] if w.startswith("-")} <= {"-h", "--help", "--version"}
            else:
                name, rest = split_words(words[1:], commands)
                given = {w.partition("=")[0] for w in rest if w.startswith("-")}
                ok = name in commands and given <= flags(commands[name])
            if not ok:
                wrong.append(f"{page.name}: {code}")
    assert wrong == []


def helps(command: click.Command) -> Iterator[str]:
    """The help of a command, of its parts and of its flags."""
    yield command.help or ""
    yield from (parameter.help or "" for parameter in command.params if isinstance(parameter, click.Option))
    if isinstance(command, click.Group) and not isinstance(command, CommandGroup):
        for part in command.commands.values():
            yield from helps(part)


def test_every_command_in_a_help_exists_with_its_flags(commands):
    texts = [app.help or "", *(text for command in commands.values() for text in helps(command))]
    codes = [code for text in texts for code in re.findall(r"`vidence ([^`]+)`|^ *vidence (.+)$", text, re.M)]
    wrong = []
    for line in (part for quoted, plain in codes for part in (quoted or plain).split(" -- ")):
        name, rest = split_words(line.split(), commands)
        given = {word.partition("=")[0] for word in rest if word.startswith("-")}
        if name not in commands or not given <= flags(commands[name]):
            wrong.append(line)
    assert wrong == []
    assert len(codes) > 10


def test_every_diagnose_names_its_diagnostic_before_the_run(pages):
    """In pages and in messages."""
    known = {*catalog.names("diagnostic"), "NAME", "RUN"}
    texts = {page.name: page.text for page in pages}
    source = Path(vidence.__file__).parent
    texts |= {str(path): path.read_text("utf-8") for path in source.rglob("*.py")}
    first = re.compile(r"vidence diagnose ([\w-]+) (\S+)")
    wrong = [
        f"{place}: {found[0]}"
        for place, text in texts.items()
        for found in first.finditer(text)
        if (found[1] not in known and re.match(r"runs?/|RUN", found[2])) or (found[1] == "RUN")
    ]
    assert wrong == []


def test_every_flag_in_the_text_is_one_of_vidence(pages, commands):
    known = set().union(*(flags(command) for command in commands.values()), {"--version"})
    shown = {
        (page.name, f)
        for page in pages
        for code in page.inline()
        for f in re.findall(r"(?<!\S)--[\w-]+", code)
    }
    assert {(name, flag) for name, flag in shown if flag not in known} == set()
