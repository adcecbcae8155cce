"""Labels of errors beside a packet, found for the runs that it was drawn from."""

import pytest

from subjects.labelled import write_packet
from subjects.viewed import write_run
from vidence.studio.bridge.labels import Labels
from vidence.studio.bridge.places import find_places, place_id


@pytest.fixture
def labelled(tmp_path):
    """A run, and a packet with two labels of its second question and one of its first."""
    run = write_run(tmp_path / "runs" / "a")
    packet = write_packet(
        tmp_path / "packet",
        runs={"a": run},
        labels=[
            ("a", "q2", "ann", "person", "misread"),
            ("a", "q2", "model:x", "model", "guessed"),
            ("a", "q1", "ben", "person", "misread"),
        ],
    )
    return run, packet


def test_labels_are_found_and_a_damaged_file_is_named(labelled):
    run, packet = labelled
    (place,) = find_places([packet])
    assert place.kind == "labels"
    labels, one = Labels([place]), place_id(run)
    assert labels.kinds(one) == {"model:guessed": 1, "person:misread": 2}
    assert set(labels.items(one, "person:misread")) == {"q1", "q2"}
    assert labels.items(one, "person:guessed") == ()
    assert [label.labeller for label in labels.of(one, "q2")] == ["model:x", "ann"]
    assert labels.of("0" * 16, "q2") == ()
    (place,) = find_places([packet])
    assert Labels([place]).problems == []
    (packet / "labels" / "people" / "cid.jsonl").write_text("no label\n")
    labels = Labels([place])
    assert "cid.jsonl, line 1" in labels.problems[0]
    assert labels.kinds(place_id(run)) == {}
