"""Packets of wrong replies: drawn from runs, labelled by people and models, and reported."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vidence.contracts import Flow
from vidence.errors import DataError, UsageError, cause
from vidence.explain.errors.labels import By, Label, Labelled, keep_labels, label_row
from vidence.explain.errors.packet import (
    KEY_FILE,
    PACKET_FILE,
    PICTURES,
    Candidate,
    Draw,
    Packet,
    Standing,
    make_packet,
    rows_as_jsonl,
)
from vidence.explain.errors.shares import LabelledPacket
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.media.bounded import read_bounded
from vidence.media.encode import open_image
from vidence.media.whole import write_into
from vidence.records import Failed, ImagePart, Refused, Trial, Unreadable, VideoPart
from vidence.report.questions import MOST_TIMES, ContactSheet, ContactSheets
from vidence.report.results import Row, Run
from vidence.report.sections import Section
from vidence.tables.export import said_as_json
from vidence.tables.table import several
from vidence.text import some

_BUDGET_BYTES = 60_000_000


# --------------------------------------------------------------------------- drawing


def candidate(row: Row) -> Candidate:
    """Return a reply as a candidate: none without a score; wrong if it is not fully right."""
    trial, outcome = row.trial, row.score.outcome
    standing: Standing = "wrong"
    if row.correct is None or isinstance(outcome, Failed) or row.is_judge_error or row.is_undecided:
        standing = "none"
    elif row.correct >= 1:
        standing = "right"
    why = ""
    if isinstance(outcome, Refused | Unreadable):
        why = f"{row.outcome}: {outcome.reason}"
    reply = trial.reply
    return Candidate(
        item=row.item,
        standing=standing,
        answer=row.read,
        outcome=why,
        reply=reply.text if reply is not None else "",
        reasoning=reply.reasoning if reply is not None else "",
        times_s=tuple(frame.time_s for frame in trial.selection.frames) if trial.selection else (),
        frames_note=_frames_note(trial),
    )


def _frames_note(trial: Trial) -> str:
    """Describe the shown frames without naming the selector, which could identify the run."""
    if trial.prompt is None:
        return "Which frames were shown is not recorded."
    if any(isinstance(part, VideoPart) for part in trial.prompt.parts):
        return "The whole video was sent."
    frames = trial.selection.frames if trial.selection else ()
    if not frames:
        return "No frames were shown."
    times = some((f"{frame.time_s:.2f}" for frame in frames), most=MOST_TIMES)
    return f"{several(len(frames), 'frame')}, at {times} s."


def draw(
    runs: Sequence[Run], wanted: Draw, *, cache_root: Path | None, with_frames: bool = True
) -> tuple[Packet, Mapping[str, ContactSheet]]:
    """Draw a packet from these runs, and its pictures by file name.

    With repeats, the first trial counts. A reply that is not fully right counts as wrong.

    Raises:
        UsageError: two runs of one name, or too few replies.
    """
    names = [run.name for run in runs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two runs are called {twice!r}; labels are told apart by the names of the folders")
    rows = {run.name: {row.item.item_id: row for row in run.rows if row.trial.repeat == 0} for run in runs}
    candidates = {name: {i: candidate(row) for i, row in own.items()} for name, own in rows.items()}
    folders = {run.name: str(run.folder.resolve()) for run in runs}
    packet = make_packet(candidates, wanted, folders=folders, pictures={})
    if not with_frames:
        return packet, {}
    by_name = {run.name: run for run in runs}
    sheets = ContactSheets(cache_root=cache_root, media_root=None, budget_bytes=_BUDGET_BYTES)
    sheets.make_room(len(packet.rows))
    pictures: dict[tuple[str, str], str] = {}
    kept: dict[str, ContactSheet] = {}
    for reply in packet.key.drawn:
        if reply.is_wrong:
            pictured = sheets.of(by_name[reply.run], rows[reply.run][reply.item_id])
            if pictured.sheet_id:
                jpeg = sheets.sheets[pictured.sheet_id]
                name = f"{PICTURES}/{hashlib.sha256(jpeg.jpeg).hexdigest()[:16]}.jpg"
                pictures[reply.run, reply.item_id], kept[name] = name, jpeg
    return make_packet(candidates, wanted, folders=folders, pictures=pictures), kept


def write_packet(folder: Path, packet: Packet, *, pictures: Mapping[str, ContactSheet]) -> tuple[Path, ...]:
    """Write packet, key and pictures to a folder without a packet.

    Raises:
        UsageError: the folder has a packet, whose labels would belong to other rows.
        StoreError: a file cannot be written.
    """
    if (folder / KEY_FILE).exists():
        raise UsageError(f"{folder} holds drawn replies already; choose another folder")
    write_into(folder, {name: picture.jpeg for name, picture in pictures.items()})
    contents = {PACKET_FILE: rows_as_jsonl(packet.rows), KEY_FILE: rows_as_jsonl([packet.key])}
    return write_into(folder, contents)


# --------------------------------------------------------------------------- labels of models


def flows(
    folder: Path, packet: Packet, taxonomy: Taxonomy, *, labeller: str, rows: Sequence[str]
) -> tuple[dict[str, Flow[Labelled]], Callable[[str], bytes]]:
    """Return a flow per row for a model to label, and a function that reads pictures by digest.

    Raises:
        DataError: a picture of the packet cannot be read.
    """
    images: dict[str, bytes] = {}
    values, drawn = packet.shown(), packet.key.reply_of()
    flows: dict[str, Flow[Labelled]] = {}
    for row in rows:
        parts = []
        if name := values[row].picture:
            try:
                data = read_bounded(folder / name)
            except OSError as error:
                raise DataError(f"{folder / name} cannot be read: {cause(error)}") from error
            digest = hashlib.sha256(data).hexdigest()
            with open_image(data) as image:
                parts.append(ImagePart(digest=digest, width_px=image.width, height_px=image.height))
            images[digest] = data
        flows[row] = label_row(values[row], drawn[row], labeller=labeller, taxonomy=taxonomy, pictures=parts)
    return flows, images.__getitem__


def write_labels(folder: Path, labels: Sequence[Label], *, labeller: str, by: By) -> Path:
    """Write all labels of one labeller next to a packet, replacing earlier ones; return the path.

    Raises:
        UsageError: the labeller has no name.
        StoreError: the file cannot be written.
    """
    path, content = keep_labels(folder, labels, labeller=labeller, by=by)
    return write_into(path.parent, {path.name: content})[0]


# --------------------------------------------------------------------------- the report


def write_report_page(packet: LabelledPacket, path: Path, *, level: float) -> None:
    """Write one self-contained page.

    Raises:
        StoreError: the file cannot be written.
    """
    key = packet.packet.key
    facts = {**key.runs, "level": level, **{name: getattr(key.draw, name) for name in ("taxonomy", "seed")}}
    title = f"Kinds of errors: {packet.taxonomy.title}"
    section = Section(title=title, paragraphs=packet.sentences, tables=packet.tables)
    section.write_page(path, eyebrow="vidence replies errors", facts=(("Packet", facts),))


def report_json(packet: LabelledPacket) -> bytes:
    """Return sentences and tables as one JSON object."""
    values = {"runs": packet.packet.key.runs, "taxonomy": packet.taxonomy}
    return said_as_json("errors report", sentences=packet.sentences, tables=packet.tables, values=values)
