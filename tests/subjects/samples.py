"""What the conformance tests try plug-ins with: samples of ours in tests/golden, and those of other packages.

A package of plug-ins keeps its samples in a folder that the environment variable ``VIDENCE_SAMPLES`` names:
a folder for each benchmark and event log, ``makers/NAME`` for a maker, and ``arguments.toml`` with what
stands behind the colon of a spec, by kind and name.
"""

import os
import tomllib
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"
_OTHERS = os.environ.get("VIDENCE_SAMPLES")


def sample_folder(*parts: str) -> Path:
    """The folder of a sample; it fails where there is none, and says what to add."""
    folders = [GOLDEN.joinpath(*parts), *([Path(_OTHERS).joinpath(*parts)] if _OTHERS else [])]
    found = next((folder for folder in folders if folder.is_dir()), None)
    where = " or ".join(map(str, folders))
    assert found is not None, f"add a small sample in words of your own at {where} (see VIDENCE_SAMPLES)"
    return found


def argument_of(kind: str, name: str) -> str:
    """What stands behind the colon of a plug-in of another package; a file is found in the folder."""
    table = Path(_OTHERS) / "arguments.toml" if _OTHERS else None
    if table is None or not table.is_file():
        return ""
    argument = tomllib.loads(table.read_text("utf-8")).get(kind, {}).get(name, "")
    file = table.parent / argument
    return str(file) if argument and file.exists() else argument
