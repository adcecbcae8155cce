"""The cards of a phantom world as scenes: what was planted, so that they are certainly right."""

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from vidence.ask.phantom.plan import Lifetime
from vidence.ask.phantom.scene import COLOURS
from vidence.ask.phantom.world import PlantedPiece, World
from vidence.make.sources.scene import AttributeFact, Complete, Entity, Header
from vidence.make.sources.scene_writing import SceneDraft, SceneSet, Told
from vidence.make.sources.vocabulary import Attribute, Category, Vocabulary

CARD = "card"
WORDS = Vocabulary(
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


def cards_of(world: World) -> SceneSet:
    """A scene for each video of a world, in which every card is listed."""
    return SceneSet(
        vocabulary=WORDS,
        scenes=tuple(
            SceneDraft(
                header=Header(
                    scene=Path(video.path).stem,
                    vocabulary="",
                    video=video.path,
                    duration_s=video.duration_s,
                    source_id=Path(video.path).stem,
                    truth="phantom",
                ),
                lines=(*(line for piece in video.pieces for line in _lines(piece)), Complete(complete=CARD)),
            )
            for video in world.videos
        ),
    )


def _lines(piece: PlantedPiece) -> Iterable[Told]:
    name = f"k{piece.piece}"
    yield Entity(entity=name, category=CARD, spans=((piece.start_s, piece.end_s),))
    for attribute, value in (("colour", piece.colour), ("number", piece.value), ("stays", piece.lifetime)):
        yield AttributeFact(of=name, name=attribute, value=value, by="phantom")
