"""Labels: what one can say, and each thing that is refused."""

import pytest

from vidence.errors import DataError, UsageError
from vidence.explain.errors.labels import Label, UncheckedLabel, keep_labels, label_of, read_labels
from vidence.explain.errors.taxonomies import load_taxonomy

HUMANPCR, CHAINS = load_taxonomy("humanpcr"), load_taxonomy("perceptioncomp")
THREE = "\u2460 A man waves. \u2461 He sits. \u2462 He leaves. Where?"


@pytest.fixture
def planted(plant):
    return plant({"a": {"knowledge": 0.5}}, n=40)


def said(planted, taxonomy=HUMANPCR, by="person", **given):
    shown = planted.packet.rows[0]
    drawn = planted.packet.key.reply_of()[shown.row]
    return label_of(UncheckedLabel(**given), shown, drawn, labeller="ann", by=by, taxonomy=taxonomy)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "clumsiness"}, "kind 'clumsiness' is not one of missing-proactive, missing-referred"),
        ({"kind": "visual-extraction"}, "kind 'visual-extraction' is not one of"),
        (
            {"kind": "knowledge", "quote": "it is raining"},
            "the quote 'it is raining' is not in the reply; copy",
        ),
        ({"kind": "knowledge", "verdicts": "right"}, "verdicts, but the taxonomy has none; leave the column"),
        ({"kind": "knowledge", "second": "clumsiness"}, "second kind 'clumsiness' is not one of"),
        ({"kind": "knowledge", "second": "knowledge"}, "second kind 'knowledge' repeats the first"),
    ],
)
def test_a_label_that_does_not_fit_says_why(planted, given, says):
    found = said(planted, **given)
    assert isinstance(found, str)
    assert found.startswith(says)


def test_verdicts_decide_the_first_wrong_condition_and_models_quote(plant):
    planted = plant({"a": {"knowledge": 0.5}}, n=40)
    assert isinstance(said(planted, kind="knowledge"), Label)
    assert said(planted, kind="knowledge", by="model").startswith("no quote; a model's label needs words")
    # Blanks and line ends of a quote are not looked at.
    assert isinstance(said(planted, kind="knowledge", by="model", quote="the door. so it"), Label)
    planted = plant({"a": {"perceptual": 0.5}}, n=40, taxonomy="perceptioncomp", question=THREE)
    found = said(planted, CHAINS, kind="perceptual", verdicts="Right; partial; not reached")
    assert isinstance(found, Label)
    assert found.first_wrong == 2
    linked = said(planted, CHAINS, kind="reasoning-chain", verdicts="right;right;right")
    assert isinstance(linked, Label)
    assert linked.first_wrong is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"verdicts": "right;wrong"}, "2 verdicts for 3 conditions"),
        (
            {"verdicts": "right;false;wrong"},
            "verdict 'false' is not one of right, wrong, partial, not reached",
        ),
        ({"verdicts": "right;not reached;right"}, "verdict 'right' after a condition that was not reached"),
        ({"verdicts": "right;right;right"}, "kind 'perceptual' needs a condition that is wrong or partial"),
    ],
)
def test_verdicts_that_do_not_fit_are_refused(plant, given, says):
    planted = plant({"a": {"perceptual": 0.5}}, n=40, taxonomy="perceptioncomp", question=THREE)
    found = said(planted, CHAINS, kind="perceptual", **given)
    assert isinstance(found, str)
    assert says in found


def test_labels_of_people_and_models_lie_apart(planted, tmp_path):
    for by, labeller in (("person", "ann"), ("model", "openai:gpt-4.1")):
        labels = planted.labels(labeller=labeller, by=by, n=3)
        path, content = keep_labels(tmp_path, labels, labeller=labeller, by=by)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    names = [p.relative_to(tmp_path).as_posix() for p in sorted(tmp_path.rglob("*.jsonl"))]
    assert names == ["labels/models/openai-gpt-4.1-37846307.jsonl", "labels/people/ann.jsonl"]
    assert len(read_labels(tmp_path, planted.packet, taxonomy=HUMANPCR)) == 6
    with pytest.raises(DataError, match="line 1: kind 'knowledge' is not one of visual-perception"):
        read_labels(tmp_path, planted.packet, taxonomy=load_taxonomy("mmvu"))
    with pytest.raises(UsageError, match="has no name"):
        keep_labels(tmp_path, (), labeller="::", by="person")


@pytest.mark.parametrize("names", [("a/b", "a-b", "a:b"), ("a-b", "a/b", "a:b")])
def test_labellers_whose_names_look_alike_as_files_keep_their_own(plant, planted, tmp_path, names):
    def keep(labeller):
        labels = planted.labels(labeller=labeller, by="model", n=3)
        path, content = keep_labels(tmp_path, labels, labeller=labeller, by="model")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path.name

    files = [keep(name) for name in names]
    assert len(set(files)) == 3
    assert [keep(name) for name in names] == files
    with pytest.raises(DataError, match="line 1: there is no row"):
        read_labels(tmp_path, plant({"a": {"knowledge": 0.5}}, n=20, seed=1).packet, taxonomy=HUMANPCR)
    found = read_labels(tmp_path, planted.packet, taxonomy=HUMANPCR)
    assert {name: sum(label.labeller == name for label in found) for name in names} == dict.fromkeys(names, 3)
