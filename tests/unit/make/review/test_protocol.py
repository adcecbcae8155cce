"""The protocols that come along, and what is refused in one of a user."""

import pytest

from vidence.errors import UnknownNameError, UsageError
from vidence.make.review.protocol import Check, Scale, load_protocol, protocol_bytes, protocol_names

OWN = """
title = "own"
[[stages]]
role = "reviewer"
[[stages.checks]]
id = "right"
words = "Is it right?"
"""


def test_six_protocols_come_along():
    assert protocol_names() == ("actpld", "herbench", "humanpcr-pc", "humanpcr-r", "mmvu", "perceptioncomp")
    shape = {name: load_protocol(name) for name in protocol_names()}
    assert {name: (len(one.stages), one.returns) for name, one in shape.items()} == {
        "actpld": (1, 0),
        "herbench": (1, 0),
        "humanpcr-pc": (1, 1),
        "humanpcr-r": (2, 1),
        "mmvu": (1, 1),
        "perceptioncomp": (1, 1),
    }
    assert [one.id for one in shape["herbench"].stages[0].checks] == ["frames", "unique", "apart"]
    assert len(shape["humanpcr-pc"].stages[0].checks) == 4
    assert [one.id for one in shape["humanpcr-r"].stages[0].checks if one.kind == "count"] == [
        "evidence",
        "proactive",
    ]
    assert all(one.source and one.departs for one in shape.values())
    assert {name for name, one in shape.items() if one.qualification} == {"humanpcr-r", "mmvu"}


def test_answers_are_checked():
    count = Check(id="n", words="How many?", kind="count", least=2)
    assert [count.fault(said) for said in ("2", "-1", "two")].count("") == 1
    assert (count.is_failed("1"), count.is_failed("2")) == (True, False)
    maybe = Check(id="x", words="Is it?", na=True)
    assert maybe.fault("na") == ""
    assert "yes, no" not in maybe.fault("na")
    assert Scale(id="s", words="How much?").fault(6) == "6 under 's'; expected 1 to 5"


def test_one_of_several_words_is_picked():
    pick = Check(id="k", words="Which?", kind="pick", options=("clear", "vague"), passing=("clear",), na=True)
    assert [pick.fault(said) for said in ("clear", "vague", "na")] == [""] * 3
    assert pick.fault("yes") == "'yes' under 'k'; expected clear or vague or na"
    assert [pick.is_failed(said) for said in ("clear", "vague", "na")] == [False, True, False]
    assert not Check(id="k", words="Which?", kind="pick", options=("a", "b")).is_failed("b")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "pick"}, "is 'pick' and has 0 options"),
        ({"options": ("a",)}, "is 'yes-no' and has 1 options"),
        ({"kind": "pick", "options": ("Clear",)}, "expected small letters"),
        ({"kind": "pick", "options": ("a",), "passing": ("b",)}, "none of its options"),
    ],
)
def test_a_check_whose_words_make_no_sense_is_refused(settings, said):
    with pytest.raises(UsageError, match=said):
        Check(id="k", words="Which?", **settings)


def test_a_protocol_of_a_user(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    assert load_protocol(str(path)).stages[0].checks[0].needed
    assert protocol_bytes(str(path)) == OWN.encode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("words", "sentence"), "there is no setting"),
        (("reviewer", "meta"), "the roles of the stages are meta"),
        (('"right"', '"right"\nneeded = 1'), r"own\.toml:7"),
        (
            ('words = "Is it right?"', 'words = "a"\n[[stages.checks]]\nid = "right"\nwords = "b"'),
            "called 'right'",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, change, said):
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(*change))
    with pytest.raises(UsageError, match=said):
        load_protocol(str(path))


def test_names_that_are_not_there():
    with pytest.raises(UnknownNameError, match="mmvu"):
        load_protocol("mmvus")
    with pytest.raises(UsageError, match="cannot be read"):
        protocol_bytes("no/such.toml")
