"""Studios for one test each; what is written in them is taken back."""

import pytest

from servers.studio import configured, studio

configured()  # before tests import tables


@pytest.fixture
def team(tmp_path):
    """A studio with accounts."""
    with studio("team", tmp_path) as made:
        yield made


@pytest.fixture
def solo(tmp_path):
    """A studio of one person."""
    with studio("solo", tmp_path) as made:
        yield made


@pytest.fixture
def view(tmp_path):
    """A studio that only shows."""
    with studio("view", tmp_path) as made:
        yield made
