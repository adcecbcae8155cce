"""What the tests of the scripts share."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="session")
def script() -> Callable[[str], ModuleType]:
    """A script as a module, by its name; scripts may import each other."""
    sys.path.append(str(FOLDER))

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"scripts_{name}", FOLDER / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
