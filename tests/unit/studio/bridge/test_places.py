"""What lies under the paths of a viewer."""

from subjects.viewed import write_run
from vidence.studio.bridge.places import find_places, place_id


def test_runs_sets_and_files_are_found_and_the_rest_is_named(tmp_path):
    run = write_run(tmp_path / "runs" / "a")
    deep = write_run(tmp_path / "runs" / "group" / "b")
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / ".hidden").mkdir()
    (tmp_path / "runs" / "link").symlink_to(run)
    made = tmp_path / "made"
    made.mkdir()
    (made / "account.json").write_text("{}")
    file = tmp_path / "q.jsonl"
    file.write_text("{}")
    (tmp_path / "a.mp4").write_text("")
    found = find_places([tmp_path / "runs", made, file, tmp_path / "a.mp4", tmp_path / "absent", run])
    kinds = {one.folder.relative_to(tmp_path).as_posix(): one.kind for one in found}
    assert kinds == {
        "runs/a": "run",
        "runs/group/b": "run",
        "runs/notes": "nothing",
        "made": "made",
        "q.jsonl": "items",
        "a.mp4": "nothing",
        "absent": "nothing",
    }
    assert all(bool(one.problem) == (one.kind == "nothing") for one in found)
    assert {one.id for one in found} >= {place_id(run), place_id(deep)}


def test_the_id_is_that_of_the_path_however_it_is_written(tmp_path, monkeypatch):
    run = write_run(tmp_path / "a")
    (tmp_path / "link").symlink_to(run)
    monkeypatch.chdir(tmp_path)
    from pathlib import Path

    assert place_id(run) == place_id(Path("a")) == place_id(tmp_path / "link")
    assert len(place_id(run)) == 16
