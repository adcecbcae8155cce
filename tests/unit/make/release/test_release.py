"""The release: licences, splits, checksums, the same bytes, never another one in its place."""

import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import yaml

from subjects.gated import draft, questions, video
from vidence.ask.benchmarks.herbench import create as herbench
from vidence.ask.benchmarks.table import create as table
from vidence.errors import StoreError, UsageError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.pipeline.ledger import Account
from vidence.make.release.words import Facts, demand_words
from vidence.make.release.writing import (
    release_files,
    split_by_source,
    without_licence,
    write_release,
)

FACTS = Facts(name="set", maker="a maker", account=Account(stages=()), gates=("no gate",))


def some(n_videos: int = 6, n: int = 4, **videos):
    drafts = [
        draft(
            f"{task}-{v}-{i}",
            task=task,
            video_id=f"v{v}",
            answer_index=i % 5,
            question=f"Which, {task} {v} {i}?",
        )
        for task in ("AC", "FAM")
        for v in range(n_videos)
        for i in range(n)
    ]
    return questions(drafts, **videos)


def files(asked=None, seed: int = 1, **rules: object) -> dict[Path, bytes]:
    return release_files(
        some() if asked is None else asked,
        ReleaseRules(version="1.0.0", **rules),
        facts=FACTS,
        seed=seed,
        extra={"note.txt": b"x"},
    )


def test_a_release_is_read_back_as_what_it_was_in_both_formats(tmp_path):
    asked = some()
    assert write_release(files(asked), tmp_path / "set-1.0.0")
    by_table = table().load(tmp_path / "set-1.0.0" / "items.jsonl", split="all", strict=True)
    by_herbench = herbench().load(tmp_path / "set-1.0.0" / "data", split="all", strict=True)
    assert by_table.problems == by_herbench.problems == ()
    wanted = {q.question_id: (q.draft.question, q.draft.choices, q.letter) for q in asked}
    for items in (by_table.items, by_herbench.items):
        assert {i.item_id: (i.question, i.choices, i.answer) for i in items} == wanted
    assert {item.tags["split"] for item in by_table.items} == {"test"}
    assert {item.provenance.licence for item in by_table.items} == {"CC0-1.0"}


def test_the_same_questions_give_the_same_bytes_and_are_left_as_they_are(tmp_path):
    assert files() == files()
    folder = tmp_path / "set"
    assert write_release(files(), folder)
    assert not write_release(files(), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


@pytest.mark.parametrize("change", [{"title": "other"}, {"splits": {"train": 0.5, "test": 0.5}}])
def test_another_release_is_never_written_over(tmp_path, change):
    folder = tmp_path / "set"
    write_release(files(), folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="holds another release"):
        write_release(files(**change), folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_whatever_else_is_in_its_place_is_refused(tmp_path):
    (tmp_path / "set").mkdir()
    with pytest.raises(UsageError, match="holds another release"):
        write_release(files(), tmp_path / "set")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="file differs"):
        write_release(files(), tmp_path / "file")
    with pytest.raises(StoreError, match="cannot write the release"):
        write_release(files(), tmp_path / "file" / "set")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "set"]


def test_every_file_has_its_checksum_and_every_change_is_seen(tmp_path):
    folder = tmp_path / "set"
    write_release(files(), folder)
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    (folder / "data" / "videos").mkdir()
    (folder / "data" / "videos" / "v0.mp4").write_bytes(b"a video")  # put there by a user
    assert not write_release(files(), folder)
    (folder / "items.jsonl").write_bytes(b"")
    with pytest.raises(UsageError, match=r"items\.jsonl differs"):
        write_release(files(), folder)
    (folder / "CITATION.cff").unlink()
    with pytest.raises(UsageError, match=r"CITATION\.cff differs"):
        write_release(files(), folder)


# --------------------------------------------------------------------------- licences and splits


