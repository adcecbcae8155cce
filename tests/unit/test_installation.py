"""The commands that add something work for the installation at hand."""

import bz2
import importlib.metadata
import shlex
import sys
from pathlib import Path

import pytest

from vidence import installation


@pytest.fixture
def said(monkeypatch):
    """What the metadata of the installation ask for."""
    asked = ["numpy<3,>=2.2", "torch>=2.11; extra == 'select'", "pyarrow>=20; extra == 'all'"]
    asked += ["torch>=2.11; extra == 'transformers'", 'x>1; python_version > "3" and extra == "transformers"']
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: asked)


def test_the_packages_of_extras_are_named_once(said):
    assert installation.requirements("select", "transformers") == ("torch>=2.11", "x>1")
    assert installation.adding("select").endswith("pip install 'torch>=2.11'")


def test_the_pip_of_this_python_is_called(said, monkeypatch, tmp_path):
    monkeypatch.setattr(installation.shutil, "which", lambda name: str(tmp_path / "pip"))
    monkeypatch.setattr(installation, "is_importable", lambda module: True)
    assert shlex.split(installation.pip()) == [sys.executable, "-m", "pip"]
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert installation.pip() == "pip"


def test_an_environment_of_uv_has_no_pip(said, monkeypatch):
    monkeypatch.setattr(installation, "is_importable", lambda module: False)
    monkeypatch.setattr(installation.shutil, "which", lambda name: "/bin/uv" if name == "uv" else None)
    assert installation.adding("select") == f"UV_PYTHON={sys.executable} uv pip install 'torch>=2.11'"
    monkeypatch.setattr(installation.shutil, "which", lambda name: None)
    assert installation.pip() == f"{sys.executable} -m pip"


def test_sources_that_no_pip_installed_are_installed_from_their_folder(monkeypatch):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", absent)
    assert "install '.[parquet]' in the folder" in installation.adding("parquet")


def test_the_documentation_is_that_of_the_wheel_or_of_the_checkout(monkeypatch, tmp_path):
    docs = Path(__file__).parents[2] / "docs"
    assert installation.pages()["guides/fetching"] == (docs / "guides" / "fetching.md").read_text(
        encoding="utf-8"
    )
    package = tmp_path / "lib" / "vidence"
    package.mkdir(parents=True)
    monkeypatch.setattr(installation, "__file__", str(package / "installation.py"))
    assert installation.pages() == {}
    (package / "docs.json.bz2").write_bytes(bz2.compress(b'{"item-format": "# Items"}'))
    assert installation.pages() == {"item-format": "# Items"}
