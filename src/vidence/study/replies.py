"""The content of a trial page besides media: the question, and replies without run names."""

import hashlib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import msgspec

from vidence.errors import DataError, UsageError
from vidence.explain.errors.packet import KEY_FILE, Packet, PacketLine, read_packet
from vidence.explain.errors.packet import Draw as PacketDraw
from vidence.explain.errors.taxonomies import Taxonomy, load_taxonomy, taxonomy_of
from vidence.records import Evidence, Item, Record
from vidence.report.error_kinds import draw as draw_packet
from vidence.report.error_kinds import write_packet
from vidence.report.questions import ContactSheet
from vidence.report.results import load_run
from vidence.study.study import Phase, PlannedTrial, Shown, Study, StudyFile


class ShownReply(Record, omit_defaults=True):
    """A reply without its run's name; `picture` is a file of the study with frames the model saw."""

    reply: str
    reasoning: str = ""
    answer: str = ""
    outcome: str = ""
    frames_note: str = ""
    picture: str = ""


class ShownTrial(Record, omit_defaults=True):
    """The content of a trial page besides media; what its phase hides is empty.

    `choices` are in the order in which they are shown. `replies` are two on a trial with a pair. `reference`
    is the right answer, with its letter; `label` the same without.
    """

    question: str = ""
    choices: tuple[str, ...] = ()
    replies: tuple[ShownReply, ...] = ()
    reference: str = ""
    rationale: str = ""
    knowledge: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    conditions: tuple[str, ...] = ()
    label: str = ""

    @property
    def words(self) -> str:
        """All words of the replies, for locating quotes."""
        return "\n".join(part for reply in self.replies for part in (reply.reasoning, reply.reply) if part)

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """All parts of the page before the form, without choices: title and text."""
        conditions = "\n".join(f"{i}. {condition}" for i, condition in enumerate(self.conditions, 1))
        parts = [("Question", self.question), ("Its conditions", conditions)]
        titles = ("First reply", "Second reply") if len(self.replies) > 1 else ("The reply",)
        for title, reply in zip(titles, self.replies, strict=False):
            parts += [(f"{title}: reasoning", reply.reasoning), (title, reply.reply or reply.outcome)]
        parts += [
            ("The right answer", self.reference),
            ("Why it is right", self.rationale),
            ("Required knowledge", "\n".join(self.knowledge)),
            (
                "Evidence",
                "\n".join(f"e{i}: {_evidence(evidence)}" for i, evidence in enumerate(self.evidence, 1)),
            ),
            ("Label", self.label),
        ]
        return tuple((title, words) for title, words in parts if words)


def _evidence(piece: Evidence) -> str:
    has_times = piece.start_s is not None and piece.end_s is not None
    span = f"{piece.start_s:g} to {piece.end_s:g} s" if has_times else ""
    frames = ", ".join(f"frame {frame}" for frame in piece.frames)
    return ": ".join(filter(None, (span, piece.note))) or frames or "no time"


class Stimulus(Record, omit_defaults=True):
    """The stimulus of a trial: an item, with a reply of `run`; `other` is the second of a pair."""

    item_id: str
    run: str = ""
    other: str = ""


# --------------------------------------------------------------------------- drawing


def shows_replies(study: Study) -> bool:
    """Whether trials show replies of `Study.runs`."""
    return any("reply" in phase.shows for phase in study.phases)


@dataclass(frozen=True, kw_only=True)
class DrawnReplies:
    """The replies of a study, with the pictures of their frames by the names of their files."""

    packet: Packet
    pictures: Mapping[str, ContactSheet]


def draw_replies(file: StudyFile, *, among: Container[str], cache_root: Path | None) -> DrawnReplies:
    """Draw the replies of a study, to questions with ids in `among` if given.

    With a field of the kind ``kinds`` the drawn replies that are wrong are shown, with their frames.
    Otherwise all are, without: wrong ones alone have them.

    Raises:
        UsageError: there are no runs, or fewer replies than are to be drawn.
        StoreError: a run folder cannot be read.
    """
    study = file.study
    if study.draw.of == "items" or not study.runs:
        raise UsageError(
            f'{file.path}: trials show replies; name runs, and say draw.of = "same" (questions that all '
            'answered) or "wrong" (wrong replies of each)'
        )
    loaded = (load_run(file.folder / folder) for folder in study.runs)
    runs = [replace(run, rows=tuple(r for r in run.rows if r.item.item_id in among)) for run in loaded]
    kinds = next((field for field in study.form if field.kind == "kinds"), None)
    name = ""
    if kinds is not None:
        name = kinds.options[0] if kinds.options else taxonomy_of(run.plan.benchmark for run in runs)
        name = str((file.folder / name).resolve()) if name.endswith(".toml") else name
        load_taxonomy(name)
    packet, pictures = draw_packet(
        runs,
        PacketDraw(
            taxonomy=name, rule=study.draw.of, n=study.draw.n, seed=study.draw.seed, are_all=kinds is None
        ),
        cache_root=cache_root,
        with_frames=kinds is not None,
    )
    return DrawnReplies(packet=packet, pictures=pictures)


