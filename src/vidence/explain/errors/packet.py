"""Packets for labellers: replies of several runs to drawn questions, in an order that hides the run."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec

from vidence.ask.benchmarks.perceptioncomp import conditions
from vidence.ask.files import read_json
from vidence.errors import DataError, UsageError, cause
from vidence.media.bounded import read_bounded
from vidence.records import ClusterNoun, Evidence, Item, Record, source_noun

FORMAT: Literal["vidence-errors/1"] = "vidence-errors/1"
PACKET_FILE, KEY_FILE = "packet.jsonl", "key.json"
PICTURES = "frames"
_LETTERS = str.maketrans("0123456789", "ghjkmnpqrs")
_ID_LETTERS = 10
# A packet can come from somebody else, and its pictures are sent to models.
_PICTURE = re.compile(rf"{PICTURES}/[0-9a-f]+\.jpg")
Rule: TypeAlias = Literal["same", "wrong"]
Standing: TypeAlias = Literal["right", "wrong", "none"]
RecordT = TypeVar("RecordT", bound=Record)


class PacketLine(Record, omit_defaults=True):
    """One reply as labellers see it, a line of `PACKET_FILE`, without its run.

    `evidence` has the ids ``e1``, ``e2``, ... in order. `times_s` are the times of the shown frames,
    `picture` a file with some of them. `outcome` is what was parsed.
    """

    row: str
    question: str
    choices: tuple[str, ...] = ()
    gold: str = ""
    answer: str = ""
    outcome: str = ""
    reply: str = ""
    reasoning: str = ""
    rationale: str = ""
    knowledge: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    conditions: tuple[str, ...] = ()
    times_s: tuple[float, ...] = ()
    frames_note: str = ""
    picture: str = ""

    @property
    def words(self) -> str:
        """Return the whole reply, reasoning first."""
        return "\n".join(filter(None, (self.reasoning, self.reply)))


class Candidate(Record):
    """A reply of a run that could be drawn; `standing` is ``none`` if it cannot be scored."""

    item: Item
    standing: Standing
    answer: str = ""
    outcome: str = ""
    reply: str = ""
    reasoning: str = ""
    times_s: tuple[float, ...] = ()
    frames_note: str = ""


class Draw(Record, omit_defaults=True):
    """How replies are drawn, see `draw_questions`, and the taxonomy's name or file.

    `n` None draws all. The rows are the wrong replies among those drawn; with `are_all`, all of them.
    """

    taxonomy: str
    rule: Rule
    n: int | None
    seed: int
    are_all: bool = False


class DrawnReply(Record, omit_defaults=True):
    """A reply to a drawn question: its run, and its row in the packet (empty for a right one)."""

    run: str
    item_id: str
    source: str
    is_wrong: bool
    n_conditions: int = 0
    row: str = ""


class Key(Record):
    """What labellers do not see: the reply behind each row, and how replies were drawn.

    `runs` are names and folders. `left_out` counts each run's questions without a scored reply.
    """

    format: Literal["vidence-errors/1"] = FORMAT
    draw: Draw
    benchmark: str
    noun: ClusterNoun
    runs: dict[str, str]
    drawn: tuple[DrawnReply, ...]
    left_out: dict[str, int]

    def reply_of(self) -> dict[str, DrawnReply]:
        """Return the reply behind each row."""
        return {reply.row: reply for reply in self.drawn if reply.row}


class Packet(Record):
    """The rows in display order, and their key."""

    key: Key
    rows: tuple[PacketLine, ...]

    def shown(self) -> dict[str, PacketLine]:
        """Return the rows by id."""
        return {row.row: row for row in self.rows}


# --------------------------------------------------------------------------- drawing


def draw_questions(runs: Mapping[str, Mapping[str, Candidate]], draw: Draw) -> dict[str, tuple[str, ...]]:
    """The ids of the questions that are drawn for each run.

    ``same`` draws `n` questions of those that every run answered and got a mark for (with `are_all`: that
    have a reply in every run), and takes all replies to them. ``wrong`` draws `n` wrong replies of each run.
    What is drawn depends on the seed and the ids alone.

    Raises:
        UsageError: no runs, or fewer questions than are to be drawn.

    Source: HumanPCR, appendix G.3 (200 questions, the same for seven settings); MMVU, section 4.3 (50 wrong
        replies of each of four models).
    """
    n, seed = draw.n, draw.seed
    if not runs:
        raise UsageError("no runs to draw from; name one run folder or more")
    if n is not None and n < 1:
        raise UsageError(f"{n} replies to draw; expected one or more")
    if draw.rule == "same":
        usable = [
            {i for i, c in own.items() if c.standing != "none" or (draw.are_all and c.reply)}
            for own in runs.values()
        ]
        common = set.intersection(*usable)
        if len(common) < (n or 1):
            raise UsageError(
                f"{len(common)} questions have a {'' if draw.are_all else 'marked '}reply in every run, "
                f"{n or 'all'} are to be drawn; draw {len(common)} at most"
            )
        chosen = _ranked(common, f"same/{seed}")[:n]
        return dict.fromkeys(runs, tuple(chosen))
    drawn = {}
    for run, own in runs.items():
        wrong = [item_id for item_id, candidate in own.items() if candidate.standing == "wrong"]
        if len(wrong) < (n or 1):
            most = f"draw {len(wrong)} at most" if wrong else "leave this run out"
            raise UsageError(
                f"{run} has {len(wrong)} wrong replies, {n or 'all'} are to be drawn of each run; {most}"
            )
        drawn[run] = tuple(_ranked(wrong, f"wrong/{seed}/{run}")[:n])
    return drawn


def make_packet(
    runs: Mapping[str, Mapping[str, Candidate]],
    draw: Draw,
    *,
    folders: Mapping[str, str],
    pictures: Mapping[tuple[str, str], str],
) -> Packet:
    """Draw questions and order the wrong replies to them independently of the run.

    Args:
        runs: each run's replies by question id.
        draw: the sampling; its seed also determines the order.
        folders: of the runs.
        pictures: the file with a reply's frames, by run and question, if any.

    Raises:
        UsageError: as for `draw_questions`, or none of the drawn replies is wrong.
    """
    questions, seed = draw_questions(runs, draw), draw.seed
    pairs = [
        (run, i)
        for run, chosen in questions.items()
        for i in chosen
        if draw.are_all or is_wrong(runs[run][i])
    ]
    if not pairs:
        raise UsageError("none of the drawn replies is wrong; there is nothing to label")
    ids = {(run, i): _row_id(f"errors/row/{seed}/{run}/{i}/0") for run, i in pairs}
    rows = {
        row: _shown(row, runs[pair[0]][pair[1]], picture=pictures.get(pair, "")) for pair, row in ids.items()
    }
    key = Key(
        draw=draw,
        benchmark=runs[pairs[0][0]][pairs[0][1]].item.benchmark,
        noun=source_noun(candidate.item for own in runs.values() for candidate in own.values()),
        runs={run: folders[run] for run in runs},
        drawn=tuple(
            _drawn(run, runs[run][i], ids.get((run, i), ""))
            for run, chosen in questions.items()
            for i in chosen
        ),
        left_out={run: sum(c.standing == "none" for c in own.values()) for run, own in runs.items()},
    )
    return Packet(key=key, rows=tuple(rows[row] for row in _ranked(rows, f"order/{seed}")))


def is_wrong(candidate: Candidate) -> bool:
    """Whether there is an error to label."""
    return candidate.standing == "wrong"


def _drawn(run: str, candidate: Candidate, row: str) -> DrawnReply:
    return DrawnReply(
        run=run,
        item_id=candidate.item.item_id,
        source=candidate.item.source_id,
        is_wrong=is_wrong(candidate),
        n_conditions=len(conditions(candidate.item.question)),
        row=row,
    )


def _shown(row: str, candidate: Candidate, *, picture: str) -> PacketLine:
    item = candidate.item
    return PacketLine(
        row=row,
        question=item.question,
        choices=item.choices,
        gold=item.answer,
        answer=candidate.answer,
        outcome=candidate.outcome,
        reply=candidate.reply,
        reasoning=candidate.reasoning,
        rationale=item.rationale,
        knowledge=item.knowledge,
        evidence=item.evidence,
        conditions=conditions(item.question),
        times_s=candidate.times_s,
        frames_note=candidate.frames_note,
        picture=picture,
    )


def _ranked(names: Iterable[str], salt: str) -> list[str]:
    """Return the names in an order determined by the salt; adding a name does not reorder others."""
    return sorted(names, key=lambda name: hashlib.sha256(f"errors/{salt}/{name}".encode()).digest())


def _row_id(name: str) -> str:
    """Return an id of letters only, because spreadsheets take some hexadecimal digits for numbers."""
    return hashlib.sha256(name.encode()).hexdigest()[:_ID_LETTERS].translate(_LETTERS)


# --------------------------------------------------------------------------- files


def rows_as_jsonl(rows: Sequence[Record]) -> bytes:
    """Return records as JSON lines."""
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def read_jsonl(path: Path, kind: type[RecordT]) -> tuple[RecordT, ...]:
    """Read records from JSON lines.

    Raises:
        DataError: the file cannot be read, or a line is invalid.
    """
    try:
        lines = read_bounded(path).splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {cause(error)}") from error
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(msgspec.json.decode(line, type=kind))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DataError(f"{path}, line {number}: {error}") from error
    return tuple(entries)


def read_packet(folder: Path) -> Packet:
    """Read the packet in a folder.

    Raises:
        DataError: there is none, it cannot be read, rows and key do not match, or a picture is missing.
    """
    path = folder / KEY_FILE
    if not path.exists():
        raise DataError(
            f"{folder} holds no drawn replies: it has no {KEY_FILE}; vidence replies errors draw or "
            "vidence study draw writes it"
        )
    key = read_json(path, Key, advice="draw once more")
    rows = read_jsonl(folder / PACKET_FILE, PacketLine)
    if {row.row for row in rows} != set(key.reply_of()) or len(rows) != len(key.reply_of()):
        raise DataError(f"{folder / PACKET_FILE} does not have the rows of {path}; draw once more")
    for row in rows:
        if row.picture and not _PICTURE.fullmatch(row.picture):
            raise DataError(f"{folder / PACKET_FILE}: {row.picture!r} is no picture in {folder / PICTURES}")
    return Packet(key=key, rows=rows)
