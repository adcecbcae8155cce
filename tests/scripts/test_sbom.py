"""A wheel that is built holds a bill of materials, and the wheel and the bill name the same packages."""

import email
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="builds the wheel")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [path] = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_bill_in_the_wheel_lists_what_its_metadata_asks_for(wheel) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/sboms/vidence.cdx.json")]
    bill = json.loads(wheel.read(name))
    [place] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = email.message_from_bytes(wheel.read(place))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["version"] == metadata["Version"]
    requirements = pytest.importorskip("packaging.requirements")
    asked = [requirements.Requirement(text) for text in metadata.get_all("Requires-Dist")]
    needed = {one.name.lower().replace("_", "-") for one in asked if one.marker is None}
    others = {one.name.lower().replace("_", "-") for one in asked} - needed - {"vidence"}
    by_scope = {
        scope: {part["name"] for part in bill["components"] if part["scope"] == scope}
        for scope in ("required", "optional")
    }
    assert by_scope == {"required": needed, "optional": others}
    numpy = next(part for part in bill["components"] if part["name"] == "numpy")
    said = {one["name"]: one["value"] for one in numpy["properties"]}
    assert said["vidence:range"].startswith((">=", "<"))
    assert said["vidence:tested"][0].isdecimal()


def test_the_library_of_the_format_reads_it(wheel) -> None:
    bom = pytest.importorskip("cyclonedx.model.bom", reason="reads CycloneDX")
    [name] = [name for name in wheel.namelist() if name.endswith("vidence.cdx.json")]
    read = bom.Bom.from_json(json.loads(wheel.read(name)))
    assert read.validate()
    assert {str(part.purl) for part in read.components} >= {"pkg:pypi/msgspec", "pkg:pypi/torch"}
