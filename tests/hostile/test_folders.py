"""A folder that vidence did not make keeps every byte, whichever command is pointed at it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec
import pytest

import vidence as python
from subjects.layouts import LAYOUTS
from subjects.released import half_hidden
from vidence.cli.finding import CommandGroup, all_commands, find_command
from vidence.cli.main import main
from vidence.errors import UsageError
from videos.samples import squares, write_video

AREA: Final = "folders of others"
MAKERS: Final = Path(__file__).parents[1] / "golden" / "makers"
THEIRS: Final = {
    "items.jsonl": "mine",
    "account.json": "{}",
    "drawn.jsonl": "mine",
    "notes/thesis.txt": "years",
}

WRITERS: Final = {
    "items audit --out": "items audit q.jsonl --out theirs",
    "items board open DIR": "items board open theirs out",
    "replies check-sample RUN": "replies check-sample asked",
    "demo --out": "demo --out theirs",
    "diagnose --out": "diagnose rotations table --data q.jsonl --model baseline:random --out theirs",
    "replies errors draw --out": "replies errors draw asked --wrong 1 --taxonomy perceptioncomp --out theirs",
    "items gate --folder": "items gate q.jsonl --folder theirs",
    "import --out": "import lmms-eval log.jsonl --out theirs",
    "make --out": "make compose compose/config.toml --out theirs",
    "make --sheets": "make herbench herbench/config.toml --sheets theirs",
    "panel --out": "panel panel.toml --out theirs",
    "panel --tables": "panel panel.toml --tables theirs --no-page",
    "lights render --out": "lights render walker:walk --out theirs",
    "prompts import --out": "prompts import mmvu --from words.txt --as choice-cot --unchecked --out theirs",
    "items release --into": "items release q.jsonl --into releases",
    "report --tables": "report asked --tables theirs",
    "items review open --out": "items review open q.jsonl --out theirs --protocol mmvu --by ann",
    "run --out": "run table --data q.jsonl --model baseline:random --out theirs --no-page",
    "items score --out": "items score said.csv --answers out/things-1.0.0.hidden --out theirs",
    "videos select --out": "videos select films --out theirs",
    "items split --out": "items split q.jsonl --shares a=0.5,b=0.5 --out theirs",
    "studio backup DIR": "studio backup theirs",
    "studio demo DIR": "studio demo theirs --no-open",
    "studio export DIR": "studio export theirs out",
    "studio import DIR": "studio import theirs q.jsonl --project films",
    "studio open DIR": "studio open theirs",
    "studio project DIR": "studio project theirs films --protocol mmvu",
    "studio restore DIR": "studio restore theirs q.jsonl",
    "studio serve DIR": "studio serve theirs",
    "studio user DIR": "studio user add theirs Ada --roles author",
    "studio verify DIR": "studio verify theirs",
    "study close --studio": "study close study --studio theirs",
    "study draw STUDY": "study draw study",
    "study export --studio": "study export study --studio theirs",
    "study open --studio": "study open study --studio theirs",
    "videos track --out": "videos track films/a.mp4 --out theirs",
}
"""Every flag or argument that names a folder to write into, and a command that uses it."""

ELSEWHERE: Final = {
    "studio export OUT": "unit/studio/bridge/test_files.py",
    "study export --jspsych": "unit/study/test_jspsych.py",
    "view --export": "unit/studio/viewer/test_exporting.py",
}
"""Those that need more than a command line; the tests that hold them."""

_READ: Final = """
--about --account --after --again --agreement --against --answers --by --calibration --data --from --gt
--human --judge-prompts-dir --licences --manual --media --media-root --plan --recorded --review --run --scan
--scenes --study --tls --vault --withdrawn answers compositions config copy data file files folders items log
models path paths release source submission video whats
"""
"""Flags and arguments whose files and folders are read."""
ONE_FILE: Final = {
    "items convert --out",
    "videos licence --kept",
    "videos licence --sheet",
    "videos scenes --out",
}
"""Flags that name one file to be written, without saying FILE."""
KEPT: Final = frozenset(
    (
        "items board score DIR",
        *(
            f"{name} folder"
            for name in ("replies judge", "resume", "runs", "replies errors label", "replies errors report")
        ),
        *(
            f"items review {name} folder"
            for name in ("act", "draw", "export", "pay", "read", "state", "translate")
        ),
        *(f"study {name} STUDY" for name in ("check", "close", "export", "open", "report")),
    )
)
"""Arguments that name a run, packet, review, drawn study or board, which has to be there."""


def flags(name: str, command: click.Command) -> Iterator[str]:
    """The flags and arguments of a command and its parts that can name a folder."""
    if isinstance(command, CommandGroup):  # its parts are commands of their own
        return
    if isinstance(command, click.Group):
        for part in command.list_commands(click.Context(command)):
            yield from flags(f"{name} {part}", command.commands[part])
        if not command.invoke_without_command:
            return
    for one in command.params:
        is_folder = isinstance(one.type, click.Path) and one.type.dir_okay and one.metavar != "FILE"
        if is_folder or one.metavar in ("DIR", "FOLDER"):
            is_named = one.metavar in ("DIR", "OUT", "[DIR]", "STUDY", "RUN") and one.opts[0] in (
                "folder",
                "out",
            )
            yield f"{name} {one.metavar.strip('[]') if is_named else one.opts[0]}"


def test_every_flag_that_can_name_a_folder_is_known_to_write_or_to_read():
    found = {one for name in all_commands() for one in flags(name, find_command(name))}
    unread = {one for one in found if one.split()[-1] not in _READ.split()}
    assert unread - KEPT - ONE_FILE == set(WRITERS) | set(ELSEWHERE)
    for path in ELSEWHERE.values():
        assert "is not empty: it holds" in (Path(__file__).parents[1] / path).read_text()


def vidence(capsys: pytest.CaptureFixture[str], words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out + said.err


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the commands read: questions, a run, a release with hidden answers, makings, a study, a film."""
    root = tmp_path_factory.mktemp("prepared")
    rows = [
        {
            "item_id": f"q{i}",
            "question": f"Question {i}?",
            "choices": ["x", "y"],
            "answer": "A",
            "source_id": f"s{i}",
            "provenance": {"licence": "CC0-1.0"},
        }
        for i in range(60)
    ]
    (root / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (root / "things.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in half_hidden()))
    LAYOUTS["lmms-eval"].write(root).rename(root / "log.jsonl")
    (root / "said.csv").write_text("item_id,answer\ntable-001,A\n")
    (root / "words.txt").write_text("Question: $question\n$optionized_str\n")
    (root / "panel.toml").write_text(
        '[[benchmarks]]\nbenchmark = "table"\ndata = "q.jsonl"\n[[models]]\nmodel = "baseline:random"\n'
    )
    write_video(root / "films" / "a.mp4", squares())
    for maker in MAKERS.iterdir():
        shutil.copytree(maker, root / maker.name)
    (root / "study").mkdir()
    (root / "study" / "study.toml").write_text(
        'items = "../q.jsonl"\nn_people = 2\n[draw]\nn = 4\n[[phases]]\nname = "words"\ncondition = "none"\n'
        'limit_s = 60\n[[form]]\nname = "answer"\nkind = "answer"\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("VIDENCE_CACHE", str(root / "cache"))
        patch.setenv("VIDENCE_STATE", str(root / "state"))
        for words in (
            "run table --data q.jsonl --model baseline:constant?letter=B --out asked --no-page",
            "items release things.jsonl --into out --hide test",
        ):
            with pytest.raises(SystemExit) as ended:
                main(words.split())
            assert not ended.value.code, words
        yield root


@pytest.fixture
def place(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with links to what is read, and copies of the folders that are written into."""
    for one in prepared.iterdir():
        if one.name in ("asked", "study"):
            shutil.copytree(one, tmp_path / one.name)
        elif one.name != "cache":
            (tmp_path / one.name).symlink_to(one)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(folder: Path) -> dict[str, bytes]:
    """Put files of another person into a folder; all that is in it now."""
    for name, text in THEIRS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return content(folder)


def content(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_of_others_is_refused_and_stays_as_it_is(place, capsys, writer, record_attack):
    words = WRITERS[writer]
    into = {
        "items release --into": "releases/q-1.0.0",
        "study draw STUDY": "study",
        "replies check-sample RUN": "asked/check",
    }
    if "study --studio" in words:
        assert vidence(capsys, "study draw study")[0] == 0
    folder = place / into.get(writer, "theirs")
    before = fill(folder)
    code, said = vidence(capsys, words)
    record_attack(AREA, 1, int((code, content(folder)) == (2, before)))
    assert (code, content(folder)) == (2, before), said
    assert "is not empty" in said
    assert "a new or empty folder" in said


@pytest.mark.parametrize("maker", sorted(one.name for one in MAKERS.iterdir()))
def test_a_configuration_cannot_name_a_folder_of_others(place, capsys, maker, record_attack):
    before = fill(place / "theirs")
    (place / maker).unlink()
    shutil.copytree(MAKERS / maker, place / maker)
    config = place / maker / "config.toml"
    config.write_text(f'out = "{place / "theirs"}"\n{config.read_text()}')
    code, said = vidence(capsys, f"make {maker} {maker}/config.toml")
    record_attack(AREA, 1, int((code, content(place / "theirs")) == (2, before)))
    assert (code, content(place / "theirs")) == (2, before), said
    assert "is not empty: it holds account.json, drawn.jsonl, items.jsonl, notes" in said


def test_python_refuses_a_folder_of_others(place):
    before = fill(place / "theirs")
    rows = [{"item_id": "q", "question": "Which?", "choices": ["x", "y"], "answer": "A"}]
    asked = {"model": "baseline:random", "out": place / "theirs"}
    with pytest.raises(UsageError, match="is not empty: it holds account"):
        python.evaluate(rows, progress=False, **asked)
    with pytest.raises(UsageError, match="is not empty: it holds account"):
        python.diagnose("rotations", rows, **asked)
    assert content(place / "theirs") == before
