"""Forms of studies: what can be filled in, and each fault with its sentence."""

import pytest

from vidence.explain.errors.taxonomies import load_taxonomy
from vidence.study.forms import faults_of, options_of
from vidence.study.replies import ShownReply, ShownTrial
from vidence.study.study import Field

KINDS = load_taxonomy("humanpcr")
SHOWN = ShownTrial(
    replies=(ShownReply(reply="Nobody opens the  door.\nSo B."),), conditions=("He waves.", "He sits.")
)
FORM = (
    Field(name="answer", kind="answer"),
    Field(name="kind", kind="kinds"),
    Field(name="second", kind="kinds", is_optional=True),
    Field(name="quote", kind="quote", is_optional=True),
    Field(name="verdicts", kind="verdicts", is_optional=True),
    Field(name="score", kind="scale"),
    Field(name="step", kind="scale", low=1, high=99, is_optional=True),
    Field(name="better", kind="pair"),
    Field(name="shows", kind="options", options=("yes", "part")),
    Field(name="window", kind="span", needs="shows=part"),
    Field(name="note", kind="text", is_optional=True),
)  # fmt: skip
GOOD = {"answer": "C", "kind": "refusal", "score": "4", "better": "tie", "shows": "yes"}


def test_a_label_of_a_form_is_held_to_its_taxonomy():
    form = (Field(name="kind", kind="kinds"), Field(name="each", kind="verdicts"))
    taxonomy = load_taxonomy("perceptioncomp")
    kind = next(kind.name for kind in taxonomy.kinds if kind.needs_wrong)

    def said(each):
        return faults_of(form, {"kind": kind, "each": each}, shown=SHOWN, taxonomy=taxonomy)

    assert said("right; Partial") == ()
    assert "needs a condition that is wrong or partial" in said("right; right")[0]
    other = {"kind": "refusal", "each": "right; wrong"}
    assert "the taxonomy has none" in faults_of(form, other, shown=SHOWN, taxonomy=KINDS)[0]
    assert faults_of(form[1:], {"each": "right; wrong"}, shown=SHOWN) == ()


def faults(**more):
    values = {name: value for name, value in (GOOD | more).items() if value is not None}
    return faults_of(FORM, values, shown=SHOWN, letters="ABC", taxonomy=KINDS)


def test_what_fits_the_form_can_be_taken():
    assert faults() == ()
    more = {"quote": "THE door. so b", "step": "12", "note": "x", "better": "first"}
    assert faults(**more, shows="part", window="0 - 2.5") == ()
    assert options_of(FORM[0]) == options_of(FORM[-1]) == ()  # an answer in words


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"answer": "D"}, "answer: 'D'; expected one of A, B, C"),
        ({"answer": " "}, "answer: empty; fill it in"),
        ({"kind": "visual-extraction"}, "kind: 'visual-extraction'; expected one of missing-proactive,"),
        ({"quote": "it rains"}, "quote: the quote 'it rains' is not in the reply"),
        ({"verdicts": "right"}, "verdicts: 1 verdicts for 2 conditions"),
        ({"second": "refusal"}, "second kind 'refusal' repeats the first; leave it empty, or name another"),
        ({"score": "5"}, "score: '5'; expected one of 0, 1, 2, 3, 4"),
        ({"score": "3.5"}, "score: '3.5'; expected one of"),
        ({"step": "0"}, "step: '0'; expected a whole number from 1 to 99"),
        ({"better": "gpt"}, "better: 'gpt'; expected one of first, second, tie"),
        ({"shows": "part"}, "window: empty; fill it in"),
        ({"window": "1-2"}, "window: filled in, but asked only with shows=part; leave it empty"),
        ({"shows": "part", "window": "3-1"}, "window: '3-1'; expected two times in seconds"),
        ({"score": None}, "score: empty; fill it in"),
        ({"mark": "1"}, "mark: no field; expected answer, kind,"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_field(given, says):
    (fault,) = faults(**given)
    assert fault.startswith(says)
