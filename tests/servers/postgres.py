"""A server of Postgres for a while: a new cluster in a folder of its own, asked over a socket in it."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

INSTALL = "apt-get install --no-install-recommends postgresql"
_QUICK = "fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses="


def programs() -> Path | None:
    """The folder of the server's programs: on the path, or where Debian puts the newest version."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: float(one.parts[-3]), reverse=True
    )
    return versions[0].parent if versions else None


def why_not() -> str:
    """Why there can be none here, with the command that changes it; empty where there can."""
    if programs() is None:
        return f"no Postgres; install it with: {INSTALL}"
    if importlib.util.find_spec("psycopg") is None:
        return "no driver for Postgres; install the extra studio-postgres"
    return ""


class Server:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def database(self, name: str) -> str:
        """The address of a new, empty database."""
        import psycopg

        with psycopg.connect(self._address("postgres"), autocommit=True) as opened:
            opened.execute(f'CREATE DATABASE "{name}"')
        return self._address(name)

    def _address(self, name: str) -> str:
        return f"postgres://studio@{str(self.folder).replace('/', '%2F')}/{name}"


@contextmanager
def postgres() -> Iterator[Server]:
    """A server that is gone afterwards. Postgres runs under no root: then it is started as nobody."""
    bin_ = programs()
    assert bin_ is not None
    owner = ["setpriv", "--reuid=nobody", "--clear-groups"] if os.geteuid() == 0 else []
    # The names of sockets are short, so that no deep folder of a test holds one.
    folder = Path(tempfile.mkdtemp(prefix="vidence-pg-", dir="/tmp"))
    try:
        if owner:
            shutil.chown(folder, "nobody")
        data = folder / "data"

        def call(*words: str) -> None:
            subprocess.run([*owner, *words], check=True, stdout=subprocess.DEVNULL, cwd=folder, timeout=120)

        call(
            str(bin_ / "initdb"),
            "-D",
            str(data),
            "-U",
            "studio",
            "-A",
            "trust",
            "-N",
            "-E",
            "UTF8",
            "--locale=C",
        )
        told = " ".join(f"-c {one}" for one in _QUICK) + f" -k {folder}"
        control = [str(bin_ / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
        call(*control, "-o", told, "start")
        try:
            yield Server(folder)
        finally:
            call(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
