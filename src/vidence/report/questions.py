"""A trial on a page: its frames as a picture, its prompt, how its answer was parsed."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vidence.ask.scoring.logp import letter_probabilities
from vidence.errors import DataError, MediaError, UsageError
from vidence.media.address import Address, MediaPath, place
from vidence.media.encode import Encoding, Size, open_image
from vidence.media.files import Job, deliver, kept_frames, located
from vidence.records import (
    Answered,
    Failed,
    FrameRef,
    ImagePart,
    Media,
    Prompt,
    Refused,
    TextPart,
    Trial,
    Unreadable,
    Verdict,
    VideoPart,
)
from vidence.report.results import Row, Run
from vidence.tables.table import percent, several
from vidence.text import some

MOST_FRAMES = 16
N_COLUMNS = 4
# Sides of a thumbnail, the largest first; as many bytes as JPEGs of videos have for a square of such sides.
THUMBS_PX = (360, 280, 220, 160, 120)
_BYTES_PER_PX = 0.12
QUALITY = 70
_GAP_PX = 4
_CACHE_MAX_BYTES = 20 * 2**30
MOST_TIMES = 64


@dataclass(frozen=True, kw_only=True)
class ContactSheet:
    """A JPEG of several frames with their times."""

    jpeg: bytes
    width_px: int
    height_px: int

    @property
    def url(self) -> str:
        """Return the picture as a data URL."""
        return f"data:image/jpeg;base64,{base64.b64encode(self.jpeg).decode('ascii')}"


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """The id of a trial's contact sheet, or empty, and a note."""

    sheet_id: str = ""
    note: str = ""


