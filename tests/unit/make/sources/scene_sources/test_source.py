import pytest

from vidence.errors import UsageError
from vidence.make.sources.scene import Complete
from vidence.make.sources.scene_sources.source import AsksNobody, complete_lines


def test_only_what_a_source_has_can_be_complete():
    known = {"person": (), "top": ("person", "doll")}
    assert complete_lines(["person", "top"], known, owner="x") == (
        Complete(complete="person"),
        Complete(complete="top", for_="person"),
        Complete(complete="top", for_="doll"),
    )
    with pytest.raises(UsageError, match="complete = 'hat' covers nothing here; it can name person, top"):
        complete_lines(["hat"], known, owner="x")


def test_who_asks_nobody_has_no_models_and_no_pictures():
    assert AsksNobody().models() == {}
    with pytest.raises(KeyError):
        AsksNobody().picture("ab")
