"""The template language: a subset of Jinja in which rendering always terminates.

Prompts need variables, conditions, loops over short lists and a few filters. Everything else is rejected when
the template is read. No step multiplies its input by more than a constant, and the number of steps is known
from the template alone.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

import jinja2
from jinja2 import TemplateRuntimeError, TemplateSyntaxError, nodes
from jinja2.filters import FILTERS
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

MOST_CHARACTERS = 1_000_000
"""Most characters of a template, of an intermediate text, and of the output."""
_MOST_EACH, _MOST_STEPS, _DEEPEST = 200, 20_000, 40
_MOST_PIECES = 32  # that are joined at once
_MOST_ARGUMENT, _MOST_NUMBER = 100, 100
_PARTS = frozenset((
    "Template", "Output", "TemplateData", "Name", "Const", "For", "If", "Assign", "Getattr", "Getitem",
    "Slice", "Filter", "Keyword", "Test", "Compare", "Operand", "And", "Or", "Not", "CondExpr", "Concat",
    "Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Neg", "Pos", "List", "Tuple",
))  # fmt: skip
_FILTERS = (
    "abs", "capitalize", "count", "d", "default", "first", "float", "format", "indent", "int", "join", "last",
    "length", "list", "lower", "map", "replace", "reverse", "round", "string", "tojson", "trim", "upper",
)  # fmt: skip
_ANY_ARGUMENT = frozenset({"d", "default", "format"})
# What makes more of what it is given: with a name for each result, forty lines would fill any memory.
_GROWING = (nodes.Add, nodes.Mul, nodes.Concat, nodes.List, nodes.Tuple)
_EACH = "each"


def _checked(value: object) -> object:
    """Return a template's value after checking its length."""
    if isinstance(value, Iterator):
        value = list(value)
    texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    if sum(len(str(text)) for text in texts) > MOST_CHARACTERS:
        raise TemplateRuntimeError(f"a text in it has more than {MOST_CHARACTERS:,} characters")
    return value


