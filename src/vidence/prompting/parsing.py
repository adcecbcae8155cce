"""Turn the text of a template into a function that fills it, with errors that name file and line.

Importing this file imports Jinja; `templates` does so only when a set is loaded.
"""

from collections.abc import Callable, Mapping

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from vidence.errors import UsageError

# What filling a template can raise beside Jinja's own errors: 1 + "a", int("a"), 1 / 0, range(10**9).
_FILLING_ERRORS = (TemplateError, TypeError, ValueError, ArithmeticError)


def _line_of(tree: nodes.Template, variable: str) -> int:
    return next(node.lineno for node in tree.find_all(nodes.Name) if node.name == variable)


def parse_template(
    text: str, *, place: str, variables: Mapping[str, str]
) -> Callable[[Mapping[str, object]], str]:
    """The function that fills a template.

    The template cannot reach Python's internals, change what it is given, or leave out a variable
    silently. What is filled in is not read as a template again.

    Args:
        text: the template.
        place: its file, for messages.
        variables: the names that it may use, with what they mean.

    Raises:
        UsageError: its syntax is wrong or it uses another variable. The function that is returned
            raises it where the template cannot be filled with the values given.
    """
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    try:
        tree = environment.parse(text)
        unknown = sorted(find_undeclared_variables(tree) - variables.keys())
        template = environment.from_string(text)
    except TemplateSyntaxError as error:
        raise UsageError(f"{place}, line {error.lineno}: {error.message}") from error
    if unknown:
        raise UsageError(
            f"{place}, line {_line_of(tree, unknown[0])}: there is no variable {unknown[0]!r}; "
            f"there are {', '.join(variables)}"
        )

    def fill(values: Mapping[str, object]) -> str:
        try:
            return template.render(values).strip("\n")
        except _FILLING_ERRORS as error:
            raise UsageError(f"{place} cannot be filled: {error}; values given: {dict(values)}") from error

    return fill
