"""The page about people as a run: its files and its command give what it says."""

import shlex

import pytest
from click.testing import CliRunner

from vidence.cli.main import app
from vidence.engine.store import RunStore

PAGE = "docs/guides/people.md"


@pytest.fixture
def folder(page, tmp_path, monkeypatch):
    """The files of the page in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    for block in page[PAGE].blocks():
        if block.title:
            (tmp_path / block.title).write_text(block.body, encoding="utf-8")
    return tmp_path


def test_the_people_on_the_page_are_a_run(page, folder):
    (line,) = [
        line
        for block in page[PAGE].blocks()
        for line in block.body.splitlines()
        if line.startswith("vidence run")
    ]
    done = CliRunner().invoke(app, [*shlex.split(line)[1:], "--no-page"])
    assert done.exit_code == 0, done.output
    with RunStore(folder / "runs" / "people") as store:
        trials = list(store.trials())
    assert {(t.item_id, t.repeat) for t in trials} == {(q, n) for q in ("q1", "q2", "q3") for n in (0, 1)}
    assert sum(t.score.value for t in trials) == 4