def test_sources_without_a_licence_are_left_out_unless_allowed_by_name():
    asked = some(3, 2, v0=video("v0", licence=""), v1=video("v1", licence="", collection=""))
    kept, dropped = without_licence(asked, ReleaseRules(version="1"))
    assert {q.draft.video_id for q in kept} == {"v2"}
    assert Counter(one.reason for one in dropped) == {"no-licence": 8}
    assert "OURS has no licence" in dropped[0].detail
    assert len(kept) + len(dropped) == len(asked)
    kept, _ = without_licence(asked, ReleaseRules(version="1", without_licence=("v1",)))
    assert {q.draft.video_id for q in kept} == {"v1", "v2"}
    kept, _ = without_licence(asked, ReleaseRules(version="1", without_licence=("OURS",)))
    assert {q.draft.video_id for q in kept} == {"v0", "v2"}


def test_no_video_is_in_two_splits_and_the_shares_are_met():
    asked = some(20, 3)  # 120 questions, 6 a video
    splits = split_by_source(asked, {"train": 0.7, "val": 0.1, "test": 0.2}, seed=3)
    assert set(splits) == {f"v{i}" for i in range(20)}
    assert Counter(splits.values()) == {"train": 14, "val": 2, "test": 4}
    assert splits == split_by_source(asked[::-1], {"train": 0.7, "val": 0.1, "test": 0.2}, seed=3)
    assert splits != split_by_source(asked, {"train": 0.7, "val": 0.1, "test": 0.2}, seed=4)


def test_the_same_file_under_two_names_is_one_video():
    asked = some(8, 1, **{f"v{i}": video(f"v{i}", sha256="ab" * 32) for i in (0, 3, 5)})
    for seed in range(8):
        splits = split_by_source(asked, {"train": 0.5, "test": 0.5}, seed=seed)
        assert splits["v0"] == splits["v3"] == splits["v5"]


def test_clips_of_one_film_stay_together_also_by_way_of_a_copy():
    changes = {"v0": {"source_id": "film"}, "v3": {"source_id": "film", "sha256": "ab" * 32}}
    changes["v5"] = {"sha256": "ab" * 32}
    asked = some(8, 1, **{name: video(name, **changed) for name, changed in changes.items()})
    seen = set()
    for seed in range(8):
        splits = split_by_source(asked, {"train": 0.5, "test": 0.5}, seed=seed)
        assert splits["v0"] == splits["v3"] == splits["v5"]
        assert splits == split_by_source(asked[::-1], {"train": 0.5, "test": 0.5}, seed=seed)
        seen.add(splits["v0"])
    assert seen == {"train", "test"}


def test_a_film_is_said_in_the_items_the_task_files_and_the_list_of_videos():
    asked = some(2, 1, v0=video("v0", source_id="film"))
    made = release_files(asked, ReleaseRules(version="1"), facts=FACTS, seed=0, extra={})
    items = [json.loads(line) for line in made[Path("items.jsonl")].splitlines()]
    assert {item.get("source_id") for item in items} == {"film", None}
    rows = [row for path, file in made.items() if path.parent.name == "tasks" for row in json.loads(file)]
    assert {row["metadata"].get("source_id") for row in rows} == {"film", None}
    listed = json.loads(made[Path("about/release.json")])["videos"]
    assert {one["video_id"]: one.get("source_id") for one in listed} == {"v0": "film", "v1": None}


def test_splits_are_said_everywhere_alike():
    made = files(splits={"train": 0.5, "test": 0.5})
    manifest = json.loads(made[Path("about/release.json")])
    items = [json.loads(line) for line in made[Path("items.jsonl")].splitlines()]
    by_split = defaultdict(list)
    for item in items:
        by_split[item["tags"]["split"]].append(item["item_id"])
    assert manifest["splits"] == by_split
    rows = [row for path, data in made.items() if path.parts[0] == "data" for row in json.loads(data)]
    assert {row["question_id"]: row["metadata"]["split"] for row in rows} == {
        item["item_id"]: item["tags"]["split"] for item in items
    }
    videos = {one["video_id"]: one["split"] for one in manifest["videos"]}
    assert all(videos[row["video_id"]] == row["metadata"]["split"] for row in rows)


# --------------------------------------------------------------------------- words


