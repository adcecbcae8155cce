"""Contact sheets of the frames that a question was shown, made from the frame cache or the videos."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vidence.errors import MediaError
from vidence.media.encode import Encoding, Size
from vidence.media.files import Job, deliver, resolve
from vidence.records import FrameRef, Media
from vidence.report.results import Row, Run

MOST_FRAMES = 16
N_COLUMNS = 4
QUALITY = 70
_GAP_PX = 4
_CACHE_MAX_BYTES = 20 * 2**30


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A JPEG with several frames and their times."""

    jpeg: bytes
    width_px: int
    height_px: int

    @property
    def url(self) -> str:
        """The picture as a data URL."""
        return f"data:image/jpeg;base64,{base64.b64encode(self.jpeg).decode('ascii')}"


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """The id of the sheet that shows the frames of a trial, or nothing, and what to say about it."""

    sheet_id: str = ""
    note: str = ""


@dataclass(kw_only=True)
class ContactSheets:
    """Makes each sheet once: questions that were shown the same frames share one.

    `thumb_px` bounds both sides of a thumbnail, `budget_bytes` the sum of all sheets. `sheets` holds
    what was made, by id.
    """

    cache_root: Path | None
    media_root: Path | None
    thumb_px: int
    budget_bytes: int
    sheets: dict[str, Sheet] = field(default_factory=dict)
    _made: dict[object, Pictured] = field(default_factory=dict)
    _n_bytes: int = 0

    def of(self, run: Run, row: Row) -> Pictured:
        """The sheet of one trial."""
        selection = row.trial.selection
        if selection is None or not selection.frames:
            return Pictured()
        root = self._root(run)
        if root is None:
            return Pictured(note="The frames are not pictured: this report was made without the videos.")
        encoding = _encoding(run)
        media = tuple((m.path, m.url, m.kind) for m in row.item.media)
        key = (root, media, selection.frames, encoding.key)
        if key not in self._made:
            self._made[key] = self._make(root, row.item.media, frames=selection.frames, encoding=encoding)
        return self._made[key]

    def _root(self, run: Run) -> Path | None:
        """The folder that a run's media paths start from: its own, or else the one given."""
        own = Path(run.facts.media_root) if run.facts.media_root else None
        return own if own is not None and own.is_dir() else self.media_root

    def _make(
        self, root: Path, media: Sequence[Media], *, frames: Sequence[FrameRef], encoding: Encoding
    ) -> Pictured:
        if self._n_bytes >= self.budget_bytes:
            return Pictured(note="The frames are not pictured, to keep this page small.")
        chosen = _spread(frames)
        try:
            images = self._images(root, media, frames=chosen, encoding=encoding)
        except MediaError as error:
            return Pictured(note=f"The frames cannot be pictured: {error}")
        sheet = _compose(images, [frame.time_s for frame in chosen], thumb_px=self.thumb_px)
        sheet_id = f"sheet-{len(self.sheets) + 1}"
        self.sheets[sheet_id] = sheet
        self._n_bytes += len(sheet.jpeg)
        n, n_all = len(chosen), len(frames)
        return Pictured(sheet_id=sheet_id, note=f"{n} of the {n_all:,} are pictured." if n < n_all else "")

    def _images(
        self, root: Path, media: Sequence[Media], *, frames: Sequence[FrameRef], encoding: Encoding
    ) -> list[Image.Image]:
        """The frames as the model got them, in their order, made small.

        Raises:
            MediaError: a file is not there, or a frame cannot be decoded.
        """
        found: dict[tuple[int, int], Image.Image] = {}
        for index in sorted({frame.media_index for frame in frames}):
            path = resolve(root, media[index])
            if path is None or not path.exists():
                raise MediaError(f"{path or media[index].url} is not there")
            wanted = tuple(sorted({f.frame_index for f in frames if f.media_index == index}))
            delivery = deliver(
                Job(
                    path=str(path),
                    kind=media[index].kind,
                    frame_indices=wanted,
                    encoding=encoding,
                    cache_root=None if self.cache_root is None else str(self.cache_root),
                    cache_max_bytes=_CACHE_MAX_BYTES,
                )
            )
            for message in delivery.problems.values():
                raise MediaError(message)
            for frame_index, frame in delivery.frames.items():
                found[index, frame_index] = _small(frame.data, self.thumb_px)
        return [found[frame.media_index, frame.frame_index] for frame in frames]


def _encoding(run: Run) -> Encoding:
    """How the run encoded its frames, so that they are found in the cache."""
    is_montage = run.plan.layout.startswith("montage")
    return Encoding(
        size=Size.parse(run.plan.size),
        format="png" if is_montage else "jpeg",
        quality=run.plan.jpeg_quality,
    )


def _spread(frames: Sequence[FrameRef]) -> list[FrameRef]:
    """At most `MOST_FRAMES` of the frames, evenly, the first and the last among them."""
    positions = np.linspace(0, len(frames) - 1, min(len(frames), MOST_FRAMES)).round().astype(int)
    return [frames[i] for i in positions]


def _small(data: bytes, thumb_px: int) -> Image.Image:
    with Image.open(io.BytesIO(data)) as image:
        image.draft("RGB", (thumb_px, thumb_px))
        small = image.convert("RGB")
    small.thumbnail((thumb_px, thumb_px))
    return small


def _compose(images: Sequence[Image.Image], times_s: Sequence[float], *, thumb_px: int) -> Sheet:
    """The images in rows, each with its time in a corner."""
    n_columns = min(N_COLUMNS, len(images))
    n_rows = -(-len(images) // n_columns)
    cell = (max(i.width for i in images) + _GAP_PX, max(i.height for i in images) + _GAP_PX)
    size = (n_columns * cell[0] - _GAP_PX, n_rows * cell[1] - _GAP_PX)
    whole = Image.new("RGB", size, (128, 128, 128))
    pen = ImageDraw.Draw(whole)
    font = ImageFont.load_default(size=max(9, thumb_px // 14))
    for i, (image, time_s) in enumerate(zip(images, times_s, strict=True)):
        corner = (i % n_columns * cell[0], i // n_columns * cell[1])
        whole.paste(image, corner)
        label = f"{time_s:.1f} s"
        box = pen.textbbox((corner[0] + 3, corner[1] + 2), label, font=font)
        pen.rectangle((corner[0], corner[1], box[2] + 3, box[3] + 3), fill=(0, 0, 0))
        pen.text((corner[0] + 3, corner[1] + 2), label, fill=(255, 255, 255), font=font)
    out = io.BytesIO()
    whole.save(out, "JPEG", quality=QUALITY)
    return Sheet(jpeg=out.getvalue(), width_px=size[0], height_px=size[1])