def _bounded(function: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(function)
    def bounded(*given: object, **named: object) -> object:
        return _checked(function(*map(_checked, given), **named))

    return bounded


def _format(text: str, *values: object) -> str:
    """Reject formats that produce thousands of characters."""
    if len(text) > _MOST_ARGUMENT or re.search(r"\*|\d{3}", text):
        raise TemplateRuntimeError(f'format has a text such as "%.1f" before it, not {text:.40}')
    return text % values


def _each(values: object) -> object:
    """Return the values to loop over."""
    if not isinstance(values, list | tuple) or len(values) > _MOST_EACH:
        raise TemplateRuntimeError(f"a loop runs over a list of at most {_MOST_EACH} things")
    return values


def _joined(pieces: Iterable[str]) -> str:
    """Return the complete output."""
    message, rest = "", iter(pieces)
    while some := tuple(islice(rest, _MOST_PIECES)):
        message += "".join(some)
        if len(message) > MOST_CHARACTERS:
            raise TemplateRuntimeError(f"it says more than {MOST_CHARACTERS:,} characters")
    return message


class _Environment(ImmutableSandboxedEnvironment):
    """Parses and fills templates."""

    intercepted_binops = frozenset("+*%")
    concat = staticmethod(_joined)

    def __init__(self) -> None:
        super().__init__(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        self.globals = {}
        values = {name: _bounded(_format if name == "format" else FILTERS[name]) for name in _FILTERS}
        self.filters = {**values, _EACH: _each}

    def getattr(self, obj: object, attribute: str) -> object:
        """As usual, but with fewer lookups for the common cases."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, *sides: object) -> object:
        if operator != "+" and not all(isinstance(side, int | float) for side in sides):
            raise TemplateRuntimeError(f"{operator} stands between numbers only")
        return _checked(super().call_binop(context, operator, *sides))


class _Bounds(NodeTransformer):
    """Inserts checks that depend on values into a template."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        node.iter = nodes.Filter(node.iter, _EACH, [], [], None, None, lineno=node.lineno)
        return self.generic_visit(node)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return nodes.Filter(nodes.List(node.nodes), "join", [], [], None, None, lineno=node.lineno)


def _fault(node: nodes.Node, depth: int) -> str:
    """Return why a template node is not allowed, ignoring its children; empty if it is."""
    kind = type(node).__name__
    if kind not in _PARTS:
        return f"a template has no {kind}; it has variables, if, for, set and filters ({', '.join(_FILTERS)})"
    if depth > _DEEPEST or (isinstance(node, nodes.If) and len(node.elif_) > _DEEPEST):
        return "it is nested too deeply, or has too many elif"
    if isinstance(node, nodes.Assign) and any(node.find_all(_GROWING)):
        return "set takes a variable, a part of one or a filter of one"
    if isinstance(node, nodes.List | nodes.Tuple) and any(
        not isinstance(item, nodes.Const) and getattr(item, "ctx", "load") == "load" for item in node.items
    ):
        return "a list in it holds only texts and numbers"
    if isinstance(node, nodes.Test) and node.name not in _environment().tests:
        return f"there is no test {node.name!r}"
    if isinstance(node, nodes.Filter):
        if node.name not in _FILTERS:
            return f"there is no filter {node.name!r}; there are {', '.join(_FILTERS)}"
        given = [*node.args, *(pair.value for pair in node.kwargs)]
        if node.dyn_args or node.dyn_kwargs or not (node.name in _ANY_ARGUMENT or all(map(_is_small, given))):
            return (
                f"the filter {node.name!r} takes texts of at most {_MOST_ARGUMENT} characters and numbers up "
                f"to {_MOST_NUMBER}"
            )
    return ""


def _is_small(node: nodes.Node) -> bool:
    value = node.value if isinstance(node, nodes.Const) else "_" * 2 * _MOST_ARGUMENT
    return value <= _MOST_NUMBER if isinstance(value, int | float) else len(str(value)) <= _MOST_ARGUMENT


def _steps(node: nodes.Node, depth: int = 0) -> int:
    """Return the maximum number of steps to fill in a node.

    Raises:
        TemplateSyntaxError: a part cannot be used, or the steps are too many.
    """
    fault = _fault(node, depth)
    inner = 0 if fault else sum(_steps(child, depth + 1) for child in node.iter_child_nodes())
    steps = (1 + inner) * (_MOST_EACH if isinstance(node, nodes.For) else 1)
    if steps > _MOST_STEPS:
        fault = f"it is too long, or has a loop in a loop: more than {_MOST_STEPS:,} steps"
    if fault:
        raise TemplateSyntaxError(fault, node.lineno or 1)
    return steps


_environment = functools.cache(_Environment)


@functools.lru_cache(maxsize=512)
def parsed(text: str) -> tuple[nodes.Template, Mapping[str, int]]:
    """Parse a template; return it and its variables with the line of their first use.

    Raises:
        TemplateSyntaxError: it is no template, or holds what none can.
    """
    try:
        if len(text) > MOST_CHARACTERS:
            raise TemplateSyntaxError(f"it has more than {MOST_CHARACTERS:,} characters", 1)
        tree = _environment().parse(text)
        _steps(tree)
    except (RecursionError, ValueError) as error:  # ((((, a number of 5,000 digits
        raise TemplateSyntaxError(f"it cannot be read ({error})", 1) from error
    lines = {name.name: name.lineno for name in reversed(list(tree.find_all(nodes.Name)))}
    uses = {name: lines[name] for name in find_undeclared_variables(tree)}  # leaves out of a tree what it can
    return _Bounds().visit(tree), uses


@functools.lru_cache(maxsize=128)
def _compiled(text: str) -> jinja2.Template:
    """Compile templates on demand: a run fills one or two of twenty."""
    return _environment().from_string(parsed(text)[0])


def filled(text: str, values: Mapping[str, object]) -> str:
    """Fill in a template.

    Raises:
        TemplateError: a value does not fit, or it says too much; or one of `BAD_VALUES`.
    """
    return _compiled(text).render(values)
