"""What the figures of a drawn street look like: the colours of their coats, and the words for them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record


class Appearance(Record):
    """What somebody looks like: the colour of the coat, RGB, and a description in words."""

    colour: tuple[int, int, int]
    words: str


LOOKS: tuple[Appearance, ...] = tuple(
    Appearance(colour=colour, words=words)
    for colour, words in (
        ((200, 30, 30), "Red raincoat with large brass buttons. Short black curls and a heavy build."),
        ((30, 150, 50), "Green tracksuit top, canvas trainers. A grey ponytail and narrow shoulders."),
        ((40, 60, 210), "Navy blue overalls over a striped jersey. Bald, with a long dark beard."),
        ((228, 208, 40), "Yellow summer dress, straw hat. Blonde braids and freckles."),
        ((150, 50, 185), "Purple velvet gown with lace cuffs. Silver bun and thin spectacles."),
        ((242, 130, 25), "Orange builder vest, hard helmet. Broad chest and a thick moustache."),
        ((60, 205, 215), "Turquoise anorak, woollen scarf. Tall, with cropped auburn hair."),
        ((105, 68, 38), "Brown leather jacket and a tie. Bushy eyebrows, slim figure."),
        ((22, 22, 24), "Black cloak with a hood. Pale face, very small."),
        ((250, 150, 195), "Pink cardigan, pearl necklace. White hair in a bob."),
    )
)


def look_of(pictures: Sequence[NDArray[np.uint8]]) -> Appearance:
    """Whose coat is in the middle of most of these pictures of one figure.

    Args:
        pictures: RGB, shape (height, width, 3) each; at least one.

    Raises:
        UsageError: no pictures.
    """
    if not pictures:
        raise UsageError("a look is read from pictures, and there are none")
    known = np.array([look.colour for look in LOOKS])
    votes = np.zeros(len(LOOKS), int)
    for one in pictures:
        height, width = one.shape[:2]
        middle = one[int(0.32 * height) : int(0.58 * height), int(0.35 * width) : int(0.65 * width)]
        away = np.abs(known[:, None] - middle.reshape(-1, 3).astype(int)).sum(axis=2)
        votes += np.bincount(away.argmin(axis=0), minlength=len(LOOKS))
    return LOOKS[int(votes.argmax())]
