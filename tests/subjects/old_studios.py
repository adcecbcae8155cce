"""Studios as earlier versions left them: the tables of each migration, with the rows that fit into them.

Django is set up once in a process, so that each step runs in a process of its own. As a script,
``python old_studios.py DIR`` writes into DIR what a studio of today and those of each earlier migration
export, and prints a line for each point at which bringing the first one up to date was killed.
"""

import json
import os
import shutil
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

Rows: TypeAlias = list[tuple[str, ...]]
FILE = "studio.sqlite3"
_POINTS = 7
_EVERY = 3
_UNFINISHED = "the question as far as it was written"


def _configure(data: Path) -> None:
    from vidence.studio.app import configure
    from vidence.studio.settings import StudioSettings

    data.mkdir(parents=True, exist_ok=True)
    configure(StudioSettings(mode="team", data=data))


def fill(data: Path) -> None:
    """A studio of today: people, questions in some states, a draft with its saves, and a ledger."""
    _configure(data)
    from vidence.studio.upkeep import migrate

    migrate()
    from PIL import Image

    from vidence.studio import drafts, projects
    from vidence.studio.accounts import add_user
    from vidence.studio.intake import add_medium
    from vidence.studio.records.items import ItemRow
    from vidence.studio.workflow import Act, RecordedAct, act

    project = projects.add_project("films", "mmvu", title="Films")
    author = add_user("Ann", "correct horse battery", roles=("author",), project="films")
    reviewer = add_user("Rob", "correct horse battery", roles=("reviewer",), project="films")
    projects.add_items(project, [f"q{n}" for n in range(4)], kinds={})
    picture = data / "films" / "a.png"
    picture.parent.mkdir()
    Image.new("RGB", (8, 8)).save(picture)
    project.media_root = str(picture.parent)
    project.save()
    add_medium(project, picture.name, kind="image")
    q0, q1, q2, _ = ItemRow.objects.order_by("item_id")
    for item in (q0, q1, q2):
        written = {"question": f"Which of {item.item_id}?"}
        said = Act(kind="submit", role="author", by=author.pseudonym, content=written)
        assert type(act(item, said)) is RecordedAct
        ItemRow.objects.filter(pk=item.pk).update(author=author)  # as the page does on the first save
    for item in (q1, q2):
        assert type(act(item, Act(kind="claim", role="reviewer", by=reviewer.pseudonym))) is RecordedAct
    draft = drafts.open_draft(author, ItemRow.objects.get(item_id="q3"), stage=drafts.AUTHOR, body="")
    for version in range(3):
        body = json.dumps({"question": _UNFINISHED[: 10 * (version + 1)]})
        drafts.save(draft, body=body, seen=version, request=f"r{version}")


def old(data: Path, migration: str, *, rows_of: Path) -> None:
    """The tables as one migration left them, and in them the rows of another studio, as far as they fit."""
    _configure(data)
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    others = [one for one in executor.loader.graph.leaf_nodes() if one[0] != "studio"]
    executor.migrate([("studio", migration), *others])
    connection.close()
    with closing(sqlite3.connect(data / FILE)) as opened:
        opened.execute("ATTACH ? AS full", [str(rows_of / FILE)])
        for table in _tables(opened):
            mine, theirs = (
                [one[1] for one in opened.execute(f"PRAGMA {database}.table_info({table})")]
                for database in ("main", "full")
            )
            shared = ", ".join(f'"{one}"' for one in mine if one in theirs)
            if shared:  # a table that has gone since then was empty
                opened.execute(f"INSERT INTO {table} ({shared}) SELECT {shared} FROM full.{table}")
        opened.commit()


def _tables(opened: sqlite3.Connection) -> list[str]:
    found = opened.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name LIKE 'studio_%'"
    )
    return [name for (name,) in found if not name.startswith("studio_index_")]


