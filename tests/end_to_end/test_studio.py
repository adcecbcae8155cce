"""``vidence studio``: accounts and projects on the command line, unsafe addresses, and copies."""

import importlib.util
import shutil
import subprocess
import sys

import pytest

from vidence.errors import UsageError
from vidence.studio.commands import studio as command

SECRET = "planted horse battery"  # noqa: S105 - of tests


def test_what_is_open_to_the_network_by_accident_is_refused(vidence):
    (vidence.folder / "runs").mkdir()
    for words in (
        ("studio", "open", "a", "--host", "0.0.0.0"),  # noqa: S104 - refused
        ("studio", "serve", "a", "--host", "0.0.0.0"),  # noqa: S104 - refused
        ("studio", "serve", "a", "--host", "0.0.0.0", "--behind-proxy"),  # noqa: S104 - it lacks --name
        ("view", "--host", "0.0.0.0", "--no-open", "runs"),  # noqa: S104 - refused
        ("studio", "backup", "a"),
    ):
        done = vidence(*words)
        assert done.code == 2
        assert len(done.err.strip().splitlines()) == 1
        assert done.err.startswith("vidence: ")
        assert words[-1] == "a" or "other machines" in done.err or "--name" in done.err, done.err
    assert not (vidence.folder / "a").exists()


def test_a_team_is_set_up_copied_and_checked_and_damage_is_named(vidence):
    assert vidence.apart("studio", "project", "team", "films", "--protocol", "mmvu").code == 0
    add = ("studio", "user", "add", "team", "Ada", "--roles", "author,reviewer", "--project", "films")
    done = vidence.apart(*add, "--password-stdin", said=f"{SECRET}\n")
    assert (done.code, done.out) == (0, "Ada is p001 in files: author,reviewer in films\n"), done.err
    copied = vidence.apart("studio", "backup", "team", "--to", "copy/studio.sqlite3")
    assert copied.code == 0, copied.err
    assert "checked" in copied.out
    shutil.copytree(vidence.folder / "team" / "keys", vidence.folder / "copy" / "keys")
    assert "Ada  p001  author, reviewer in films" in vidence.apart("studio", "user", "list", "copy").out
    for path in vidence.folder.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
    path = vidence.folder / "copy" / "studio.sqlite3"
    assert path.read_bytes().count(b"project-added") >= 1
    path.write_bytes(path.read_bytes().replace(b"project-added", b"project-taken"))
    done = vidence.apart("studio", "verify", "copy")
    assert (done.code, "auditeventrow, row 1: changed or added by hand" in done.out) == (1, True), done.err
    assert "not covered: files beside the database" in done.out


def test_without_the_extra_the_command_that_adds_it_is_said(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"the studio needs django, .*; add it with: .*install"):
        command.need_studio()


def test_the_help_of_the_studio_imports_no_django(vidence):
    code = (
        "import sys\nfrom vidence.cli.main import main\n"
        "try:\n    main(['studio', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('django', 'uvicorn', 'numpy') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=vidence.env
    )
    assert done.stderr.strip() == "[]"
