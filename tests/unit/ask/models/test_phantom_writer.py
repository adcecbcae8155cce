"""`phantom:writer`: cards of drawn figures are the words planted for the colour of their coats."""

import anyio
import numpy as np
import pytest

from servers.model_asks import maker
from vidence.ask.phantom.scene import LOOKS
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UnknownNameError, UsageError
from vidence.media.encode import Encoding, Size, encode
from vidence.records import ImagePart, Prompt, Sampling, TextPart

create = maker("model", "phantom")


def figure(look: int, *, noise: int = 0) -> bytes:
    """A head, a coat and legs, as they stand in a crop."""
    picture = np.full((120, 60, 3), 180, np.uint8)
    picture[28:80] = LOOKS[look].colour
    rng = np.random.default_rng(look)
    shaken = picture.astype(int) + rng.integers(-noise, noise + 1, picture.shape)
    seen = np.clip(shaken, 0, 255).astype(np.uint8)
    return encode(seen, Encoding(size=Size(), format="jpeg", quality=85)).data


def ask(pictures: list[bytes], *, template: str = "card_appearance.txt", sent: bool = True, **sampling: int):
    parts = [ImagePart(digest=f"d{i}", width_px=60, height_px=120) for i in range(len(pictures))]
    request = Request(
        item_id="x",
        prompt=Prompt(parts=(*parts, TextPart(text="Describe.")), template=f"{template}@123"),
        sampling=Sampling(**sampling),
        images={f"d{i}": data for i, data in enumerate(pictures)} if sent else {},
    )
    return anyio.run(create("writer", {}).reply, request)


@pytest.mark.parametrize("look", range(len(LOOKS)))
def test_a_coat_is_known_through_jpeg_and_noise(look):
    assert ask([figure(look, noise=12)]).text == LOOKS[look].words


def test_most_pictures_decide_and_paths_are_told_apart():
    assert ask([figure(1), figure(4), figure(4)]).text == LOOKS[4].words
    path = ask([figure(4)], template="vidence/card_path.txt").text
    assert "straight line" in path
    assert ask([]).text == "No person is visible."


def test_limits_and_bad_requests_are_heeded():
    cut = ask([figure(0)], max_tokens=3)
    assert (cut.text, cut.finish) == ("Red raincoat with", "length")
    with pytest.raises(RejectedRequestError, match="were not sent"):
        ask([figure(0)], sent=False)
    with pytest.raises(RejectedRequestError, match="cannot be read"):
        ask([b"no picture"])
    with pytest.raises(UsageError):
        create("writer", {"letter": "C"})
    with pytest.raises(UnknownNameError, match="writer"):
        create("writers", {})
