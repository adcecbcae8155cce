"""The panel of a benchmark: who is asked, with whole paths."""

import tomllib

import msgspec
import pytest

from vidence.engine.panel import PanelFile, planned
from vidence.errors import UnknownNameError, UsageError
from vidence.make.lights.tables import PanelRules, write_panel


def written(rules: PanelRules, folder) -> PanelFile:
    path = write_panel(rules, folder / "made", title="Lights", root=folder)
    assert path == folder / "made" / "panel.toml"
    return msgspec.convert(tomllib.loads(path.read_text()), PanelFile)


def test_models_are_asked_about_the_clips_by_images_or_by_a_montage(tmp_path):
    rules = PanelRules(
        models=("baseline:random", "replay:b/m1.jsonl", "replay:a/m1.jsonl?text=said"),
        montages=("gemini:gemini-2.5-pro",),
        max_cost=2.5,
    )
    with pytest.raises(UsageError, match="two models are called 'm1'"):
        written(rules, tmp_path)
    panel = written(msgspec.structs.replace(rules, models=rules.models[::2]), tmp_path)
    recorded, montage = panel.models[1:]
    assert recorded.model == f"replay:{(tmp_path / 'a' / 'm1.jsonl').resolve()}?text=said"
    assert (recorded.name, recorded.settings) == ("m1", {"shuffle_choices": False})
    assert [one.rows for one in panel.models] == [("actpld/frames",), ("actpld/frames",), ("actpld/montage",)]
    assert montage.model == "gemini:gemini-2.5-pro"
    assert panel.max_cost == 2.5
    assert [(one.name, one.data) for one in panel.benchmarks] == [("choices", "."), ("logs", ".")]


def test_a_panel_without_a_word_of_the_user_asks_nobody_outside(tmp_path):
    panel = written(PanelRules(), tmp_path)
    assert [one.name or one.model for one in panel.models] == ["baseline:random"]
    assert panel.benchmarks[1].settings == {"protocol": "thought-log"}
    runs = planned(panel, beside=tmp_path / "made", root=tmp_path / "runs")
    assert [run.plan.parser for run in runs] == ["robust", "description-match"]


def test_judges_mark_the_logs(tmp_path):
    panel = written(PanelRules(judges=("gemini:gemini-2.5-pro",)), tmp_path)
    assert panel.benchmarks[0].settings == {}
    assert panel.benchmarks[1].settings == {
        "protocol": "thought-log",
        "judge": "description-match",
        "judge_models": ["gemini:gemini-2.5-pro"],
    }


@pytest.mark.parametrize("rules", [PanelRules(models=("opnai:x",)), PanelRules(montages=("opnai:x",))])
def test_a_model_that_there_is_not_is_named(tmp_path, rules):
    with pytest.raises(UnknownNameError, match="opnai"):
        written(rules, tmp_path)
