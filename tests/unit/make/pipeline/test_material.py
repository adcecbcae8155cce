"""What the answer of a question rests on, in words."""

import msgspec
import pytest

from subjects.gated import draft
from subjects.tracks import video
from vidence.make.pipeline.material import Card, Draft, Event, Material, VideoSource, truth_words

SOURCE = VideoSource(
    video_id="v", path="v.mp4", n_frames=10, fps=10.0, duration_s=1.0, width_px=64, height_px=48
)


def test_an_answer_rests_on_what_its_task_needs_and_nothing_else() -> None:
    event = Event(event_id="1", video_id="v", start_s=0, end_s=1, narration="", verb="cut", noun="leek")
    cards = tuple(Card(track_id=str(i), kind="A", text="Red.", writer=name) for i, name in enumerate("xyx"))
    material = Material(source=SOURCE, tracked=video([]), a_cards=cards, events=(event,))

    assert truth_words(material, ("events",)) == "log"
    assert truth_words(material, ("tracked", "chosen", "a_cards")) == ("given tracks; cards by x, y")
    assert truth_words(material, ("crops",)) == ""


def test_many_writers_and_nameless_ones_are_counted() -> None:
    def words(*writers: str) -> str:
        cards = tuple(Card(track_id=name, kind="A", text="Red.", writer=name) for name in writers)
        return truth_words(Material(source=SOURCE, a_cards=cards), ("a_cards",))

    assert words("a", "b", "c", "d") == "cards by 4 writers"
    assert words("a", "") == "cards by 2 writers"
    assert words("") == "cards"


@pytest.mark.parametrize(("truth", "doubt"), [("program", ""), ("model", "truth-by-model"), ("log", "")])
def test_drafts_of_older_sets_are_read(truth: str, doubt: str) -> None:
    line = msgspec.json.encode(msgspec.to_builtins(draft("d")) | {"truth": truth})
    found = msgspec.json.decode(line, type=Draft)
    assert (found.truth, found.doubt) == (truth, doubt)
