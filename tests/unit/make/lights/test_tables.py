"""The tables of a made benchmark: whose motion each clip shows."""

import csv
import io

import pytest

from vidence.make.lights.clips import ClipMade
from vidence.make.lights.tables import clips_table
from vidence.make.lights.trials import Trial


@pytest.mark.parametrize(
    ("subjects", "files", "source_id"),
    [
        (("18", "19"), ("18_05.amc", "19_05.amc"), "subject 18+19"),
        ((), ("jig.bvh",), "jig.bvh"),
        ((), ("walker:walk?cadence=1.8",), ""),
    ],
)
def test_a_clip_names_its_subjects_else_its_recording(subjects, files, source_id):
    clip = ClipMade(clip_id="c", path="clips/c.mp4", sha256="ab", n_frames=8, fps=8.0, sources=files)
    trial = Trial(
        clip_id="c", label="jig", set="single", intention="to dance", group="dance", subjects=subjects
    )
    written = clips_table({"c": clip}, {"c": trial}, {"c": ()}, licence="CC0-1.0")
    (row,) = csv.DictReader(io.StringIO(written.decode()))
    assert row["source_id"] == source_id
    assert (row["source"], row["label"], row["licence"]) == (" + ".join(files), "jig", "CC0-1.0")