def write_replies(folder: Path, replies: DrawnReplies) -> None:
    """Write the drawn replies next to study.toml for `vidence replies errors`; existing ones stay.

    The files say whose replies they are: participants do not get them.

    Raises:
        UsageError: other replies are there.
        StoreError: a file cannot be written.
    """
    if not (folder / KEY_FILE).exists() or read_packet(folder) != replies.packet:
        write_packet(folder, replies.packet, pictures=replies.pictures)


def taxonomy_in(folder: Path) -> Taxonomy | None:
    """Return the error taxonomy of reply labels; None if replies are not labelled."""
    name = read_packet(folder).key.draw.taxonomy
    return load_taxonomy(name) if name else None


def reply_trials(study: Study, phase: Phase, packet: Packet) -> tuple[Stimulus, ...]:
    """Return the trials of a phase over drawn replies, in an order independent of the runs.

    A phase with a field of the kind ``pair`` shows each two replies to a question; which stands first is
    drawn.
    """
    if not any(field.kind == "pair" for field in study.fields_of(phase)):
        reply_of = packet.key.reply_of()
        drawn = (reply_of[row.row] for row in packet.rows)
        return tuple(Stimulus(item_id=reply.item_id, run=reply.run) for reply in drawn)
    return tuple(_pairs(packet))


def _pairs(packet: Packet) -> Iterator[Stimulus]:
    reply_of = packet.key.reply_of()
    rows: dict[str, list[PacketLine]] = {}
    for row in packet.rows:
        rows.setdefault(reply_of[row.row].item_id, []).append(row)
    for item_id, own in rows.items():
        for first, second in combinations(own, 2):
            text = f"pair/{packet.key.draw.seed}/{first.row}/{second.row}"
            is_turned = hashlib.sha256(text.encode()).digest()[0] % 2
            pair = (second, first) if is_turned else (first, second)
            run, other = (reply_of[line.row].run for line in pair)
            yield Stimulus(item_id=item_id, run=run, other=other)


# --------------------------------------------------------------------------- showing


def lines_of(packet: Packet) -> dict[tuple[str, str], PacketLine]:
    """Return the rows of a packet by run and question."""
    values = packet.shown()
    return {(reply.run, reply.item_id): values[row] for row, reply in packet.key.reply_of().items()}


def shown_trial(
    item: Item, trial: PlannedTrial, phase: Phase, *, lines: Mapping[tuple[str, str], PacketLine]
) -> ShownTrial:
    """Return what the page of a trial shows.

    Args:
        item: the question, in its own order.
        trial: the trial; of a reply the choices stand as the model was shown them.
        phase: says what is shown.
        lines: the drawn replies, see `lines_of`; empty if trials show none.

    Raises:
        DataError: the reply was not drawn.
    """
    shows, asked, own = phase.shows, item.with_order(trial.choice_order), []
    for run in filter(None, (trial.run, trial.other)):
        if (run, trial.item_id) not in lines:
            raise DataError(f"the reply of {run!r} to {trial.item_id!r} was not drawn; draw the study again")
        own.append(lines[run, trial.item_id])
    choices, answer = (own[0].choices, own[0].gold) if own else (asked.choices, asked.answer)
    text = choices[ord(answer) - ord("A")] if choices and answer else answer

    def when(part: Shown, value: str) -> str:
        return value if part in shows else ""

    return ShownTrial(
        question=when("question", asked.question),
        choices=choices if "question" in shows else (),
        replies=msgspec.convert(own, tuple[ShownReply, ...], from_attributes=True)
        if "reply" in shows
        else (),
        reference=when("reference", f"{answer}. {text}" if choices and answer else answer),
        rationale=when("rationale", asked.rationale),
        knowledge=asked.knowledge if "knowledge" in shows else (),
        evidence=asked.evidence if "evidence" in shows else (),
        conditions=own[0].conditions if own and "question" in shows else (),
        label=when("label", text),
    )
