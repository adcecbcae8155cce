"""What the conformance tests try plug-ins with: samples of ours in tests/golden, and those of other packages.

A package of plug-ins keeps its samples in a folder that the environment variable ``VIDENCE_SAMPLES`` names:
a folder for each benchmark and event log, ``makers/NAME`` for a maker, and ``arguments.toml`` with what
stands behind the colon of a spec, by kind and name.
"""

import atexit
import csv
import functools
import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden"
_OTHERS = os.environ.get("VIDENCE_SAMPLES")


@functools.cache
def release(name: str) -> Mapping[str, Any]:
    """The made release of a benchmark that is a file of data: its files, and what each split must hold."""
    return json.loads((GOLDEN / "releases" / f"{name}.json").read_text("utf-8"))


@functools.cache
def _written(name: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for place, content in release(name)["files"].items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.Table.from_pylist(content), path)
        elif path.suffix in (".csv", ".tsv"):
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(
                    file, list(content[0]), delimiter="\t" if path.suffix == ".tsv" else ","
                )
                writer.writeheader()
                writer.writerows(content)
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in content))
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def sample_folder(*parts: str) -> Path:
    """The folder of a sample; it fails where there is none, and says what to add."""
    if (GOLDEN / "releases" / f"{parts[0]}.json").is_file():
        return _written(parts[0])
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
