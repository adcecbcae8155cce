"""Packets with planted errors."""

import pytest

from vidence.explain.planted import errors


@pytest.fixture
def plant():
    """Make a packet whose kinds of errors are known."""
    return errors.plant
