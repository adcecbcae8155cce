"""A composed question as a program (`vidence-composition/1`): typed expressions, named conditions."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Literal, TypeAlias, cast, get_args, get_type_hints

import msgspec

from vidence.errors import DataError
from vidence.make.sources.scene import ValueOrNumber
from vidence.make.sources.vocabulary import Skill
from vidence.records import Record

FORMAT: Literal["vidence-composition/1"] = "vidence-composition/1"
MOST_CONDITIONS, MOST_STEPS, MOST_DEPTH, MOST_NESTED_SETS = 10, 8, 6, 3
Comparison: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
Order: TypeAlias = Literal["appears", "begins", "ends", "left to right"]
AggregateWord: TypeAlias = Literal["count", "mode", "shared", "longest_run", "largest", "smallest", "values"]
SelectWord: TypeAlias = Literal["first", "last", "nth", "nearest", "farthest", "most", "least"]
TimeWord: TypeAlias = Literal[
    "during", "before", "after", "within", "begins_in", "appears_after", "appears_before"
]
DIRECTIONS = (
    "front", "front-left", "left", "back-left", "back", "back-right", "right", "front-right",
)  # fmt: skip
"""Sectors of 45 degrees, counterclockwise from the front."""


class _Expression(Record, tag_field="op", omit_defaults=True):
    """A part of a program; `column` is its place in the text and is not hashed."""

    column: int = 0


class Literally(_Expression, tag="value"):
    """A literal value."""

    value: ValueOrNumber


class Values(_Expression, tag="values"):
    """One of several values; sorted."""

    values: tuple[ValueOrNumber, ...]


class Variable(_Expression, tag="variable"):
    """The value of an earlier step."""

    name: str


class Compare(_Expression, tag="compare"):
    """An atom that compares an attribute, a role or `kind` with a value."""

    attribute: str
    how: Comparison
    value: "Expression"
    condition: str


class Related(_Expression, tag="related"):
    """An atom: the member is in a relation to something or (`holds` false) is not."""

    relation: str
    to: "Expression"
    condition: str
    holds: bool = True
    frame: str = ""


class Timed(_Expression, tag="timed"):
    """An atom on time; `of` is an entity, event or time; `begins_in` takes two seconds instead."""

    how: TimeWord
    condition: str
    of: "Expression | None" = None
    seconds: tuple[float, ...] = ()


Atom: TypeAlias = Compare | Related | Timed


class Members(_Expression, tag="members"):
    """All of a category for which every atom holds; `head` is the category's condition, if any."""

    category: str
    atoms: tuple[Atom, ...] = ()
    head: str = ""


class RelatedTo(_Expression, tag="related-to"):
    """Everything in a relation to something: `rel(x, NAME)`."""

    relation: str
    to: "Expression"
    condition: str


class InDirection(_Expression, tag="in-direction"):
    """The members of a set in a direction of a view; `toward` is an earlier result."""

    of: "Expression"
    view: "Expression"
    condition: str
    direction: str = ""
    toward: "Expression | None" = None


class The(_Expression, tag="the"):
    """The single member of a set; `pick` is its name in a binding."""

    of: "Expression"
    pick: str


class Select(_Expression, tag="select"):
    """One of a set by order, distance or amount; `along` is an ordering relation."""

    how: SelectWord
    of: "Expression"
    pick: str
    condition: str
    by: Order | None = None
    n: int | None = None
    to: "Expression | None" = None
    attribute: str = ""
    along: str = ""


class AttributeOf(_Expression, tag="attribute"):
    """An attribute of an entity (`at` a time), or who fills a role in an event."""

    of: "Expression"
    name: str
    at: "Expression | None" = None


class Aggregate(_Expression, tag="aggregate"):
    """A property of a whole set; `values` gives all its members' values, to count or ask for."""

    how: AggregateWord
    of: "Expression"
    attribute: str = ""


class Arithmetic(_Expression, tag="arithmetic"):
    """The sum or difference of numbers."""

    how: Literal["+", "-"]
    left: "Expression"
    right: "Expression"


class View(_Expression, tag="view"):
    """A view of the plan: position, facing an entity or heading (degrees), then a turn.

    `like` is another view whose heading it has: somebody who goes on without turning.
    """

    of: "Expression"
    facing: "Expression | None" = None
    heading: float | None = None
    like: "Expression | None" = None
    turned: float = 0.0
    facing_condition: str = ""
    turned_condition: str = ""


class DirectionOf(_Expression, tag="direction"):
    """The direction, one of eight, of something in a view."""

    of: "Expression"
    view: "Expression"


class Pair(_Expression, tag="pair"):
    """Two values as one answer."""

    first: "Expression"
    second: "Expression"


class Known(_Expression, tag="known"):
    """What a knowledge table says of a value."""

    table: str
    of: "Expression"


class Expected(_Expression, tag="expected"):
    """What people expect after an event."""

    of: "Expression"


Expression: TypeAlias = (
    Literally
    | Values
    | Variable
    | Compare
    | Related
    | Timed
    | Members
    | RelatedTo
    | InDirection
    | The
    | Select
    | AttributeOf
    | Aggregate
    | Arithmetic
    | View
    | DirectionOf
    | Pair
    | Known
    | Expected
)


