"""The questions that a page shows one by one: which ones, what is said about each, and their filters."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vidence.errors import MediaError
from vidence.media.accepted import open_image
from vidence.media.encode import Encoding, Size
from vidence.media.files import Job, deliver, resolve
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
from vidence.report.provenance import prompt_note, shown_note
from vidence.report.results import STATUSES, Row, Run, Status, with_prompts

MOST_FRAMES = 16
N_COLUMNS = 4
QUALITY = 70
_GAP_PX = 4
_CACHE_MAX_BYTES = 20 * 2**30
MOST_TIMES = 64
LONG_TEXT = 20_000
SHORT_TEXT = 2_000
# All texts together; beyond it, long ones are cut shorter.
TEXT_BUDGET = 4_000_000
MOST_TAG_VALUES = 60


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
        own = Path(run.facts.media_root) if run.facts.media_root else None
        root = own if own is not None and own.is_dir() else self.media_root
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

    def _make(
        self, root: Path, media: Sequence[Media], *, frames: Sequence[FrameRef], encoding: Encoding
    ) -> Pictured:
        """A sheet of at most `MOST_FRAMES` of the frames, evenly, the first and the last among them."""
        if self._n_bytes >= self.budget_bytes:
            return Pictured(note="The frames are not pictured, to keep this page small.")
        n, n_all = min(len(frames), MOST_FRAMES), len(frames)
        chosen = [frames[i] for i in np.linspace(0, n_all - 1, n).round().astype(int)]
        try:
            images = self._images(root, media, frames=chosen, encoding=encoding)
        except MediaError as error:
            return Pictured(note=f"The frames cannot be pictured: {error}")
        times = [f"{frame.time_s:.1f} s" for frame in chosen]
        sheet = compose(images, times, n_columns=N_COLUMNS, thumb_px=self.thumb_px)
        sheet_id = f"sheet-{len(self.sheets) + 1}"
        self.sheets[sheet_id] = sheet
        self._n_bytes += len(sheet.jpeg)
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


def _small(data: bytes, thumb_px: int) -> Image.Image:
    with open_image(data) as image:
        image.draft("RGB", (thumb_px, thumb_px))
        small = image.convert("RGB")
    small.thumbnail((thumb_px, thumb_px))
    return small


def compose(images: Sequence[Image.Image], labels: Sequence[str], *, n_columns: int, thumb_px: int) -> Sheet:
    """The images, at least one, in rows, each with its label in a corner; `thumb_px` sets its size."""
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
    return Sheet(jpeg=out.getvalue(), width_px=size[0], height_px=size[1])


def verdict_words(verdict: Verdict) -> str:
    """What one judge found, in a sentence."""
    sampled = "" if verdict.temperature is None else f" at temperature {verdict.temperature:g}"
    if verdict.value is None:
        return f"No verdict{sampled}: {verdict.error or 'nothing could be read'}."
    found = {1.0: "Right", 0.0: "Wrong"}.get(verdict.value, f"Partly right ({verdict.value:g})")
    points = "" if verdict.points is None else f", {verdict.points:g} points"
    answer = f"; it took the answer to be {verdict.extracted!r}" if verdict.extracted else ""
    loose = (
        " The verdict was not in the form asked for, and was read loosely."
        if verdict.read_as == "loose"
        else ""
    )
    contrary = f" It contradicts itself: {verdict.contradiction}." if verdict.contradiction else ""
    return f"{found}{points}{sampled}{answer}.{contrary}{loose}"


def pick(rows: Sequence[Row], n: int) -> list[Row]:
    """About `n` trials, alike many of each status and evenly spread over the run, in its order.

    Fates that are rare are shown whole, and what they leave over goes to the others.
    """
    positions: dict[Status, list[int]] = {}
    for i, row in enumerate(rows):
        positions.setdefault(row.status, []).append(i)
    chosen: list[int] = []
    groups = sorted(positions.values(), key=len)
    for n_done, group in enumerate(groups):
        quota = min(len(group), (n - len(chosen)) // (len(groups) - n_done))
        chosen += [group[(2 * k + 1) * len(group) // (2 * quota)] for k in range(quota)]
    return [rows[i] for i in sorted(chosen)]


def how_read(row: Row) -> str:
    """How the answer was found, or why not, by which parser, and what it scored."""
    score = row.score
    by = f"{score.scorer}, version {score.scorer_version}"
    match score.outcome:
        case Answered(answer=answer, rule=rule):
            read = f"Read {answer!r}" if len(answer) <= 20 else "The reply is taken as the answer"
            found = f"{read} by the rule {rule!r} of {by}" if rule else f"{read} by {by}"
        case Unreadable(reason=reason):
            found = f"Not read by {by}: {reason}"
        case Refused(reason=reason):
            found = f"Refused: {reason}"
        case Failed(stage=stage):
            found = f"Failed in the stage {stage!r}"
    said = "not scored yet" if row.correct is None else f"score {row.correct:g}"
    return f"{found}; {said}."


def error_of(row: Row) -> str:
    """The error of a trial that failed, or nothing."""
    outcome = row.score.outcome
    return f"{outcome.error}: {outcome.message}" if isinstance(outcome, Failed) else ""


def prompt_text(prompt: Prompt | None) -> str:
    """What was sent, with a word in the place of images and videos."""
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
    """Which frames were shown, and their times."""
    prompt, selection = trial.prompt, trial.selection
    if prompt is not None and any(isinstance(part, VideoPart) for part in prompt.parts):
        return "The whole video was sent."
    if selection is None or not selection.frames:
        return "No frames were shown."
    frames = selection.frames
    n = len(frames)
    times = ", ".join(f"{frame.time_s:.2f}" for frame in frames[:MOST_TIMES])
    more = f" and {n - MOST_TIMES:,} more" if n > MOST_TIMES else ""
    what = f"{n:,} frames" if n > 1 else "1 frame"
    note = f" {selection.note}" if selection.note else ""
    return f"{what} of {selection.n_candidates:,} by {selection.selector}, at {times}{more} s.{note}"


# --------------------------------------------------------------------------- on the page


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One trial on the page: `run_name` stands beside it where there are several runs.

    `prompt_note` says why there is no prompt to show; empty where one was sent.
    """

    id: str
    run_id: str
    run_name: str
    row: Row
    tag_ids: str
    sheet_id: str
    shown: str
    prompt_note: str


