"""``vidence view`` refuses what it cannot show before anything is served."""

import http.client
import os
import re
import shutil
import subprocess
import sys

import pytest

from subjects.viewed import state, write_run
from vidence.errors import UsageError
from vidence.studio.commands.view import view


def test_what_cannot_be_shown_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="there is nothing at"):
        view.main([str(tmp_path / "absent")], standalone_mode=False)
    with pytest.raises(UsageError, match="add --export DIR"):
        view.main([str(tmp_path), "--list", "fate=wrong"], standalone_mode=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="give the path of a run"):
        view.main([], standalone_mode=False)


def bound():
    """What makes rights of files bind the command behind it, also where the user may do everything."""
    if not hasattr(os, "geteuid"):
        pytest.skip("rights of folders are another thing here")
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root writes everywhere, and there is no setpriv")
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"]


def test_runs_and_cache_that_cannot_be_written_are_shown_all_the_same(tmp_path):
    run = write_run(tmp_path / "runs" / "a")
    cache = tmp_path / "cache"
    cache.mkdir()
    fixed = [run, run.parent, cache]
    before = state(tmp_path / "runs")
    for folder in (*run.iterdir(), *fixed):
        folder.chmod(0o555 if folder.is_dir() else 0o444)
    started = subprocess.Popen(
        [*bound(), sys.executable, "-m", "vidence", "view", "--no-open", tmp_path / "runs"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "VIDENCE_CACHE": str(cache), "PYTHONUNBUFFERED": "1"},
    )
    try:
        host, door = re.search(r"http://([^/]+)(/\S+)", started.stdout.readline()).groups()
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", door)
        answer = connection.getresponse()
        answer.read()
        cookie = {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}
        pages = {}
        for path in ("/runs", "/items", "/item"):
            (place,) = set(re.findall(r'value="([0-9a-f]{16})"', pages["/runs"])) if pages else ("",)
            connection.request("GET", f"{path}?run={place}&item=q1", headers=cookie)
            answer = connection.getresponse()
            pages[path] = answer.read().decode()
            assert answer.status == 200, path
        connection.close()
    finally:
        started.terminate()
        _, said = started.communicate(timeout=60)
        for folder in fixed:
            folder.chmod(0o755)
    assert "1 to 4 of 4" in pages["/items"]
    assert "Because it is red." in pages["/item"]
    assert "is not writable" in said
    assert state(tmp_path / "runs") == before
    assert not list(cache.iterdir())
