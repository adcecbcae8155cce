"""The words of event logs as a person writes them."""

import re

_SPACES = re.compile(r"\s+")


def plain(text: str) -> str:
    """Lower case, one blank between words, no closing full stop.

    >>> plain("  Turn-On  the_tap. ")
    'turn on the tap'
    """
    return _SPACES.sub(" ", re.sub(r"[-_]", " ", text)).strip(" .").lower()


def noun_words(text: str) -> str:
    """A noun of the EPIC logs, which have the head first and colons between, in the usual order.

    >>> noun_words("container:milk")
    'milk container'
    >>> noun_words("handle of cupboard")
    'handle of cupboard'
    """
    return plain(" ".join(reversed(text.split(":"))))
