"""A selection from files to files: cached, accounted for, with models that say what they are told."""

import csv
import json
from datetime import date
from pathlib import Path
from urllib.parse import quote

import pytest

from vidence.engine.side_by_side import Parallelism
from vidence.errors import UsageError
from vidence.make.gates import video_selection as selection
from vidence.make.gates.video_list import PeopleSaid, list_videos
from vidence.make.gates.video_rules import read_rules
from vidence.make.gates.video_selection import SelectJob, select_videos
from vidence.make.pipeline.session import BuildContext
from videos import pans

TODAY = date(2026, 3, 1)
MODELS = '''
"""A looker that sees text in the first two frames."""


def looks(prompt, images):
    assert len(images) == 8
    return "TEXT: 1, 2\\nLECTURE: none"
'''


@pytest.fixture(scope="module")
def films(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    for name, speed in (("still", 0), ("slow", 3), ("fast", 10)):
        pans.write(folder / f"{name}.mp4", pans.pan(speed, n_frames=40))
    (folder / "broken.mp4").write_bytes(b"no video at all")
    return folder


def selected(films: Path, folder: Path, rules: str, *, said=None, detector="", n_workers=1, source=None):
    folder.mkdir(exist_ok=True, parents=True)
    file = folder / "rules.toml"
    file.write_text(f'[measure]\ndetector = "{detector}"\n{rules}')
    context = BuildContext(
        cache_root=films / ".cache",
        memory=folder / "replies.sqlite",
        is_trusted=True,
        parallel=Parallelism(n_workers=n_workers),
    )
    job = SelectJob(
        listing=list_videos(source or films),
        rules=read_rules(file),
        rules_file=file,
        today=TODAY,
        said=said or {},
    )
    return select_videos(job, out=folder / "out", context=context)


def rows(folder: Path, name: str) -> dict[str, dict[str, str]]:
    with (folder / "out" / name).open(newline="") as file:
        return {row["video"]: row for row in csv.DictReader(file)}


def test_videos_are_kept_and_dropped_with_reasons_and_nothing_is_lost(films, tmp_path) -> None:
    found = selected(films, tmp_path, "[gates.motion]\nat_least = 5\n", n_workers=2)
    assert [one.video_id for one in found.selected.kept] == ["fast.mp4", "slow.mp4"]
    assert list(rows(tmp_path, "kept.csv")) == ["fast.mp4", "slow.mp4"]
    sources = rows(tmp_path, "sources.csv")
    assert {name: row["outcome"] for name, row in sources.items()} == {
        "fast.mp4": "kept",
        "slow.mp4": "kept",
        "still.mp4": "dropped",
        "broken.mp4": "unreadable",
    }
    assert "broken.mp4" in sources["broken.mp4"]["reasons"]
    dropped = [json.loads(line) for line in (tmp_path / "out" / "dropped.jsonl").read_text().splitlines()]
    assert [(one["what"], one["reason"]) for one in dropped] == [
        ("broken.mp4", "unreadable"),
        ("still.mp4", "motion-low"),
    ]
    assert "expected at least 5" in dropped[1]["detail"]
    account = json.loads((tmp_path / "out" / "account.json").read_text())
    assert [(one["stage"], one["n_in"], one["n_out"]) for one in account["stages"]] == [
        ("videos", 4, 3),
        ("measured", 3, 3),
        ("gates", 3, 2),
    ]
    assert found.selected.sentences[0] == "4 videos: 2 kept, 1 dropped, 1 cannot be read"


def test_the_same_again_decodes_nothing_and_writes_the_same_bytes(films, tmp_path, monkeypatch) -> None:
    gates = "[gates.motion]\nfrom_quantile = 0.5\n"
    selected(films, tmp_path, gates)
    files = sorted(path for path in (tmp_path / "out").iterdir() if path.is_file())
    before = [path.read_bytes() for path in files]
    monkeypatch.setattr(selection, "measure", None)  # whoever measured would fail
    selected(films, tmp_path, gates)
    assert [path.read_bytes() for path in files] == before


def asked(folder: Path) -> str:
    folder.mkdir(exist_ok=True, parents=True)
    code = folder / "models.py"
    code.write_text(MODELS)
    return f'[models]\nvlm = "python:{code}:looks"\n[ask]\nlooker = "vlm"\n'


def test_a_model_looks_and_people_go_before_it(films, tmp_path) -> None:
    said = {"still.mp4": PeopleSaid(text=1.0, lecture=0.0, by="Ann")}
    selected(films, tmp_path, asked(tmp_path), said=said)
    table = rows(tmp_path, "sources.csv")
    assert [(row["text"], row["seen_by"]) for row in table.values()] == [
        ("0.25", "model"),
        ("0.25", "model"),
        ("1", "Ann"),
        ("", ""),
    ]


def test_a_looker_that_says_nothing_usable_passes_no_gate(films, tmp_path) -> None:
    rules = (
        f'[models]\nvlm = "scripted:{quote("It is lovely.")}"\n[ask]\nlooker = "vlm"\n'
        "[gates.text]\nat_most = 1\n"
    )
    found = selected(films, tmp_path, rules)
    assert not found.selected.kept
    faults = found.selected.verdicts["slow.mp4"].faults
    assert [one.reason for one in faults] == ["text-unknown"]
    assert "wanted are the two lines" in faults[0].detail
    assert (
        "the looker said nothing usable of 3 videos: fast.mp4, slow.mp4, still.mp4"
        in found.selected.sentences
    )


def test_false_people_are_measured_where_people_saw_nobody(films, tmp_path) -> None:
    """Three boxes on the one film that a person says is empty: 3 people a frame, all of them false."""
    (tmp_path / "list.csv").write_text("video,people\nstill.mp4,0\n")
    (films / "list.csv").write_bytes((tmp_path / "list.csv").read_bytes())
    boxes = "".join(f"{n},-1,{x},10,20,60,0.9\n" for n in range(1, 41) for x in (10, 60, 110))
    (tmp_path / "det.txt").write_text(boxes)
    detector = f"boxes:{tmp_path}/det.txt"
    found = selected(films, tmp_path / "one", "", detector=detector, source=films / "list.csv")
    (said,) = [one for one in found.selected.sentences if "false people" in one]
    assert said.startswith("false people of boxes:")
    assert said.endswith(
        " in 100.0 % (no interval from one video) of 32 frames of 1 video that are empty by the list "
        "(0 under people)"
    )
    (films / "list.csv").write_text("video\nstill.mp4\n")
    gate = "[gates.people]\nat_least = 1\n"
    found = selected(films, tmp_path / "two", gate, detector=detector, source=films / "list.csv")
    assert any("no frame is empty by the list (0 under people)" in one for one in found.selected.sentences)
    (films / "list.csv").unlink()


def test_a_quota_is_a_stage_of_its_own(films, tmp_path) -> None:
    found = selected(films, tmp_path, '[quotas]\n"*" = 1\n')
    assert len(found.selected.kept) == 1
    account = json.loads((tmp_path / "out" / "account.json").read_text())
    assert account["stages"][-1]["dropped"] == {"quota": 2}
    assert "no gate was asked for" in found.selected.sentences[1]


def test_boxes_of_one_video_are_not_taken_for_those_of_several(films, tmp_path) -> None:
    (tmp_path / "det.txt").write_text("1,-1,10,10,20,60,0.9\n")
    with pytest.raises(UsageError, match="boxes of one video, but there are 4"):
        selected(films, tmp_path, "", detector=f"boxes:{tmp_path}/det.txt")
