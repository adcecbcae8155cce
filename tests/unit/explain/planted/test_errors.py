"""Packets hold the kinds that are planted, and labels say them."""

import pytest

from vidence.explain.planted.errors import RIGHT, item, plant

CHANCES = {"few": {"knowledge": 0.3, "perception": 0.2}, "many": {"knowledge": 0.1}}


def test_kinds_have_their_chances():
    planted = plant(CHANCES, n=1000, seed=1)
    for run, chances in CHANCES.items():
        said = [kind for (own, _), kind in planted.kinds.items() if own == run]
        assert len(said) == 1000
        for kind, chance in (*chances.items(), (RIGHT, 1 - sum(chances.values()))):
            assert said.count(kind) / 1000 == pytest.approx(chance, abs=0.05)


def test_labels_are_the_truth_as_somebody_says_it():
    planted = plant(CHANCES, n=60)
    truth = planted.labels()
    assert [one.kind for one in truth] == [planted.kinds[one.run, one.item_id] for one in truth]
    assert RIGHT not in {one.kind for one in truth}
    model = planted.labels(labeller="m", by="model", n=5, says=lambda kind: "refusal")
    assert [(one.row, one.kind, one.by) for one in model] == [
        (one.row, "refusal", "model") for one in truth[:5]
    ]


def test_two_questions_share_a_film():
    assert item(0).source == item(1).source != item(2).source
    assert item(0, question="Who?").question == "Who?"
