"""Forms: what is written comes back as it was, whatever it is, and no other field is read."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.errors import UsageError
from vidence.studio.rules.forms import (
    FORMS,
    MOST_ROWS,
    MOST_SIGNS,
    fields_of,
    form_named,
    position_balance,
    read_form,
    rows_to_show,
)
from vidence.studio.rules.wording import Condition, Knowledge, Mark, Option, Wording

TEXT = st.text(max_size=12).map(lambda said: said.replace("\r\n", "\n").replace("\r", "\n").strip())
WORDS = TEXT.filter(bool)
ID = st.sampled_from(["0123456789ab", "ffffffffffff"])


def drawn():
    numbers = itertools.count()
    return lambda: f"{next(numbers):012x}"


@given(
    st.builds(
        Wording,
        question=TEXT,
        answer=TEXT,
        right=st.builds(Option, id=ID, text=TEXT, category=TEXT),
        wrong=st.lists(st.builds(Option, id=ID, text=WORDS, category=TEXT, why=TEXT), max_size=4).map(tuple),
        steps=st.lists(WORDS, max_size=4).map(tuple),
        evidence=st.lists(
            st.builds(
                Mark,
                medium=st.integers(0, 5),
                kind=st.sampled_from(["referred", "proactive", "oracle"]),
                start=TEXT,
                text=WORDS,
                steps=TEXT,
            ),
            max_size=3,
        ).map(tuple),
        conditions=st.lists(st.builds(Condition, text=WORDS, skill=TEXT, hands_on=TEXT), max_size=3).map(
            tuple
        ),
        knowledge=st.lists(st.builds(Knowledge, title=TEXT, url=WORDS), max_size=3).map(tuple),
        hints=st.lists(WORDS, max_size=3).map(tuple),
    )
)
def test_what_is_written_comes_back(written):
    assert read_form(fields_of(written), new_id=drawn()) == written


def test_a_form_is_read_in_its_order_with_names_of_ours():
    found = read_form(
        {"step-7": "last", "step-0": " ", "step-2": "first\r\nline", "evidence-3-kind": "proactive"},
        new_id=drawn(),
    )
    assert (found.steps, found.evidence) == (("first\nline", "last"), ())
    fields = {"right-text": "a", "right-id": "<b>", "wrong-0-text": "b"}
    found = read_form(fields, new_id=drawn())
    assert [found.right.id, found.wrong[0].id] == ["000000000000", "000000000001"]
    with pytest.raises(UsageError, match="10,000 at most"):
        read_form({"question": "x" * (MOST_SIGNS + 1)}, new_id=drawn())
    assert [form_named(name).name for name in FORMS] == list(FORMS)
    assert all(one.kinds for one in FORMS.values())
    with pytest.raises(UsageError, match="expected humanpcr-r"):
        form_named("no such")
    assert position_balance(["E", "E", "B", "a long text"], n_options=5) == (0, 1, 0, 0, 2)
    assert [rows_to_show("abc", spare=1), rows_to_show("", spare=1, least=4)] == [4, 4]
    assert rows_to_show("x" * 60, spare=1) == MOST_ROWS


@pytest.mark.parametrize(
    "name",
    [
        "state",
        "author",
        "roles",
        "step-0-kind",
        f"step-{MOST_ROWS}",
        "wrong-0-is_right",
        "hint-1-",
        "right-why",
        "x" * 99,
    ],
)
def test_no_other_field_is_read(name):
    with pytest.raises(UsageError, match="no form has it"):
        read_form({name: "accepted"}, new_id=drawn())