@dataclass(kw_only=True)
class ContactSheets:
    """Makes each contact sheet once; questions with the same frames share one.

    `budget_bytes` limits the total size, `thumb_px` both sides of a thumbnail. `sheets` holds the sheets by
    id.
    """

    cache_root: Path | None
    media_root: Path | None
    budget_bytes: int
    thumb_px: int = THUMBS_PX[-1]
    sheets: dict[str, ContactSheet] = field(default_factory=dict)
    _made: dict[object, Pictured] = field(default_factory=dict)
    _n_bytes: int = 0

    def make_room(self, n_sheets: int) -> None:
        """Choose the thumbnail size for this many sheets."""
        each = self.budget_bytes / max(1, n_sheets) / MOST_FRAMES
        fitting = (px for px in THUMBS_PX if px * px * _BYTES_PER_PX <= each)
        self.thumb_px = next(fitting, THUMBS_PX[-1])

    def of(self, run: Run, row: Row) -> Pictured:
        """Return the sheet of a trial."""
        selection = row.trial.selection
        if selection is None or not selection.frames:
            return Pictured()
        root = self._root_of(run)
        if root is None:
            return Pictured(note="The frames are not pictured: this report was made without the videos.")
        plan = run.plan
        encoding = Encoding(  # as the run encoded its frames, so that they are found in the cache
            size=Size.parse(plan.size),
            format="png" if plan.layout.startswith("montage") else "jpeg",
            quality=plan.jpeg_quality,
        )
        media = tuple((m.path, m.url, m.kind) for m in row.item.media)
        key = (root, media, selection.frames, encoding.key)
        if key not in self._made:
            self._made[key] = self._make(root, row.item.media, frames=selection.frames, encoding=encoding)
        return self._made[key]

    def _root_of(self, run: Run) -> MediaPath | None:
        """Return where a run's media are, if that can be determined."""
        try:
            own = place(run.facts.media_root) if run.facts.media_root else None
        except UsageError:  # a run folder of somebody else may say anything
            return self.media_root
        return own if isinstance(own, Address) or (own is not None and own.is_dir()) else self.media_root

    def _make(
        self, root: MediaPath, media: Sequence[Media], *, frames: Sequence[FrameRef], encoding: Encoding
    ) -> Pictured:
        """Make a sheet of at most `MOST_FRAMES` frames, evenly spaced, including the first and the last."""
        if self._n_bytes >= self.budget_bytes:
            return Pictured(note="The frames are not pictured, to keep this page small.")
        n, n_all = min(len(frames), MOST_FRAMES), len(frames)
        chosen = [frames[i] for i in np.linspace(0, n_all - 1, n).round().astype(int)]
        try:
            images = self._images(root, media, frames=chosen, encoding=encoding)
        except (MediaError, DataError, UsageError) as error:
            return Pictured(note=f"The frames cannot be pictured: {error}")
        times = [f"{frame.time_s:.1f} s" for frame in chosen]
        sheet = compose(images, times, n_columns=N_COLUMNS, thumb_px=self.thumb_px)
        sheet_id = f"sheet-{len(self.sheets) + 1}"
        self.sheets[sheet_id] = sheet
        self._n_bytes += len(sheet.jpeg)
        return Pictured(sheet_id=sheet_id, note=f"{n} of the {n_all:,} are pictured." if n < n_all else "")

    def _images(
        self, root: MediaPath, media: Sequence[Media], *, frames: Sequence[FrameRef], encoding: Encoding
    ) -> list[Image.Image]:
        """Return thumbnails of the frames as sent, in order.

        Raises:
            MediaError: a file is missing, or a frame cannot be decoded.
        """
        images: dict[tuple[int, int], Image.Image] = {}
        for index in sorted({frame.media_index for frame in frames}):
            path = located(root, media[index])
            if isinstance(path, Path) and not path.exists():
                raise MediaError(f"{path} is not there")
            wanted = tuple(sorted({f.frame_index for f in frames if f.media_index == index}))
            job = Job(
                path=str(path),
                kind=media[index].kind,
                frame_indices=wanted,
                encoding=encoding,
                cache_root=None if self.cache_root is None else str(self.cache_root),
                cache_max_bytes=_CACHE_MAX_BYTES,
            )
            # A report asks nobody: what lies at an address is pictured as far as it is kept.
            delivery = deliver(job) if isinstance(path, Path) else kept_frames(job)
            for message in delivery.problems.values():
                raise MediaError(message)
            for frame_index, frame in delivery.frames.items():
                images[index, frame_index] = _small(frame.data, self.thumb_px)
        return [images[frame.media_index, frame.frame_index] for frame in frames]


def _small(data: bytes, thumb_px: int) -> Image.Image:
    with open_image(data) as image:
        image.draft("RGB", (thumb_px, thumb_px))
        small = image.convert("RGB")
    small.thumbnail((thumb_px, thumb_px))
    return small


