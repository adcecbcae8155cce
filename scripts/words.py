"""Fail when a word that the house style rules out is back, or a variable has a name that says nothing."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = re.compile(
    r"\b(?:whoever|whom|somebody|nobody|anybody|anew|(?:is|are|was|were|been) (?:said|told)(?! apart)"
    r"|what (?:[\w`]+ ){1,4}makes? of|there (?:is|are) none|takes? in|(?:stands?|stood) beside|goes? by)\b",
    re.IGNORECASE,
)
NAMES = {"one", "found", "said", "made"}
MOST_FIRST_LINES = 0.01  # of the first lines of docstrings
MOST_TEXTS = 0  # in messages, help, templates, README.md and docs
MOST_NAMES = 150
EXCEPTED = {  # words that are data, with the reason
    "ask/phantom/questions.py": "a prompt whose replies are in the golden results",
    "make/compose/phrases.py": "tells nouns of scenes from names",
    "make/writing/choices_rules.py": "a pattern of questions that ask two things",
}

Place = tuple[str, int, str]
"""A file, a line, and the words there."""


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """The docstrings of modules, classes and functions, and the texts under fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            values = [child.value for child in node.body if isinstance(child, ast.Expr)]
            for value in values:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value


def is_command(node: ast.AST) -> bool:
    """Whether a function is a command, so that its docstring is help."""
    if not isinstance(node, ast.FunctionDef):
        return False
    calls = [ast.unparse(each).partition("(")[0] for each in node.decorator_list]
    return any(call.rpartition(".")[2] in ("command", "group") for call in calls)


def first_lines(tree: ast.AST) -> list[tuple[int, str]]:
    """The first line of each docstring, with its line number."""
    texts = [(node.lineno, str(node.value).strip()) for node in docstrings(tree)]
    return [(line, text.partition("\n")[0]) for line, text in texts]


def texts(tree: ast.AST) -> list[tuple[int, str]]:
    """What users read of a module: its strings without docstrings, and the help of its commands."""
    skipped = {id(node) for node in docstrings(tree)}
    for node in ast.walk(tree):
        if is_command(node):
            skipped -= {id(child) for child in docstrings(node)}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [
        (node.lineno, node.value)
        for node in constants
        if isinstance(node.value, str) and id(node) not in skipped
    ]


def names(tree: ast.AST) -> list[tuple[int, str]]:
    """The variables and parameters whose name says nothing."""
    stored = [
        (node.lineno, node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    arguments = [(node.lineno, node.arg) for node in ast.walk(tree) if isinstance(node, ast.arg)]
    return [(line, name) for line, name in stored + arguments if name in NAMES]


def words_out(file: str, lines: list[tuple[int, str]]) -> list[Place]:
    """The words of some texts that are out."""
    return [(file, line, match.group()) for line, text in lines for match in OUT.finditer(text)]


def visible(path: Path) -> list[tuple[int, str]]:
    """The lines of a template or a page, without comments and tags of templates, and without code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", text)
    if path.suffix == ".md":
        text = re.sub(
            r"^( *)```.*?^\1```",
            lambda code: "\n" * code[0].count("\n"),
            text,
            flags=re.DOTALL | re.MULTILINE,
        )
    return list(enumerate(text.splitlines(), 1))


def main() -> int:
    """Count words and names over the package, README.md and the documentation."""
    package = ROOT / "src" / "vidence"
    n_docstrings, in_docstrings, in_texts, vague = 0, [], [], []
    for path in sorted(package.rglob("*.py")):
        tree, name = ast.parse(path.read_text(encoding="utf-8")), str(path.relative_to(ROOT))
        n_docstrings += len(first_lines(tree))
        in_docstrings += words_out(name, first_lines(tree))
        if str(path.relative_to(package)) not in EXCEPTED:
            in_texts += words_out(name, texts(tree))
        vague += [(name, line, word) for line, word in names(tree)]
    for path in [*package.rglob("*.html"), ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        in_texts += words_out(str(path.relative_to(ROOT)), visible(path))
    counts = (
        (in_docstrings, int(MOST_FIRST_LINES * n_docstrings), f"first lines of {n_docstrings} docstrings"),
        (in_texts, MOST_TEXTS, "messages, help, templates and pages"),
        (vague, MOST_NAMES, "names of variables"),
    )
    for places, most, where in counts:
        print(f"words: {len(places)} that are out in {where}, at most {most}")
        if len(places) > most or "--list" in sys.argv:
            print("\n".join(f"  {file}:{line}: {word}" for file, line, word in places))
    return int(any(len(places) > most for places, most, _ in counts))


if __name__ == "__main__":
    sys.exit(main())
