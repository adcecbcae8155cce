"""A hub on loopback, and the library that speaks to it."""

from collections.abc import Iterator

import pytest
from huggingface_hub import constants

from servers.hub import Hub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """An empty hub; the library may go online, and knows no token."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent")
    with Hub() as server:
        yield server
