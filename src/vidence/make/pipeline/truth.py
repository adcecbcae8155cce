"""What the right answer of a question rests on, in words: a log, tracks and how they came about, cards."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from vidence.make.pipeline.material import Card, Draft, Material, SceneCard
from vidence.seeing.tracks import TrackBasis

_MOST_WRITERS = 3


def tracks_words(basis: TrackBasis) -> str:
    """What tracks rest on.

    >>> tracks_words(TrackBasis(kind="given"))
    'given tracks'
    """
    return f"{basis.kind} tracks"


def truth_words(material: Material, parts: Iterable[str]) -> str:
    """What an answer rests on that was computed from these parts of the material, such as those a task needs.

    Empty where none of them says anything of that kind.
    """
    found = (_WORDS[part](material) for part in parts if part in _WORDS)
    return "; ".join(dict.fromkeys(words for words in found if words))


def truth_kind(draft: Draft) -> str:
    """What a draft rests on without figures and names, by which questions are sorted.

    >>> draft = Draft(draft_id="", task="", structure="", video_id="", question="", choices=(),
    ...     answer_index=0, evidence=(), k=3, truth="detected tracks; cards by A")
    >>> truth_kind(draft)
    'detected tracks, cards'
    """
    parts = (part.partition(" by ")[0] for part in draft.truth.split("; "))
    return ", ".join(dict.fromkeys(parts))


def _tracks(material: Material) -> str:
    return "" if material.tracked is None else tracks_words(material.tracked.basis)


def _cards(kind: str, cards: Iterable[Card | SceneCard]) -> str:
    writers = list(dict.fromkeys(card.writer for card in cards))
    if not writers:
        return ""
    named = [writer for writer in writers if writer]
    if len(named) < len(writers) or len(named) > _MOST_WRITERS:
        return f"{kind} by {len(writers)} writers" if named else kind
    return f"{kind} by {', '.join(named)}"


_WORDS: Final[Mapping[str, Callable[[Material], str]]] = {
    "events": lambda material: "log" if material.events else "",
    "tracked": _tracks,
    "shots": lambda material: "shots" if material.shots else "",
    "a_cards": lambda material: _cards("cards", material.a_cards),
    "b_cards": lambda material: _cards("cards", material.b_cards),
    "scene_cards": lambda material: _cards("scene cards", material.scene_cards),
}
