"""The form as it is drawn: a field for each text, beside it what machines and reviewers say."""

import pytest

from vidence.studio.pages.annotate_fields import NUMBER, FormContext, group_of, groups_of
from vidence.studio.rules.faults import Shape, fault, form_faults
from vidence.studio.rules.forms import FORMS, fields_of, read_form
from vidence.studio.rules.wording import Condition, Knowledge, Mark, Option, Wording

FULL = Wording(
    question="Which?",
    right=Option(id="0123456789ab", text="a"),
    wrong=tuple(Option(id="0123456789ab", text=one) for one in "bcde"),
    steps=("one", "two"),
    evidence=(Mark(text="seen"),),
    conditions=(Condition(text="a cup"),),
    knowledge=(Knowledge(title="Cups"),),
)
FILMS = (Shape(), Shape())


def drawn(name, kind, written=FULL, shapes=FILMS, **more):
    beside = FormContext(media=["a.mp4", "b.mp4"], shapes=shapes, new_id=lambda: "ffffffffffff", **more)
    return groups_of(written, FORMS[name], kind, beside=beside)


def fields(groups):
    return {field.name: field for group in groups for row in group.rows for field in row.fields}


@pytest.mark.parametrize(("name", "kind"), [(one.name, kind) for one in FORMS.values() for kind in one.kinds])
def test_each_field_of_a_form_is_read_again(name, kind):
    found = fields(drawn(name, kind))
    told = {one.name: one.value for one in found.values()}
    again = fields_of(read_form(told, new_id=lambda: "eeeeeeeeeeee"))
    assert {k: v for k, v in again.items() if k in found} == {
        k: v for k, v in told.items() if v and k in again
    }
    assert not [one for one in found if NUMBER in one]


@pytest.mark.parametrize(("name", "kind"), [(one.name, kind) for one in FORMS.values() for kind in one.kinds])
def test_each_fault_leads_to_a_part_of_the_form(name, kind):
    groups = {one.name for one in drawn(name, kind)}
    for one in form_faults(Wording(), FORMS[name], kind, media=[Shape()]):
        assert group_of(one.field) in groups, one


def test_what_is_said_stands_at_its_field_and_marks_at_their_part():
    said = (fault("evidence-0-end", "nothing there"), fault("evidence", "too few"))
    groups = drawn("mmvu", "mcq", said=said, marks=(("choices", "two are right"), ("answer", "it is not")))
    assert [one.words for one in fields(groups)["evidence-0-end"].said] == ["nothing there"]
    by_name = {one.name: one for one in groups}
    assert [one.words for one in by_name["evidence"].said] == ["too few"]
    assert by_name["wrong"].marks == ("two are right", "it is not")


def test_evidence_has_the_places_of_its_media():
    names = {
        kinds: {
            name.removeprefix("evidence-0-")
            for name in fields(drawn("mmvu", "mcq", shapes=tuple(Shape(kind=one) for one in kinds)))
            if name.startswith("evidence-0-")
        }
        for kinds in (("video", "video"), ("image", "image"), ("video", "image"))
    }
    rest, times, box = (
        {"medium", "kind", "text", "steps"},
        {"start", "end", "frames"},
        {"x0", "y0", "x1", "y1"},
    )
    assert names == {
        ("video", "video"): rest | times,
        ("image", "image"): rest | box,
        ("video", "image"): rest | times | box,
    }
    found = fields(drawn("mmvu", "mcq", shapes=(Shape(kind="image"), Shape(kind="image"))))
    assert found["evidence-0-medium"].choices == (("0", "picture 1: a.mp4"), ("1", "picture 2: b.mp4"))
    found = fields(drawn("mmvu", "mcq", written=Wording()))
    assert {one.value for name, one in found.items() if name.endswith("-id")} == {"ffffffffffff"}
