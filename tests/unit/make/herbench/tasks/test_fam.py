"""FAM on logs small enough to check by hand."""

import pytest

from subjects.kitchens import events
from subjects.log_tasks import ask, drafts, right

DEEDS = [("wash", "carrot"), ("cut", "lemon"), ("stir", "rice"), ("fold", "apron"), ("open", "kettle")]


@pytest.mark.parametrize(("verb", "is_asked"), [("shake", True), ("pour", False), ("tip", False)])
def test_what_is_filled_is_not_called_absent_where_something_is_poured(verb, is_asked):
    """Who pours juice has filled something; the log does not say what."""
    here = events([*DEEDS, ("wash", "blender"), (verb, "juice")])
    elsewhere = events(
        [*DEEDS * 3, *[("fill", "blender")] * 3, *[("wash", "blender")] * 3, *[(verb, "juice")] * 3],
        video_id="w",
    )
    asked = drafts(ask("fam", here, elsewhere), "absent")
    assert ("fill blender" in {right(draft) for draft in asked}) == is_asked
