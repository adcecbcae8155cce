"""What an answer rests on."""


def test_facts_completeness_and_margins(verdict):
    found = verdict(
        'the(bike(in_front_of(the(shop(sign == "square"))))).colour',
        more=[{"complete": "sign", "for": "shop"}],
    )
    assert found.proof.rests_on == ("k2 in_front_of s2", "k2.colour=red", "s2.sign=square")
    assert found.proof.closed == ("bike", "bike.in_front_of", "shop", "shop.sign")
    assert found.proof.margins == {}


def test_when_it_is_seen(verdict):
    seen = {"fact": "attribute", "of": "p9", "name": "top", "value": "red", "seen_at": [113.5]}
    text = 'A = the(person(top == "black", hat == "green", glasses == "no"))\nA.bag'
    found = verdict(text, without=[{"of": "p9", "name": "top"}], more=[seen])
    witness = found.proof.conditions[0].without.witness
    assert (witness.binding, witness.seen_at, witness.spans) == ({"A": "p9"}, (113.5,), ((112.0, 140.0),))
    assert found.proof.spans == ((35.0, 70.0),)
    assert found.proof.counted == ()


def test_what_is_counted_is_named_with_its_times(verdict):
    found = verdict('count(person(top == "white"))')
    assert found.proof.answer.value == 3
    assert found.proof.counted == ("p1", "p6", "p8")
    assert found.proof.spans == ((2.0, 30.0), (75.0, 110.0), (120.0, 150.0))
