"""Statements about members, and which single one out."""

import random

from subjects.composing import event_log, street
from vidence.make.compose.atoms import AskableAttribute, Statements
from vidence.make.compose.scene_bits import SceneBits

STREET = SceneBits(street())


def test_statements_are_true_of_some_and_not_of_all():
    statements = Statements(STREET, negations=True)
    for category in statements.categories:
        for one in statements.of(category):
            assert 0 < one.masks.must <= one.masks.may < STREET.everybody[category]
    assert {one.how for one in Statements(STREET, negations=False).of("person")} == {"=="}


def test_what_can_be_asked():
    asked = Statements(STREET, negations=False).asked()
    assert AskableAttribute("person", "holds", "object") in asked
    assert AskableAttribute("event", "kind", "action") in asked
    log = Statements(SceneBits(event_log()), negations=False)
    assert log.asked() == (
        AskableAttribute("event", "kind", "action"),
        AskableAttribute("event", "object", "object"),
        AskableAttribute("event", "kind; object", "event"),
    )
    assert {one.attribute for one in log.of("event")} == {"kind", "object"}


def test_one_member_is_left():
    statements = Statements(STREET, negations=False)
    for member in range(10):
        found = statements.single("person", member, random.Random(member), n=3, avoided={"hair"})
        rest = STREET.everybody["person"]
        for one in found or ():
            assert one.attribute != "hair"
            rest &= one.masks.may
        assert found is None or rest == 1 << member


def test_what_a_member_is_comes_before_the_only_thing_said_that_it_is_not():
    statements = Statements(STREET, negations=True)
    for member in range(10):
        drawn = statements.drawn("person", member, random.Random(member), avoided=["hair"])
        assert {one.attribute for one in drawn} == {"top", "hat", "glasses", "bag", "holds"}
        signs = [one.how for one in drawn]
        assert signs == ["=="] * (len(signs) - 1) + ["!="]
        some = statements.some("person", member, random.Random(member), n=3)
        assert len({one.attribute for one in some}) == len(some) == 3
        assert {one.how for one in some} == {"=="}


def test_whom_all_attributes_do_not_single_out_is_counted():
    n = len(STREET.members["person"])
    assert Statements(STREET, negations=True).alike().startswith(f"0 of {n} (person), ")
    log = SceneBits(event_log())
    alike = Statements(log, negations=True).alike()
    assert alike.endswith(f" of {len(log.members['event'])} (event)")
