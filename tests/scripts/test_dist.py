"""What is handed on: the sdist holds what the wheel is built from, the wheel what an installation needs."""

import bz2
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return tmp_path_factory.mktemp("dist")


def test_the_wheel_is_built_from_the_sdist_and_brings_the_documentation(script, built) -> None:
    sdist, wheel = script("dist").build(built / "into")
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"pyproject.toml", "LICENSE", "docs/item-format.md", "src/vidence/py.typed"} <= names
    assert not [name for name in names if name.startswith(("tests/", "bench/", ".venv"))]
    assert wheel.stat().st_size <= script("dist").MOST_BYTES
    with zipfile.ZipFile(wheel) as packed:
        members = packed.namelist()
        metadata = packed.read(next(one for one in members if one.endswith("/METADATA"))).decode()
        pages = json.loads(bz2.decompress(packed.read("vidence/docs.json.bz2")))
    assert pages["guides/fetching"] == (ROOT / "docs/guides/fetching.md").read_text(encoding="utf-8")
    assert {"item-format", "design/trust"} <= pages.keys()
    assert "design/ledger" not in pages
    assert "vidence/ask/prompting/templates/mmvu.toml" in members
    assert any(one.endswith("sboms/vidence.cdx.json") for one in members)
    assert not [one for one in members if one.endswith((".png", ".pyc")) or one.startswith("tests")]
    assert "Requires-Dist: torchvision>=0.26; extra == 'transformers'" in metadata
