"""What an importer of scenes is, and what all of them share."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from vidence.contracts import Flow
from vidence.errors import UsageError
from vidence.make.sources.scene import Complete
from vidence.make.sources.scene_writing import SceneSet


class SceneSource(Protocol):
    """Makes scenes of something that is there already; one file in ``make/sources/scene_sources/``.

    `name` is its name in the catalog. What a source does not know, it does not say: an absent fact is
    unknown, and only what `Complete` covers is false.
    """

    name: str
    version: int

    def models(self) -> Mapping[str, str]:
        """The models that it asks, by names of its own: their specs."""

    def picture(self, digest: str) -> bytes:
        """A picture that it shows to a model, by the SHA-256 of its bytes."""

    def read(self) -> Flow[SceneSet]:
        """Yield what to ask, be sent the replies, return the scenes; whoever asks nobody yields nothing.

        Raises:
            DataError: there is nothing to read, or nothing in it can be used.
        """


class AsksNobody:
    """A source that reads files only."""

    def models(self) -> Mapping[str, str]:
        """None."""
        return {}

    def picture(self, digest: str) -> bytes:
        """None is there."""
        raise KeyError(digest)


def complete_lines(
    said: Sequence[str], known: Mapping[str, Sequence[str]], *, owner: str
) -> tuple[Complete, ...]:
    """What a user says is listed in full, as lines.

    Args:
        said: the words of the setting `complete`.
        known: the words that the source can cover, each with the categories that are meant (empty: it is
            itself a category, or a kind of event).
        owner: the source, for messages.

    Raises:
        UsageError: a word that the source says nothing about.
    """
    found: list[Complete] = []
    for word in said:
        if word not in known:
            listed = ", ".join(known) or "nothing"
            raise UsageError(f"{owner}: complete = {word!r} covers nothing here; it can name {listed}")
        found += [Complete(complete=word, for_=one) for one in known[word]] or [Complete(complete=word)]
    return tuple(found)
