"""The media of a question on a page, with their timelines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from vidence.errors import VidenceError
from vidence.media.address import is_address, redacted
from vidence.media.files import resolve
from vidence.records import Item
from vidence.report.page import words_fragment
from vidence.studio.bridge.question_view import RunAnswer, lanes_of
from vidence.studio.media import token_of
from vidence.studio.pages.answers import as_piece
from vidence.text import visible

_MOST_STILLS: Final = 64


@dataclass(frozen=True, kw_only=True)
class Stills:
    """Still images in place of a player: their URLs and captions."""

    name: str
    pictures: tuple[tuple[str, str], ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class MediumView:
    """One medium: the address of what is known of it, or why it is not shown."""

    name: str
    kind: str
    address: str = ""
    lanes: str = "[]"
    table: str = ""
    """What lies on its time in words, as HTML."""
    stills: tuple[Stills, ...] = ()
    problem: str = ""


def media_of(item: Item, *, roots: Sequence[str], told: Sequence[RunAnswer] = ()) -> list[MediumView]:
    """The media of a question that was opened, each with a token of its own.

    Args:
        item: the question.
        roots: the folders that the runs, or the file of the question, say its media lie in.
        told: whose frames stand on the lanes.
    """
    return [_shown(item, i, roots=roots, told=told) for i in range(len(item.media))]


def _shown(item: Item, i: int, *, roots: Sequence[str], told: Sequence[RunAnswer]) -> MediumView:
    media = item.media[i]
    name = visible(media.path or media.url or "a medium without a name")
    known = list(dict.fromkeys(Path(root) for root in roots if root and not is_address(root)))
    remote = next((root for root in roots if is_address(root)), "")
    if not known:
        message = f"Its media are at {redacted(remote)}, and only files on this machine are played here."
        problem = visible(message) if remote else "The folder of its media is unknown."
        return MediumView(name=name, kind=media.kind, problem=problem)
    try:
        paths = [resolve(root, media) for root in known]
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            return MediumView(name=name, kind=media.kind, problem=f"{paths[0]} is not there.")
        token = token_of(path, kind=media.kind, roots=known)
    except (VidenceError, OSError, ValueError) as error:
        return MediumView(name=name, kind=media.kind, problem=visible(str(error)))
    lanes = lanes_of(item, told, i)
    return MediumView(
        name=name,
        kind=media.kind,
        address=f"/media/{token}",
        lanes=visible(msgspec.json.encode(lanes).decode()),
        table=as_piece(
            words_fragment(
                "Timeline of this medium",
                ("lane", "where"),
                [(str(lane["name"]), "", _lane_words(lane)) for lane in lanes],
            )
        )
        if lanes
        else "",
        stills=_stills(media.kind, told, i, address=f"/media/{token}"),
    )


def _stills(kind: str, answers: Sequence[RunAnswer], i: int, *, address: str) -> tuple[Stills, ...]:
    """The frames that each was shown, encoded as they were sent; without any, some pictures of the medium."""
    stills = []
    for answer in answers:
        refs = [] if answer.selection is None else answer.selection.frames
        frames = [frame for frame in refs if frame.media_index == i]
        n = len(frames)
        kept = frames if n <= _MOST_STILLS else [frames[k * n // _MOST_STILLS] for k in range(_MOST_STILLS)]
        pictures = tuple(
            (
                f"{address}/still/{f.frame_index}.jpg?{answer.still}",
                f"frame {f.frame_index}, {f.time_s:.2f} s",
            )
            for f in kept
        )
        if pictures:
            note = f"{len(kept)} of {n} frames" if n > len(kept) else ""
            stills.append(Stills(name=f"Shown to {answer.name}", pictures=pictures, note=note))
    if stills:
        return tuple(stills)
    picture = f"{address}/still/0.jpg" if kind == "image" else f"{address}/strip.jpg?n=12"
    words = "the image" if kind == "image" else "twelve pictures, spread evenly"
    return (Stills(name="The medium", pictures=((picture, words),)),)


def _lane_words(lane: dict[str, object]) -> str:
    """Describe a lane in words, for screen readers."""
    spans, frames = lane.get("spans"), lane.get("frames")
    lane_words = ["all of it"] if lane.get("whole") else []
    if isinstance(spans, list) and spans:
        lane_words.append("; ".join(f"{start:.2f} to {end:.2f} s" for start, end in spans))
    if isinstance(frames, list) and frames:
        lane_words.append(f"frames {', '.join(map(str, frames))}")
    return "; ".join(lane_words) or "nothing"
