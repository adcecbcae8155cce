"""``vidence studio``: accounts and projects on the command line, unsafe addresses, copies, and Postgres."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vidence.cli import studio as command
from vidence.errors import UsageError

SECRET = "planted horse battery"  # noqa: S105 - of tests


def fed(vidence, words, said):
    """A command that is told something on its input."""
    process = subprocess.run(
        [sys.executable, "-m", "vidence", *words],
        cwd=vidence.folder,
        env=vidence.env,
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return process.returncode, process.stdout, process.stderr


def test_what_is_open_to_the_network_by_accident_is_refused(vidence):
    for words in (
        ("studio", "open", "a", "--host", "0.0.0.0"),  # noqa: S104 - refused
        ("studio", "serve", "a", "--host", "0.0.0.0"),  # noqa: S104 - refused
        ("studio", "serve", "a", "--host", "0.0.0.0", "--behind-proxy"),  # noqa: S104 - it lacks --name
        ("studio", "backup", "a"),
    ):
        done = vidence(*words)
        assert done.code == 2
        assert len(done.err.strip().splitlines()) == 1
        assert done.err.startswith("vidence: ")
    assert not (vidence.folder / "a").exists()


def test_a_team_is_set_up_copied_and_checked(vidence):
    assert vidence.apart("studio", "project", "team", "films", "--protocol", "mmvu").code == 0
    add = ("studio", "user", "add", "team", "Ada", "--roles", "author,reviewer", "--project", "films")
    code, out, err = fed(vidence, (*add, "--password-stdin"), f"{SECRET}\n")
    assert (code, out) == (0, "Ada is p001 in files: author,reviewer in films\n"), err
    code, _, err = fed(vidence, (*add, "--password-stdin"), f"{SECRET}\n")
    assert (code, "already" in err) == (2, True)
    assert "Ada  p001  author, reviewer in films" in vidence.apart("studio", "user", "list", "team").out
    copied = vidence.apart("studio", "backup", "team", "--to", "copy/studio.sqlite3")
    assert copied.code == 0, copied.err
    assert "checked" in copied.out
    shutil.copytree(vidence.folder / "team" / "keys", vidence.folder / "copy" / "keys")
    again = vidence.apart("studio", "verify", "copy")
    assert (again.code, again.out) == (0, "nothing is wrong\n")
    assert "Ada  p001" in vidence.apart("studio", "user", "list", "copy").out
    for path in vidence.folder.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


def test_damage_is_named_and_the_exit_code_is_1(vidence):
    vidence.apart("studio", "project", "team", "films", "--protocol", "mmvu")
    path = vidence.folder / "team" / "studio.sqlite3"
    old = path.read_bytes()
    assert old.count(b"project-added") >= 1
    path.write_bytes(old.replace(b"project-added", b"project-taken"))
    done = vidence.apart("studio", "verify", "team")
    assert done.code == 1, done.err
    assert "events of safety: row 1 is not what its hash says" in done.out


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


@pytest.fixture
def postgres(tmp_path):
    """A server of Postgres on loopback, and the address of its database."""
    if importlib.util.find_spec("psycopg") is None or shutil.which("initdb") is None:
        pytest.skip("no Postgres; install the package postgresql and the extra studio-postgres")
    owner = ["setpriv", "--reuid=nobody", "--clear-groups"] if os.geteuid() == 0 else []
    folder = Path("/tmp") / f"vidence-pg-{os.getpid()}"  # noqa: S108 - sockets want short paths
    folder.mkdir()
    try:
        if owner:
            shutil.chown(folder, "nobody")
        data = folder / "data"

        def call(*words):
            subprocess.run([*owner, *words], check=True, stdout=subprocess.DEVNULL, cwd=folder)

        call("initdb", "-D", str(data), "-U", "studio", "-A", "trust")
        told = f"-c listen_addresses= -k {folder}"
        control = ["pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log")]
        call(*control, "-o", told, "start")
        try:
            yield f"postgres://studio@{str(folder).replace('/', '%2F')}/postgres"
        finally:
            call(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def test_postgres_holds_the_same(vidence, postgres):
    vidence.env[command.DATABASE_VARIABLE] = postgres
    assert vidence.apart("studio", "project", "team", "films", "--protocol", "mmvu").code == 0
    add = ("studio", "user", "add", "team", "Ada", "--roles", "author", "--password-stdin")
    assert fed(vidence, add, f"{SECRET}\n")[0] == 0
    assert vidence.apart("studio", "verify", "team").out == "nothing is wrong\n"
    assert not list((vidence.folder / "team").glob("*.sqlite3"))
    assert "pg_dump" in vidence.apart("studio", "backup", "team").err
    script = (
        "import psycopg, sys\nwith psycopg.connect(sys.argv[1]) as c:\n"
        "    try:\n        c.execute('DELETE FROM studio_auditeventrow')\n"
        "    except psycopg.Error as error:\n        print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, postgres], capture_output=True, text=True, check=True
    )
    assert "never changed or deleted" in done.stdout
