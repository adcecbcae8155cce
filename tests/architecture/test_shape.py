"""The shape of the package: what importing costs, who may wait, who may print, what names say."""

import ast
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import vidence
from servers.studio import configured
from vidence import catalog, records

PACKAGE = Path(vidence.__file__).parent
TESTS = Path(__file__).parents[1]
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages([str(PACKAGE)], "vidence.")
    if "__main__" not in m.name and ".migrations." not in m.name  # names of migrations begin with a number
)

PURITY_PROBE = """
import sys, os, logging, warnings, random
import av, anyio, click, msgspec, numpy, PIL.Image, rich.console  # what others do is not ours
def state():
    log = logging.root
    return dict(os.environ), log.level, list(log.handlers), list(warnings.filters), random.getstate()
before = state()
import {module}
assert before == state(), "importing changed the environment, logging, warnings or random state"
slow = ("torch", "transformers", "aiohttp", "httpx2", "scipy", "jinja2")
heavy = [m for m in slow if m in sys.modules]
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


@pytest.mark.parametrize("module", ["vidence.cli.main", "vidence.engine.evaluate", "vidence.report.results"])
def test_importing_has_no_effect_and_brings_no_heavy_library(module: str):
    assert imported_by(module) == []


def test_every_module_can_be_imported_in_one_process_without_effect():
    django = "from servers.studio import configured\nconfigured()"
    code = "\n".join(f"import {m}" for m in MODULES)
    state = "(dict(os.environ), logging.root.level, list(logging.root.handlers), list(warnings.filters))"
    others = "import av, anyio, click, jinja2, msgspec, numpy, PIL.Image, rich.progress"
    before = f"import os, logging, warnings\n{others}\n{django}\nbefore = {state}\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{before}{code}\nassert before == {state}\n"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (TESTS, *sys.path)))},
    )
    assert done.returncode == 0, done.stderr


def test_the_help_imports_neither_numpy_nor_a_command():
    code = (
        "import sys\nfrom vidence.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = ('numpy', 'vidence.cli.commands.run', 'rich', 'av')\n"
        "print([m for m in heavy if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "Run a model on a benchmark." in done.stdout


def facts_of(node: ast.AST) -> Iterator[str]:
    """What a piece of code does of all that is asked below."""
    match node:
        case ast.Await(value=ast.Call(func=ast.Attribute(attr="reply"))):
            yield from ("waits", "waits for a model")
        case ast.Await() | ast.AsyncFunctionDef():
            yield "waits"
        case ast.Call(func=ast.Name(id="print")):
            yield "prints"
    is_documented = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module)
    if is_documented and "Source: ours" in (ast.get_docstring(node) or ""):
        yield "calls itself a source"


@cache
def all_facts() -> dict[Path, set[str]]:
    """The same of every file; each is parsed once."""
    trees = ((path, ast.parse(path.read_text())) for path in FILES)
    return {path: {fact for node in ast.walk(tree) for fact in facts_of(node)} for path, tree in trees}


def that(fact: str) -> list[Path]:
    """The files of which this is so."""
    return [path for path, facts in all_facts().items() if fact in facts]


def test_only_the_engine_waits_for_a_model():
    waiting = [path.relative_to(PACKAGE).as_posix() for path in that("waits for a model")]
    assert waiting == ["engine/engine.py"]


def room_of(path: Path) -> str:
    """Where a file stands: ``engine/``, ``ask/models``, ``contracts.py``."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) == 1 else "/".join(parts[:2]) if parts[0] == "ask" else f"{parts[0]}/"


def test_only_engine_models_studies_and_the_studio_wait_at_all():
    assert {room_of(path) for path in that("waits")} == {
        "engine/",
        "ask/models",
        "contracts.py",
        "cli/",
        "study/",  # puts answers of people, and pictures, through the engine
        "studio/",
    }


def test_nothing_prints_outside_the_command_line():
    for path in that("prints"):
        assert path.relative_to(PACKAGE).parts[0] == "cli" or path.parent.name == "commands", path


def test_every_record_takes_keywords_only_and_refuses_unknown_fields():
    configured()  # without it no table can be imported
    for name in MODULES:
        for _, found in inspect.getmembers(importlib.import_module(name), inspect.isclass):
            if issubclass(found, records.Record):
                config = found.__struct_config__
                assert config.frozen, found
                assert config.forbid_unknown_fields, found
                kinds = {p.kind for p in inspect.signature(found).parameters.values()}
                assert kinds <= {inspect.Parameter.KEYWORD_ONLY}, found


def test_a_source_is_a_paper_or_released_code():
    assert that("calls itself a source") == [], "say nothing where nothing is implemented"


def test_listing_imports_nothing():
    code = (
        "import sys\nfrom vidence import catalog\n"
        "found = [catalog.names(k) for k in catalog.FOLDERS]\nassert all(found), found\n"
        "above = {f.rpartition('.')[0] for f in catalog.FOLDERS.values()}  # empty packages on the way\n"
        "print([m for m in sys.modules if m.startswith('vidence.') and m.count('.') > 1 and m not in above])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_is_the_name_of_a_file_that_defines_create():
    for kind, folder in catalog.FOLDERS.items():
        found = set()
        for path in PACKAGE.joinpath(*folder.split(".")[1:]).glob("*.py"):
            body = ast.parse(path.read_text()).body
            if any(isinstance(node, ast.FunctionDef) and node.name == "create" for node in body):
                declared = [
                    ast.literal_eval(node.value)
                    for node in body
                    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NAMES"
                ]
                data = {file.stem for file in path.with_suffix("").glob("*.toml")}  # each is a thing
                found |= set(declared[0]) if declared else data or {path.stem.replace("_", "-")}
        assert set(catalog.names(kind)) == found


def test_scipy_which_the_core_does_not_install_is_imported_by_library_alone():
    imports = re.compile(r"^\s*(?:from|import) scipy", re.MULTILINE)
    assert [path for path in FILES if imports.search(path.read_text("utf-8"))] == []
