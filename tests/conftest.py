"""What all tests share: where the check files are, and a cache folder of their own."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
# Tests measure no time: a busy machine is no reason to fail.
settings.register_profile(
    "no-clock", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("no-clock")


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable, ROOT.parent / "shared" / default))


@pytest.fixture(scope="session")
def checks_dir() -> Path:
    """The folder of check files; tests that need a file in it call `need`."""
    return _folder("VIDENCE_CHECKS", "checks")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real clips and questions."""
    return _folder("VIDENCE_DATA", "data")


def need(path: Path) -> Path:
    """The path, or a skip that says what is absent and how to provide it."""
    if not path.exists():
        pytest.skip(f"{path} is not there; set VIDENCE_CHECKS / VIDENCE_DATA to folders that have it")
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's cache."""
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded generator."""
    return np.random.default_rng(0)
