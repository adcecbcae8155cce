"""The pages of the documentation, and what stands in their blocks."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The opening fence may be indented, as inside a list; what it opens ends at the same indent.
_BLOCK = re.compile(
    r'^(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^(?P=indent)```$',
    re.DOTALL | re.MULTILINE,
)
_INLINE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")


@dataclass(frozen=True)
class Block:
    """One fenced block; `title` is the name of the file that it is, where it is one."""

    language: str
    title: str | None
    body: str


@dataclass(frozen=True)
class Page:
    """One page of the documentation."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """The path in the repository."""
        return self.path.relative_to(ROOT).as_posix()

    def blocks(self, *languages: str) -> list[Block]:
        """The fenced blocks in these languages, or all of them."""
        found = [Block(m["language"], m["title"], m["body"]) for m in _BLOCK.finditer(self.text)]
        return [block for block in found if not languages or block.language in languages]

    def inline(self) -> list[str]:
        """What stands between single backticks, outside of blocks."""
        return [" ".join(m[1].split()) for m in _INLINE.finditer(_BLOCK.sub("", self.text))]

    def commands(self) -> Iterator[list[str]]:
        """The words of every line in a block that starts with ``vidence``, continued lines joined."""
        for block in self.blocks("", "sh", "bash", "console"):
            for line in block.body.replace("\\\n", " ").splitlines():
                if line.strip().startswith("vidence "):
                    yield shlex.split(line, comments=True)[1:]


@pytest.fixture(scope="session")
def pages() -> tuple[Page, ...]:
    """README, CONTRIBUTING and every page under docs/."""
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return tuple(Page(path, path.read_text(encoding="utf-8")) for path in paths)


@pytest.fixture(scope="session")
def page(pages: tuple[Page, ...]) -> dict[str, Page]:
    """The pages by their path in the repository."""
    return {one.name: one for one in pages}
