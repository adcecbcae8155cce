"""A simple rule printed beside a model gets what the same rule gets as a model, in every line."""

import pytest

import vidence as package
from subjects.samples import sample_folder
from vidence import catalog
from vidence.tables.table import Table

NAMES = catalog.ready("benchmark")
RULES = ("constant", "longest", "median")


def scores(run: package.Run) -> dict[str, Table]:
    return {name: table for name, table in run.tables().items() if table.figure == "scores"}


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_worth_the_same_beside_a_model_and_as_one(tmp_path, name: str, shuffled: bool) -> None:
    """Chance is left out: it is an expectation, and `baseline:random` draws one of its outcomes."""

    def asked(model: str, out: str) -> package.Run:
        options = {
            "selector": "none",
            "repeats": 2 if shuffled else 1,
            "shuffle_choices": shuffled,
            "seed": 1,
        }
        return package.evaluate(
            name,
            data=sample_folder(name),
            model=model,
            out=tmp_path / out,
            cache=tmp_path / "cache",
            **options,
        )

    other = asked("scripted:Answer%3A B", "other")
    beside = scores(other)
    title = next(c.title for c in beside["score"].columns if c.key == "constant")
    letter = title.removeprefix("always ")
    if not any(row.item.choices for row in other.rows):
        # Free answers, for a judge to read: no rule has anything to say there.
        assert letter == "one letter"
        assert {t.value(row.key, rule) for t in beside.values() for row in t.rows for rule in RULES} == {None}
        return
    n_compared = 0
    for rule in RULES:
        spec = f"baseline:constant?letter={letter}" if rule == "constant" else f"baseline:{rule}"
        own = scores(asked(spec, rule))
        assert list(own) == list(beside)
        for table in beside.values():
            for row in table.rows:
                printed = table.value(row.key, rule)
                same = [line for line in own[table.name].rows if line.key == row.key]
                if printed is None or not same:
                    continue
                if own[table.name].value(row.key, "items") != table.value(row.key, "items"):
                    # Only 'answered only' is about the questions that this very model answered.
                    assert row.label == "answered only"
                    continue
                found = own[table.name].estimate(row.key, "accuracy")
                assert found is not None
                assert found.value == pytest.approx(printed), (table.name, row.key, rule)
                n_compared += 1
    assert n_compared >= 2
