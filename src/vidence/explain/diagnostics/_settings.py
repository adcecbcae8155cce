"""What the options of diagnostics have in common beside `vidence.option_readers`."""

from vidence.errors import UsageError
from vidence.option_readers import positive_whole, words_apart


def amounts_apart(text: str) -> tuple[int, ...]:
    """Whole numbers above 0 split by ``|``, in ascending order.

    Raises:
        ValueError: one is none, or stands there twice.
    """
    return tuple(sorted(positive_whole(part) for part in words_apart(text)))


def check_at_least(at_least: int, of: int, *, owner: str) -> None:
    """Refuse to ask for more right answers than there are answers.

    Raises:
        UsageError: it is more.
    """
    if at_least > of:
        raise UsageError(f"{owner}: at_least={at_least} of {of} answers can never be; expected 1 to {of}")
