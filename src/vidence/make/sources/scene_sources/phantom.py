"""A phantom world, drawn videos whose truth is known: every card with its colour, number and time.

phantom:demo/world                         the folder with world.json, as `vidence demo` leaves it
phantom:demo/world?complete=card           whatever card the world does not list is not there
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final, get_args

from msgspec import Meta

from vidence.ask.phantom.plan import Lifetime
from vidence.ask.phantom.scene import COLOURS
from vidence.ask.phantom.world import PlantedPiece, read_world
from vidence.catalog import FilePath
from vidence.contracts import Flow
from vidence.make.sources.scene import AttributeFact, Entity, Header
from vidence.make.sources.scene_sources.source import AsksNobody, SceneSource, complete_lines
from vidence.make.sources.scene_writing import SceneDraft, SceneSet, Told
from vidence.make.sources.vocabulary import Attribute, Category, Vocabulary
from vidence.records import Record

CARD: Final = "card"
TRUTH: Final = "phantom"


class Settings(Record):
    """Options of a phantom world."""

    positional: ClassVar[str] = "path"
    path: Annotated[FilePath, Meta(description="the folder of the world, with its world.json")]
    complete: Annotated[tuple[str, ...], Meta(description="what the world has in full: card")] = ()


@dataclass
class _Phantom(AsksNobody):
    """The cards of a phantom world: a scene for each video.

    It says what was planted, not what was found, so that questions about it show what a search, a wording, a
    gate or a model does with scenes that are certainly right.
    """

    settings: Settings
    name: str = "phantom"
    version: int = 1

    def read(self) -> Flow[SceneSet]:
        """The scenes of the world.

        Raises:
            DataError: there is no world.
        """
        yield from ()
        world = read_world(Path(self.settings.path))
        complete = complete_lines(self.settings.complete, {CARD: ()}, owner=f"phantom:{self.settings.path}")
        return SceneSet(
            vocabulary=_WORDS,
            scenes=tuple(
                SceneDraft(
                    header=Header(
                        scene=Path(video.path).stem,
                        vocabulary="",
                        video=video.path,
                        duration_s=video.duration_s,
                        source_id=Path(video.path).stem,
                        truth=TRUTH,
                    ),
                    lines=(*(line for piece in video.pieces for line in _lines(piece)), *complete),
                )
                for video in world.videos
            ),
        )


def create(settings: Settings) -> SceneSource:
    """The scenes of a phantom world."""
    return _Phantom(settings)


def _lines(piece: PlantedPiece) -> Iterable[Told]:
    name = f"k{piece.piece}"
    yield Entity(entity=name, category=CARD, spans=((piece.start_s, piece.end_s),))
    for attribute, value in (("colour", piece.colour), ("number", piece.value), ("stays", piece.lifetime)):
        yield AttributeFact(of=name, name=attribute, value=value, by=TRUTH)


_WORDS: Final = Vocabulary(
    categories={CARD: Category()},
    attributes={
        "colour": Attribute(of=(CARD,), values=tuple(COLOURS)),
        "number": Attribute(of=(CARD,), number=True, asks="Which number is on {who}?"),
        "stays": Attribute(
            of=(CARD,),
            values=get_args(Lifetime),
            skill="temporal",
            has="whose stay is {value}",
            has_not="whose stay is not {value}",
        ),
    },
)
