"""The rooms: how many, what they may take from each other, and where their tests are."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import vidence
from vidence import catalog

PACKAGE = Path(vidence.__file__).parent
TESTS = Path(__file__).parents[1]
UNIT = TESTS / "unit"
MOST_FOLDERS, MOST_FILES = 15, 7
# Read by their lines, since to parse every file takes ten times as long.
IMPORT = re.compile(r"^[ \t]*((?:from [\w.]+ import \([^)]*\)|(?:from [\w.]+ )?import [^\n]*))", re.MULTILINE)


def modules() -> dict[str, Path]:
    """Every module by its dotted name; packages by theirs."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def circles(root: Path) -> list[str]:
    """Modules of the package in `root` that import each other, at the top, inside functions or for types."""
    files = {
        ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in root.rglob("*.py")
    }
    graph = {
        name: {
            module
            for target in imported(path, name if path.name == "__init__.py" else name.rpartition(".")[0])
            if (module := target if target in files else target.rpartition(".")[0]) in files
        }
        - {name}
        for name, path in files.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def plain_modules() -> dict[str, Path]:
    """The modules that hold code to test: neither ``__init__`` nor ``__main__``."""
    return {name: path for name, path in modules().items() if not path.name.startswith("__")}


def imported(path: Path, package: str = "") -> tuple[str, ...]:
    """Every dotted name that a file imports; relative imports are resolved in `package`."""
    return imported_by(path.read_text(encoding="utf-8"), package)


@cache
def imported_by(text: str, package: str) -> tuple[str, ...]:
    """The same of the text of a file."""
    names: list[str] = []
    for statement in IMPORT.findall(text):
        try:
            (node,) = ast.parse(statement.strip()).body
        except SyntaxError:  # a line of words
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            names += [f"{base}.{alias.name}" for alias in node.names]
    return tuple(names)


@cache
def strings(path: Path) -> frozenset[str]:
    """Every text that a file holds, also the parts of f-strings."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return frozenset(n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))


def private_imports(name: str, path: Path) -> list[str]:
    """The private modules and names of other packages that a module imports."""
    home = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = []
    for target in imported(path, home):
        parts = target.split(".")
        private = next((i for i, part in enumerate(parts) if re.match(r"_[^_]", part)), None)
        if parts[0] == "vidence" and private is not None and ".".join(parts[:private]) not in {home, name}:
            found.append(f"{name}: {target}")
    return found


def plugin_of(name: str) -> str | None:
    """The name under which the catalog has a module, if it is a plug-in."""
    folder, _, stem = name.rpartition(".")
    kind = next((kind for kind, place in catalog.FOLDERS.items() if place == folder), None)
    plugin = stem.replace("_", "-")
    return plugin if kind is not None and plugin in catalog.names(kind) else None


@cache
def called() -> frozenset[str]:
    """Every text of the end-to-end tests, the names of commands among them."""
    return frozenset(text for test in (TESTS / "end_to_end").glob("*.py") for text in strings(test))


def is_tested(name: str, path: Path, named: set[str]) -> bool:
    """Whether a module has its own test file, or a test names it.

    A plug-in is also named by a test of its folder that makes it by its name, as users do; a command by
    an end-to-end test that calls it.
    """
    folder = UNIT / path.relative_to(PACKAGE).parent
    if name in named or (folder / f"test_{path.stem}.py").exists():
        return True
    plugin = plugin_of(name)
    if plugin is not None:
        texts = {text for test in folder.glob("*.py") for text in strings(test)}
        return any(text == plugin or text.startswith(f"{plugin}:") for text in texts)
    if path.parent.name != "commands":
        return False
    is_group = "def " not in path.read_text("utf-8")
    return is_group or path.stem.rstrip("_").replace("_", "-") in called()


def test_the_top_can_be_seen_at_a_glance():
    folders = [p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"]
    files = [p.name for p in PACKAGE.glob("*.py") if p.name != "__main__.py"]
    assert len(folders) <= MOST_FOLDERS, folders
    assert len(files) <= MOST_FILES, files


def test_nobody_imports_the_private_names_of_another_room():
    assert [bad for name, path in modules().items() for bad in private_imports(name, path)] == []


def test_a_private_import_would_be_seen(tmp_path):
    path = tmp_path / "b.py"
    path.write_text(
        "from vidence.engine._drive import x\nfrom vidence.engine.drive import _y\n"
        "import vidence.text._z\nfrom ..engine.drive import _w\n"
        "from vidence.make import _own\nfrom . import _own\n"
        "from vidence import __version__\n"
    )
    assert private_imports("vidence.make.b", path) == [
        "vidence.make.b: vidence.engine._drive.x",
        "vidence.make.b: vidence.engine.drive._y",
        "vidence.make.b: vidence.text._z",
        "vidence.make.b: vidence.engine.drive._w",
    ]


def test_no_module_imports_itself_through_others():
    assert circles(PACKAGE) == []


@pytest.mark.parametrize(
    "way_back", ["from vidence.a import x", "def f():\n    from . import a", "def f():\n    import vidence.a"]
)
def test_a_circle_would_be_seen(tmp_path, way_back):
    root = tmp_path / "vidence"
    root.mkdir()
    (root / "__init__.py").touch()
    (root / "a.py").write_text("from vidence import b")
    (root / "b.py").write_text("import json")
    assert circles(root) == []
    (root / "b.py").write_text(way_back)
    assert sorted(set(circles(root))) == ["vidence.a", "vidence.b"]


def test_every_module_has_a_test_of_its_name_or_is_named_by_a_test():
    named: set[str] = set()
    for test in TESTS.rglob("test_*.py"):
        for target in imported(test):
            named |= {target, target.rpartition(".")[0]}
        named |= {text for text in strings(test) if text.startswith("vidence.")}
    modules = {name: path for name, path in plain_modules().items() if path.parent.name != "migrations"}
    assert [name for name, path in sorted(modules.items()) if not is_tested(name, path, named)] == []


def test_every_unit_test_begins_with_the_name_of_what_it_tests():
    misplaced = []
    for test in sorted(UNIT.rglob("test_*.py")):
        room = PACKAGE / test.parent.relative_to(UNIT)
        names = (
            {path.stem for path in room.glob("*.py")} | {path.name for path in room.glob("*/")} | {room.name}
        )
        rest = f"{test.stem.removeprefix('test_')}_"
        if not any(rest.startswith(f"{name}_") for name in names):
            misplaced.append(str(test.relative_to(TESTS)))
    assert misplaced == []
