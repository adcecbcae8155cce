"""Texts as the library LAVIS prepares them for BLIP, for scores like those that AKS was made with."""

import re

MAX_WORDS = 50
MAX_TOKENS = 35

_DROPPED = re.compile(r"[.!\"()*#:;~]")


def prepare(text: str) -> str:
    """Lower case, without ``.!"()*#:;~`` and double blanks, at most 50 words.

    Source: LAVIS, processor ``blip_caption`` for evaluation; AKS (arXiv:2502.21271) takes its BLIP scores so.
    Departs: no.

    >>> prepare("Who opens the door: (the man)?  And then...")
    'who opens the door the man ? and then'
    """
    words = _DROPPED.sub(" ", text.lower())
    words = re.sub(r"\s{2,}", " ", words).rstrip("\n").strip(" ")
    return " ".join(words.split(" ")[:MAX_WORDS])
