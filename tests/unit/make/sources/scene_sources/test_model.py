import pytest

from subjects.scene_sources import SAID, source, told
from vidence.errors import DataError


def test_its_facts_carry_its_name_and_nothing_is_complete(tmp_path):
    found = told(source("model", tmp_path))
    (scene,) = found.scenes
    assert scene.header.truth == "model"
    assert [one.by for one in scene.lines if hasattr(one, "by")] == ["model:proposer"] * 3
    assert "not confirmed by a person" in found.notes[0]


def test_what_it_cannot_know_or_say_is_left_out(tmp_path):
    more = [
        '{"complete": "person"}',
        '{"scene": "x", "vocabulary": "y"}',
        '{"fact": "known", "table": "t", "of": "a", "value": "b"}',
        '{"fact": "attribute", "of": "p1", "name": "top", "value": "blak"}',
        '{"fact": "attribute", "of": "p9", "name": "top", "value": "black"}',
        '{"fact": "attribute", "of": "p2", "name": "top", "value": "red", "seen_at": [500]}',
        '{"entity": "p1", "category": "person"}',
        '{"entity": "p3", "category": "person", "spans": [[0, 900]]}',
        '{"fact": "event", "id": "e2", "kind": "wave", "roles": {"who": "p3"}, "span": [0.1, 0.2]}',
        '{"fact": "attribute", "of": "p2", "name": "top", "value": "red", "by": "person:1"}',
        "and so on",
    ]
    found = told(source("model", tmp_path), SAID + "\n".join(more))
    assert len(found.problems) == 10
    said = " ".join(found.problems)
    for reason in (
        "cannot state that something is complete", "cannot state Header", "cannot state KnownFact",
        "Did you mean 'black'", "no entity 'p9'", "500 s is not in the video", "is there twice",
        "ends after the video", "no entity 'p3'",
    ):  # fmt: skip
        assert reason in said, reason
    assert {one.by for one in found.scenes[0].lines if hasattr(one, "by")} == {"model:proposer"}


@pytest.mark.parametrize("first", ["The video shows two people.", "count(person())", '{"answer": "B"}', ""])
def test_a_reply_without_a_line_is_asked_for_once_more(tmp_path, first):
    assert len(told(source("model", tmp_path), first, SAID).scenes[0].lines) == 5
    with pytest.raises(DataError, match="proposed nothing that can be used"):
        told(source("model", tmp_path), first)


def test_it_is_shown_contact_sheets_with_their_times(tmp_path):
    made = source("model", tmp_path, "n_frames=5&columns=2&rows=2")
    (prompt,) = next(made.read())
    *images, text = prompt.parts
    assert len(images) == 2
    assert all(made.picture(one.digest)[:2] == b"\xff\xd8" for one in images)
    assert "sheet 2: " in text.text
    assert "attribute top of person: black, white, red" in text.text
    assert "event wave, roles: who (person)" in text.text
