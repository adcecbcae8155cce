"""Compose prompts from frames and text: frames in selection order, before or within the text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from vidence.ask.prompting.templates import FRAMES_HERE, Templates
from vidence.errors import UsageError
from vidence.media.encode import EncodedFrame, Encoding, Size, montage
from vidence.media.subtitles import Line, shown_lines
from vidence.records import Aside, ImagePart, Item, Part, Prompt, Subtitling, TextPart, VideoPart

STYLES = ("direct", "cot")


@dataclass(frozen=True, kw_only=True)
class ShownFrame:
    """A frame as sent, and its presentation time in seconds from the start of its file."""

    frame: EncodedFrame
    time_s: float


@dataclass(frozen=True, kw_only=True)
class Prompted:
    """A prompt and the bytes of its images by digest."""

    prompt: Prompt
    images: dict[str, bytes]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How frames are arranged; `columns` and `rows` are those of a montage, 1 otherwise."""

    kind: Literal["images", "montage", "video"]
    columns: int = 1
    rows: int = 1

    @classmethod
    def parse(cls, text: str) -> "Layout":
        """Read ``images``, ``video`` or ``montage:COLUMNSxROWS``.

        Raises:
            UsageError: the text is none of these.

        >>> Layout.parse("montage:4x2")
        Layout(kind='montage', columns=4, rows=2)
        """
        if text in ("images", "video"):
            return cls(kind="images" if text == "images" else "video")
        shape = re.fullmatch(r"montage:([1-9]\d?)x([1-9]\d?)", text)
        if shape is None:
            raise UsageError(
                f"there is no layout {text!r}; expected images, video or montage:COLUMNSxROWS "
                "with 1 to 99 columns and rows, for example montage:4x2"
            )
        return cls(kind="montage", columns=int(shape[1]), rows=int(shape[2]))


