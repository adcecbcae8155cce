"""Why a reply ended: the words of the servers turned into ours."""

from typing import Literal, TypeAlias

Finish: TypeAlias = Literal["stop", "length", "refusal", "other"]

_WORDS: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
}


def finish_of(word: str | None) -> Finish:
    """Our word for a server's reason; ``other`` for one that is absent or not known."""
    return _WORDS.get((word or "").lower(), "other")
