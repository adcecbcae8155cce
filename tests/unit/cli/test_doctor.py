"""``vidence doctor`` names the extras that there are, and what is wrong with plug-ins."""

import importlib
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from vidence import catalog
from vidence.cli.doctor import EXTRAS, doctor

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.fixture
def wrong_plug_ins(tmp_path, monkeypatch):
    """A distribution with a misspelt group and a module that is not there."""
    info = tmp_path / "wrong-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: wrong\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[vidence.strategys]\nvote = wrong.vote\n[vidence.models]\ngone = no_such_module_of_ours\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    catalog.forget()
    yield
    catalog.forget()


def test_every_extra_is_named_and_no_other():
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRAS) == set(extras) - {"all"}


@pytest.mark.usefixtures("wrong_plug_ins")
def test_plug_ins_that_cannot_be_used_are_named():
    done = CliRunner().invoke(doctor, standalone_mode=False)
    assert done.return_value == 1
    assert "plug-in: model gone (no_such_module_of_ours)" in done.output
    assert "wrong: wrong.vote: there is no entry point group vidence.strategys; known are " in done.output
    assert "'gone' in vidence.models names no_such_module_of_ours, which cannot be imported: " in done.output
