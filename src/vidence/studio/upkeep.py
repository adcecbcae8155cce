"""The database brought up to date, and what is checked of it at the start."""

from vidence.errors import StoreError


def migrate() -> None:
    """Bring the database of the configured studio up to date; nothing changes where it is.

    Raises:
        StoreError: it cannot be written, or was made by a later version.
    """
    from django.core.management import call_command
    from django.db import DatabaseError, connection
    from django.db.migrations.executor import MigrationExecutor

    try:
        executor = MigrationExecutor(connection)
        known = set(executor.loader.disk_migrations)
        later = sorted(name for name in executor.loader.applied_migrations if name not in known)
        if later:
            raise StoreError(
                f"the database was brought to {'.'.join(later[-1])!r} by a later vidence; update it"
            )
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise StoreError(f"the database of the studio cannot be used: {error}") from error
