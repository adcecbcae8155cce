"""What models add to an audit: reasons against single questions, and how the panel is asked."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.blind_panel import PanelFinding, Vote
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.modality import ModalityFinding
from vidence.explain.diagnostics.mrfs import MrfsFinding
from vidence.records import Failed, Item
from vidence.report.diagnosis import Diagnosed
from vidence.report.item_diagnoses import MODALITY, MRFS, PANEL, ItemDiagnoses, panel_options
from vidence.tables.table import Column, Row, Table

ITEM = Item(item_id="q", question="Which?", choices=("a", "b", "c", "d"), answer="A")
OPEN = Item(item_id="q", question="Which?", answer="a pan", answer_kind="text")


def panel(n_right: int, *, is_flagged: bool | None) -> PanelFinding:
    votes = tuple(
        Vote(member="m", run=run, order=(), mark=ReplyScore(value=1.0, kind="answered")) for run in range(4)
    )
    return PanelFinding(votes=votes, n_right=n_right, is_flagged=is_flagged)


def modality(n_frames=8, **solved: bool | None) -> ModalityFinding:
    """Wrong under every condition that is not given."""
    conditions = dict.fromkeys(("text", "central", "full", "shuffled"), False)
    return ModalityFinding(marks={}, n_frames=n_frames, solved=conditions | solved)


def mrfs(category="undefined", **right: bool | None) -> MrfsFinding:
    return MrfsFinding(
        category=category, right={int(n.strip("n")): is_right for n, is_right in right.items()}
    )


def asked(item=ITEM, statements=(), **findings) -> ItemDiagnoses:
    names = {"panel": PANEL, "modality": MODALITY, "mrfs": MRFS}
    return ItemDiagnoses(
        found={
            names[name]: Diagnosed(
                diagnostic=SimpleNamespace(),
                path=Path("x"),
                plan=SimpleNamespace(),
                header=SimpleNamespace(),
                examined=(Examined(item=item, finding=finding),),
                statements=statements,
                sentences=(),
            )
            for name, finding in findings.items()
        }
    )


def said(**findings):
    """Kind, severity and words of what speaks against the question."""
    found = asked(**findings).reasons().get("q", ())
    return [(one.kind, one.severity, one.says) for one in found]


def test_a_flagged_panel_warns_and_outdoes_what_one_model_said():
    assert said(panel=panel(3, is_flagged=True), modality=modality(text=True)) == [
        (
            "solved-blind",
            "warning",
            "3 of 4 answers from the words alone are right; one guess is right in 25 % of cases",
        )
    ]
    assert said(panel=panel(1, is_flagged=False), modality=modality(text=True)) == []
    assert said(panel=panel(1, is_flagged=None)) == []


@pytest.mark.parametrize(
    ("item", "severity", "guessed"),
    [(ITEM, "note", "; one guess is right in 25 % of cases"), (OPEN, "warning", "")],
)
def test_one_model_without_frames_is_a_note_where_it_could_guess(item, severity, guessed):
    assert said(item=item, modality=modality(text=True)) == [
        ("solved-blind", severity, f"answered from the words alone, by one model{guessed}")
    ]


@pytest.mark.parametrize(
    ("finding", "is_said"),
    [
        (modality(central=True), True),
        (modality(central=True, n_frames=1), False),
        (modality(central=True, text=True), False),
        (modality(full=True), False),
    ],
)
def test_one_central_frame_is_enough(finding, is_said):
    assert ("solved-one-frame" in [kind for kind, _, _ in said(modality=finding)]) is is_said


@pytest.mark.parametrize(
    ("findings", "n_ways"),
    [
        ({"modality": modality()}, 4),
        ({"modality": modality(), "mrfs": mrfs(n0=False, n8=False)}, 6),
        ({"mrfs": mrfs(n0=False, n8=False)}, 2),
        ({"modality": modality(), "mrfs": mrfs("error", n0=True)}, 4),
        ({"modality": modality(full=None)}, 0),
        ({"modality": modality(), "mrfs": mrfs(n0=False, n8=True)}, 0),
        ({"mrfs": mrfs("error")}, 0),
    ],
)
def test_what_was_never_answered_is_counted_over_all_ways_of_showing(findings, n_ways):
    expected = [("never-solved", "note", f"not answered in any of {n_ways} ways of showing it")]
    assert said(**findings) == (expected if n_ways else [])


def test_a_question_that_failed_has_no_reasons():
    assert said(modality=Failed(stage="model", error="E", message="m")) == []


def test_only_some_statements_stand_on_the_page_and_values_are_found_by_their_keys():
    tables = tuple(
        Table(
            name=name,
            title=name,
            label="",
            columns=(Column(key="n", title="n"),),
            rows=(Row(key="all", label="all", values=(number,)),),
        )
        for number, name in enumerate(("modality", "members", "solved"))
    )
    one = asked(modality=modality(), statements=tables)
    assert [statement.name for statement in one.statements()] == ["modality", "solved"]
    assert one.value(MODALITY, "solved", at=("all", "n")) == 2
    assert one.value(MODALITY, "solved", at=("none", "n")) is None
    assert one.value(MODALITY, "absent", at=("all", "n")) is None
    assert one.value(MRFS, "solved", at=("all", "n")) is None


@pytest.mark.parametrize(("n_models", "at_least"), [(2, "2"), (3, "3"), (4, "3"), (5, "4"), (8, "6")])
def test_three_of_four_models_must_be_right(n_models, at_least):
    models = [f"scripted:{i}" for i in range(n_models)]
    options = panel_options(models, runs=3, seed=7)
    assert (options["at_least"], options["runs"], options["seed"]) == (at_least, "1", "7")
    assert options["models"] == "|".join(models)


def test_one_model_is_asked_several_times():
    assert panel_options(["m"], runs=3, seed=7) == {"protocol": "humanpcr", "runs": "3", "seed": "7"}


def test_a_model_that_holds_the_separator_is_refused():
    with pytest.raises(UsageError, match="write %7C"):
        panel_options(["a", "b|c"], runs=1, seed=0)