@dataclass(kw_only=True)
class Browser:
    """All entries, what they can be filtered by as (value, words) pairs, and how much text was shown."""

    note: str
    entries: tuple[Entry, ...]
    statuses: tuple[tuple[str, str], ...]
    tags: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    sheets: Mapping[str, Sheet]
    n_characters: int = 0

    def cut(self, text: str) -> str:
        """A text that is not too long for the page; more is cut once a lot has been said."""
        most = LONG_TEXT if self.n_characters < TEXT_BUDGET else SHORT_TEXT
        self.n_characters += min(len(text), most)
        if len(text) <= most:
            return text
        half = most // 2
        return f"{text[:half]}\n[… {len(text) - most:,} characters are left out here …]\n{text[-half:]}"


def browse(runs: Sequence[tuple[str, str, Run]], *, sheets: ContactSheets, n_items: int) -> Browser:
    """Choose trials from all runs and prepare them.

    Args:
        runs: for each run its id on the page, its name, and the run.
        sheets: makes the pictures.
        n_items: how many trials to show in all.
    """
    tag_ids: dict[tuple[str, str], str] = {}  # short ids for tag values, which may be any text
    entries: list[Entry] = []
    for run_id, name, run in runs:
        for row in with_prompts(run, pick(run.rows, n_items // len(runs))):
            pictured = sheets.of(run, row)
            ids = [tag_ids.setdefault(tag, f"t{len(tag_ids)}") for tag in row.item.tags.items()]
            entries.append(
                Entry(
                    id=f"{run_id}-q{len(entries) + 1}",
                    run_id=run_id,
                    run_name=name if len(runs) > 1 else "",
                    row=row,
                    tag_ids=" ".join(ids),
                    sheet_id=pictured.sheet_id,
                    shown=shown_note(run, row) or f"{shown_words(row.trial)} {pictured.note}".strip(),
                    prompt_note=prompt_note(run, row),
                )
            )
    found = {entry.row.status for entry in entries}
    statuses = [(str(status), words) for status, words in STATUSES.items() if status in found]
    missed = " ".join(status for status, _ in statuses if status not in {"right", "unmarked"})
    if "right" in found and missed:
        statuses.insert(1, (missed, "not right"))
    tags = []
    for name in dict.fromkeys(name for name, _ in tag_ids):
        values = sorted((value, tag_id) for (of, value), tag_id in tag_ids.items() if of == name)
        if 1 < len(values) <= MOST_TAG_VALUES:
            tags.append((name, tuple((tag_id, value) for value, tag_id in values)))
    n, n_all = len(entries), sum(len(run.rows) for _, _, run in runs)
    part = (
        f"{n:,} of {n_all:,} trials: alike many right, wrong, unreadable, refused and failed ones as far as "
        "there are, spread evenly over the run. The shares here are not those of the run."
    )
    return Browser(
        note=f"All {n:,} trials." if n == n_all else part,
        entries=tuple(entries),
        statuses=tuple(statuses),
        tags=tuple(tags),
        sheets=sheets.sheets,
    )
