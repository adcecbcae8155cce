"""Contact sheets: all clips of a set with what they are called, and the frames that models see."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from vidence.ask.selection.actpld import start_of
from vidence.make.lights.clips import ClipJob, ClipRules
from vidence.make.lights.tables import window_of, write_sheets
from vidence.make.lights.trials import Trial
from vidence.media.video import open_video
from vidence.pointlight.specs import StimulusSpec


def test_a_sheet_shows_each_clip_whole_and_as_a_model_sees_it(tmp_path):
    rules = ClipRules(stimulus=StimulusSpec(width_px=64, height_px=64, dot_radius_px=1.5))
    trials, clips = {}, {}
    for n, label in enumerate(("walk & talk", "wave")):
        trial = Trial(clip_id=f"c{n}", label=label, set="single", intention="to <go>", group="g")
        file = f"walker:{('walk', 'wave')[n]}?duration_s=1"
        made = ClipJob(trial=trial, files=(file,), rules=rules, folder=tmp_path).make().clip
        trials[trial.clip_id], clips[trial.clip_id] = trial, made
    (path,) = write_sheets(clips, trials, tmp_path)
    text = path.read_text()
    assert path.name == "sheet-single.html"
    for words in ("walk &amp; talk", "to &lt;go&gt;", "c1", "1.00 s"):
        assert words in text
    found = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    assert len(found) == 4
    with Image.open(io.BytesIO(base64.b64decode(found[1]))) as image:
        strip = np.asarray(image.convert("RGB")).astype(int)
    assert strip.shape == (64, 8 * 65 - 1, 3)
    start = start_of(30, 8, step=8, retry=0)
    (first,) = open_video(tmp_path / clips["c0"].path).frames([start])
    assert np.abs(strip[:, :64] - first).mean() < 2


@pytest.mark.parametrize(("n_frames", "wanted"), [(30, range(11, 19)), (8, range(8)), (5, range(5))])
def test_the_window_is_that_of_the_selector(n_frames, wanted):
    assert window_of(n_frames) == list(wanted)