def kill(data: Path, before: Path) -> Iterator[dict[str, object]]:
    """Bring a database up to date, and be killed before a statement or commit: the first, some, the last.

    Yields what each end left: whether the tables and what is noted of them are the old or the new ones,
    whether the file is sound, and for every third whether a second start brings it up to date.
    """
    _configure(data)
    state = {}
    n_acts = 0
    for name, stops_at in (("old", 0), ("new", None)):
        n_acts = _ended(data, before, stops_at)
        state[name] = told(data / FILE)
    steps = {round(one * (n_acts - 1) / (_POINTS - 1)) for one in range(_POINTS)}
    for number, stops_at in enumerate(sorted(steps)):
        _ended(data, before, stops_at)
        left = told(data / FILE)
        yield {
            "stopped before": stops_at,
            "of": n_acts,
            "left": [name for name, one in state.items() if one == left],
            "sound": _asked(data / FILE, "PRAGMA integrity_check")[0][0],
            "again": number % _EVERY != 0 or (not _forked(_migrate) and told(data / FILE) == state["new"]),
        }


def _ended(data: Path, before: Path, stops_at: int | None) -> int:
    """Begin from the old file, and bring it up to date in a process that is killed; how much that one did."""
    shutil.rmtree(data)
    data.mkdir()
    shutil.copy(before / FILE, data / FILE)
    counted = data / "counted"
    code = _forked(lambda: _migrate_until(stops_at, counted))
    assert code == (0 if stops_at is None else -signal.SIGKILL), code
    return int(counted.read_text()) if stops_at is None else 0


def _forked(act: Callable[[], None]) -> int:
    """Do something in a process of its own; its exit code, negative where a signal ended it."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            act()
            code = 0
        except BaseException:  # noqa: BLE001 - the process ends here
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _migrate() -> None:
    from django.db import connection

    from vidence.studio.upkeep import migrate

    migrate()
    connection.close()


def _migrate_until(stops_at: int | None, counted: Path) -> None:
    from django.db import connection

    n_done = 0

    def count() -> None:
        nonlocal n_done
        if n_done == stops_at:
            os.kill(os.getpid(), signal.SIGKILL)
        n_done += 1

    def execute(call: Callable[..., object], *words: object) -> object:
        count()
        return call(*words)

    commit = connection._commit

    def commits() -> None:
        count()
        commit()
        count()

    connection._commit = commits
    with connection.execute_wrapper(execute):
        _migrate()
    counted.write_text(str(n_done))


def told(file: Path) -> tuple[Rows, Rows]:
    """The tables and indexes of a file, by its own words, and which migrations it has noted."""
    made = _asked(
        file,
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND tbl_name LIKE 'studio_%' "
        "AND tbl_name NOT LIKE 'studio_index_%' ORDER BY name",
    )
    return made, _asked(file, "SELECT app, name FROM django_migrations ORDER BY app, name")


def _asked(file: Path, question: str) -> Rows:
    with closing(sqlite3.connect(file)) as opened:
        return opened.execute(question).fetchall()


def export(data: Path, out: Path) -> None:
    """Bring a studio up to date, see that nothing is wrong with it, and write its files."""
    _configure(data)
    from vidence.studio.bridge.files import export_studio
    from vidence.studio.upkeep import migrate, verify

    migrate()
    assert list(verify()) == []
    export_studio(out)


def main(folder: Path) -> None:
    """All of it."""
    from vidence.studio import migrations

    full = folder / "today"
    names = sorted(path.stem for path in Path(migrations.__path__[0]).glob("0*.py"))
    steps = [lambda: fill(full), lambda: export(full, folder / "out-today")]
    for name in names[:-1]:
        steps.append(lambda name=name: old(folder / name, name, rows_of=full))
        if name == names[0]:
            steps.append(lambda name=name: shutil.copytree(folder / name, folder / "before"))
        steps.append(lambda name=name: export(folder / name, folder / f"out-{name}"))
    for step in steps:
        assert _forked(step) == 0
    for one in kill(folder / "killed", folder / "before"):
        print(json.dumps(one))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
