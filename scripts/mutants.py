"""Small wrong changes of the code, one at a time, and whether a unit test notices each.

    python scripts/mutants.py --sample 200 --seed 0 --room statistics --room scoring

Changed are operators, comparisons, constants and conditions of a seeded sample of places. For each, in a copy
of the project, those tests of the folder run that execute the function which holds the place, first those of
the module and its examples: which ones do is counted once, while all run without a change. A change that no
test notices survives and is printed; it is a test to write, or changes nothing that can be observed. Tests
that run out of time are printed too, and are counted with neither. `--part 1/2` tries the first, third, fifth
of the changes drawn; a second process can try the others.
"""

import argparse
import ast
import math
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from coverage import CoverageData

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
# Four more kinds of places give the same numbers whatever they hold, by what the names in them promise:
# a statement with a name in *BLOCK* says how much is worked on at once, the `version` of a plug-in is a name,
# `zip(strict=...)`, `if TYPE_CHECKING` and what is logged are for whoever works on the code, and whether the
# edge of a tolerance (a name in *ROUNDING*, or a number below SMALLEST) belongs to it is decided by rounding
# alone.
BLOCK, TOLERANCE, SMALLEST = "BLOCK", "ROUNDING", 1e-6
EDGES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# Imported once, for every run of tests is a fork of this process.
SHARED = ("hypothesis", "msgspec", "numpy", "PIL.Image", "scipy.optimize", "scipy.stats")
LOG = "log"
FORK = multiprocessing.get_context("fork")

# How much longer than the time of the processor a run may take: others may use the machine.
PATIENCE = 5.0
OUT_OF_TIME = (-signal.SIGXCPU, -signal.SIGKILL)

Word = Literal["killed", "survived", "timeout"]


@dataclass(frozen=True)
class Place:
    """One place in a file that can be changed: the `index`-th of them."""

    path: Path  # below the root
    index: int


class Changer(ast.NodeTransformer):
    """Counts the places of a module, and changes one of them (-1: none)."""

    def __init__(self, wanted: int = -1) -> None:
        self.wanted, self.n_places, self.line, self.said = wanted, 0, 0, ""

    def _is_wanted(self) -> bool:
        self.n_places += 1
        return self.n_places - 1 == self.wanted

    def _say(self, node: ast.expr, before: str, after: str) -> None:
        self.line, self.said = node.lineno, f"{node.lineno}: {before} -> {after}"

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Change the operators of this node and go on below, but not into annotations."""
        if _gives_the_same(node):
            return node
        before = ast.unparse(node) if isinstance(node, ast.expr) else ""
        if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS and self._is_wanted():
            node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
            self._say(node, before, ast.unparse(node))
        if isinstance(node, ast.Compare):
            for i, operator in enumerate(node.ops):
                is_edge = isinstance(operator, EDGES) and _has_tolerance(node)
                if type(operator) in SWAPS and not is_edge and self._is_wanted():
                    node.ops[i] = SWAPS[type(operator)]()  # type: ignore[call-overload]
                    self._say(node, before, ast.unparse(node))
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
            self._say(node, ast.unparse(node), ast.unparse(node.operand))
            return node.operand
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Truth turns, numbers grow by one; those so large that they would stay the same are left alone."""
        if not isinstance(node.value, bool | int | float):
            return node
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        if value == node.value or not self._is_wanted():
            return node
        self._say(node, repr(node.value), repr(value))
        return ast.copy_location(ast.Constant(value), node)


def _gives_the_same(node: ast.AST) -> bool:
    """Whether nothing below can change a number: blocks, guards, the log, code for the type checker."""
    match node:
        case ast.Assign(targets=[ast.Name(id="version")]):
            return True
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


def tests_of(place: Place) -> tuple[list[str], list[str]]:
    """The tests of a module, its own file for the examples in it being one, and those of its folder."""
    folder = Path("tests/unit") / place.path.parent.relative_to("src/vidence")
    own = sorted(folder.glob(f"test_*{place.path.stem.strip('_')}*.py"))
    return [str(place.path), *map(str, own)], [*map(str, sorted(folder.glob("test_*.py")))]