def test_the_hub_reads_a_task_for_each_split():
    made = yaml.safe_load(files(splits={"dev": 0.5, "test": 0.5})[Path("about/eval.yaml")])
    assert made["evaluation_framework"] == "vidence"
    assert [task["split"] for task in made["tasks"]] == ["dev", "test"]
    assert len({task["id"] for task in made["tasks"]}) == 2
    assert "questions with choices on" in made["description"]
    strange = yaml.safe_load(files(title='A: "set" #1')[Path("about/eval.yaml")])
    assert strange["name"] == 'A: "set" #1'


def test_foreign_words_break_neither_datasheet_nor_citation():
    asked = some(2, 2, v0=video("v0", collection="a|b <script>\nx", licence="[x](y)"))
    made = files(asked, title='T "q"\n: #', authors=("A: B",), date="2026-11-21", licence="CC0-1.0")
    sheet = made[Path("DATASHEET.md")].decode()
    assert "a\\|b \\<script\\> x | \\[x\\](y)" in sheet
    lines = made[Path("CITATION.cff")].decode().splitlines()
    assert 'title: "T \\"q\\"\\n: #"' in lines
    assert '  - name: "A: B"' in lines
    assert 'date-released: "2026-11-21"' in lines


def test_the_datasheet_says_what_was_not_done():
    sheet = files()[Path("DATASHEET.md")].decode()
    assert "- no gate" in sheet
    assert "No person has looked at these questions." in sheet


def test_nothing_left_is_no_release():
    with pytest.raises(UsageError, match="no question is left"):
        files(())


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"version": "1/0"}, "version is '1/0'"),
        ({"version": ""}, "version is ''"),
        ({"version": "1", "splits": {"train": 0.5}}, "splits are train = 0.5"),
        ({"version": "1", "splits": {"train": 1.5, "test": -0.5}}, "add up to 1"),
        ({"version": "1", "splits": {}}, "splits are none"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rules, said):
    with pytest.raises(UsageError, match=said):
        ReleaseRules(**rules)


def test_the_datasheet_says_what_the_questions_are_like_and_what_is_not_known():
    sheet = files()[Path("DATASHEET.md")].decode()
    assert "- 48 questions about 6 videos; 8.0 questions a video." in sheet
    assert "- Videos last 10.0 s on average, 10.0 to 10.0 s (6 of 6 measured)." in sheet
    assert "| question | 48 | 4.00 | 4 | 4 |" in sheet
    assert "| all | 48 | 144 | 3.00 | 3 | 8.00 | 8.00 |" in sheet  # three spans from 1 to 9 s
    assert "Not known are whether scenes are indoors or outdoors; how well people answer" in sheet
    assert "the film or recording that 6 of 6 videos were cut from" in sheet


def test_the_datasheet_tells_what_was_verified_from_what_was_only_stored():
    sheet = files()[Path("DATASHEET.md")].decode()
    assert "each with 3 or more spans of evidence." in sheet
    assert "spans are stored, not proved necessary" in sheet
    assert "| AC | 3 | 3.0 | 0 | - | - |" in sheet
    tried = questions(
        [
            draft("a", k=2, k_verified=2),
            draft("b", k=2, k_verified=3),
            draft("c", k=1),
            draft("d", task="FAM"),
        ]
    )
    sheet = files(tried)[Path("DATASHEET.md")].decode()
    assert "for 2 of 4 questions" in sheet
    assert "Of the other 2 spans are stored, not proved necessary." in sheet
    assert "| AC | 1 | 1.7 | 2 | 2 | 2.5 |" in sheet
    whole = questions([draft("a", k_verified=3)])
    assert "of 1 questions: so many moments proved needed" in demand_words(whole)
    assert "not proved" not in demand_words(whole)


def test_what_proved_needed_stands_on_the_item_in_both_formats():
    made = files(questions([draft("a", k_verified=2), draft("b")]))
    first, second = (json.loads(line) for line in made[Path("items.jsonl")].decode().splitlines())
    assert (first["tags"]["k"], first["tags"]["k_verified"]) == ("3", "2")
    assert "k_verified" not in second["tags"]
    rows = json.loads(made[Path("data/tasks/action_counting.json")])
    assert [row["metadata"].get("k_verified") for row in rows] == [2, None]
