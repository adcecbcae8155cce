"""Time windows in which clips show their label, from people; a table for `vidence make actpld`."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from vidence.ask.files import FieldError, csv_rows, read
from vidence.errors import DataError
from vidence.records import Item, Record
from vidence.study.forms import span_of
from vidence.study.study import Response
from vidence.tables.export import csv_text

SHOWS, WINDOW = "shows", "window"
"""The fields of the preset ``windows``."""
Showing: TypeAlias = Literal["yes", "part", "no", "unsettled"]
_TARGETS = ("/label", "/intention")


class ClipWindow(Record):
    """A clip's window from people: whether it shows its label, and from when to when, in clip seconds.

    `n_agree` of `n_people` say so; ``unsettled`` is a clip of which no more than half say the same. A clip
    that shows its label in a part has the medians of the times that were given.
    """

    clip_id: str
    shows: Showing
    start_s: float | None = None
    end_s: float | None = None
    n_people: int
    n_agree: int

    def __post_init__(self) -> None:
        if (self.shows == "part") != (self.start_s is not None and self.end_s is not None):
            raise ValueError("start_s and end_s belong to shows = part, both of them")
        if self.start_s is not None and self.end_s is not None and not 0 <= self.start_s < self.end_s:
            raise ValueError(f"the window is from {self.start_s:g} to {self.end_s:g} s; expected a later end")


_COLUMNS: Final = ClipWindow.__struct_fields__


def clip_of(item: Item) -> str:
    """The id of the clip that an item of ActPLD shows."""
    name = item.item_id.removesuffix("/description")
    return next((name.removesuffix(end) for end in _TARGETS if name.endswith(end)), name)


def windows_of(responses: Iterable[Response], items: Mapping[str, Item]) -> tuple[ClipWindow, ...]:
    """Return the windows by majority vote, in item order.

    Source: ActPLD, section 2.4 (frames are taken from the middle of each clip, whatever it shows there).
    Departs: the paper asks no people; with their windows the middle is that of the part that shows the label.
    """
    given: dict[str, list[Mapping[str, str]]] = {}
    for response in responses:
        if response.values.get(SHOWS) and not response.trial.repeat:
            given.setdefault(clip_of(items[response.trial.item_id]), []).append(response.values)
    order = dict.fromkeys(clip_of(item) for item in items.values())
    return tuple(_settled(clip_id, given[clip_id]) for clip_id in order if clip_id in given)


def _settled(clip_id: str, given: Sequence[Mapping[str, str]]) -> ClipWindow:
    most_say, n_agree = Counter(values[SHOWS] for values in given).most_common(1)[0]
    spans = [span for values in given if (span := span_of(values.get(WINDOW, ""))) is not None]
    shows: Showing = next((word for word in get_args(Showing) if word == most_say), "unsettled")
    if 2 * n_agree <= len(given) or (shows == "part" and not spans):
        shows = "unsettled"
    start_s, end_s = map(statistics.median, zip(*spans, strict=True)) if shows == "part" else (None, None)
    return ClipWindow(
        clip_id=clip_id, shows=shows, start_s=start_s, end_s=end_s, n_people=len(given), n_agree=n_agree
    )


def windows_table(windows: Sequence[ClipWindow]) -> str:
    """The windows as CSV, a line for each clip."""
    rows = [[getattr(window, name) for name in _COLUMNS] for window in windows]
    return csv_text([_COLUMNS, *rows], is_data=True)


def read_windows(path: Path) -> dict[str, ClipWindow]:
    """The windows of a table, by clip.

    Raises:
        DataError: it cannot be read, or a line is no window, or the second of a clip; the message names it.
    """
    windows: dict[str, ClipWindow] = {}
    for line, row in csv_rows(
        read(path, what="windows of clips"), known=_COLUMNS, needed=("clip_id", "shows")
    ):
        if isinstance(row, FieldError):
            raise DataError(f"{path}, line {line}: {row}")
        filled = {name: value for name, value in row.items() if value}
        try:
            window = msgspec.convert(filled, ClipWindow, strict=False)
        except msgspec.ValidationError as error:
            raise DataError(f"{path}, line {line}: {error}; expected {', '.join(_COLUMNS)}") from error
        if window.clip_id in windows:
            raise DataError(f"{path}, line {line}: a second window of {window.clip_id!r}; keep one")
        windows[window.clip_id] = window
    return windows