def compose(
    images: Sequence[Image.Image], labels: Sequence[str], *, n_columns: int, thumb_px: int
) -> ContactSheet:
    """Lay out one or more images in rows, each with a label in a corner; `thumb_px` sets the size."""
    n_columns = min(n_columns, len(images))
    n_rows = -(-len(images) // n_columns)
    cell = (max(i.width for i in images) + _GAP_PX, max(i.height for i in images) + _GAP_PX)
    size = (n_columns * cell[0] - _GAP_PX, n_rows * cell[1] - _GAP_PX)
    whole = Image.new("RGB", size, (128, 128, 128))
    pen = ImageDraw.Draw(whole)
    font = ImageFont.load_default(size=max(9, thumb_px // 14))
    for i, (image, label) in enumerate(zip(images, labels, strict=True)):
        corner = (i % n_columns * cell[0], i // n_columns * cell[1])
        whole.paste(image, corner)
        if label:
            box = pen.textbbox((corner[0] + 3, corner[1] + 2), label, font=font)
            pen.rectangle((corner[0], corner[1], box[2] + 3, box[3] + 3), fill=(0, 0, 0))
            pen.text((corner[0] + 3, corner[1] + 2), label, fill=(255, 255, 255), font=font)
    out = io.BytesIO()
    whole.save(out, "JPEG", quality=QUALITY)
    return ContactSheet(jpeg=out.getvalue(), width_px=size[0], height_px=size[1])


def verdict_words(verdict: Verdict) -> str:
    """Describe a judge's verdict in a sentence."""
    sampled = "" if verdict.temperature is None else f" at temperature {verdict.temperature:g}"
    if verdict.value is None:
        return f"No verdict{sampled}: {verdict.error or 'nothing could be read'}."
    verdict_words = {1.0: "Right", 0.0: "Wrong"}.get(verdict.value, f"Partly right ({verdict.value:g})")
    points = "" if verdict.points is None else f", {verdict.points:g} points"
    answer = f"; it took the answer to be {verdict.extracted!r}" if verdict.extracted else ""
    contrary = f" It contradicts itself: {verdict.contradiction}." if verdict.contradiction else ""
    return f"{verdict_words}{points}{sampled}{answer}.{contrary}"


def how_read(row: Row) -> str:
    """Describe how the answer was parsed, or why not, by which parser, and its score."""
    score = row.score
    by = f"{score.scorer}, version {score.scorer_version}"
    match score.outcome:
        case Answered(answer=answer, rule=rule):
            read = f"Read {answer!r}" if len(answer) <= 20 else "The reply is taken as the answer"
            how_read = f"{read} by the rule {rule!r} of {by}" if rule else f"{read} by {by}"
        case Unreadable(reason=reason):
            how_read = f"Not read by {by}: {reason}"
        case Refused(reason=reason):
            how_read = f"Refused: {reason}"
        case Failed(stage=stage):
            how_read = f"Failed in the stage {stage!r}"
    message = "not scored yet" if row.correct is None else f"score {row.correct:g}"
    return f"{how_read}; {message}."


def error_of(row: Row) -> str:
    """Return the error of a failed trial, or empty."""
    outcome = row.score.outcome
    return f"{outcome.error}: {outcome.message}" if isinstance(outcome, Failed) else ""


def prompt_text(prompt: Prompt | None) -> str:
    """Return the prompt, with placeholders for images and videos."""
    if prompt is None:
        return ""
    pieces = [f"[system] {prompt.system}\n"] if prompt.system else []
    n_images = 0
    for part in (*prompt.parts, None):
        if isinstance(part, ImagePart):
            n_images += 1
            continue
        if n_images:
            pieces.append(f"[{n_images} images]" if n_images > 1 else "[1 image]")
            n_images = 0
        if isinstance(part, TextPart):
            pieces.append(part.text)
        elif isinstance(part, VideoPart):
            pieces.append("[the video]")
    return "\n".join(pieces)


def shown_words(trial: Trial) -> str:
    """Describe the shown frames and their times."""
    prompt, selection = trial.prompt, trial.selection
    if prompt is not None and any(isinstance(part, VideoPart) for part in prompt.parts):
        return "The whole video was sent."
    if selection is None or not selection.frames:
        return "No frames were shown."
    times = some((f"{frame.time_s:.2f}" for frame in selection.frames), most=MOST_TIMES)
    what = f"{several(len(selection.frames), 'frame')} of {selection.n_candidates:,}"
    return f"{what} by {selection.selector}, at {times} s. {selection.note}".rstrip()


def logp_words(row: Row) -> str:
    """Describe a reply's log-probabilities and their sum; empty without any."""
    reply = row.trial.reply
    if reply is None or not reply.choice_logps:
        return ""
    likely = letter_probabilities(reply.choice_logps, row.item.letters)
    messages = [
        f"{letter} {logp:.3f}" + (f" ({percent(likely[letter])} %)" if letter in likely else "")
        for letter, logp in sorted(reply.choice_logps.items())
    ]
    return f"Log-probabilities of the letters (shares among the choices): {', '.join(messages)}."
