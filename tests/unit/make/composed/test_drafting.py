"""Drafts and reports of proven compositions."""

import dataclasses

import msgspec

from subjects.composing import searched, street
from vidence.make.composed.drafting import Words, draft_of, finished
from vidence.make.composed.proofs import differences, faults_of_options, proved
from vidence.make.composed.report import report_text
from vidence.make.composing.offers import Offer, OptionRules, offer
from vidence.make.composing.scene_bits import SceneBits
from vidence.make.pipeline.ledger import Account
from vidence.make.proving.world import World

SCENE = street()


def drafted():
    world, bits = World(SCENE), SceneBits(SCENE)
    for made in searched(SCENE, n=150):
        (proof,) = proved([made], {"lane": world})
        found = offer(proof, bits, OptionRules(), seed=0)
        if isinstance(found, Offer):
            words = Words(question="Which?", verdict="same")
            draft = draft_of(made, proof, found, words=words, scene=SCENE, benchmark="set")
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
        assert differences(made.found, proof) == ()


def test_what_rests_on_a_tracker_goes_to_people():
    silver = dataclasses.replace(SCENE, header=msgspec.structs.replace(SCENE.header, truth="silver tracks"))
    made, proof, found, draft = next(drafted())
    assert draft.doubt == ""
    words = Words(question="Which?", verdict="same")
    doubtful = draft_of(made, proof, found, words=words, scene=silver, benchmark="set")
    assert (doubtful.truth, doubtful.doubt) == ("silver tracks", "identities-by-tracker")


def test_options_that_hide_a_condition_are_found():
    world = World(SCENE)
    made, proof, found, _ = next(one for one in drafted() if not one[2].without_place)
    assert faults_of_options(made, found, proof=proof, world=world) == []
    hidden = Offer(composition=found.composition, options=(found.options[0],))
    assert faults_of_options(made, hidden, proof=proof, world=world)[0].startswith("options-hide")


def test_the_report_shows_each_witness():
    _, proof, _, draft = next(drafted())
    account = Account(stages=(), questions={})
    text = report_text("set", [draft], {draft.draft_id: proof}, account=account, sentences=["one"])
    assert f"### {draft.draft_id}" in text
    assert text.count(f"| {proof.conditions[-1].id} (") == 1
