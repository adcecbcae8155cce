"""Point lights of a study's drawn items, in files numbered at random."""

import hashlib
from collections.abc import Collection, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from vidence.errors import DataError, UsageError
from vidence.media.lights import lights_path, read_lights
from vidence.media.whole import write_whole
from vidence.records import Item
from vidence.study.study import Study

DOTS_FOLDER: Final = "dots"
_MOST: Final = 5


def shows_dots(study: Study) -> bool:
    """Whether a phase draws point lights on a canvas."""
    return any(phase.condition == "dots" for phase in study.phases)


def light_sources(folder: Path, items: Sequence[Item]) -> dict[str, Path]:
    """Return the point-light files of drawn items, by item id.

    Args:
        folder: that of the study, from which the media of its items are named.
        items: all that were drawn.

    Raises:
        UsageError: an item has several media, of which none is the one to draw.
        DataError: lights are not there or cannot be read; the message has the first five.
    """
    sources: dict[str, Path] = {}
    faults: list[str] = []
    for item in (entry for entry in items if entry.media):
        if len(item.media) > 1:
            raise UsageError(
                f"{item.item_id!r} has {len(item.media)} media, but point lights need exactly one; exclude "
                "it with where"
            )
        sources[item.item_id] = source = lights_path(folder / (item.media[0].path or item.item_id))
        try:
            read_lights(source)
        except DataError as error:
            faults.append(str(error))
    if faults:
        more = f"\n... and {len(faults) - _MOST} more" if len(faults) > _MOST else ""
        raise DataError("\n".join(faults[:_MOST]) + more)
    return sources


def write_dots(folder: Path, items: Sequence[Item]) -> None:
    """Write ``dots/N.json`` for the drawn items, padded to equal size so that the size reveals nothing.

    Arguments and errors are those of `light_sources`.
    """
    ids = [item.item_id for item in items]
    contents = {item_id: source.read_bytes() for item_id, source in light_sources(folder, items).items()}
    longest = max(map(len, contents.values()), default=0)
    for item_id, content in contents.items():
        write_whole(dots_file(folder, item_id, ids), content.ljust(longest))


def dots_file(folder: Path, item_id: str, item_ids: Collection[str]) -> Path:
    """Return the path of an item's point lights in a study folder.

    The numbers follow the hashes of the ids: those of a set are often sorted by what is right.

    Args:
        folder: that of the study.
        item_id: of the item.
        item_ids: those of all drawn items.
    """
    ranked = sorted(item_ids, key=lambda name: hashlib.sha256(f"dots/{name}".encode()).digest())
    return folder / DOTS_FOLDER / f"{ranked.index(item_id) + 1}.json"


def dots_script() -> bytes:
    """The script with the play button and the measuring of the screen, ``study-dots.js``."""
    return resources.files("vidence.study").joinpath("players", "study-dots.js").read_bytes()
