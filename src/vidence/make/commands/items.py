"""Questions in the item format, written where the user wants them."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from vidence.ask.benchmarks.question_files import said_answer, seen_from
from vidence.console.files import STANDARD_OUTPUT, written
from vidence.media.whole import write_file
from vidence.records import Item


def items_in(items: Iterable[Item], path: Path, *, media_root: Path) -> None:
    """Write questions in the item format, with paths as they are seen from the file; ``-`` prints them.

    Raises:
        StoreError: the file cannot be written.
    """
    folder = Path() if path == STANDARD_OUTPUT else path.parent
    said = (msgspec.structs.replace(item, answer=said_answer(item)) for item in items)
    lines = "".join(msgspec.json.encode(seen_from(folder, item, media_root)).decode() + "\n" for item in said)
    with written(path) as file:
        write_file(file, lines)
