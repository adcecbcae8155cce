"""``vidence studio``: files in and out, copies put back, databases of earlier versions."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from vidence.studio import migrations

QUESTION = {"media": [{"path": "a.mp4"}], "question": "Which?", "choices": ["one", "two"], "answer": "two"}
OLD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from vidence.studio.app import configure
from vidence.studio.settings import StudioSettings
configure(StudioSettings(mode="team", data=Path(sys.argv[1])))
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from vidence.make.review.protocol import digest, protocol_bytes
executor = MigrationExecutor(connection)
others = [one for one in executor.loader.graph.leaf_nodes() if one[0] != "studio"]
executor.migrate([("studio", "0001_first"), *others])
old = executor.loader.project_state([("studio", "0001_first")]).apps
at, source = datetime(2026, 1, 1, tzinfo=UTC), protocol_bytes("mmvu")
rules = old.get_model("studio", "ProtocolRow").objects.create(
    title="t", source=source.decode(), sha256=digest(source), added_at=at
)
films = old.get_model("studio", "ProjectRow").objects.create(
    slug="films", title="Films", protocol=rules, state="open", created_at=at
)
ann = old.get_model("studio", "UserRow").objects.create(
    name="Ann", key="ann", shown="Ann", pseudonym="p001", password="!", created_at=at
)
old.get_model("studio", "MembershipRow").objects.create(user=ann, project=films, roles=["author"])
for number in range(3):
    item = old.get_model("studio", "ItemRow").objects.create(
        project=films, item_id=f"q{number}", kind="mcq", state="drafting", returns_left=1,
        created_at=at, changed_at=at,
    )
    old.get_model("studio", "DraftRow").objects.create(
        user=ann, item=item, project=films, stage="author", version=1,
        body='{"question": "Which?"}', saved_at=at,
    )
"""


def contents(folder):
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def films(vidence):
    """A studio ``one`` with three questions; what the import said."""
    lines = "".join(json.dumps({"item_id": f"q{n}", **QUESTION}) + "\n" for n in range(3))
    (vidence.folder / "questions.jsonl").write_text(lines)
    assert vidence.apart("studio", "project", "one", "films", "--protocol", "mmvu").code == 0
    return vidence.apart("studio", "import", "one", "questions.jsonl", "--project", "films")


def test_questions_come_in_and_everything_goes_out_and_in_again(vidence):
    taken = films(vidence)
    assert taken.code == 0, taken.err
    assert f"3 questions new, 0 there already; media below {vidence.folder}" in taken.out
    again = vidence.apart("studio", "import", "one", "questions.jsonl", "--project", "films")
    assert "0 questions new, 3 there already" in again.out
    assert vidence.apart("studio", "export", "one", "out").code == 0
    first = contents(vidence.folder / "out")
    entered = vidence.apart("studio", "import", "two", "out")
    assert entered.code == 0, entered.err
    assert "0 there already" in entered.out
    assert vidence.apart("studio", "export", "two", "out").code == 0
    assert contents(vidence.folder / "out") == first
    review = vidence.apart("studio", "import", "two", "out/projects/films", "--project", "films")
    assert "0 events new, 3 there already" in review.out, review.err
    wanting = vidence.apart("studio", "import", "two", "questions.jsonl")
    assert (wanting.code, "Say --project SLUG" in wanting.err) == (2, True)


def test_a_copy_is_put_back_and_checked(vidence):
    films(vidence)
    assert vidence.apart("studio", "backup", "one", "--to", "copy.sqlite3").code == 0
    full = vidence.apart("studio", "restore", "one", "copy.sqlite3")
    assert (full.code, "is not empty" in full.err) == (2, True)
    done = vidence.apart("studio", "restore", "again", "copy.sqlite3")
    assert done.code == 0, done.err
    assert "        3  transitionrow" in done.out
    assert "checked" in done.out
    assert (vidence.folder / "again" / "studio.sqlite3").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(vidence.folder / "copy.sqlite3")) as opened:
        opened.execute("UPDATE studio_itemrow SET state = 'accepted'")
        opened.commit()
    changed = vidence.apart("studio", "restore", "third", "copy.sqlite3")
    assert changed.code != 0
    assert "q0 says accepted, and its transitions lead to submitted" in changed.err
    assert not any((vidence.folder / "third").iterdir())


def test_a_database_of_the_first_version_is_brought_up_to_date(vidence):
    data = vidence.folder / "old"
    data.mkdir()
    subprocess.run([sys.executable, "-c", OLD, data], env=vidence.env, check=True, timeout=120)
    found = vidence.apart("studio", "verify", "old")
    assert (found.code, found.out) == (0, "nothing is wrong\n"), found.err
    assert "p001  author in films" in vidence.apart("studio", "user", "list", "old").out
    assert vidence.apart("studio", "export", "old", "out").code == 0
    tables = vidence.folder / "out" / "tables"
    drafts = [json.loads(one) for one in (tables / "drafts.jsonl").read_text().splitlines()]
    assert sorted((one["item"], one["body"]) for one in drafts) == [
        (f"films/q{n}", '{"question": "Which?"}') for n in range(3)
    ]
    n_later = len(list(Path(migrations.__path__[0]).glob("0*.py"))) - 1
    copies = list((data / "backups").glob("before-0001_first-*.sqlite3")) if n_later else [None]
    assert len(copies) == 1
