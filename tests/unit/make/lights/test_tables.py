"""The tables of a made benchmark: whose motion each clip shows."""

import csv
import io

import pytest

from vidence.make.lights.clips import ClipMade
from vidence.make.lights.tables import clips_table, sources_of
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


def grouped(**trials: dict[str, object]) -> dict[str, str]:
    """The sources of clips by their short ids."""
    fields = {"label": "x", "set": "single", "intention": "x", "group": "g"}
    made = {name: Trial(**fields | {"clip_id": name} | more) for name, more in trials.items()}
    return sources_of(made, {name: [f.rpartition("/")[2] for f in t.files] for name, t in made.items()})


def test_one_half_of_a_trial_is_of_one_source_with_the_pair():
    found = grouped(
        pair={"subjects": ("18", "19"), "trial": "1"},
        half={"subjects": ("19",), "trial": "1"},
        other={"subjects": ("18",), "trial": "9"},
        else_={"subjects": ("2",), "trial": "1"},
    )
    assert found == {
        "pair": "subject 18+19",
        "half": "subject 18+19",
        "other": "subject 18+19",
        "else_": "subject 2",
    }


def test_partners_and_takes_tie_what_no_pair_does():
    found = grouped(
        a={"subjects": ("20",), "take": "whip"},
        b={"subjects": ("21",), "take": "whip"},
        c={"subjects": ("5",), "partners": ("6",)},
        d={"subjects": ("6",)},
    )
    assert found == {"a": "subject 20+21", "b": "subject 20+21", "c": "subject 5+6", "d": "subject 5+6"}


def test_parts_and_formats_of_one_recording_are_of_one_source():
    found = grouped(
        a={"files": ("ann/walk.bvh",)},
        b={"files": ("ann/walk.amc.gz",)},
        c={"files": ("ben/walk.bvh",)},
        d={"files": ("walker:walk",)},
        e={"files": ("walker:walk",)},
    )
    assert found["a"] == found["b"] == "walk.amc.gz+walk.bvh"
    assert found["c"] not in ("", found["a"])
    assert found["d"] == found["e"] == ""


def test_conditions_of_one_walk_are_of_one_source():
    walk = {"files": ("walker:walk",), "condition": "upright"}
    found = grouped(a=walk, b={**walk, "condition": "inverted"}, c={"files": ("walker:run",)})
    assert found == {"a": "x-walker:walk", "b": "x-walker:walk", "c": ""}
