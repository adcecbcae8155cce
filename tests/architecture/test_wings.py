"""A wing comes off: without its folders every other module imports, and the core's commands work."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vidence

PACKAGE = Path(vidence.__file__).parent
WINGS = {
    "cluster": ("engine/cluster",),
    "make": ("make", "seeing", "studio"),
    "pointlight": ("pointlight", "make/lights", "make/makers/actpld.py"),
    "studio": ("studio",),
}
IMPORT_ALL = """
import importlib, pathlib, vidence

root = pathlib.Path(vidence.__file__).parent
for path in sorted(root.rglob("*.py")):
    name = ".".join(("vidence", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
    if "migrations" in name or name.endswith("__main__"):
        continue
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:  # a library that is not installed is no matter of wings
        if (error.name or "").startswith("vidence"):
            print(f"{name} needs {error.name}")
    except Exception as error:
        if type(error).__name__ != "ImproperlyConfigured":  # a table of Django outside of a studio
            print(f"{name}: {type(error).__name__}: {error}")
"""
QUESTION = """{"item_id": "q", "question": "?", "choices": ["a", "b"], "answer": "A"}\n"""


@pytest.fixture
def without(request, tmp_path):
    """Runs Python in a folder of its own, with the package as it is without a wing."""
    package = tmp_path / "src" / "vidence"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for part in WINGS[request.param]:
        (package / part).unlink() if part.endswith(".py") else shutil.rmtree(package / part)
    env = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "VIDENCE_CACHE": str(tmp_path / "cache")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        words = (sys.executable, *words)
        return subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    (tmp_path / "q.jsonl").write_text(QUESTION)
    return run


@pytest.mark.parametrize("without", WINGS, indirect=True)
def test_the_rest_imports_and_works(without):
    assert without("-c", IMPORT_ALL).stdout == ""
    asked = ("run", "table", "--data", "q.jsonl", "--model", "baseline:longest", "--out", "run", "--no-page")
    demo = ("demo", "--out", "demo")
    for words in (("--help",), ("list",), ("doctor",), asked, ("report", "run"), demo):
        done = without("-m", "vidence", *words)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("without", ["cluster"], indirect=True)
def test_a_cluster_that_is_not_there_is_said_in_a_line(without):
    asked = ("run", "table", "--data", "q.jsonl", "--model", "baseline:longest", "--on", "ray")
    done = without("-m", "vidence", *asked)
    assert done.returncode == 2
    assert "--on 'ray' is unknown; expected local (no cluster is installed" in done.stderr
