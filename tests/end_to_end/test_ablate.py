"""``vidence ablate`` as a user runs it, and MRFS on what it made."""

import csv
import json
import os

import pytest

from end_to_end.conftest import CommandLine

CONFIG = """
out = "made"
[motions]
n_each = 2
duration_s = 1.0
[stimulus]
fps = 10
[vary]
frames = [1, 8]
noise_dots = [0, 40]
[ask]
models = ["baseline:constant?letter=A", "pointlight-nn"]
[observer]
n_trials = 40
sd_px = [1.0]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ablation")
    vidence = CommandLine(folder, os.environ | {"VIDENCE_CACHE": str(folder / "cache"), "COLUMNS": "100"})
    (folder / "a.toml").write_text(CONFIG)
    return vidence, vidence("ablate", "a.toml")


def rows(folder):
    with (folder / "ablation.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_every_model_at_every_level(made):
    vidence, done = made
    assert done.code == 0, done.err
    found = {(r["model"], r["factor"], r["level"]): r for r in rows(vidence.folder / "made")}
    models = [
        "baseline:constant?letter=A",
        "pointlight-nn",
        "observer, dots told apart, 1 px",
        "observer, dots alike, 1 px",
    ]
    levels = [("frames", "1"), ("frames", "8"), ("n_noise", "0"), ("n_noise", "40")]
    assert sorted(found) == sorted((m, *level) for m in models for level in levels)
    clean, noisy = (found["pointlight-nn", "n_noise", level] for level in ("0", "40"))
    assert float(clean["accuracy"]) >= 0.75
    assert float(noisy["accuracy"]) < float(clean["accuracy"])
    assert float(noisy["difference"]) == pytest.approx(float(noisy["accuracy"]) - float(clean["accuracy"]))
    assert clean["difference"] == ""
    assert float(clean["low"]) < float(clean["accuracy"]) <= float(clean["high"])
    assert {r["n"] for r in found.values() if not r["model"].startswith("observer")} == {"16"}
    assert all(float(r["chance"]) == pytest.approx(1 / 3) for r in found.values())
    upper, lower = (float(found[m, "n_noise", "40"]["accuracy"]) for m in models[2:])
    assert upper >= lower > 0.8


def test_json_and_page_say_the_same(made):
    vidence, _ = made
    whole = json.loads((vidence.folder / "made" / "ablation.json").read_bytes())
    assert whole["format"] == "vidence-ablation/1"
    assert len(whole["measured"]) == len(whole["observed"]) == 8
    page = (vidence.folder / "made" / "ablation.html").read_text()
    assert "Accuracy by noise dots" in page
    assert "pointlight-nn" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_the_same_command_goes_on_and_asks_nothing_twice(made):
    vidence, _ = made
    before = (vidence.folder / "made" / "ablation.csv").read_bytes()
    again = vidence("ablate", "a.toml")
    assert again.code == 0, again.err
    assert "pointlight-nn, base: 0 asked, 16 before" in again.err
    assert (vidence.folder / "made" / "ablation.csv").read_bytes() == before


def test_check_only_counts(made):
    vidence, _ = made
    done = vidence("ablate", "a.toml", "--check", "--out", "nothing", "--model", "openai:m")
    counted, findable = done.out.splitlines()
    assert counted == "16 clips in 3 conditions, 1 models: 48 questions or more"
    assert findable.startswith("a difference from the base is hardly ever found (16 sources of motions, ")
    assert not (vidence.folder / "nothing").exists()


def test_other_settings_in_the_same_folder_are_refused(made):
    vidence, _ = made
    (vidence.folder / "b.toml").write_text(CONFIG.replace("fps = 10", "fps = 12"))
    done = vidence("ablate", "b.toml")
    assert done.code == 2
    assert "made from other settings" in done.err


def test_mrfs_works_on_points_of_light(made):
    vidence, _ = made
    base = "made/stimuli/base"
    done = vidence(
        *("diagnose", "mrfs", "actpld", "--data", base, "--model", f"pointlight-nn:{base}"),
        *("--split", "label", "--limit", "6", "--out", "mrfs", "--json", "mrfs.json"),
    )
    assert done.code == 0, done.err
    found = json.loads((vidence.folder / "mrfs.json").read_bytes())
    assert len(found["findings"]) == 6
    assert "mrfs" in done.out.lower()
