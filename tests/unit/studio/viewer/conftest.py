"""A viewer in the process of the test: its threads write, so that no transaction is held around it."""

import pytest
from django.test import override_settings

from servers.studio import SECRET, TICKET, Clock, Tried, studio
from vidence.studio.settings import Studio, StudioSettings, Ticket


@pytest.fixture
def look(tmp_path, monkeypatch):
    """Give the browser of a viewer of some paths."""
    from vidence.studio.app import settings_of_django
    from vidence.studio.records.index import TABLES
    from vidence.studio.viewer import desk as desk_module

    with studio("view", tmp_path / "data"):  # the tables of the database
        pass
    entered = []

    def opened(*paths, **more):
        settings = StudioSettings(mode="view", data=tmp_path / "data", paths=paths, clock=Clock(), **more)
        made = Studio(settings=settings, secret=SECRET, ticket=Ticket(TICKET))
        kept = {"SESSION_ENGINE", "SESSION_COOKIE_NAME", "ALLOWED_HOSTS"}
        changed = {k: v for k, v in settings_of_django(made).items() if k in kept}
        override = override_settings(STUDIO=made, **changed)
        override.enable()
        entered.append(override)
        monkeypatch.setattr(desk_module, "WAIT_S", 20.0)
        desk_module.desk.cache_clear()
        return Tried(settings=settings, clock=Clock()).signed_in()

    yield opened
    for override in entered:
        override.disable()
    desk_module.desk.cache_clear()
    for table in TABLES.values():
        table.objects.all().delete()
