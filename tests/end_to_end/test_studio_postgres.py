"""``vidence studio`` on Postgres: moved in and out by files, and the same tests as on SQLite."""

import subprocess
import sys
from pathlib import Path

import pytest

from servers.postgres import postgres, why_not
from vidence.studio.commands.studio import DATABASE_VARIABLE

TESTS = Path(__file__).parents[1]
# Where the database itself has a say: rules of tables, chains, what is written at once and together.
SAME = [
    "records",
    "pages/test_submissions.py",
    "pages/test_study_desk.py",
    *(f"bridge/test_{name}.py" for name in ("files", "recorded_files")),
    *(
        f"test_{name}.py"
        for name in (
            "accounts",
            "admission",
            "audit",
            "bodies",
            "drafts",
            "leaderboard",
            "projects",
            "scoring",
            "seals",
            "studies",
            "study_media",
            "times",
            "upkeep",
            "workflow",
        )
    ),
]
DELETE = """
import sys
import psycopg
with psycopg.connect(sys.argv[1], autocommit=True) as opened:
    for table in ("auditevent", "transition", "revision", "protocol"):
        try:
            opened.execute(f"DELETE FROM studio_{table}row")
        except psycopg.Error as error:
            print(error)
"""


@pytest.fixture(scope="module")
def server():
    """A server of Postgres."""
    if reason := why_not():
        pytest.skip(reason)
    with postgres() as started:
        yield started


def python(*words):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    return done.stdout


def test_a_review_moves_to_postgres_and_back_by_its_files(vidence, server):
    folder = vidence.folder
    address = server.database("moved")
    filled = "import pathlib, sys; from subjects.filled_studio import fill; fill(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", filled, folder / "one"], check=True, cwd=TESTS, timeout=120)
    assert vidence.apart("studio", "export", "one", "out").code == 0
    (project,) = (folder / "out" / "projects").iterdir()

    def moved(to):
        taken = vidence.apart("studio", "import", to, str(project), "--project", project.name)
        assert (taken.code, "0 already there" in taken.out) == (0, True), taken.err
        assert vidence.apart("studio", "export", to, f"of-{to}").code == 0
        again = folder / f"of-{to}" / "projects" / project.name
        for name in ("protocol.toml", "revisions.jsonl", "reviews.jsonl", "items.jsonl"):
            assert (again / name).read_bytes() == (project / name).read_bytes(), name
        assert vidence.apart("studio", "verify", to).out.splitlines()[-1].startswith("no faults")

    vidence.env[DATABASE_VARIABLE] = address
    moved("on")
    assert not list((folder / "on").glob("*.sqlite3"))
    assert "pg_dump" in vidence.apart("studio", "backup", "on").err
    refused = python("-c", DELETE, address)
    assert refused.count("never changed or deleted") == 3
    assert refused.count("only the studio writes into studio_protocolrow") == 1
    del vidence.env[DATABASE_VARIABLE]
    moved("two")


def test_the_tests_of_the_tables_hold_on_postgres(server, monkeypatch):
    monkeypatch.setenv(DATABASE_VARIABLE, server.database("units"))
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    where = [str(TESTS / "unit" / "studio" / one) for one in SAME]
    said = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", *where)
    assert " passed" in said
