"""Fail when a file or a function has grown too long, or folders too deep."""

import ast
import sys
from pathlib import Path

MOST_FILE_LINES = 800
MOST_FUNCTION_LINES = 60
MOST_FOLDERS = 3  # the third for a family of like files, such as tasks
BANNED_NAMES = {"utils", "helpers", "common", "base", "misc"}
ROOT = Path(__file__).parents[1]


def function_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    body = node.body
    docstring = ast.get_docstring(node, clean=False)
    skipped = 0
    if docstring is not None:
        first = body[0]
        skipped = (first.end_lineno or first.lineno) - first.lineno + 1
    return (node.end_lineno or node.lineno) - node.lineno + 1 - skipped


def complaints(path: Path) -> list[str]:
    """What is too long in one file."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    found = []
    n_lines = text.count("\n")
    if n_lines > MOST_FILE_LINES and path.parent.name != "migrations":  # Django writes them
        found.append(f"{name}: {n_lines} lines, at most {MOST_FILE_LINES}")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = function_length(node)
            if length > MOST_FUNCTION_LINES:
                found.append(
                    f"{name}:{node.lineno}: {node.name} has {length} lines, at most {MOST_FUNCTION_LINES}"
                )
    return found


def main() -> int:
    """Check every Python file of the package, the tests and the benches."""
    package = ROOT / "src" / "vidence"
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        folders = [part for part in path.relative_to(package).parts[:-1] if part != "commands"]
        if len(folders) > MOST_FOLDERS:
            found.append(f"{path.relative_to(ROOT)}: {len(folders)} folders deep, at most {MOST_FOLDERS}")
        if BANNED_NAMES & {*folders, path.stem.strip("_")}:
            found.append(f"{path.relative_to(ROOT)}: a name that says nothing")
    for folder in (package, ROOT / "tests", ROOT / "bench", ROOT / "scripts"):
        for path in sorted(folder.rglob("*.py")):
            found += complaints(path)
    print("\n".join(found) if found else "sizes: all within limits")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
