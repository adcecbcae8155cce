"""What a packet says in sentences and tables."""

import msgspec
import numpy as np

from vidence.explain.errors.sheets import report
from vidence.explain.errors.taxonomies import load_taxonomy

HUMANPCR, CHAINS = load_taxonomy("humanpcr"), load_taxonomy("perceptioncomp")
CHANCES = {"knowledge": 0.3, "missing-proactive": 0.2}


def said_of(planted, labels, taxonomy=HUMANPCR, **more):
    found = report(planted.packet, labels, taxonomy, rng=np.random.default_rng(0), **more)
    return " ".join(found.sentences), {table.name: table for table in found.tables}


def test_nothing_labelled_is_said_and_has_no_shares(plant):
    words, tables = said_of(plant({"a": CHANCES}, n=30), ())
    assert "Nobody has labelled any of them yet" in words
    assert list(tables) == ["drawn"]


def test_what_is_not_labelled_is_counted_and_no_kind(plant):
    planted = plant({"a": CHANCES, "b": CHANCES}, n=100)
    labels = planted.labels(n=30)
    words, tables = said_of(planted, labels)
    n_wrong = sum(one.is_wrong for one in planted.packet.key.drawn)
    n = len({(one.run, one.item_id) for one in labels})
    assert (
        f"{n} of {n_wrong} wrong replies are labelled by people (ann); {n_wrong - n} are not labelled"
        in words
    )
    kinds = tables["kinds:people"]
    counted = [kinds.value(kind.name, f"n:{run}") for kind in HUMANPCR.labels for run in ("a", "b")]
    assert sum(counted) == n
    assert sum(tables["drawn"].value(run, "labelled:people") for run in ("a", "b")) == n


def test_the_papers_shares_stand_beside_with_their_place(plant):
    planted = plant({"a": CHANCES, "b": CHANCES}, n=100)
    _, tables = said_of(planted, planted.labels())
    kinds = tables["kinds:people"]
    assert kinds.cell("visual-extraction", "printed").text == "37.42"
    assert kinds.columns[-1].title == "Figure 8, appendix G.3, mean over settings"
    assert kinds.estimate("knowledge", "mean") is not None


def test_models_stand_apart(plant):
    planted = plant({"a": CHANCES, "b": CHANCES}, n=100)
    labels = [*planted.labels(n=40), *planted.labels(labeller="m", by="model")]
    words, tables = said_of(planted, labels)
    assert "by the model m" in words
    assert {"kinds:people", "kinds:m", "agreement"} <= tables.keys()
    alone, _ = said_of(planted, planted.labels(labeller="m", by="model"))
    assert "No person has labelled anything" in alone


def test_chains_and_examples_have_tables(plant):
    question = "\u2460 A man waves. \u2461 He sits. Where?"
    planted = plant({"a": {"perceptual": 0.6}}, n=30, taxonomy="perceptioncomp", question=question)
    labels = [
        msgspec.structs.replace(
            planted.label(row.row, kind="perceptual"), quote="So it is B", verdicts=("right", "wrong")
        )
        for row in planted.packet.rows
    ]
    _, tables = said_of(planted, labels, CHAINS)
    assert tables["chains:people"].estimate("step-2", "share:all").value == 1
    assert tables["chains:people"].value("step-1", "wrong") == 0
    assert len(tables["examples:people"].rows) == 3
