"""The page that draws a point-light stimulus from its dots, in a real browser, with and without jsPsych."""

import numpy as np
import pytest

from vidence.pointlight.drawing import frames
from vidence.pointlight.experiments import write_player
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import spec_of
from vidence.pointlight.stimulus import make_stimulus

# The part of jsPsych's interface that a plugin is promised.
STAND_IN = """
window.initJsPsych = (options) => {
  const keys = [];
  const jsPsych = {
    data: { displayData: () => {} },
    pluginAPI: {
      getKeyboardResponse: (asked) => {
        const begun = performance.now();
        const heard = (event) => asked.callback_function({ key: event.key, rt: performance.now() - begun });
        addEventListener("keydown", heard);
        return heard;
      },
      cancelKeyboardResponse: (heard) => removeEventListener("keydown", heard),
    },
    finishTrial: (data) => { window.finished = data; },
    run: ([{ type, ...given }]) => {
      const usual = Object.fromEntries(Object.entries(type.info.parameters).map(([k, v]) => [k, v.default]));
      new type(jsPsych).trial(options.display_element, { ...usual, ...given });
    },
  };
  return jsPsych;
};
"""


@pytest.fixture
def written(tmp_path):
    given = {"width_px": "160", "height_px": "120", "n_noise": "3", "yaw_deg": "60"}
    made = make_stimulus(staged(["walker:walk?duration_s=0.6"]), spec_of(given))
    write_player("jspsych", made, tmp_path / "page")
    return made, tmp_path / "page"


@pytest.mark.parametrize("width", [400, 1400])
def test_frames_are_the_pictures_that_models_see(page, written, width):
    made, folder = written
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(folder.joinpath("index.html").as_uri())
    for number, picture in list(enumerate(frames(made)))[:: made.n_frames // 3]:
        drawn = page.evaluate(
            """(number) => {
                const canvas = document.querySelector("canvas");
                videncePointLight.drawFrame(canvas, window.videnceDots, number);
                const drawn = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                return Array.from(drawn.data);
            }""",
            number,
        )
        found = np.array(drawn, np.uint8).reshape(120, 160, 4)[..., :3].astype(int)
        # Browsers smooth the edge of a disc their own way; half a pixel of shift is a mean of 1.7.
        assert np.abs(found - picture).max() <= 110
        assert np.abs(found - picture).mean() < 0.5
    page.get_by_role("button", name="Play").click()
    page.get_by_text("frames shown").wait_for()
    played = page.evaluate("window.videncePlayed")
    assert played["n_shown"] + played["n_skipped"] == played["n_frames"] == made.n_frames
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_plugin_ends_with_a_key_and_tells_when(page, written):
    made, folder = written
    (folder / "jspsych.js").write_text(STAND_IN)
    page.goto(folder.joinpath("index.html").as_uri())
    page.get_by_text("Press a key.").wait_for()
    page.keyboard.press("j")
    page.wait_for_function("window.finished")
    told = page.evaluate("window.finished")
    assert told["response"] == "j"
    assert told["rt"] > 0
    assert told["n_frames"] == made.n_frames
    assert page.locator("canvas").count() == 0
