"""``vidence migrate``."""

from pathlib import Path

import click

from vidence.cli.outputs import PATH
from vidence.engine.plan import migrate_plan
from vidence.engine.store import RUN_FILE, migrate_run
from vidence.errors import StoreError


@click.command()
@click.argument("folders", type=PATH, nargs=-1, required=True)
def migrate(*, folders: tuple[Path, ...]) -> None:
    """Rewrite run FOLDERS of an earlier version, so that this one reads them and goes on with them.

    trials.sqlite and diagnostics/*.jsonl become run.sqlite, and plan.toml gets the names of today.
    """
    for folder in folders:
        has_plan, has_store = migrate_plan(folder), migrate_run(folder)
        if not (has_plan or has_store):
            raise StoreError(f"{folder} is no run of an earlier version: nothing in it has to be rewritten")
        click.echo(f"wrote {folder / RUN_FILE}", err=True)
