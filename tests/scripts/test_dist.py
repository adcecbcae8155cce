"""What is handed on: the sdist holds what the wheel is built from, the wheel what an installation needs."""

import sys
import tarfile
import zipfile

import pytest


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return tmp_path_factory.mktemp("dist")


def test_the_wheel_is_built_from_the_sdist_and_brings_the_documentation(script, built) -> None:
    sdist, wheel = script("dist").build(built / "into")
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"pyproject.toml", "LICENSE", "docs/item-format.md", "src/vidence/py.typed"} <= names
    assert not [name for name in names if name.startswith(("tests/", "bench/", ".venv"))]
    with zipfile.ZipFile(wheel) as packed:
        members = packed.namelist()
        metadata = packed.read(next(one for one in members if one.endswith("/METADATA"))).decode()
    assert "vidence/docs/item-format.md" in members
    assert "vidence/docs/guides/fetching.md" in members
    assert "vidence/ask/prompting/templates/mmvu/choice-cot.txt" in members
    assert any(one.endswith("sboms/vidence.cdx.json") for one in members)
    assert not [one for one in members if one.endswith((".png", ".pyc")) or one.startswith("tests")]
    assert "Requires-Dist: torchvision>=0.26; extra == 'transformers'" in metadata


def test_a_python_that_is_not_there_is_none(script, tmp_path) -> None:
    find = script("dist").python_of
    assert find("3.99", pyenv=tmp_path) is None
    version = ".".join(map(str, sys.version_info[:2]))
    place = tmp_path / "versions" / f"{version}.1" / "bin" / "python"
    place.parent.mkdir(parents=True)
    place.symlink_to(sys.executable)
    assert find(version, pyenv=tmp_path) is not None


def test_a_python_of_another_version_is_not_taken(script, tmp_path) -> None:
    place = tmp_path / "versions" / "3.98.0" / "bin" / "python"
    place.parent.mkdir(parents=True)
    place.symlink_to(sys.executable)
    assert script("dist").python_of("3.98", pyenv=tmp_path) is None


def test_a_command_that_fails_is_said_with_what_it_printed(script, tmp_path) -> None:
    with pytest.raises(SystemExit, match=r"failed \(3\):\n\nno"):
        script("dist")._run(
            [sys.executable, "-c", "import sys; print('no', file=sys.stderr); sys.exit(3)"], cwd=tmp_path
        )


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("", {}),
        (
            "Project-URL: Source, https://example.org/v?a=1, 2\nProject-URL: Issues, https://example.org/i\n",
            {"Source": "https://example.org/v?a=1, 2", "Issues": "https://example.org/i"},
        ),
    ],
)
def test_the_addresses_of_the_project_are_read_from_the_wheel(script, tmp_path, lines, found) -> None:
    wheel = tmp_path / "vidence-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("vidence-1.dist-info/METADATA", f"Metadata-Version: 2.4\nName: vidence\n{lines}\n")
    assert script("dist").project_urls(wheel) == found
