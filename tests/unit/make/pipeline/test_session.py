"""The models of a configuration are asked only where the user has allowed what it names."""

from functools import partial
from pathlib import Path

import pytest

from vidence.engine.environment import Environment
from vidence.engine.limits import AskLimits
from vidence.errors import StoreError, TrustError
from vidence.make.pipeline.cache import MadeAway, Stage, Unit
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import BuildContext, MakeOverrides, Results, Session

NAMED = {"cards": "openai:m?api_key_env=SECRET_TOKEN"}


def models(folder: Path, *, is_trusted: bool, named: dict[str, str]) -> dict[str, str]:
    place = Environment(cache_root=folder / "cache", state_root=folder / "state")
    context = BuildContext.of(place, is_trusted=is_trusted)
    found = context.models(named, source=folder / "config.toml", limits=AskLimits())
    return {name: found.spec(name) for name in found.named}


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


def pictures_of(paths: tuple[str, ...]) -> MadeAway[int]:
    """What a worker of another machine brings."""
    return MadeAway(value=1, files=dict.fromkeys(paths, b"picture"))


@pytest.mark.parametrize("path", ["../items.jsonl", "/vidence-outside", "link/items.jsonl", "a/../../x"])
def test_a_worker_of_another_machine_writes_into_the_set_only(tmp_path: Path, path: str):
    out = tmp_path / "set"
    out.mkdir()
    (out / "link").symlink_to(tmp_path)
    place = Environment(cache_root=tmp_path / "cache", state_root=tmp_path / "state", n_workers=2)
    session = Session(
        root=tmp_path, out=out, context=BuildContext.of(place, jobs=2), overrides=MakeOverrides()
    )
    stage = Stage(name="looks", kind=int, settings={})

    def made(*bad: str) -> Results[int]:
        units = [
            Unit(
                stage=stage,
                name=name,
                inputs={"video": name},
                make=int,
                apart=lambda _, p=paths: partial(pictures_of, p),
            )
            for name, paths in {"a": ("p/1.jpg",), "b": ("p/2.jpg", *bad)}.items()
        ]
        return session.compute_apart("looks", units, folder=out / "p")

    with pytest.raises(StoreError, match="lies outside"):
        made(path)
    assert not (out / "p" / "2.jpg").exists()
    assert {one.name for one in tmp_path.iterdir()} <= {"set", "cache", "state"}
    assert not Path("/vidence-outside").exists()
    assert made().made["b"].value == 1
    assert (out / "p" / "2.jpg").read_bytes() == b"picture"


def test_what_came_in_and_was_not_dropped_is_kept(tmp_path: Path) -> None:
    context = BuildContext(cache_root=tmp_path / "cache", memory=tmp_path / "replies.sqlite")
    session = Session(root=tmp_path, out=tmp_path / "set", context=context, overrides=MakeOverrides())
    gone = Dropped(what="b", stage="looks", reason="blurred", detail="")
    session.close("looks", unit="tracks", taken=["a", "b", "c"], dropped=[gone])
    (account,) = session.ledger.stages
    assert (account.n_in, account.n_out, account.dropped) == (3, 2, {"blurred": 1})
