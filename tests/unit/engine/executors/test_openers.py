"""Which models are opened where."""

import sys

import pytest

from vidence.engine.executors.openers import opener
from vidence.errors import UsageError

SERVER = "openai:m?base_url=http://127.0.0.1/v1"


def test_everything_is_opened_here_where_the_work_is():
    assert opener("local", ["transformers:some/model", SERVER]) is None


def test_servers_are_asked_from_here_wherever_the_work_is():
    assert opener("ray", [SERVER, "baseline:longest"]) is None


def test_a_server_beside_weights_is_opened_here():
    open_model = opener("ray", ["transformers:some/model?temperature=0", SERVER, "baseline:longest"])
    assert open_model("baseline:longest").by_item


def test_a_place_that_is_none_is_refused_and_ray_is_named_where_it_lacks(monkeypatch):
    with pytest.raises(UsageError, match="'dask' is no place to work"):
        opener("dask", [SERVER])
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="--on ray needs Ray"):
        opener("ray", [SERVER])


def test_settings_of_a_cluster_are_checked_before_anything_is_opened():
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.raises(UsageError, match="the first bound is above the second"):
        opener("ray?replicas=3..2", ["transformers:some/model"])


def test_weights_on_processors_are_replicas_as_well():
    pytest.importorskip("ray", reason="Ray is not installed")
    assert opener("ray", ["transformers:some/model?device=cpu"]) is not None
