"""The script that changes the code in small ways changes what it says, and one place at a time."""

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "mutants.py"


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def changes(mutants: ModuleType, source: str) -> list[str]:
    counter = mutants.Changer()
    counter.visit(ast.parse(source))
    found = []
    for i in range(counter.n_places):
        changer = mutants.Changer(i)
        found.append(ast.unparse(ast.fix_missing_locations(changer.visit(ast.parse(source)))))
        assert "->" in changer.said
    return found


def test_each_operator_comparison_constant_and_condition_is_a_place(mutants: ModuleType) -> None:
    assert changes(mutants, "a + b") == ["a - b"]
    assert changes(mutants, "a < b <= c") == ["a <= b <= c", "a < b < c"]
    assert changes(mutants, "not a or b") == ["not a and b", "a or b"]
    assert changes(mutants, "x = 2") == ["x = 3"]
    assert changes(mutants, "x = True") == ["x = False"]
    assert changes(mutants, "x = 1e+300") == []


def test_messages_types_and_how_classes_are_made_are_left_alone(mutants: ModuleType) -> None:
    assert changes(mutants, "raise E(f'{n + 1} found')") == []
    assert changes(mutants, "def f(x: Literal[1]) -> Literal[2]: ...") == []
    assert changes(mutants, "@dataclass(frozen=True)\nclass A(Record, kw_only=True): ...") == []


def test_what_gives_the_same_numbers_is_left_alone(mutants: ModuleType) -> None:
    assert changes(mutants, "rows = max(1, BLOCK_CELLS // max(1, n))") == []
    assert changes(mutants, "_BLOCK: Final = 512") == []
    assert changes(mutants, "class A:\n    version = 1") == []
    assert changes(mutants, "rows = max(1, n)") == ["rows = max(2, n)"]
    assert changes(mutants, "if TYPE_CHECKING:\n    x = 1") == []
    assert changes(mutants, "zip(a, b, strict=True)") == []
    assert changes(mutants, "_log.debug('it broke', exc_info=True)") == []
    assert changes(mutants, "f(a, sorts=True)") == ["f(a, sorts=False)"]


def test_the_edge_of_a_tolerance_is_left_alone_and_nothing_else_of_it(mutants: ModuleType) -> None:
    assert changes(mutants, "a > _ROUNDING * b") == ["a > _ROUNDING / b"]
    assert changes(mutants, "a - 1e-09 <= b") == ["a + 1e-09 <= b", "a - 1.000000001 <= b"]
    assert changes(mutants, "a == ROUNDING") == ["a != ROUNDING"]
    assert changes(mutants, "a < 0.01") == ["a <= 0.01", "a < 1.01"]


def test_every_room_has_places_and_tests(mutants: ModuleType) -> None:
    for room in mutants.ROOMS:
        first = next(mutants.places(room))
        _, of_the_folder = mutants.tests_of(first)
        assert of_the_folder
        assert all((SCRIPT.parents[1] / name).is_file() for name in of_the_folder)


def test_a_place_is_tried_by_what_executes_its_function(mutants: ModuleType) -> None:
    tree = ast.parse("A = 1\ndef f(b=2):\n    def g():\n        return b\n    return g\nclass C:\n    d = 3")
    assert mutants.lines_of(tree, 4) == mutants.lines_of(tree, 2) == range(3, 6)
    assert 1 in mutants.lines_of(tree, 7)
    assert 7 in mutants.lines_of(tree, 1)
