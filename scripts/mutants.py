"""Small wrong changes of the code, one at a time, and whether a unit test notices each.

    python scripts/mutants.py --sample 200 --seed 0 --room statistics --room scoring

Changed are operators, comparisons, constants and conditions of a seeded sample of places. For each the unit
tests of the module run first, then those of its room, in a copy of the project. A change that no test
notices survives and is printed; it is a test to write, or changes nothing that can be observed.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {
    "statistics": "statistics",
    "scoring": "ask/scoring",
    "selection": "ask/selection",
    "diagnostics": "explain/diagnostics",
    "engine": "engine",
}
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult},
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.And: ast.Or, ast.Or: ast.And},
}
# Types and how classes are made: what changes there is no wrong number.
SKIPPED = frozenset({"annotation", "returns", "decorator_list"})
# Three more kinds of places give the same numbers whatever they hold, by what the names in them promise:
# a statement with a name in *BLOCK* says how much is worked on at once, `zip(strict=...)`,
# `if TYPE_CHECKING` and what is logged are for whoever works on the code, and whether the edge of a tolerance
# (a name in *ROUNDING*, or a number below SMALLEST) belongs to it is decided by rounding alone.
BLOCK, TOLERANCE, SMALLEST = "BLOCK", "ROUNDING", 1e-6
EDGES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass(frozen=True)
class Place:
    """One place in a file that can be changed: the `index`-th of them."""

    path: Path  # below the root
    index: int


class Changer(ast.NodeTransformer):
    """Counts the places of a module, and changes one of them (-1: none)."""

    def __init__(self, wanted: int = -1) -> None:
        self.wanted, self.n_places, self.said = wanted, 0, ""

    def _is_wanted(self) -> bool:
        self.n_places += 1
        return self.n_places - 1 == self.wanted

    def _say(self, node: ast.AST, before: str) -> None:
        self.said = f"{getattr(node, 'lineno', 0)}: {before} -> {ast.unparse(node)}"

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Change the operators of this node and go on below, but not into annotations."""
        if _gives_the_same(node):
            return node
        before = ast.unparse(node) if isinstance(node, ast.expr) else ""
        if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS and self._is_wanted():
            node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
            self._say(node, before)
        if isinstance(node, ast.Compare):
            for i, operator in enumerate(node.ops):
                is_edge = isinstance(operator, EDGES) and _has_tolerance(node)
                if type(operator) in SWAPS and not is_edge and self._is_wanted():
                    node.ops[i] = SWAPS[type(operator)]()  # type: ignore[call-overload]
                    self._say(node, before)
        for field, value in ast.iter_fields(node):
            if field in SKIPPED or (field == "keywords" and isinstance(node, ast.ClassDef)):
                continue
            if isinstance(value, list):
                value[:] = [self.visit(one) if isinstance(one, ast.AST) else one for one in value]
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Messages are left alone."""
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """``not x`` becomes ``x``."""
        if isinstance(node.op, ast.Not) and self._is_wanted():
            self.said = f"{node.lineno}: {ast.unparse(node)} -> {ast.unparse(node.operand)}"
            return node.operand
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Truth turns, numbers grow by one."""
        if isinstance(node.value, bool | int | float) and self._is_wanted():
            value = not node.value if isinstance(node.value, bool) else node.value + 1
            self.said = f"{node.lineno}: {node.value} -> {value}"
            return ast.copy_location(ast.Constant(value), node)
        return node


def _gives_the_same(node: ast.AST) -> bool:
    """Whether nothing below can change a number: blocks, guards, the log, code for the type checker."""
    match node:
        case ast.Assign() | ast.AnnAssign():
            return any(isinstance(one, ast.Name) and BLOCK in one.id for one in ast.walk(node))
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.keyword(arg="strict"):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="_log"))):
            return True
        case _:
            return False


def _has_tolerance(comparison: ast.Compare) -> bool:
    """Whether one side is moved by a tolerance for rounding."""
    return any(
        (isinstance(one, ast.Name) and TOLERANCE in one.id)
        or (isinstance(one, ast.Constant) and isinstance(one.value, float) and 0 < one.value <= SMALLEST)
        for one in ast.walk(comparison)
    )


def places(room: str) -> Iterator[Place]:
    """Every place of a room that can be changed."""
    for path in sorted((ROOT / "src/vidence" / ROOMS[room]).glob("*.py")):
        counter = Changer()
        counter.visit(ast.parse(path.read_text(encoding="utf-8")))
        yield from (Place(path.relative_to(ROOT), i) for i in range(counter.n_places))


def tests_of(place: Place) -> list[list[str]]:
    """The tests to run one after the other: those of the module with its examples, those of its folder."""
    folder = Path("tests/unit") / place.path.parent.relative_to("src/vidence")
    own = sorted(folder.glob(f"test_*{place.path.stem.strip('_')}*.py"))
    return [[str(place.path), *map(str, own)], [*map(str, sorted(folder.glob("test_*.py")))]]


def is_noticed(place: Place, copy: Path, *, timeout_s: float) -> tuple[bool, str]:
    """Whether a test fails with the change in the copy, and what was changed."""
    source = (ROOT / place.path).read_text(encoding="utf-8")
    changer = Changer(place.index)
    changed = ast.unparse(ast.fix_missing_locations(changer.visit(ast.parse(source))))
    (copy / place.path).write_text(changed, encoding="utf-8")
    try:
        return any(_fails(tests, copy, timeout_s=timeout_s) for tests in tests_of(place)), changer.said
    finally:
        (copy / place.path).write_text(source, encoding="utf-8")


def _fails(tests: list[str], copy: Path, *, timeout_s: float) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {
        "PYTHONPATH": str(copy / "src"),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in (0, 5)  # 5: there are no tests


def main() -> int:
    """Change, test, and list what no test notices."""
    parser = argparse.ArgumentParser(description="Change the code in small ways and see which tests notice.")
    parser.add_argument("--sample", type=int, default=200, help="how many changes (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="which ones are drawn (default: 0)")
    parser.add_argument("--room", action="append", choices=list(ROOMS), help="repeatable (default: all)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for the tests of one change")
    chosen = parser.parse_args()
    everything = [place for room in chosen.room or ROOMS for place in places(room)]
    drawn = random.Random(chosen.seed).sample(everything, min(chosen.sample, len(everything)))
    n_survived = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        copy.mkdir()
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for folder_of_tests in sorted({tuple(tests_of(place)[-1]) for place in drawn}):
            if _fails([*folder_of_tests], copy, timeout_s=10 * chosen.timeout):
                print(f"{Path(folder_of_tests[0]).parent} fails without any change; make it pass first")
                return 1
        for i, place in enumerate(drawn, start=1):
            noticed, said = is_noticed(place, copy, timeout_s=chosen.timeout)
            n_survived += not noticed
            word = "killed  " if noticed else "survived"
            print(f"{i}/{len(drawn)} {word} {place.path}:{said}", flush=True)
    print(f"{len(drawn) - n_survived} of {len(drawn)} changes noticed, of {len(everything)} places")
    return 0


if __name__ == "__main__":
    sys.exit(main())