class Step(Record, omit_defaults=True):
    """`variable = value`; `line` is its place in the text and is not hashed."""

    variable: str
    value: Expression
    line: int = 0


class Condition(Record, omit_defaults=True):
    """A condition: its id and the skill it requires."""

    id: str
    skill: Skill


class Composition(Record, omit_defaults=True):
    """A composed question. The last step is `answer`."""

    composition: str
    scene: str
    steps: tuple[Step, ...]
    conditions: tuple[Condition, ...]
    question: str = ""
    options: tuple[ValueOrNumber, ...] = ()
    answer: ValueOrNumber | None = None
    "The claimed answer; None if there is no claim."
    scene_sha256: str = ""
    vocabulary_sha256: str = ""
    format: Literal["vidence-composition/1"] = FORMAT


def canonical(composition: Composition) -> bytes:
    """A composition as canonical JSON on one line: sorted keys, atoms by condition, no text lines.

    Conditions are known by their ids, so that the order in which atoms of a set are written means nothing.
    """
    plain = msgspec.structs.replace(
        composition,
        steps=tuple(msgspec.structs.replace(step, line=0) for step in composition.steps),
        conditions=tuple(sorted(composition.conditions, key=lambda entry: entry.id)),
    )
    raw = _sorted_atoms(msgspec.to_builtins(plain))
    return msgspec.json.encode(raw, order="deterministic")


def _sorted_atoms(raw: object) -> object:
    if isinstance(raw, dict):
        sorted_atoms = {key: _sorted_atoms(value) for key, value in raw.items() if key != "column"}
        atoms = sorted_atoms.get("atoms")
        return (
            {**sorted_atoms, "atoms": sorted(atoms, key=lambda entry: str(entry["condition"]))}
            if isinstance(atoms, list)
            else sorted_atoms
        )
    return [_sorted_atoms(entry) for entry in raw] if isinstance(raw, list | tuple) else raw


def read_composition_line(line: str | bytes) -> Composition:
    """A composition from its JSON.

    Raises:
        DataError: it is none; the message says at which field.
    """
    try:
        return msgspec.json.decode(line, type=Composition)
    except msgspec.DecodeError as error:
        raise DataError(f"no composition: {error}") from error


def parts(expression: Expression) -> list[Expression]:
    """An expression and all inside it, outer ones first, in written order."""
    expressions, waiting = list[Expression](), [expression]
    while waiting:
        parts = waiting.pop()
        expressions.append(parts)
        waiting += reversed(children(parts))
    return expressions


def children(expression: Expression) -> Sequence[Expression]:
    """The direct subexpressions, in written order."""
    expressions: list[_Expression] = []
    for name in _inner_fields(type(expression)):
        value = getattr(expression, name)
        if isinstance(value, _Expression):
            expressions.append(value)
        elif isinstance(value, tuple):
            expressions += [entry for entry in value if isinstance(entry, _Expression)]
    return cast("list[Expression]", expressions)


@cache
def _inner_fields(kind: type[_Expression]) -> tuple[str, ...]:
    """The fields that hold expressions, in order of declaration."""
    declared = get_type_hints(kind)
    return tuple(name for name in kind.__struct_fields__ if _may_hold_expressions(declared[name]))


def _may_hold_expressions(declared: object) -> bool:
    if inner := get_args(declared):
        return any(map(_may_hold_expressions, inner))
    return isinstance(declared, type) and issubclass(declared, _Expression)


_CONDITION_FIELDS = ("condition", "head", "facing_condition", "turned_condition")


def conditions_in(expression: Expression) -> tuple[str, ...]:
    """The ids of the conditions inside an expression."""
    conditions: list[str] = []
    for part in parts(expression):
        if isinstance(part, Compare | Related | Timed | RelatedTo | InDirection | Select):
            conditions.append(part.condition)
        elif isinstance(part, Members) and part.head:
            conditions.append(part.head)
        elif isinstance(part, View):
            conditions += [name for name in (part.facing_condition, part.turned_condition) if name]
    return tuple(conditions)


def variables_in(expression: Expression) -> tuple[str, ...]:
    """The variables that an expression uses, each once."""
    return tuple(dict.fromkeys(part.name for part in parts(expression) if isinstance(part, Variable)))


def changed(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Transform an expression bottom-up."""
    fields: dict[str, object] = {}
    for name in _inner_fields(type(expression)):
        match getattr(expression, name):
            case tuple() as several:
                fields[name] = tuple(
                    changed(cast("Expression", entry), change) if isinstance(entry, _Expression) else entry
                    for entry in several
                )
            case _Expression() as inner:
                fields[name] = changed(cast("Expression", inner), change)
    return change(msgspec.structs.replace(expression, **fields))


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """An expression with its condition ids changed."""

    def rename(element: Expression) -> Expression:
        old = {name: getattr(element, name, "") for name in _CONDITION_FIELDS}
        return msgspec.structs.replace(element, **{name: names[at] for name, at in old.items() if at})

    return changed(expression, rename)
