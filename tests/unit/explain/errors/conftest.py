"""Packets with planted errors."""

import pytest

from subjects import planted_errors as errors


@pytest.fixture
def plant():
    """Make a packet whose kinds of errors are known."""
    return errors.plant
