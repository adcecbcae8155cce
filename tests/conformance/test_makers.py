"""What every maker in the catalog must do, on a configuration of its own, ``makers/NAME`` (see `samples`)."""

import json
import shutil
from pathlib import Path

import pytest

from subjects.samples import sample_folder
from vidence import catalog
from vidence.errors import UnknownNameError, UsageError
from vidence.make.pipeline.ledger import UnitDone
from vidence.make.pipeline.session import BuildContext, MakeOverrides, Maker

NAMES = catalog.names("maker")


def make(name: str) -> Maker:
    return catalog.find("maker", name).create()


@pytest.fixture
def config(request, tmp_path) -> Path:
    shutil.copytree(sample_folder("makers", request.param), tmp_path / "set")
    return tmp_path / "set" / "config.toml"


def context(config: Path, events: list[object]) -> BuildContext:
    folder = config.parent.parent
    return BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite", on_event=events.append)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name):
    maker = make(name)
    assert maker.name == name
    assert maker.version >= 1
    assert maker.stages
    assert len(set(maker.stages)) == len(maker.stages)


@pytest.mark.parametrize("name", [one for one in NAMES if hasattr(catalog.find("maker", one), "STAGES")])
def test_its_stages_are_those_of_its_table(name):
    assert tuple(row.name for row in catalog.find("maker", name).STAGES) == make(name).stages


@pytest.mark.parametrize(("name", "config"), [(name, name) for name in NAMES], indirect=["config"])
def test_its_sample_is_made_accounted_for_and_kept(name, config):
    maker = make(name)
    outlook = maker.foresee(config, overrides=MakeOverrides(), context=context(config, []))
    assert outlook.can_make
    assert outlook.sentences
    out = config.parent.parent / "out"
    first, second = [], []
    built = maker.make(config, overrides=MakeOverrides(out=out), context=context(config, first))
    assert built.folder == out
    assert all(path.is_file() for path in built.files)
    assert sum(built.account.questions.values()) > 0
    for stage in built.account.stages:
        assert stage.n_in == stage.n_out + stage.n_dropped
    stored = json.loads((out / "account.json").read_text())
    assert [stage["stage"] for stage in stored["stages"]] == [stage.stage for stage in built.account.stages]
    again = maker.make(config, overrides=MakeOverrides(out=out), context=context(config, second))
    assert again.account == built.account
    assert [event for event in second if isinstance(event, UnitDone) and not event.was_cached] == []


@pytest.mark.parametrize(("name", "config"), [(name, name) for name in NAMES], indirect=["config"])
def test_it_refuses_what_it_does_not_know(name, config):
    maker = make(name)
    work = context(config, [])
    with pytest.raises(UsageError, match=r"no-such\.toml"):
        maker.foresee(config.with_name("no-such.toml"), overrides=MakeOverrides(), context=work)
    with pytest.raises(UnknownNameError):
        maker.make(config, overrides=MakeOverrides(until="no-such-stage"), context=work)
    config.write_text(config.read_text() + "\n[no-such-table]\nx = 1\n")
    with pytest.raises(UsageError, match="no-such-table"):
        maker.foresee(config, overrides=MakeOverrides(), context=work)
