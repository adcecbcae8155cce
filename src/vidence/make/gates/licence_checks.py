"""What is known of the licence of a video, since when and from whom; and the file that keeps it.

Source: MMVU, §3.2 and figure 6: only videos under a Creative Commons licence are taken, others cannot be
submitted. Departs: how long an answer is believed, the way by two people, and that "unknown" never passes are
ours.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec

from vidence.ask.files import DataFile, FieldError, decoded, lines, read
from vidence.errors import DataError
from vidence.make.pipeline.output import json_lines
from vidence.media.whole import write_whole
from vidence.records import Record

Outcome: TypeAlias = Literal["passed", "refused", "gone", "unknown"]
CREATIVE_COMMONS: Final = "creativeCommon"
STANDARD: Final = "youtube"
DAYS: Final = 30
LookT = TypeVar("LookT", bound=Record)


class LicenceCheck(Record, omit_defaults=True):
    """One look at the licence of one video.

    `licence` is the platform's word: ``creativeCommon`` (CC BY, as the uploader declared it at that time) or
    ``youtube`` (the standard one). `outcome` is ``passed`` for the first and ``refused`` for the second;
    ``gone`` is a video that the platform does not list to the public, ``unknown`` one of which nothing could
    be found out, for the reason in `why`. `answer` is what the platform said of this video, and
    `answer_sha256` the hash of its whole answer. `by` are the people who looked, where people did.
    """

    video: str
    outcome: Outcome
    at: datetime
    way: Literal["api", "manual"] = "api"
    licence: str = ""
    why: str = ""
    privacy: str = ""
    title: str = ""
    published: str = ""
    duration_s: float | None = None
    by: tuple[str, ...] = ()
    page: str = ""
    answer: dict[str, object] = msgspec.field(default_factory=dict)
    answer_sha256: str = ""

    @property
    def is_final(self) -> bool:
        """Whether an answer was found that need not be asked for again as long as it is believed."""
        return self.outcome in {"passed", "refused"}


def outcome_of(licence: str) -> Outcome:
    """What a licence means for a question about the video."""
    if licence == CREATIVE_COMMONS:
        return "passed"
    return "refused" if licence == STANDARD else "unknown"


def read_looks(path: Path, kind: type[LookT], *, what: str = "questions") -> list[LookT]:
    """The looks at something that a file keeps, oldest first; none where there is no file yet.

    Raises:
        DataError: it cannot be read, or a line is none; it is named.
    """
    if not path.exists():
        return []
    decoder = msgspec.json.Decoder(kind)
    found = []
    content = DataFile(path, b"") if path.is_file() and not path.stat().st_size else read(path, what=what)
    for line, row in lines(content):
        try:
            found.append(decoded(row, decoder))
        except FieldError as error:
            raise DataError(f"{path}:{line}: {error}; mend or remove that line") from error
    return found


def write_checks(path: Path, checks: Sequence[Record]) -> None:
    """Write the looks, one a line: all or nothing.

    Raises:
        DataError: the file cannot be written.
    """
    try:
        write_whole(path, json_lines(checks))
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror})") from error


def believed(checks: Iterable[LicenceCheck], *, now: datetime, days: float = DAYS) -> dict[str, LicenceCheck]:
    """The last look at each video that found an answer and is not older than `days`."""
    last: dict[str, LicenceCheck] = {}
    for one in checks:
        if one.is_final and timedelta() <= now - one.at <= timedelta(days=days):
            before = last.get(one.video)
            if before is None or one.at >= before.at:
                last[one.video] = one
    return last
