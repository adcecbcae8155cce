"""Projects begin under a protocol; items get room once."""

import pytest

from vidence.make.review.protocol import load_protocol
from vidence.studio.projects import add_items, add_project
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProtocolRow
from vidence.studio.workflow import protocol_of


@pytest.mark.parametrize("name", ["mmvu", "humanpcr-r", "perceptioncomp", "herbench", "humanpcr-pc"])
def test_the_rules_of_a_project_are_those_of_its_file(team, name):
    assert protocol_of(add_project("films", name)) == load_protocol(name)


def test_two_projects_share_the_text_of_their_protocol(team):
    add_project("a", "mmvu")
    add_project("b", "mmvu")
    assert ProtocolRow.objects.count() == 1


def test_items_get_room_once(team):
    project = add_project("films", "mmvu")
    assert add_items(project, ["q1", "q2", "q1"], kinds={"q1": "mcq"}) == 2
    assert add_items(project, ["q2", "q3"], kinds={}) == 1
    found = list(ItemRow.objects.order_by("item_id").values_list("item_id", "kind", "state", "returns_left"))
    assert found == [
        ("q1", "mcq", "drafting", 1),
        ("q2", "open", "drafting", 1),
        ("q3", "open", "drafting", 1),
    ]
