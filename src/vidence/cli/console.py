"""Prints one line on the terminal as it is: names, paths and foreign words are no markup."""

from rich.console import Console
from rich.text import Text

from vidence.text import visible


def say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print words, and pairs of words and their style, on one line.

    Args:
        console: where to.
        parts: what to say, in order.
    """
    line = Text()
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        line.append(visible(words), style=style)
    console.print(line, soft_wrap=True)


def several(n: int, what: str, *, many: str = "") -> str:
    """A number and what it counts: ``1 reply``, ``2 replies``.

    >>> several(1, "reply", many="replies"), several(2_000, "question")
    ('1 reply', '2,000 questions')
    """
    return f"{n:,} {what if n == 1 else many or what + 's'}"
