"""Places are known by their ids alone."""

import pytest
from django.http import Http404

from subjects.viewed import write_run
from vidence.studio.bridge.places import place_id


def test_only_what_lies_under_the_paths_is_a_place(look, tmp_path):
    from vidence.studio.viewer.desk import desk

    run, other = write_run(tmp_path / "runs" / "a"), write_run(tmp_path / "other")
    look(tmp_path / "runs")
    assert desk().place(place_id(run)).folder == run
    with pytest.raises(Http404):
        desk().place(place_id(other))