def lines_of(tree: ast.Module, line: int) -> range:
    """The lines of the body of the outermost function that holds a line; all lines where none does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            if node.lineno <= line <= last:
                return range(node.body[0].lineno, last + 1)
    return range(1, sys.maxsize)


@dataclass(frozen=True)
class Copy:
    """A copy of the project to change, and which tests execute which of its lines."""

    root: Path
    timeout_s: float

    @classmethod
    def made(cls, root: Path, *, timeout_s: float) -> "Copy":
        """The copy in a new folder; the times of files are kept, by which compiled ones are found again."""
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", root)
        return cls(root, timeout_s)

    def count(self, tests: list[str]) -> bool:
        """Run tests on the unchanged copy and keep who executes what; whether all pass."""
        counted = ["--cov=vidence", "--cov-context=test", "--cov-report=", *tests]
        return self._run(counted, timeout_s=None) == 0

    def executing(self, place: Place, line: int) -> list[str]:
        """The tests, without their parameters, that execute the function that holds a line."""
        lines = lines_of(ast.parse((ROOT / place.path).read_text(encoding="utf-8")), line)
        data = CoverageData(basename=str(self.root / ".coverage"))
        data.read()
        by_line = data.contexts_by_lineno(str(self.root / place.path))
        contexts = {one for at, ones in by_line.items() if at in lines for one in ones}
        return sorted({one.split("|")[0].split("[")[0] for one in contexts if one.startswith("tests/")})

    def trials(self, place: Place, line: int) -> list[list[str]]:
        """The tests to run one after the other: the examples and tests of the module, then others."""
        own, _ = tests_of(place)
        executing = self.executing(place, line)
        mine = [one for one in executing if one.split("::")[0] in own] or own[1:]
        others = [one for one in executing if one not in mine]
        return [[own[0], *mine], *([others] if others else [])]

    def tried(self, place: Place) -> tuple[Word, str]:
        """Whether a test fails with the change, and what was changed."""
        source = (ROOT / place.path).read_text(encoding="utf-8")
        changer = Changer(place.index)
        changed = ast.unparse(ast.fix_missing_locations(changer.visit(ast.parse(source))))
        (self.root / place.path).write_text(changed, encoding="utf-8")
        try:
            for tests in self.trials(place, changer.line):
                status = self._run(["-x", *tests], timeout_s=self.timeout_s)
                if status not in (0, 5):  # 5: there are no tests
                    return "timeout" if status is None else "killed", changer.said
            return "survived", changer.said
        finally:
            shutil.copy2(ROOT / place.path, self.root / place.path)

    def _run(self, tests: list[str], *, timeout_s: float | None) -> int | None:
        """What pytest ends with in a process of its own; None where time runs out."""
        process = FORK.Process(target=_pytest, args=(self.root, tests, timeout_s))
        process.start()
        process.join(None if timeout_s is None else PATIENCE * timeout_s)
        if process.pid is not None and process.exitcode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
        return None if process.exitcode in OUT_OF_TIME else process.exitcode


def _pytest(root: Path, tests: list[str], timeout_s: float | None) -> None:
    """Run tests in the copy, into a log; where there is a limit, a changed module leaves nothing behind."""
    os.setsid()
    os.chdir(root)
    said = os.open(root / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, file in enumerate((os.open(os.devnull, os.O_RDONLY), said, said)):
        os.dup2(file, stream)
    os.environ |= {"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"}
    if timeout_s is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(timeout_s), math.ceil(timeout_s) + 1))
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / "src"))
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore:Module already imported"]
    os._exit(pytest.main([*options, *tests]))


def drawn(n: int, *, seed: int, rooms: list[str]) -> list[Place]:
    """A seeded sample of the places of rooms."""
    everything = [place for room in rooms for place in places(room)]
    print(f"{len(everything)} places")
    return random.Random(seed).sample(everything, min(n, len(everything)))


def main() -> int:
    """Change, test, and list what no test notices."""
    parser = argparse.ArgumentParser(description="Change the code in small ways and see which tests notice.")
    parser.add_argument("--sample", type=int, default=200, help="how many changes (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="which ones are drawn (default: 0)")
    parser.add_argument("--room", action="append", choices=list(ROOMS), help="repeatable (default: all)")
    parser.add_argument("--part", default="1/1", help="such as 2/3: the second, fifth, eighth of the sample")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of the processor for a change")
    chosen = parser.parse_args()
    part, n_parts = map(int, chosen.part.split("/"))
    mine = drawn(chosen.sample, seed=chosen.seed, rooms=chosen.room or list(ROOMS))[part - 1 :: n_parts]
    for name in SHARED:
        __import__(name)
    words: Counter[tuple[str, Word]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy.made(Path(folder), timeout_s=chosen.timeout)
        if not copy.count(sorted({test for place in mine for test in tests_of(place)[1]})):
            print((copy.root / LOG).read_text(encoding="utf-8", errors="replace"))
            print("tests fail without any change; make them pass first")
            return 1
        for i, place in enumerate(mine, start=1):
            word, said = copy.tried(place)
            words[str(place.path.parent), word] += 1
            print(f"{i}/{len(mine)} {word:8} {place.path}:{said}", flush=True)
    for (room, word), n in sorted(words.items()):
        print(f"{room}: {n} {word}")
    n_killed = sum(n for (_, word), n in words.items() if word == "killed")
    print(f"{n_killed} of {len(mine)} changes noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