class Prompter:
    """Composes the prompts of one run.

    Args:
        templates: the words.
        style: ``direct`` or ``cot`` (reason first).
        layout: ``images`` (one image per frame), ``montage:4x2`` (frames laid out row by row in
            pictures of 4 columns and 2 rows), ``video`` (the whole file).
        frame_times: whether ``frame.txt`` stands before each frame, or before a montage once for
            each of its frames.
        jpeg_quality: quality of the montages, 1 to 95; single frames come encoded.
        subtitles: which lines are shown; with montages and whole videos none stand among the frames.

    Raises:
        UsageError: the style or the layout does not exist, the set lacks a template for it, or one that
            never shows the question.
    """

    def __init__(
        self,
        templates: Templates,
        *,
        style: str,
        layout: str,
        frame_times: bool,
        jpeg_quality: int = 85,
        subtitles: Subtitling = "none",
    ) -> None:
        if style not in STYLES:
            raise UsageError(f"there is no style {style!r}; expected {' or '.join(STYLES)}")
        if subtitles == "paper":
            raise UsageError("subtitles is 'paper'; expected none, all, shown or interleaved in a plan")
        self._templates = templates
        self._style = style
        self._layout = Layout.parse(layout)
        self._frame_times = frame_times
        self._subtitles = subtitles
        self._encoding = Encoding(size=Size.parse("native"), quality=jpeg_quality)
        for name in (f"choice-{style}", f"open-{style}", *(["frame"] if frame_times else [])):
            templates.label(name)
        for name in (f"choice-{style}", f"open-{style}"):
            templates.check_question(name, "system")

    def prompt(
        self,
        item: Item,
        frames: Sequence[ShownFrame],
        *,
        duration_s: float,
        video: VideoPart | None = None,
        more: str | Aside = "",
        lines: Sequence[Line] = (),
    ) -> Prompted:
        """Compose the prompt of a question.

        Args:
            item: the question.
            frames: the frames in the order in which they are shown; none for a text-only question.
            duration_s: the length of the media in seconds.
            video: the whole file, for the layout ``video``.
            more: the name of a template of `ASIDES`, whose words stand behind the question, or an `Aside`;
                empty for none.
            lines: the subtitles of the medium.

        Raises:
            UsageError: the layout is ``video`` and there are frames but no file to send, or a
                template cannot be filled.
            MediaError: a frame for a montage cannot be decoded.
        """
        aside = more if isinstance(more, Aside) else Aside(name=more)
        kind = f"{'choice' if item.answer_kind == 'choice' else 'open'}-{self._style}"
        name = aside.name if aside.is_alone else kind
        parts: list[Part] = []
        images: dict[str, bytes] = {}
        if self._layout.kind == "video":
            parts += _whole_video(item, frames, video)
            frames = ()
        elif self._layout.kind == "montage":
            parts += self._montages(frames, images)
        else:
            parts += self._single(frames, images, lines)
        if words := self._said(lines, parts, frames):
            parts.append(TextPart(text=words))
        fill = partial(
            self._templates.fill,
            item=item,
            n_frames=len(frames),
            duration_s=duration_s,
            grid=(self._layout.columns, self._layout.rows),
            said=aside.said,
        )
        behind = (TextPart(text=fill(aside.name)),) if aside.name and not aside.is_alone else ()
        prompt = Prompt(
            parts=(*self._placed(fill(name), parts, name), *behind),
            choices=() if aside.is_alone else item.choices,
            system=fill("system") if "system" in self._templates and not aside.is_alone else "",
            template=self._templates.label(name),
        )
        return Prompted(prompt=prompt, images=images)

    def _placed(self, words: str, parts: Sequence[Part], name: str) -> Iterator[Part]:
        """Yield the text with frames where the template has `frames`, else before it.

        Raises:
            UsageError: it has them several times.
        """
        before, *behind = words.split(FRAMES_HERE)
        if len(behind) > 1:
            raise UsageError(
                f"{self._templates.label(name).split()[0]} shows {{{{ frames }}}} {len(behind)} times; "
                "it may appear once"
            )
        first, last = (before.rstrip("\n"), behind[0].lstrip("\n")) if behind else ("", before)
        if first:
            yield TextPart(text=first)
        yield from parts
        if last or not first:
            yield TextPart(text=last)

    def before_frames(self, item: Item) -> str:
        """Return what is sent before a question's frames, or the item id if unknown."""
        kind = f"{'choice' if item.answer_kind == 'choice' else 'open'}-{self._style}"
        fill = partial(self._templates.fill, item=item, n_frames=0, duration_s=0.0)
        try:
            before, *behind = fill(kind).split(FRAMES_HERE)
            return (fill("system") if "system" in self._templates else "") + (before if behind else "")
        except UsageError:  # said where the question is asked, which then fails
            return item.item_id

    def notes(self, items: Iterable[Item]) -> tuple[str, ...]:
        """Return warnings about the user's templates before these questions are asked."""
        if not any(item.answer_kind == "choice" for item in items):
            return ()
        why = self._templates.left_out("choices", f"choice-{self._style}", "system")
        return (f"{why}, unless the questions themselves list them",) if why else ()

    def _said(self, lines: Sequence[Line], parts: Sequence[Part], frames: Sequence[ShownFrame]) -> str:
        """Return the subtitles as a block; empty if none are wanted, or if they are among the frames."""
        is_among = self._subtitles == "interleaved" and self._layout.kind == "images"
        if self._subtitles == "none" or is_among or not lines:
            return ""
        is_all = self._subtitles == "all" or self._layout.kind == "video"
        some = list(lines) if is_all else shown_lines(lines, [frame.time_s for frame in frames])
        message = "\n".join(line.text for line in some)
        return self._templates.say("subtitles", {"subtitles": message, "is_all": is_all}) if message else ""

    def _single(
        self, frames: Sequence[ShownFrame], images: dict[str, bytes], lines: Sequence[Line]
    ) -> list[Part]:
        parts: list[Part] = []
        is_among = self._subtitles == "interleaved"
        left = shown_lines(lines, [shown_frame.time_s for shown_frame in frames]) if is_among else []
        for position, frame in enumerate(frames):
            while left and (left[0].start_s + left[0].end_s) / 2 < frame.time_s:
                parts.append(TextPart(text=left.pop(0).text))
            if self._frame_times:
                parts.append(self._words_before(position, frame))
            parts.append(image_part(frame.frame, images, positions=(position,)))
        return [*parts, *(TextPart(text=line.text) for line in left)]

    def _montages(self, frames: Sequence[ShownFrame], images: dict[str, bytes]) -> list[Part]:
        parts: list[Part] = []
        columns, rows = self._layout.columns, self._layout.rows
        for start in range(0, len(frames), columns * rows):
            group = frames[start : start + columns * rows]
            if self._frame_times:
                parts += [self._words_before(start + i, frame) for i, frame in enumerate(group)]
            picture = montage(
                [frame.frame for frame in group], columns=columns, rows=rows, encoding=self._encoding
            )
            parts.append(image_part(picture, images, positions=tuple(range(start, start + len(group)))))
        return parts

    def _words_before(self, position: int, frame: ShownFrame) -> TextPart:
        return TextPart(text=self._templates.say("frame", {"number": position + 1, "time_s": frame.time_s}))


def image_part(frame: EncodedFrame, images: dict[str, bytes], *, positions: tuple[int, ...]) -> ImagePart:
    """Return the part for a frame, and add its bytes to `images`."""
    images[frame.digest] = frame.data
    return ImagePart(
        digest=frame.digest,
        width_px=frame.width_px,
        height_px=frame.height_px,
        media_type=frame.media_type,
        frames=positions,
    )


def _whole_video(item: Item, frames: Sequence[ShownFrame], video: VideoPart | None) -> tuple[VideoPart, ...]:
    """Return the file to send; empty for a question without media."""
    if video is None and frames:
        raise UsageError(
            f"item {item.item_id!r} has no video file that could be sent whole; "
            "use the layout 'images' for it"
        )
    return () if video is None else (video,)
