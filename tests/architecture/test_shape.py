"""The shape of the package: what importing costs, who may wait, who may print, what names say."""

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vidence
from vidence import catalog, records

PACKAGE = Path(vidence.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = sorted(
    m.name for m in pkgutil.walk_packages([str(PACKAGE)], "vidence.") if "__main__" not in m.name
)
SOURCED_FOLDERS = ("scoring", "judging", "statistics", "selection", "diagnostics")

PURITY_PROBE = """
import sys, os, logging, warnings, random
import av, anyio, click, msgspec, numpy, PIL.Image, rich.console, scipy  # what others do is not ours
def state():
    log = logging.root
    return dict(os.environ), log.level, list(log.handlers), list(warnings.filters), random.getstate()
before = state()
import {module}
assert before == state(), "importing changed the environment, logging, warnings or random state"
heavy = [m for m in ("torch", "transformers", "httpx2", "scipy.stats", "jinja2") if m in sys.modules]
print(",".join(heavy))
"""


def imported_by(module: str) -> list[str]:
    """The heavy libraries that importing a module brings along; fails when it has an effect."""
    done = subprocess.run(
        [sys.executable, "-c", PURITY_PROBE.format(module=module)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [name for name in done.stdout.strip().split(",") if name]


def test_importing_vidence_imports_next_to_nothing():
    code = (
        "import sys; import vidence\n"
        "print(len([m for m in sys.modules if m.startswith('vidence')]), 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]


@pytest.mark.parametrize(
    "module", ["vidence.cli.main", "vidence.running.evaluate", "vidence.reporting.results"]
)
def test_importing_has_no_effect_and_brings_no_heavy_library(module: str):
    assert imported_by(module) == []


def test_every_module_can_be_imported_in_one_process_without_effect():
    code = "\n".join(f"import {m}" for m in MODULES)
    state = "(dict(os.environ), logging.root.level, list(logging.root.handlers), list(warnings.filters))"
    others = "import av, anyio, click, jinja2, msgspec, numpy, PIL.Image, rich.progress, scipy"
    script = f"import os, logging, warnings\n{others}\nbefore = {state}\n{code}\nassert before == {state}\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_help_imports_neither_numpy_nor_a_command():
    code = (
        "import sys\nfrom vidence.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'vidence.cli.run', 'rich', 'av') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "Put a benchmark to a model." in done.stdout


def awaited_methods(path: Path) -> Iterator[str]:
    """The names of the methods that a file awaits."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute):
                yield function.attr


def test_only_drive_waits_for_a_model():
    waiting = [p.relative_to(PACKAGE).as_posix() for p in FILES if "reply" in set(awaited_methods(p))]
    assert waiting == ["running/drive.py"]


def test_only_running_and_models_wait_at_all():
    found = {
        p.relative_to(PACKAGE).parts[0]
        for p in FILES
        if any(isinstance(n, ast.AsyncFunctionDef | ast.Await) for n in ast.walk(ast.parse(p.read_text())))
    }
    assert found == {"running", "models", "contracts.py", "cli"}


def test_nothing_prints_outside_the_command_line():
    for path in FILES:
        if path.relative_to(PACKAGE).parts[0] != "cli":
            tree = ast.walk(ast.parse(path.read_text()))
            functions = [n.func for n in tree if isinstance(n, ast.Call)]
            calls = [f.id for f in functions if isinstance(f, ast.Name)]
            assert "print" not in calls, path


def test_every_record_takes_keywords_only_and_refuses_unknown_fields():
    for name in MODULES:
        for _, found in inspect.getmembers(importlib.import_module(name), inspect.isclass):
            if issubclass(found, records.Record):
                config = found.__struct_config__
                assert config.frozen, found
                assert config.forbid_unknown_fields, found
                kinds = {p.kind for p in inspect.signature(found).parameters.values()}
                assert kinds <= {inspect.Parameter.KEYWORD_ONLY}, found


def public_definitions(path: Path) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.relative_to(PACKAGE).parts[0] in SOURCED_FOLDERS and not p.name.startswith("_")],
    ids=lambda p: p.relative_to(PACKAGE).as_posix(),
)
def test_methods_say_where_they_come_from_and_where_they_depart(path: Path):
    text = path.read_text()
    for node in public_definitions(path):
        said = (ast.get_docstring(node) or "") + (ast.get_docstring(ast.parse(text)) or "")
        if node.name == "create":
            continue
        assert "Source:" in said, f"{path.name}: {node.name} does not say where it comes from"
        assert "Departs:" in said, f"{path.name}: {node.name} does not say where it departs"


def test_listing_imports_nothing():
    code = (
        "import sys\nfrom vidence import catalog\n"
        "found = [catalog.names(k) for k in catalog.FOLDERS]\nassert all(found), found\n"
        "print([m for m in sys.modules if m.startswith('vidence.') and m.count('.') > 1])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_is_the_name_of_a_file():
    for kind, folder in catalog.FOLDERS.items():
        files = {
            p.stem
            for p in PACKAGE.joinpath(*folder.split(".")[1:]).glob("*.py")
            if not p.stem.startswith("_")
        }
        assert set(catalog.names(kind)) == {f.replace("_", "-") for f in files}


def test_nothing_in_the_tree_names_this_machine():
    home = os.path.expanduser("~")
    root = Path(__file__).parents[2]
    for path in [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *FILES]:
        text = path.read_text(encoding="utf-8")
        assert home + "/" not in text, path
