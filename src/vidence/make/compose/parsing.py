"""Parse programs from text with `ast` and an allow-list; the text is never evaluated."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, get_args

import msgspec

from vidence.errors import DataError
from vidence.make.sources.composition import (
    Aggregate,
    AggregateWord,
    Arithmetic,
    Atom,
    AttributeOf,
    Compare,
    Comparison,
    Composition,
    Condition,
    DirectionOf,
    Expected,
    Expression,
    InDirection,
    Known,
    Literally,
    Members,
    Order,
    Pair,
    Related,
    RelatedTo,
    Select,
    SelectWord,
    Step,
    The,
    Timed,
    TimeWord,
    Values,
    Variable,
    View,
    renamed,
)
from vidence.make.sources.scene import ValueOrNumber, natural
from vidence.make.sources.vocabulary import Skill

SEPARATOR = "---"
MOST_CHARACTERS = 20_000
"""Per composition."""
_SETTINGS = ("scene", "question", "options", "id", "claims")
_COMPARISONS: Mapping[type[ast.cmpop], Comparison] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_NUMBERED = re.compile(r"#\s*\d")
_ONE_NUMBER = re.compile(r"(\d+)(?:\s+([a-z][a-z ]*?))?")
T = TypeVar("T")


class ProgramError(DataError):
    """A text that is not a valid program; the message has line and column."""


@dataclass(frozen=True, kw_only=True)
class ParsedComposition:
    """A composition as parsed.

    `skills` are those that comments tell, the others are yet to be found; None: the composition has them all.
    """

    composition: Composition
    skills: Mapping[str, Skill] | None
    line: int


def parse_compositions(text: str, *, source: str) -> list[ParsedComposition]:
    """Split a text at lines of ``---`` into compositions.

    Args:
        text: assignments; `scene`, `question`, `options`, `id` and `claims` (what the answer is said to be)
            are settings, other names are steps; the last step (`answer`, or without a name) is the answer.
        source: what the text is called, for messages and for ids.

    Raises:
        ProgramError: something that the language has not; nothing of it was run.
    """
    compositions: list[ParsedComposition] = []
    for first, part in _parts(text):
        if len(part) > MOST_CHARACTERS:
            raise ProgramError(f"{source}:{first}: {len(part):,} characters; at most {MOST_CHARACTERS:,}")
        compositions.append(_Parser(source=source, first=first).parse(part, number=len(compositions) + 1))
    if not compositions:
        raise ProgramError(f"{source}: no composition is in it")
    return compositions


def _parts(text: str) -> Iterator[tuple[int, str]]:
    start, lines = 1, list[str]()
    for number, line in enumerate([*text.split("\n"), SEPARATOR], start=1):
        if line.strip() == SEPARATOR:
            if any(name.strip() and not name.strip().startswith("#") for name in lines):
                yield start, "\n".join(lines)
            start, lines = number + 1, []
        else:
            lines.append(line)


@dataclass(kw_only=True)
class _Parser:
    source: str
    first: int
    ends: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where each condition ends, by its name while parsing."""
    picks: set[str] = field(default_factory=set)

    def parse(self, text: str, *, number: int) -> ParsedComposition:
        comments = self._comments(text)
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = self.first - 1 + (getattr(error, "lineno", None) or 1)
            raise ProgramError(f"{self.source}:{line}: no program: {error.args[0]}") from error
        settings, steps = self._split(tree.body)
        self.picks = {name for name, _, _ in steps}
        try:
            entries = [
                Step(variable=name, value=self._step(name, node), line=self.first - 1 + line)
                for name, node, line in steps
            ]
        except RecursionError as error:
            raise ProgramError(f"{self.source}:{self.first}: nested too deeply") from error
        if not entries or entries[-1].variable != "answer":
            raise ProgramError(
                f"{self.source}:{self.first}: the last step gives no answer; end with answer = ..."
            )
        named, skills = self._numbers(comments)
        claimed = settings.get("claims")
        options = settings.get("options", ())
        composition = Composition(
            composition=str(settings.get("id") or f"{self.source}/{number:04d}"),
            scene=str(settings.get("scene", "")),
            steps=tuple(msgspec.structs.replace(step, value=renamed(step.value, named)) for step in entries),
            conditions=tuple(
                Condition(id=name, skill="semantic") for name in sorted(named.values(), key=natural)
            ),
            question=str(settings.get("question", "")),
            options=options if isinstance(options, tuple) else (),
            answer=claimed if isinstance(claimed, str | int | float) else None,
        )
        return ParsedComposition(composition=composition, skills=skills, line=self.first)

    def _refuse(self, node: ast.AST, says: str) -> ProgramError:
        line, column = getattr(node, "lineno", 1) + self.first - 1, getattr(node, "col_offset", 0) + 1
        return ProgramError(f"{self.source}:{line}:{column}: {says}")

    def _comments(self, text: str) -> dict[int, str]:
        comments = {}
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.COMMENT and _NUMBERED.match(token.string):
                    comments[token.start[0]] = token.string.removeprefix("#").strip()
        except (tokenize.TokenError, SyntaxError):
            return {}  # `ast` says where
        return comments

    def _split(
        self, body: Sequence[ast.stmt]
    ) -> tuple[dict[str, ValueOrNumber | tuple[ValueOrNumber, ...]], list[tuple[str, ast.expr, int]]]:
        settings: dict[str, ValueOrNumber | tuple[ValueOrNumber, ...]] = {}
        steps: list[tuple[str, ast.expr, int]] = []
        for node in body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    pass
                case ast.Expr(value=value) if node is body[-1]:
                    name = "answer"
                case _:
                    raise self._refuse(
                        node, f"a {type(node).__name__} is not in the language; write NAME = ..."
                    )
            if name.startswith("_"):
                raise self._refuse(node, f"no variable can be called {name!r}")
            if name in settings or name in [step for step, _, _ in steps]:
                raise self._refuse(node, f"{name!r} is given twice")
            if name in _SETTINGS:
                settings[name] = self._setting(name, value)
            else:
                steps.append((name, value, node.lineno))
        return settings, steps

    def _setting(self, name: str, node: ast.expr) -> ValueOrNumber | tuple[ValueOrNumber, ...]:
        if name == "options":
            if not isinstance(node, ast.List | ast.Tuple):
                raise self._refuse(node, "options: expected a list")
            return tuple(self._constant(elt) for elt in node.elts)
        return self._constant(node)

    def _constant(self, node: ast.expr) -> ValueOrNumber:
        match node:
            case ast.Constant(value=str() | int() | float() as value) if not isinstance(value, bool):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if (
                not isinstance(value, bool)
            ):
                return -value
        raise self._refuse(node, f"expected a text or a number, found {ast.unparse(node)[:60]!r}")

    # ----------------------------------------------------------------------- expressions

    def _step(self, name: str, node: ast.expr) -> Expression:
        expression = self._expression(node)
        if isinstance(expression, The | Select):  # the step itself is what is picked
            self.picks.discard(expression.pick)
            self.picks.add(name)
            return msgspec.structs.replace(expression, pick=name)
        return expression

    def _expression(self, node: ast.expr) -> Expression:
        return msgspec.structs.replace(self._node(node), column=node.col_offset + 1)

    def _node(self, node: ast.expr) -> Expression:
        match node:
            case ast.Name(id=name):
                return Variable(name=self._plain(node, name))
            case ast.Attribute(value=value, attr=name):
                return AttributeOf(of=self._expression(value), name=self._plain(node, name))
            case ast.Set(elts=elements):
                values = {self._constant(element) for element in elements}
                return Values(values=tuple(sorted(values, key=lambda word: (str(type(word)), word))))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                return Arithmetic(
                    how="+" if isinstance(op, ast.Add) else "-",
                    left=self._expression(left),
                    right=self._expression(right),
                )
            case ast.Call(func=ast.Name(id=name)):
                self._plain(node, name)
                return _CALLS[name](self, node) if name in _CALLS else self._members(node, name)
            case ast.Constant() | ast.UnaryOp():
                return Literally(value=self._constant(node))
        raise self._refuse(node, f"{ast.unparse(node)[:60]!r} is not in the language")

    def _plain(self, node: ast.AST, name: str) -> str:
        if "__" in name or name.startswith("_"):
            raise self._refuse(node, f"{name!r} is not in the language")
        return name

    def _condition(self, node: ast.AST) -> str:
        name = f"?{len(self.ends)}"
        self.ends[name] = (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
        return name

    def _pick(self, of: Expression) -> str:
        while not isinstance(of, Members | RelatedTo | Variable):
            of = of.of if isinstance(of, InDirection) else Variable(name="one")
        word = (
            of.category if isinstance(of, Members) else of.name if isinstance(of, Variable) else of.relation
        )
        name, number = word, 1
        while name in self.picks:
            number += 1
            name = f"{word}{number}"
        self.picks.add(name)
        return name

    def _members(self, node: ast.Call, category: str) -> Expression:
        head = ""
        atoms = tuple(
            msgspec.structs.replace(self._atom(arg), column=arg.col_offset + 1) for arg in node.args
        )
        for keyword in node.keywords:
            if keyword.arg != "head" or self._constant(keyword.value) != "counted":
                raise self._refuse(keyword, f'{category}: only head = "counted" can be said by name')
            head = self._condition(keyword)
        return Members(category=category, atoms=atoms, head=head)

    def _atom(self, node: ast.expr) -> Atom:
        match node:
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[value]) if (
                type(op) in _COMPARISONS
            ):
                return Compare(
                    attribute=self._plain(node, name),
                    how=_COMPARISONS[type(op)],
                    value=self._expression(value),
                    condition=self._condition(node),
                )
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id=name)) as call) if (
                name not in get_args(TimeWord)
            ):
                return self._related(call, self._plain(node, name), holds=False)
            case ast.Call(func=ast.Name(id=name)) if name in get_args(TimeWord):
                return self._timed(node, name)
            case ast.Call(func=ast.Name(id=name)):
                return self._related(node, self._plain(node, name), holds=True)
        raise self._refuse(
            node, f"{ast.unparse(node)[:60]!r} is no condition; expected a comparison, a relation or a time"
        )

    def _related(self, node: ast.Call, name: str, *, holds: bool) -> Related:
        (to,), values = self._arguments(node, 1, ("frame",))
        expression = self._expression(to)
        frame = str(self._constant(values["frame"])) if "frame" in values else ""
        return Related(
            relation=name, to=expression, condition=self._condition(node), holds=holds, frame=frame
        )

    def _timed(self, node: ast.Call, name: str) -> Timed:
        n = 2 if name in ("within", "begins_in") else 1
        given, _ = self._arguments(node, n)
        plain = given if name == "begins_in" else given[1:]
        seconds = tuple(float(self._number(expr)) for expr in plain)
        of = None if name == "begins_in" else self._expression(given[0])
        how = msgspec.convert(name, TimeWord)
        return Timed(how=how, of=of, seconds=seconds, condition=self._condition(node))

    # ----------------------------------------------------------------------- calls

    def _arguments(
        self, node: ast.Call, n: int, keywords: Sequence[str] = ()
    ) -> tuple[list[ast.expr], dict[str, ast.expr]]:
        name = node.func.id if isinstance(node.func, ast.Name) else "?"
        if len(node.args) != n or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise self._refuse(node, f"{name}: {len(node.args)} arguments found; expected {n}")
        arguments = {}
        for keyword in node.keywords:
            if keyword.arg not in keywords:
                listed = ", ".join(keywords) or "none"
                raise self._refuse(keyword.value, f"{name}: no argument {keyword.arg!r}; known: {listed}")
            arguments[str(keyword.arg)] = keyword.value
        return list(node.args), arguments

    def _number(self, node: ast.expr) -> float:
        value = self._constant(node)
        if isinstance(value, str):
            raise self._refuse(node, f"{value!r} found; expected a number")
        return value

    def _text(self, node: ast.expr, known: Sequence[str] = ()) -> str:
        value = self._constant(node)
        if not isinstance(value, str) or (known and value not in known):
            raise self._refuse(node, f"{value!r} found; expected {' or '.join(map(repr, known)) or 'a text'}")
        return value

    def the(self, node: ast.Call) -> Expression:
        (of,), _ = self._arguments(node, 1)
        expression = self._expression(of)
        return The(of=expression, pick=self._pick(expression))

    def ordered(self, node: ast.Call) -> Expression:
        how = str(getattr(node.func, "id", ""))
        given, _ = self._arguments(node, 3 if how == "nth" else 2)
        expression = self._expression(given[0])
        n = None
        if how == "nth":
            number = self._number(given[1])
            if not isinstance(number, int) or number < 1:
                raise self._refuse(given[1], f"nth: {number!r} found; expected a whole number of 1 or more")
            n = number
        by = self._text(given[-1])
        is_order = by in get_args(Order)
        return Select(
            how=msgspec.convert(how, SelectWord),
            of=expression,
            by=msgspec.convert(by, Order) if is_order else None,
            along="" if is_order else by,
            n=n,
            pick=self._pick(expression),
            condition=self._condition(node),
        )

    def by_distance(self, node: ast.Call) -> Expression:
        (of, to), _ = self._arguments(node, 2)
        expression, place = self._expression(of), self._expression(to)
        how = msgspec.convert(getattr(node.func, "id", ""), SelectWord)
        return Select(
            how=how, of=expression, to=place, pick=self._pick(expression), condition=self._condition(node)
        )

    def by_amount(self, node: ast.Call) -> Expression:
        (of, name), _ = self._arguments(node, 2)
        expression, how = self._expression(of), str(getattr(node.func, "id", ""))
        return Select(
            how=msgspec.convert(how, SelectWord),
            of=expression,
            attribute=self._text(name),
            pick=self._pick(expression),
            condition=self._condition(node),
        )

    def aggregate(self, node: ast.Call) -> Expression:
        how = str(getattr(node.func, "id", ""))
        given, _ = self._arguments(node, 1 if how == "count" else 2)
        attribute = "" if how == "count" else self._text(given[1])
        expression = self._expression(given[0])
        return Aggregate(how=msgspec.convert(how, AggregateWord), of=expression, attribute=attribute)

    def rel(self, node: ast.Call) -> Expression:
        (to, name), _ = self._arguments(node, 2)
        expression = self._expression(to)
        return RelatedTo(relation=self._text(name), to=expression, condition=self._condition(node))

    def view(self, node: ast.Call) -> Expression:
        (of,), values = self._arguments(node, 1, ("facing", "heading", "turned"))
        if "facing" in values and "heading" in values:
            raise self._refuse(node, "view: facing and heading exclude each other")
        expression = self._expression(of)
        facing = self._expression(values["facing"]) if "facing" in values else None
        way = values.get("facing", values.get("heading"))
        is_told = isinstance(values.get("heading"), ast.Constant | ast.UnaryOp)
        return View(
            of=expression,
            facing=facing,
            heading=float(self._number(values["heading"])) if is_told else None,
            like=self._expression(values["heading"]) if "heading" in values and not is_told else None,
            turned=float(self._number(values["turned"])) if "turned" in values else 0.0,
            facing_condition=self._condition(way) if way is not None else "",
            turned_condition=self._condition(values["turned"]) if "turned" in values else "",
        )

    def direction(self, node: ast.Call) -> Expression:
        (of, view), _ = self._arguments(node, 2)
        return DirectionOf(of=self._expression(of), view=self._expression(view))

    def in_direction(self, node: ast.Call) -> Expression:
        (of, view, word), _ = self._arguments(node, 3)
        expression, seen = self._expression(of), self._expression(view)
        is_told = isinstance(word, ast.Constant)
        return InDirection(
            of=expression,
            view=seen,
            direction=self._text(word) if is_told else "",
            toward=None if is_told else self._expression(word),
            condition=self._condition(node),
        )

    def pair(self, node: ast.Call) -> Expression:
        (first, second), _ = self._arguments(node, 2)
        return Pair(first=self._expression(first), second=self._expression(second))

    def known(self, node: ast.Call) -> Expression:
        (table, of), _ = self._arguments(node, 2)
        return Known(table=self._text(table), of=self._expression(of))

    def expected(self, node: ast.Call) -> Expression:
        (of,), _ = self._arguments(node, 1)
        return Expected(of=self._expression(of))

    def at(self, node: ast.Call) -> Expression:
        (of, time), _ = self._arguments(node, 2)
        expression = self._expression(of)
        if not isinstance(expression, AttributeOf):
            raise self._refuse(of, "at: expected an attribute first, such as at(A.bag, E)")
        return AttributeOf(of=expression.of, name=expression.name, at=self._expression(time))

    # ----------------------------------------------------------------------- conditions

    def _numbers(self, comments: Mapping[int, str]) -> tuple[dict[str, str], dict[str, Skill]]:
        """Return the condition ids, with the skills from comments."""
        ordered = sorted(self.ends, key=self.ends.__getitem__)
        named: dict[str, str] = {}
        skills: dict[str, Skill] = {}
        for line, comment in comments.items():
            here = [name for name in ordered if self.ends[name][0] == line]
            matches = [_ONE_NUMBER.fullmatch(part.strip()) for part in comment.split(",")]
            where = f"{self.source}:{line + self.first - 1}"
            if len(matches) != len(here):
                raise ProgramError(
                    f"{where}: {len(matches)} conditions in the comment, {len(here)} in the line "
                    "that end there"
                )
            for name, match in zip(here, matches, strict=True):
                skill = match[2] if match is not None else ""
                if match is None or (skill and skill not in get_args(Skill)):
                    listed = ", ".join(get_args(Skill))
                    raise ProgramError(f"{where}: {comment!r} found; expected a number and one of {listed}")
                if f"c{match[1]}" in named.values():
                    raise ProgramError(f"{where}: the condition {match[1]} is there twice")
                named[name] = f"c{match[1]}"
                if skill:
                    skills[named[name]] = msgspec.convert(skill, Skill)
        free = (f"c{n}" for n in range(1, 2 * len(ordered) + 1) if f"c{n}" not in named.values())
        for name in ordered:
            if name not in named:
                named[name] = next(free)
        return named, skills


_CALLS: Mapping[str, Callable[[_Parser, ast.Call], Expression]] = {
    "the": _Parser.the,
    **dict.fromkeys(("first", "last", "nth"), _Parser.ordered),
    **dict.fromkeys(("nearest", "farthest"), _Parser.by_distance),
    **dict.fromkeys(("most", "least"), _Parser.by_amount),
    **dict.fromkeys(
        ("count", "mode", "shared", "longest_run", "largest", "smallest", "values"), _Parser.aggregate
    ),
    "rel": _Parser.rel,
    "view": _Parser.view,
    "direction": _Parser.direction,
    "in_direction": _Parser.in_direction,
    "pair": _Parser.pair,
    "known": _Parser.known,
    "expected": _Parser.expected,
    "at": _Parser.at,
}
