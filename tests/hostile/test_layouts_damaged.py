"""Files of other tools, damaged: each is read, or refused in words."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from subjects.layouts import LAYOUTS, MILK, workbook
from vidence import catalog
from vidence.engine.importing import read_log, result_presets
from vidence.errors import VidenceError

N_DAMAGES = 25


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes cut off, some replaced, or a piece of them twice."""
    at = int(rng.integers(1, len(content)))
    match int(rng.integers(3)):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + rng.bytes(4) + content[at + 4 :]
        case _:
            return content[:at] + content[at // 2 :]


def is_refused(path: Path, name: str) -> bool:
    """Whether a file is refused, in words: any other error fails the test."""
    spec = catalog.Spec(name="table", options={"map": name})
    try:
        catalog.create("benchmark", spec).load(path, split="all")
        if name in result_presets():
            read_log(path, name)
    except VidenceError as error:
        return bool(str(error))
    return False


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_damaged_file_of_a_layout_is_refused_in_words(name: str, tmp_path: Path, record_attack) -> None:
    if LAYOUTS[name].needs_pyarrow and importlib.util.find_spec("pyarrow") is None:
        pytest.skip("needs pyarrow")
    rng = np.random.default_rng(list(name.encode()))
    path = LAYOUTS[name].write(tmp_path)
    files = (
        [path] if path.is_file() else [one for one in path.rglob("*") if one.suffix in (".json", ".parquet")]
    )
    whole = {file: file.read_bytes() for file in files}
    n_refused = 0
    for _ in range(N_DAMAGES):
        for file, content in whole.items():
            file.write_bytes(damaged(content, rng))
            n_refused += is_refused(path, name)
            file.write_bytes(content)
    record_attack("damaged files of other tools", N_DAMAGES * len(whole), N_DAMAGES * len(whole))
    assert n_refused > 0


def test_a_damaged_workbook_is_refused_in_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    row: dict[str, object] = {
        "index": 0,
        "question": MILK.question,
        "A": "x",
        "B": "y",
        "answer": "A",
        "prediction": "A",
    }
    content = workbook([row])
    n_refused = 0
    for _ in range(100):
        (tmp_path / "x.xlsx").write_bytes(damaged(content, rng))
        n_refused += is_refused(tmp_path / "x.xlsx", "vlmevalkit")
    assert n_refused > 50


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, '{"id": "q", "q": "' + "[" * 100_000 + '"}']
)
def test_brackets_without_end_are_refused_in_words(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    for name in ("video-mme", "tempcompass", "inspect", "item_id=id,question=q,choices=q,answer=q"):
        assert is_refused(tmp_path / "x.json", name)
