"""Scene cards: one faithful sentence about each shot."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.contracts import Flow
from vidence.engine.config_file import Count
from vidence.make.pipeline.lexicon import words_in
from vidence.make.pipeline.material import Crop, Dropped, SceneCard
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.wording import SCENE, SYSTEM, CardWording
from vidence.make.pipeline.writer import Objection, WritingTask, image, in_words, misshapen, tidy, write_all
from vidence.media.encode import Size
from vidence.media.video import FrameProblem, Video
from vidence.records import Prompt, Record, TextPart
from vidence.seeing.shooting import Shot

STAGE: Final = "scenes"
_WORDS: Final = (5, 80)
_BANNED: Final = re.compile(r"\b(?:scenes?|shots?)\b", re.IGNORECASE)


class SceneRules(Record, omit_defaults=True):
    """What of a shot is shown.

    `n_frames` frames, the middles of as many equal parts of what shows nothing but the shot; the outer
    `margin` share on both sides, where fades are, is left out. Shots of less than `least_s` seconds are
    dropped, and those whose frames all vary less than `least_spread` grey levels: black, white, or a plain
    card.
    """

    n_frames: Count = 3
    margin: Annotated[float, Meta(ge=0, lt=0.5)] = 0.15
    least_s: float = 0.5
    least_spread: float = 6.0
    size: str = "long:768"
    quality: int = 88

    def __post_init__(self) -> None:
        Size.parse(self.size)


@dataclass(frozen=True, kw_only=True)
class ShotPictures:
    """What the writer of a scene card is shown, in time order."""

    shot: Shot
    pictures: tuple[Crop, ...]


def frames_of(shot: Shot, rules: SceneRules) -> tuple[int, ...]:
    """The frames of a shot that are shown, ascending, each once.

    >>> frames_of(Shot(shot_id="s", first_frame=0, last_frame=99, start_s=0, end_s=4), SceneRules())
    (26, 50, 73)
    """
    length = shot.last_frame - shot.clear_frame + 1
    places = rules.margin + (1 - 2 * rules.margin) * (np.arange(rules.n_frames) + 0.5) / rules.n_frames
    # Shares are not exact in binary; without this a middle could fall one frame short.
    return tuple(sorted({shot.clear_frame + int(place * length + 1e-9) for place in places}))


def take_pictures(
    video: Video, shots: Sequence[Shot], *, pictures: PictureFolder, rules: SceneRules
) -> tuple[tuple[ShotPictures, ...], tuple[Dropped, ...]]:
    """Make the pictures of all shots of a video; its frames are read once.

    Returns:
        The shots that can be described, and those that were dropped, with the reason.

    Raises:
        MediaError: the file cannot be opened any more.
        StoreError: the folder cannot be written.
    """
    long_enough = [shot for shot in shots if shot.end_s - shot.start_s >= rules.least_s]
    wanted = {shot.shot_id: frames_of(shot, rules) for shot in long_enough}

    def make(index: int, picture: NDArray[np.uint8]) -> tuple[Crop, float]:
        crop = pictures.keep(picture, frame_index=index, quality=rules.quality)
        return crop, float(picture.mean(axis=2).std())

    everything = sorted({index for frames in wanted.values() for index in frames})
    read = video.read(everything, make, size=Size.parse(rules.size))
    entries: list[ShotPictures] = []
    dropped: list[Dropped] = []
    for shot in shots:
        held = [read[index] for index in wanted.get(shot.shot_id, ())]
        results = [pair for pair in held if not isinstance(pair, FrameProblem)]
        if shot.shot_id not in wanted:
            seconds = f"{shot.end_s - shot.start_s:.2f} s"
            dropped.append(_dropped(shot, "too-short", f"it lasts {seconds}, at least {rules.least_s:g} s"))
        elif not results:
            lost = next(pair.message for pair in held if isinstance(pair, FrameProblem))
            dropped.append(_dropped(shot, "frames-unreadable", lost))
        elif max(spread for _, spread in results) < rules.least_spread:
            spread = max(spread for _, spread in results)
            detail = (
                f"its frames vary by {spread:.1f} grey levels, at least {rules.least_spread:g} are needed"
            )
            dropped.append(_dropped(shot, "blank", detail))
        else:
            entries.append(ShotPictures(shot=shot, pictures=tuple(crop for crop, _ in results)))
    return tuple(entries), tuple(dropped)


def describe(pictures: ShotPictures, *, wording: CardWording, writer: str = "") -> Flow[SceneCard | Dropped]:
    """Have one sentence about a shot written by a model; what cannot be used is asked for once more.

    Args:
        pictures: the pictures of the shot.
        wording: the templates.
        writer: the identity of the model, kept with the card.

    Source: HERBench, section 7.4: one sentence, without reference to the scene.
    Departs: the words are ours.
    """
    prompt = Prompt(
        parts=(
            *map(image, pictures.pictures),
            TextPart(text=wording.fill(SCENE, {"n_pictures": len(pictures.pictures)})),
        ),
        system=wording.fill(SYSTEM, {}),
        template=wording.label(SCENE),
    )
    (piece,) = yield from write_all([WritingTask(prompt=prompt, read=in_words(read_sentence))], wording)
    if piece.made is None:
        why = piece.objection or Objection(reason="empty", detail="it holds no words")
        return _dropped(pictures.shot, why.reason, why.detail)
    return SceneCard(
        card_id=f"{pictures.shot.shot_id}-true",
        shot_id=pictures.shot.shot_id,
        text=piece.made,
        frames=tuple(crop.frame_index for crop in pictures.pictures),
        writer=writer,
    )


def read_sentence(message: str) -> str | Objection:
    """The sentence of a scene card, or what is wrong with it."""
    text = tidy(message)
    if (wrong := misshapen(text, sentences=(1, 1), words=_WORDS)) is not None:
        return wrong
    if (banned := _BANNED.search(text)) is not None:
        return Objection(
            reason="names-the-scene",
            detail=f"it says {banned[0]!r}; describe what is there without that word",
        )
    return text


def unlike_each_other(cards: Sequence[SceneCard]) -> tuple[tuple[SceneCard, ...], tuple[Dropped, ...]]:
    """The cards, without those that say the same as an earlier one, word for word."""
    kept: dict[tuple[str, ...], SceneCard] = {}
    dropped: list[Dropped] = []
    for card in cards:
        words = tuple(word.casefold() for word in words_in(card.text))
        if words in kept:
            detail = f"it says the same as {kept[words].card_id}"
            dropped.append(Dropped(what=card.card_id, stage=STAGE, reason="said-before", detail=detail))
        else:
            kept[words] = card
    return tuple(kept.values()), tuple(dropped)


def _dropped(shot: Shot, reason: str, detail: str) -> Dropped:
    return Dropped(what=shot.shot_id, stage=STAGE, reason=reason, detail=detail)
