"""Lists of runs: a line for each, kept beside the trials while it is true."""

import shutil

import msgspec
import pytest

from vidence.engine.store import PLAN_NAME, RunStore, is_in_use
from vidence.errors import UsageError
from vidence.records import Unreadable
from vidence.report import results
from vidence.report import run_list as listed_module
from vidence.report.run_list import keep_line, list_runs, listed, run_folders


def no_trials(folder, **options):
    raise AssertionError(f"the trials of {folder} are read")


def test_a_line_has_what_the_report_has(runs):
    runs.write("a", name="Ours")
    [one] = list_runs(runs.folder)
    assert (one.name, one.benchmark, one.model) == ("Ours", "table", "scripted:test")
    assert (one.n_planned, one.n_answered + one.n_failed) == (7, 7)
    assert one.n_scored == 6  # one waits for a judge
    assert one.n_failed == 1
    assert one.status == "failures"
    assert one.score == pytest.approx(2 / 6)  # the seventh waits for a judge
    assert one.cost is not None
    assert one.cost > 0
    assert (one.seconds, one.tokens) == (None, 10)


def test_the_status_follows_from_the_trials(runs):
    good = [t for t in runs.trials if t.score.outcome.__class__.__name__ != "Failed"]
    runs.write("done", trials=good, facts={"n_planned": len(good)})
    runs.write("stopped", trials=good)
    runs.write("empty", trials=[])
    assert {one.folder.rpartition("/")[2]: one.status for one in list_runs(runs.folder)} == {
        "done": "complete",
        "stopped": "stopped",
        "empty": "not begun",
    }


def test_runs_that_keep_their_lines_open_no_trials(runs, monkeypatch):
    folder = runs.write("r0")
    keep_line(folder)
    for i in range(1, 20):
        shutil.copytree(folder, runs.folder / f"r{i}")
    expected = listed(folder)
    monkeypatch.setattr(results, "load_run", no_trials)
    keep_line(folder)  # not made again
    found = list_runs(runs.folder)
    assert len(found) == 20
    assert len({msgspec.structs.replace(one, folder="") for one in (*found, expected)}) == 1


@pytest.mark.parametrize("change", ["trial", "plan", "version", "damage"])
def test_a_line_that_is_not_true_any_more_is_made_again(runs, monkeypatch, change):
    folder = runs.write("a")
    keep_line(folder)
    before = listed(folder)
    with RunStore(folder, is_writer=True) as store:
        if change == "trial":
            store.add(runs.marked(runs.items[0], Unreadable(reason="?")))
        if change == "damage":
            store.keep_line("{")
    if change == "plan":
        path = folder / PLAN_NAME
        path.write_text(path.read_text().replace('name = ""', 'name = "Named now"', 1))
    if change == "version":
        monkeypatch.setattr(listed_module, "__version__", "another")
    read = []
    real = results.load_run
    monkeypatch.setattr(results, "load_run", lambda folder, **how: read.append(folder) or real(folder, **how))
    after = listed(folder)
    assert read == [folder]
    assert (after.name == "Named now") == (change == "plan")
    assert (after == before) == (change in {"version", "damage"})


def test_a_run_in_work_is_running_and_keeps_no_line(runs):
    folder = runs.write("a")
    with RunStore(folder, is_writer=True):
        assert is_in_use(folder)
        assert listed(folder).status == "running"
        keep_line(folder)  # somebody works there: left to them
    assert not is_in_use(folder)
    (folder / "lock.sqlite").touch()  # of a process that was killed
    assert listed(folder).status == "failures"
    with RunStore(folder) as store:
        assert store.line()[0] is None


def test_what_cannot_be_read_says_why_and_hides_no_other(runs):
    runs.write("good")
    (runs.folder / "half").mkdir()
    (runs.folder / "half" / PLAN_NAME).write_text("[plan]\n")
    (runs.folder / "torn").mkdir()
    (runs.folder / "torn" / "run.sqlite").write_bytes(b"nothing of SQLite")
    found = {one.name: one for one in list_runs(runs.folder)}
    assert len(found) == 3
    assert "run.sqlite is missing" in found["half"].problem
    assert "file is not a database" in found["torn"].problem
    assert found["torn"].status == "unusable"


def test_runs_are_found_below_and_never_through_links(runs, tmp_path):
    (runs.folder / "panel").mkdir()
    runs.write("panel/x")
    runs.write("b")
    (runs.folder / "link").symlink_to(runs.folder / "b")
    (runs.folder / ".hidden").mkdir()
    runs.write(".hidden/y")
    found = [str(folder.relative_to(runs.folder)) for folder in run_folders(runs.folder)]
    assert found == ["b", "panel/x"]
    assert list(run_folders(runs.folder / "b")) == [runs.folder / "b"]
    assert list(run_folders(runs.folder, deepest=1)) == [runs.folder / "b"]
    with pytest.raises(UsageError, match=r"there is no folder .*nowhere"):
        list_runs(tmp_path / "nowhere")
