"""Which models are asked in batches; runs that do so are in `end_to_end/test_batches.py`."""

from pathlib import Path

import pytest

from vidence.engine.batching import open_batches
from vidence.engine.engine import Engine, ModelRules
from vidence.engine.limits import AskLimits, Budget
from vidence.engine.prepare import make_plan
from vidence.errors import UsageError


def plan(**changes):
    return make_plan("table", data=Path("q.jsonl"), model="openai:m", overrides=changes)


@pytest.fixture
def engine(tmp_path):
    made = Engine(memory=tmp_path / "replies.sqlite", limits=AskLimits(), on_event=print)
    for name, spec in {"": "openai:m?base_url=http://127.0.0.1:9/v1", "rule": "baseline:longest"}.items():
        made.add(name, ModelRules(spec=spec, budget=Budget()))
    return made


def test_a_model_that_stands_under_two_names_is_opened_once(engine):
    assert open_batches(plan(), engine, ["", ""], views=[]) == ()
    assert len(open_batches(plan(batch=True), engine, ["", ""], views=[])) == 1


@pytest.mark.parametrize(
    ("names", "changes", "said"),
    [
        (["", "rule"], {}, "models, not with baseline:longest"),
        ([""], {"layout": "video"}, "cannot send whole videos"),
    ],
)
def test_what_cannot_be_asked_in_batches_is_said(engine, names, changes, said):
    with pytest.raises(UsageError, match=said):
        open_batches(plan(batch=True, **changes), engine, names, views=[])
