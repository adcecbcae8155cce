"""Point lights as numbers: where they lie, and files that are none."""

from pathlib import Path

import msgspec
import pytest

from vidence.errors import DataError
from vidence.media.lights import Light, LightFrame, Lights, lights_path, read_lights

FRAME = LightFrame(x_px=(1.5, None), y_px=(0.0, None), visible=(1, 0))
LIGHTS = Lights(
    width_px=8, height_px=8, fps=59.94, background=0, radius_px=1.0, dots=(Light(rgb=(255, 255, 255)),) * 2,
    frames=(FRAME,),
)  # fmt: skip


def test_lights_are_read_as_written(tmp_path):
    path = lights_path(tmp_path / "a.b.mp4")
    assert path.name == "a.b.dots.json"
    path.write_bytes(msgspec.json.encode(LIGHTS))
    assert read_lights(path) == LIGHTS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, r"cannot read point lights .*`vidence make actpld` writes them"),
        (b"{", "not point lights"),
        (msgspec.json.encode(msgspec.structs.replace(LIGHTS, frames=())), "not point lights"),
        (msgspec.json.encode(msgspec.structs.replace(LIGHTS, fps=0.0)), "not point lights"),
        (
            msgspec.json.encode(msgspec.structs.replace(LIGHTS, dots=LIGHTS.dots[:1])),
            "frame 0 has 2 points; expected 1",
        ),
    ],
)
def test_what_is_no_lights_is_refused(tmp_path: Path, content, said):
    path = tmp_path / "a.dots.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_lights(path)
