"""``vidence doctor`` names the extras that there are, and what is wrong with plug-ins."""

import importlib
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from vidence import catalog
from vidence.cli.commands import doctor as doctors
from vidence.cli.commands.doctor import doctor, extras

PROJECT = Path(__file__).parents[4] / "pyproject.toml"


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
    known = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras()) == set(known) - {"all"}


@pytest.mark.usefixtures("wrong_plug_ins")
def test_plug_ins_that_cannot_be_used_are_named():
    done = CliRunner().invoke(doctor, standalone_mode=False)
    assert done.return_value == 1
    assert "plug-in: model gone (no_such_module_of_ours)" in done.output
    assert "problem: wrong.vote: unknown entry point group vidence.strategys; known: " in done.output
    assert "'gone' in vidence.models names no_such_module_of_ours, which cannot be imported: " in done.output


def test_a_model_is_tried_and_what_it_says_is_shown():
    done = CliRunner().invoke(doctor, ["--model", "scripted:It is blue."], standalone_mode=False)
    assert "reply after" in done.output
    assert "names the colour: yes" in done.output
    assert done.return_value == 0, done.output


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("scripted:A", "does not name the colour of the picture"),
        ("scripted:A?fail=500", "gave no reply: TransientModelError"),
        ("scriptet:A", "cannot be asked: there is no model named 'scriptet'"),
    ],
)
def test_what_is_wrong_with_a_model_is_said(spec, said):
    done = CliRunner().invoke(doctor, ["--model", spec], standalone_mode=False)
    assert done.return_value == 1
    assert f"problem: {spec} {said}" in done.output


def test_what_is_missing_is_named_with_the_command_that_adds_it(monkeypatch):
    monkeypatch.setattr(doctors, "is_importable", lambda module: module not in ("torchvision", "vllm"))
    lines = CliRunner().invoke(doctor, standalone_mode=False).output.splitlines()
    place = next(k for k, line in enumerate(lines) if line.endswith("lacks torchvision"))
    assert "transformers" in lines[place]
    assert "pip install" in lines[place + 1]
    assert any(line.endswith("lacks vllm") for line in lines)


@pytest.mark.parametrize(
    ("torch", "vision", "said"),
    [
        ("2.13.0+cpu", "0.28.0", "torchvision==0.28.0 --index-url https://download.pytorch.org/whl/cpu"),
        ("2.13.0", "0.28.0+cpu", "torchvision==0.28.0"),
        ("2.13.0+cpu", "0.28.0+cpu", ""),
        ("2.13.0", "0.28.0", ""),
    ],
)
def test_torchvision_for_another_device_than_torch_is_wrong(monkeypatch, torch, vision, said):
    versions = {"torch": torch, "torchvision": vision}
    monkeypatch.setattr(doctors.importlib.metadata, "version", versions.__getitem__)
    found = doctors._devices()
    assert [one.endswith(said) for one in found] == [True] * bool(said)
