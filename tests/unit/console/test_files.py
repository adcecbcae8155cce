"""Files that are asked for are written and said; a dash is the standard output."""

import json
from pathlib import Path

import pytest

from vidence.console import files
from vidence.errors import StoreError, UsageError


def test_a_file_is_written_and_said(tmp_path, capsys):
    with files.written(tmp_path / "a.txt") as file:
        file.write_text("x")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"wrote {tmp_path / 'a.txt'}\n")


def test_a_dash_is_the_standard_output_in_one_piece(capsysbinary):
    with files.written(Path("-")) as file:
        file.write_bytes(b"\x00\xff first")
        assert capsysbinary.readouterr().out == b""
    said = capsysbinary.readouterr()
    assert (said.out, said.err) == (b"\x00\xff first", b"")


def test_what_fails_writes_nothing(tmp_path, capsys):
    def fail(file: Path) -> None:
        file.write_text("half")
        raise StoreError("no room")

    with pytest.raises(StoreError, match="no room"):
        files.write_asked((Path("-"), fail))
    assert capsys.readouterr().out == ""


def test_what_was_not_asked_for_is_not_written(tmp_path):
    files.write_asked((None, lambda file: file.write_text("x")))
    files.write_asked((tmp_path / "a", lambda file: file.write_text("a")))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_screen_is_quiet_where_a_file_takes_its_place(tmp_path):
    assert not files.screen().quiet
    assert not files.screen(None, tmp_path / "a").quiet
    assert files.screen(None, Path("-")).quiet
    with pytest.raises(UsageError, match="2 files go to standard output"):
        files.screen(Path("-"), Path("-"))


def test_what_a_command_says_is_one_object(tmp_path):
    files.write_said(None, "power", sentences=["x"])
    files.write_said(tmp_path / "p.json", "power", sentences=["So."], values={"n": float("nan")})
    found = json.loads((tmp_path / "p.json").read_text())
    assert found == {
        "format": "vidence-said/1",
        "command": "power",
        "n": None,
        "sentences": ["So."],
        "tables": [],
    }
