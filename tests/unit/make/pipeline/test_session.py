"""The models of a configuration are asked only where the user has allowed what it names."""

from pathlib import Path

import pytest

from vidence.engine.environment import Environment
from vidence.engine.limits import AskLimits
from vidence.errors import TrustError
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import BuildContext, MakeOverrides, Session

NAMED = {"cards": "openai:m?api_key_env=SECRET_TOKEN"}


def models(folder: Path, *, is_trusted: bool, named: dict[str, str]) -> dict[str, str]:
    place = Environment(cache_root=folder / "cache", state_root=folder / "state")
    context = BuildContext.of(place, is_trusted=is_trusted)
    found = context.models(named, source=folder / "config.toml", limits=AskLimits())
    return {name: found.spec(name) for name in found.names}


def test_the_word_is_wanted_once(tmp_path):
    with pytest.raises(TrustError, match="SECRET_TOKEN"):
        models(tmp_path, is_trusted=False, named=NAMED)
    assert models(tmp_path, is_trusted=True, named=NAMED) == NAMED
    assert models(tmp_path, is_trusted=False, named=NAMED) == NAMED


def test_the_usual_key_and_this_machine_need_no_word(tmp_path):
    named = {"a": "openai:m", "b": "openai:m?base_url=http://localhost:8000/v1"}
    assert models(tmp_path, is_trusted=False, named=named) == named


def test_a_context_without_a_place_allows_nothing(tmp_path):
    context = BuildContext(cache_root=tmp_path, memory=tmp_path / "m.sqlite")
    with pytest.raises(TrustError):
        context.models(NAMED, source=tmp_path / "config.toml", limits=AskLimits())


def test_what_came_in_and_was_not_dropped_is_kept(tmp_path: Path) -> None:
    context = BuildContext(cache_root=tmp_path / "cache", memory=tmp_path / "replies.sqlite")
    session = Session(root=tmp_path, out=tmp_path / "set", context=context, overrides=MakeOverrides())
    gone = Dropped(what="b", stage="looks", reason="blurred", detail="")
    session.close("looks", unit="tracks", taken=["a", "b", "c"], dropped=[gone])
    (account,) = session.ledger.stages
    assert (account.n_in, account.n_out, account.dropped) == (3, 2, {"blurred": 1})
