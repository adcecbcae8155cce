"""Turn the text of a template into a function that fills it, with errors that name file and line.

Importing this file imports Jinja; `templates` does so only when a set is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from vidence.errors import UsageError

# What filling a template can raise beside Jinja's own errors: 1 + "a", int("a"), 1 / 0, range(10**9).
_FILLING_ERRORS = (TemplateError, TypeError, ValueError, ArithmeticError)


@dataclass(frozen=True, kw_only=True)
class Filler:
    """Fills one template; `uses` are the variables that stand in it, `place` is its file."""

    place: str
    uses: frozenset[str]
    _template: Template

    def __call__(self, values: Mapping[str, object]) -> str:
        """The words.

        Raises:
            UsageError: it cannot be filled with these values.
        """
        try:
            return self._template.render(values).strip("\n")
        except _FILLING_ERRORS as error:
            raise UsageError(
                f"{self.place} cannot be filled: {error}; values given: {dict(values)}"
            ) from error


def _line_of(tree: nodes.Template, variable: str) -> int:
    return next(node.lineno for node in tree.find_all(nodes.Name) if node.name == variable)


def parse_template(text: str, *, place: str, variables: Mapping[str, str]) -> Filler:
    """A template made ready to be filled.

    The template cannot reach Python's internals, change what it is given, or leave out a variable
    silently. What is filled in is not read as a template again.

    Args:
        text: the template.
        place: its file, for messages.
        variables: the names that it may use, with what they mean.

    Raises:
        UsageError: its syntax is wrong or it uses another variable.
    """
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    try:
        tree = environment.parse(text)
        uses = find_undeclared_variables(tree)
        unknown = sorted(uses - variables.keys())
        template = environment.from_string(text)
    except TemplateSyntaxError as error:
        raise UsageError(f"{place}, line {error.lineno}: {error.message}") from error
    if unknown:
        raise UsageError(
            f"{place}, line {_line_of(tree, unknown[0])}: there is no variable {unknown[0]!r}; "
            f"there are {', '.join(variables)}"
        )
    return Filler(place=place, uses=frozenset(uses), _template=template)
