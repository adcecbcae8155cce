"""Which database is taken, and that SQL is spoken in two files."""

import ast
import os
import re
import sys
from pathlib import Path

import pytest

import vidence.studio
from vidence.errors import StoreError, UsageError
from vidence.studio.database import database, keep_private
from vidence.studio.settings import StudioSettings

# Words that let SQL be written by hand, and the files that may: triggers, pragmas, the copy.
BY_HAND = {"raw", "extra", "RawSQL", "execute", "executemany", "executescript"}
MAY = {"seals.py", "upkeep.py", "bridge/indexing.py"}


def test_addresses_of_databases_are_taken_apart(tmp_path, monkeypatch):
    said = database(StudioSettings(mode="team", data=tmp_path))
    assert said["NAME"] == tmp_path / "studio.sqlite3"
    assert said["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert said["OPTIONS"]["timeout"] == 20
    assert "synchronous=FULL" in said["OPTIONS"]["init_command"]
    assert "secure_delete=ON" in said["OPTIONS"]["init_command"]
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match="pip install"):
        database(StudioSettings(mode="team", data=tmp_path, database="postgres://a:b@h/n"))
    monkeypatch.setitem(sys.modules, "psycopg", sys)
    said = database(StudioSettings(mode="team", data=tmp_path, database="postgres://a:p%40ss@h:5433/n"))
    wanted = {"USER": "a", "PASSWORD": "p@ss", "HOST": "h", "PORT": "5433", "NAME": "n"}
    assert wanted.items() <= said.items()


@pytest.mark.parametrize("address", ["mysql://a@b/c", "postgres://host", "file.db", "postgres://a:x@[/n"])
def test_another_address_is_refused_without_repeating_its_password(tmp_path, address):
    with pytest.raises(UsageError, match="expected postgres://") as error:
        database(StudioSettings(mode="team", data=tmp_path, database=address))
    assert ":x@" not in str(error.value)


def test_sql_is_written_by_hand_in_three_files_and_never_out_of_what_was_sent():
    root = Path(vidence.studio.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in BY_HAND:
                found.add(name)
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {one.name for one in node.names} | {getattr(node, "module", "") or ""}
                assert "sqlite3" not in names, name
    assert found <= MAY


# What stands between braces in SQL that is written by hand: names of ours, of tables, acts and triggers.
WITHIN = {"SEALS", "table", "both", "seal", "name", "words", "on", "connection.ops.quote_name(name)"}
# The viewer's index is filled many rows at a time, by names of its own tables and columns.
WITHIN |= {"quote(table)", "columns", "keys", "changed", "', '.join(['%s'] * len(names))"}
OWN = ("_COLUMNS[", "_TRIGGERS[", "_FUNCTIONS.")


def test_nothing_that_was_sent_is_put_into_sql():
    """The questions are constants, or made of names of our own; what was sent goes beside them."""
    root = Path(vidence.studio.__file__).parent
    n_asked = 0
    for name in MAY:
        tree = ast.parse((root / name).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            is_sql = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in BY_HAND
            if is_sql:
                n_asked += 1
                is_made = isinstance(node.args[0], ast.Constant | ast.JoinedStr | ast.Name)
                assert is_made or ast.unparse(node.args[0]).startswith(OWN), ast.unparse(node)
            if isinstance(node, ast.JoinedStr) and re.match(
                r"f['\"]+\W*(SELECT|CREATE|DROP|DELETE|UPDATE|INSERT)", ast.unparse(node)
            ):
                within = {
                    ast.unparse(one.value) for one in node.values if isinstance(one, ast.FormattedValue)
                }
                assert within <= WITHIN, (name, within)
    assert n_asked >= 5


def test_a_folder_that_others_could_read_is_closed_and_one_of_another_user_refused(tmp_path, monkeypatch):
    data = tmp_path / "team"
    data.mkdir()
    data.chmod(0o777)
    for name in ("studio.sqlite3-wal", "starting.sqlite3"):
        (data / name).touch(0o666)
    before = os.umask(0)
    try:
        keep_private(StudioSettings(mode="team", data=data))
        keep_private(StudioSettings(mode="team", data=tmp_path / "new" / "team", database="postgres://a@b/c"))
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in data.iterdir()} == dict.fromkeys(
        ("studio.sqlite3", "studio.sqlite3-wal", "starting.sqlite3"), 0o600
    )
    new = tmp_path / "new" / "team"
    assert {one.stat().st_mode & 0o777 for one in (data, new, new.parent)} == {0o700}
    assert list(new.iterdir()) == []
    data.chmod(0o755)

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(StoreError, match="belongs to another user; expected a folder of your own"):
        keep_private(StudioSettings(mode="team", data=data))
