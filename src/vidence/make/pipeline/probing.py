"""What many files hold, found out by other processes and kept by this one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vidence.engine.executor import Parallelism
from vidence.engine.side_by_side import side_by_side
from vidence.errors import MediaError, VidenceError
from vidence.media.files import MediaFacts, cached_facts, keep_facts, look_into


@dataclass(frozen=True, kw_only=True)
class ProbedFile:
    """The facts of a file, or why it cannot be read; `was_kept` says that they were known."""

    made: MediaFacts | MediaError
    was_kept: bool


def look_side_by_side(
    files: Sequence[Path], parallel: Parallelism, *, cache_root: Path, on_trouble: Callable[[str], None]
) -> Iterator[tuple[int, ProbedFile]]:
    """The facts of video files by their numbers, or why a file cannot be read, as they become known.

    Args:
        files: the files.
        parallel: where they are looked into.
        cache_root: where facts are kept; what is kept is not looked for again.
        on_trouble: told what happens to machines of a cluster.

    Raises:
        VidenceError: it cannot go on.
    """
    missing: list[int] = []
    for number, file in enumerate(files):
        known = cached_facts(file, kind="video", cache_root=cache_root)
        if known is None:
            missing.append(number)
        else:
            yield number, ProbedFile(made=known, was_kept=True)
    pieces = ((str(files[number]), partial(look_into, files[number], kind="video")) for number in missing)
    for piece, found in side_by_side(pieces, parallel, on_trouble=on_trouble) if missing else ():
        if isinstance(found, MediaError):
            yield missing[piece], ProbedFile(made=found, was_kept=False)
        elif isinstance(found, VidenceError):
            raise found
        else:
            facts = keep_facts(found, cache_root=cache_root)
            yield missing[piece], ProbedFile(made=facts, was_kept=False)
