"""Drafts and reports of proven compositions."""

import dataclasses

import msgspec
import pytest

from subjects.composing import event_log, searched, street
from vidence.errors import UsageError
from vidence.make.compose.compose_drafting import draft_of, finished, read_compose, report_text
from vidence.make.compose.offers import Offer, OptionRules, offers, witness_notes
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.pipeline.ledger import Account
from vidence.make.sources.proof import Without

SCENE = street()


def drafted():
    bits = SceneBits(SCENE)
    some = list(searched(SCENE, n=150))
    options = offers(some, {SCENE.header.scene: bits}, OptionRules(), seed=0)
    for made in some:
        proof, found = made.proof, options[made.composition.composition]
        if isinstance(found, Offer):
            draft = draft_of(made, proof, found, question="Which?", scene=SCENE, benchmark="set")
            yield made, proof, found, draft


def test_a_draft_says_what_it_rests_on():
    for made, proof, found, draft in drafted():
        assert draft.choices[0] == str(proof.answer.value)
        assert [(one.start_s, one.end_s) for one in draft.evidence] == list(proof.spans)
        assert draft.truth == "person"
        assert draft.tags["shape"] == made.shape
        assert draft.tags["category"] == "outdoor tour"
        assert ("no_witness_option" in draft.tags) == bool(found.without_place)
        assert finished(made, found, "Which?").answer == proof.answer.value


def test_what_is_counted_is_evidence():
    """Each span once, said to be of what is counted; what is named and counted is said to be both."""
    scene, n = event_log(), 0
    bits = SceneBits(scene)
    some = list(searched(scene, n=100, shapes=["count", "tally"]))
    options = offers(some, {scene.header.scene: bits}, OptionRules(), seed=0)
    for made in some:
        proof, found = made.proof, options[made.composition.composition]
        if isinstance(found, Offer):
            draft = draft_of(made, proof, found, question="Which?", scene=scene, benchmark="set")
            counted = {span for name in proof.counted for span in scene.entities[name].spans}
            told = {(one.start_s, one.end_s) for one in draft.evidence if "what is counted" in one.note}
            assert len(proof.counted) == proof.answer.value
            assert told == counted
            assert [(one.start_s, one.end_s) for one in draft.evidence] == list(proof.spans)
            n += 1
    assert n >= 5


def test_conditions_that_no_option_tells_are_counted():
    """The account says of how many conditions nobody can be told that he ignored them; so do the tags."""
    first, second, *_ = drafted()
    names = [one.composition for _, one, _, _ in (first, second)]
    found = {names[0]: msgspec.structs.replace(first[2], without_place=("c1", "c2")), names[1]: second[2]}
    gone = msgspec.structs.replace(second[1].conditions[0], without=Without(outcome="nothing-fits"))
    changed = msgspec.structs.replace(second[1], conditions=(gone, *second[1].conditions[1:]))
    proofs = {names[0]: first[1], names[1]: changed}
    notes = witness_notes(found, proofs)
    tags = {
        name: draft_of(
            one[0], proofs[name], found[name], question="Which?", scene=SCENE, benchmark="set"
        ).tags
        for name, one in zip(names, (first, second), strict=True)
    }
    assert notes == [
        "2 conditions of 1 questions have a witness that is no option (tag no_witness_option)",
        "1 conditions of 1 questions have no witness: without them nothing fits (tag no_witness)",
    ]
    assert tags[names[0]]["no_witness_option"] == "c1, c2"
    assert tags[names[1]]["no_witness"] == gone.id
    assert "no_witness_option" not in tags[names[1]]


def test_what_rests_on_a_tracker_goes_to_people():
    silver = dataclasses.replace(SCENE, header=msgspec.structs.replace(SCENE.header, truth="silver tracks"))
    made, proof, found, draft = next(drafted())
    assert draft.doubt == ""
    doubtful = draft_of(made, proof, found, question="Which?", scene=silver, benchmark="set")
    assert (doubtful.truth, doubtful.doubt) == ("silver tracks", "identities-by-tracker")


def test_the_report_shows_each_witness():
    _, proof, _, draft = next(drafted())
    account = Account(stages=(), questions={})
    text = report_text("set", [draft], {draft.draft_id: proof}, account=account, sentences=["one"])
    assert f"### {draft.draft_id}" in text
    assert text.count(f"| {proof.conditions[-1].id} (") == 1


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('name = "x"\n', "scenes"),
        ('name = "x"\nscenes = "s"\n[quota]\nconditions = [4, 2]\n', r"\[4, 2\]"),
        ('name = "x"\nscenes = "s"\n[options]\nn = 1\n', "n"),
    ],
)
def test_faults_are_named(tmp_path, text, match):
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=match):
        read_compose(path)
