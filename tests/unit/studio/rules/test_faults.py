"""Faults that the fields of a form show by themselves, of each form when nothing is written."""

import pytest

from vidence.studio.rules.faults import form_faults
from vidence.studio.rules.forms import FORMS
from vidence.studio.rules.wording import Wording


@pytest.mark.parametrize("name", FORMS)
def test_an_empty_form_asks_for_what_it_needs(name):
    form = FORMS[name]
    for kind in form.kinds:
        found = list(form_faults(Wording(), form, kind, n_media=1))
        assert {one.level for one in found} == {"fault"}
        assert {"question", "language"} < {one.field for one in found}
        assert ("answer" if kind == "open" else "right-text") in {one.field for one in found}
