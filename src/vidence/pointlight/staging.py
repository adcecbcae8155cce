"""Who is shown, and how, by what a user wrote: files or the built-in figure, settings as ``key=value``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.catalog import parse_spec
from vidence.errors import UsageError
from vidence.pointlight.body import body
from vidence.pointlight.motion import Motion
from vidence.pointlight.pairs import align, pair
from vidence.pointlight.reading import read_motion
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.stimulus import without_dots
from vidence.pointlight.timing import noted
from vidence.pointlight.viewing import View
from vidence.pointlight.walker import walker_of
from vidence.records import Record

RecordT = TypeVar("RecordT", bound=Record)
WALKER = "walker"


def staged(
    sources: Sequence[str],
    *,
    points: str = "13",
    leave_out: Sequence[str] = (),
    hold_hands: bool = False,
    options: Mapping[str, str] | None = None,
) -> list[Motion]:
    """The figures to show.

    Args:
        sources: for each figure a file of motion capture, or ``walker:ACTION?key=value``. Two share one
            clock and one space.
        points: the set of points of a body (see `vidence.pointlight.body.SETS`), or ``markers`` for
            everything that a file holds.
        leave_out: names of points that are not shown.
        hold_hands: move the second figure until hands that hold each other meet (see `pairs.align`).
        options: those of the format of the files, such as ``fps``.

    Raises:
        UsageError: no source or more than two, or unknown points.
        DataError: a file that cannot be read, or points that it does not have.
    """
    if not 1 <= len(sources) <= 2:
        raise UsageError(f"one or two figures can be shown, not {len(sources)}")
    if hold_hands and (len(sources) == 1 or points == "markers"):
        raise UsageError("hands that hold each other are those of two bodies; give two files, not markers")
    motions = [motion_of(source, options) for source in sources]
    if points == "markers":
        figures = motions
    elif len(motions) == 2:
        both = pair(motions[0], motions[1], points=points)
        both = align(both) if hold_hands else both
        second = both.second
        for note in both.notes:
            second = noted(second, note)
        figures = [both.first, second]
    else:
        figures = [body(motions[0], points=points)]
    return [without_dots(figure, leave_out) if leave_out else figure for figure in figures]


def motion_of(source: str, options: Mapping[str, str] | None = None) -> Motion:
    """The motion in a file, or of ``walker:ACTION?key=value``; errors as for `staged`."""
    if source == WALKER or source.startswith((f"{WALKER}:", f"{WALKER}?")):
        spec = parse_spec(source)
        return walker_of(spec.argument, spec.options)
    return read_motion(Path(source), options=options or {})


def spec_of(settings: Mapping[str, str], *, start: StimulusSpec | None = None) -> StimulusSpec:
    """A spec by settings such as ``{"n_noise": "20", "yaw_deg": "45"}``; those of the view need no prefix.

    Args:
        settings: names of `StimulusSpec` and of its `View`, with their values as text.
        start: what is not named is taken from here.

    Raises:
        UsageError: an unknown name or a value that cannot be read; the known names are given.

    >>> spec_of({"yaw_deg": "45", "scramble": "places"}).view.yaw_deg
    45.0
    """
    base = start or StimulusSpec()
    own = set(StimulusSpec.__struct_fields__) - {"view"}
    of_view = set(View.__struct_fields__)
    unknown = sorted(set(settings) - own - of_view)
    if unknown:
        raise UsageError(
            f"a stimulus has no setting {unknown[0]!r}; it has {', '.join(sorted(own | of_view))}"
        )
    view = _changed(base.view, {k: v for k, v in settings.items() if k in of_view})
    return _changed(msgspec.structs.replace(base, view=view), {k: v for k, v in settings.items() if k in own})


def _changed(record: RecordT, settings: Mapping[str, str]) -> RecordT:
    fields: dict[str, object] = {f: getattr(record, f) for f in record.__struct_fields__}
    values = {k: None if v in {"", "none"} and k != "scramble" else v for k, v in settings.items()}
    try:
        return msgspec.convert(
            msgspec.to_builtins(fields) | values, type=type(record), strict=False, str_keys=True
        )
    except msgspec.ValidationError as error:
        raise UsageError(f"a setting of the stimulus cannot be read: {error}") from error
