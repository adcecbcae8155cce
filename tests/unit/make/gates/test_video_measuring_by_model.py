"""What is read from a looker, and what is no answer."""

import pytest

from vidence.make.gates.video_measuring import look, look_template
from vidence.make.pipeline.material import Crop
from vidence.make.pipeline.wording import CardWording
from vidence.records import Reply, TextPart

FRAMES = tuple(
    Crop(track_id="", frame_index=i, digest=f"{i:064x}", width_px=64, height_px=36) for i in range(4)
)
WORDS = look_template(None), CardWording.load(None)


def told(start, *replies: str):
    """What a flow comes to that is told these replies, and the words that it asked with."""
    flow, asked, said = start(), [], iter(replies)
    prompts = next(flow)
    while True:
        asked.append("".join(part.text for part in prompts[0].parts if isinstance(part, TextPart)))
        try:
            prompts = flow.send([Reply(text=next(said))])
        except StopIteration as end:
            return end.value, asked


@pytest.mark.parametrize(
    ("reply", "text", "lecture"),
    [
        ("TEXT: 1, 2\nLECTURE: none", 0.5, 0.0),
        ("**Text:** frames 1, 2 and 4\n- lecture: 3", 0.75, 0.25),
        ("TEXT: none\nLECTURE: 1 2 3 4", 0.0, 1.0),
    ],
)
def test_two_lists_of_frames_are_shares(reply, text, lecture) -> None:
    found, asked = told(look(FRAMES, *WORDS), reply)
    assert (found.text, found.lecture, len(asked)) == (text, lecture, 1)


@pytest.mark.parametrize("reply", ["TEXT: 1-3\nLECTURE: none", "TEXT: 5\nLECTURE: none", "TEXT: 1", "Nice!"])
def test_what_is_no_list_is_asked_for_once_more_and_then_not_known(reply) -> None:
    found, asked = told(look(FRAMES, *WORDS), reply, "TEXT: 1\nLECTURE: none")
    assert (found.text, len(asked)) == (0.25, 2)
    given_up, _ = told(look(FRAMES, *WORDS), reply, reply)
    assert (given_up.text, given_up.lecture) == (None, None)
    assert given_up.why.startswith("misshapen: ")
