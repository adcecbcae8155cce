"""The cards of a phantom world as a scene."""

import json

from subjects.scene_sources import SCENES, told
from vidence import catalog
from vidence.make.sources.scene import AttributeFact, Entity


def read(more: str = ""):
    return told(catalog.create("scene-source", f"phantom:{SCENES / 'phantom'}{more}"))


def test_each_card_is_a_thing_with_its_colour_number_and_time():
    found, planted = read(), json.loads((SCENES / "phantom" / "world.json").read_text())["videos"]
    assert [one.header.video for one in found.scenes] == [one["path"] for one in planted]
    assert {one.header.truth for one in found.scenes} == {"phantom"}
    for scene, video in zip(found.scenes, planted, strict=True):
        spans = {one.entity: one.spans for one in scene.lines if isinstance(one, Entity)}
        facts = {(one.of, one.name): one.value for one in scene.lines if isinstance(one, AttributeFact)}
        assert spans == {f"k{one['piece']}": ((one["start_s"], one["end_s"]),) for one in video["pieces"]}
        for one in video["pieces"]:
            name = f"k{one['piece']}"
            said = facts[name, "colour"], facts[name, "number"], facts[name, "stays"]
            assert said == (one["colour"], one["value"], one["lifetime"])


def test_that_all_cards_are_listed_is_said_by_its_user():
    assert not [one for one in read().scenes[0].lines if hasattr(one, "complete")]
    assert [one.complete for one in read("?complete=card").scenes[0].lines if hasattr(one, "complete")] == [
        "card"
    ]
