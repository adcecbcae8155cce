"""The diagnostics of a panel: on which runs, with which options, and what they want."""

from pathlib import Path

import pytest

from vidence.engine.environment import Environment
from vidence.engine.panel import (
    Condition,
    PanelBenchmark,
    PanelDiagnostic,
    PanelFile,
    PanelModel,
    check_panel,
    planned,
)
from vidence.engine.panel_diagnostics import examinations
from vidence.errors import TrustError, UnknownNameError, UsageError

MRFS = PanelDiagnostic(diagnostic="mrfs?mode=exhaustive", options={"max": 4})


def panel(*diagnostics: PanelDiagnostic, **fields: object) -> PanelFile:
    return PanelFile(
        **{
            "benchmarks": (
                PanelBenchmark(benchmark="table", data="q.jsonl"),
                PanelBenchmark(benchmark="table", data="r.jsonl", name="other", trials=False),
            ),
            "models": (PanelModel(model="scripted:A", name="a"), PanelModel(model="scripted:B", name="b")),
            "conditions": (Condition(name="few", settings={"frames": 2}), Condition(name="many")),
            "diagnostics": diagnostics,
        }
        | fields
    )


def found(made: PanelFile):
    return examinations(made, planned(made, beside=Path("/beside"), root=Path("/panels")))


def test_a_diagnostic_is_made_on_every_run_where_nothing_else_is_said():
    some = found(panel(MRFS))
    assert len(some) == 8
    assert some[0].options == {"mode": "exhaustive", "max": "4"}
    assert some[0].label == "mrfs (mode exhaustive, max 4) on table, a, few"
    assert some[0].name == "mrfs-max-4-mode-exhaustive"
    assert str(some[0].run.folder) == "/panels/table/a--few"


def test_names_of_the_panel_choose_the_runs():
    one = PanelDiagnostic(
        diagnostic="modality", benchmarks=("other",), models=("b",), conditions=("few", "many")
    )
    assert [(at.run.benchmark, at.run.label, at.run.has_trials) for at in found(panel(one))] == [
        ("other", "b, few", False),
        ("other", "b, many", False),
    ]


@pytest.mark.parametrize("field", ["benchmarks", "models", "conditions"])
def test_a_name_that_the_panel_does_not_have_is_refused(field):
    with pytest.raises(UnknownNameError, match=f"{field[:-1]} of the panel"):
        found(panel(PanelDiagnostic(diagnostic="mrfs", **{field: ("nobody",)})))


def test_an_option_that_there_is_not_and_a_diagnostic_twice_are_refused():
    with pytest.raises(UsageError, match="mrfs"):
        found(panel(PanelDiagnostic(diagnostic="mrfs", options={"maximum": 4})))
    with pytest.raises(UsageError, match="is in the panel twice"):
        found(panel(MRFS, PanelDiagnostic(diagnostic="mrfs?mode=exhaustive&max=4", models=("a",))))


def test_what_a_diagnostic_would_refuse_is_refused_before_anything_is_asked():
    with pytest.raises(UsageError, match="on table, a, few: diagnostics show parts of a video"):
        found(panel(MRFS, settings={"layout": "video"}))
    drawn = PanelDiagnostic(diagnostic="best-of-n")
    with pytest.raises(UsageError, match="on table, a, few: 8 candidates at temperature 0"):
        found(panel(drawn, settings={"temperature": 0.0}))


def test_whom_a_diagnostic_asks_needs_the_users_word(tmp_path):
    stranger = "openai:m?base_url=https://stranger.example/v1"
    one = PanelDiagnostic(diagnostic="best-of-n", options={"rewards": ["self", stranger]})
    made = panel(one, settings={"temperature": 1.0})
    runs = planned(made, beside=Path("/beside"), root=Path("/panels"))
    more = [need for at in examinations(made, runs) for need in at.needs()]
    place = Environment(cache_root=tmp_path / "cache", state_root=tmp_path / "state")
    with pytest.raises(TrustError, match=r"to ask https://stranger\.example"):
        check_panel(runs, source=Path("p.toml"), environment=place, is_trusted=False, more=more)
    check_panel(runs, source=Path("p.toml"), environment=place, is_trusted=False)
