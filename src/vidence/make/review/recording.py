"""Record acts in a review: submit, translate, draw, decide; each event is checked first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from vidence.errors import DataError, UsageError
from vidence.make.pipeline.ledger import write_file
from vidence.make.review.files import PROTOCOL_FILE, Reviews, add_to, question_fault
from vidence.make.review.points import last_return, marked_fields, stage_of, untouched
from vidence.make.review.protocol import StageRole, canonical
from vidence.make.review.revisions import Event, Kind, Origin, Revision, Role, chained, new_revision
from vidence.make.review.sample import first_of, shares
from vidence.make.review.states import OPERATOR, ItemState, advance, drafting, may_look, stage_role
from vidence.make.review.translations import in_language
from vidence.media.whole import own_folder
from vidence.text import first_lines

_VERDICTS: Final[tuple[Kind, ...]] = ("accept", "return", "reject")


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A person's entries in a sheet row that starts at `line`; without `verdict` only an answer."""

    item_id: str
    verdict: str
    checks: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, int] = field(default_factory=dict)
    failed_checks: tuple[str, ...] = ()
    note: str = ""
    answer: str = ""
    witness: str = ""
    minutes: float | None = None
    line: str = ""


@dataclass(frozen=True, kw_only=True)
class _Aside:
    """Data of an event that no sheet was filled in for."""

    message: str = ""
    minutes: float | None = None
    whose: str = ""


class Recorder:
    """Collects one person's acts at one time, checking every event against the current state."""

    def __init__(self, reviews: Reviews, *, by: str, role: Role, at: str) -> None:
        self._reviews = reviews
        self._by, self._role, self._at = by, role, at
        self._states = dict(reviews.states)
        self._known = dict(reviews.revisions)
        self._events: list[Event] = []
        self.revisions: list[Revision] = []

    @property
    def events(self) -> tuple[Event, ...]:
        """Return the events so far, chained to the person's earlier acts."""
        return chained(self._events, last=self._reviews.last_of(self._by))

    def state(self, item_id: str) -> ItemState:
        """Return an item's state after these events."""
        return self._states.get(item_id) or drafting(item_id, self._reviews.protocol)

    def is_last(self, item_id: str, content: Mapping[str, object]) -> bool:
        """Whether this is an item's last wording."""
        last = self._known.get(self.state(item_id).revision)
        return last is not None and canonical(last.content) == canonical(content)

    def add(
        self,
        kind: Kind,
        item_id: str,
        *,
        said: Filled | None = None,
        message: str = "",
        minutes: float | None = None,
        whose: str = "",
    ) -> str:
        """Record an event about the last revision; return the fault, or empty.

        Args:
            kind: what is done.
            item_id: to which item.
            said: what was filled in, which has its own words and minutes.
            message: words, where there is no sheet.
            minutes: how long it took, where there is no sheet.
            whose: the person whose claim expires.
        """
        aside = _Aside(message=message, minutes=minutes, whose=whose)
        return self._add(kind, item_id, revision=self.state(item_id).revision, said=said, aside=aside)

    def revise(self, item_id: str, content: Mapping[str, object], *, kind: Kind, origin: Origin) -> str:
        """Record a new wording and its event; return the fault, or empty.

        A wording that was written before its event was, since somebody stopped the program between the two,
        is taken up. Of an author, ``minutes`` of the item are those that it took in all.
        """
        state = self.state(item_id)
        parent = self._known[state.revision] if state.revision else None
        fault = "" if parent is None or question_fault(parent.content) else question_fault(content)
        if fault:
            return fault
        fresh = new_revision(item_id, content, parent=parent, origin=origin, by=self._by, at=self._at)
        left = (entry for entry in self._reviews.revisions_of.get(item_id, ()) if _is_same(entry, fresh))
        revision = next(left, fresh)
        self._known[revision.sha256] = revision
        before = parent.content if parent is not None else {}
        minutes = _minutes(content) - _minutes(before) if kind in ("submit", "resubmit") else 0.0
        aside = _Aside(minutes=minutes if minutes > 0 else None)
        fault = self._add(kind, item_id, revision=revision.sha256, said=None, aside=aside)
        if not fault:
            self.revisions.append(revision)
        return fault

    def _add(self, kind: Kind, item_id: str, *, revision: str, said: Filled | None, aside: "_Aside") -> str:
        is_verdict = kind in _VERDICTS and said is not None
        event = Event(
            event_id="",
            item_id=item_id,
            revision=revision,
            kind=kind,
            role=self._role,
            by=self._by,
            at=self._at,
            checks=dict(said.checks) if said is not None and is_verdict else {},
            scores=dict(said.scores) if said is not None and is_verdict else {},
            message=(said.note if said is not None and is_verdict else aside.message).strip(),
            answer=said.answer if said is not None and kind == "solve" else "",
            minutes=aside.minutes if said is None else said.minutes,
            whose=aside.whose,
        )
        if kind == "witness":
            named = _conditions(aside.message)
            event = msgspec.structs.replace(event, checks=dict.fromkeys(named, "yes"), minutes=None)
        result = advance(self.state(item_id), event, revisions=self._known, protocol=self._reviews.protocol)
        if isinstance(result, str):
            return result
        self._states[item_id] = result
        self._events.append(event)
        return ""

    @property
    def fault(self) -> str:
        """Return why these events cannot be written: invalid, or older than the last act."""
        faults = [*(event.fault for event in self.events), *(revision.fault for revision in self.revisions)]
        if bad := next(filter(None, faults), ""):
            return bad
        mine = [event for event in self._reviews.events if event.by == self._by]
        if not self._events or not mine or self._at >= mine[-1].at:
            return ""
        return f"{self._at} is before {mine[-1].at}, when {self._by} did something last; give a later time"


def write(folder: Path, recorders: Sequence[Recorder]) -> tuple[Path, ...]:
    """Write what was recorded; nothing if nothing is new.

    Raises:
        DataError: a time is before what the person did last, or the folder cannot be read.
        StoreError: a file cannot be written.
    """
    refuse_all([r.fault for r in recorders if r.fault], what="faults; nothing was written")
    revisions = [revision for recorder in recorders for revision in recorder.revisions]
    return add_to(folder, revisions=revisions, events=[event for r in recorders for event in r.events])


def after(reviews: Reviews, recorders: Sequence[Recorder]) -> Reviews:
    """Return a review including recorded but unwritten acts."""
    return Reviews.of(
        reviews.protocol,
        (
            *reviews.revisions.values(),
            *(revision for recorder in recorders for revision in recorder.revisions),
        ),
        (*reviews.events, *(event for recorder in recorders for event in recorder.events)),
    )


def _minutes(content: Mapping[str, object]) -> float:
    minutes = content.get("minutes")
    return float(minutes) if isinstance(minutes, int | float) else 0.0


def _is_same(revision: Revision, fresh: Revision) -> bool:
    return (revision.item_id, revision.n, revision.parent, revision.origin, revision.by) == (
        *(fresh.item_id, fresh.n, fresh.parent, fresh.origin),
        fresh.by,
    ) and canonical(revision.content) == canonical(fresh.content)


def _conditions(text: str) -> tuple[str, ...]:
    """Return the conditions named in lines such as ``second: at 41 s a red cup, too``."""
    heads = [line.partition(":") for line in text.splitlines()]
    return tuple(dict.fromkeys(name.strip() for name, colon, _ in heads if colon and name.strip()))


def begin(folder: Path, protocol: bytes) -> None:
    """Create a review folder with its protocol; no effect if the same review exists.

    Raises:
        UsageError: a review by another protocol is there, or something else.
        StoreError: it cannot be written.
    """
    path = folder / PROTOCOL_FILE
    if path.is_file():
        if path.read_bytes() != protocol:
            raise UsageError(f"{folder} is already reviewed with another protocol; choose another folder")
        return
    own_folder(folder, ".vidence-review")
    write_file(path, protocol)


@dataclass(frozen=True, kw_only=True)
class Submitted:
    """The number of new wordings, and of those already present.

    `untouched` are by item the fields that a return found fault with and that are as they were.
    """

    n_new: int
    n_same: int
    untouched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def submit(
    reviews: Reviews, items: Mapping[str, Mapping[str, object]], *, by: str, role: Role, at: str
) -> tuple[tuple[Recorder, ...], Submitted]:
    """Submit items: new or returned ones by authors, edits of reviewed ones by others.

    Args:
        reviews: the review.
        items: by their ids.
        by: who puts them in; empty if each says so under ``author``.
        role: of whoever puts them in.
        at: when.

    Raises:
        DataError: some cannot be put in; the first twenty are named.
    """
    recorders: dict[str, Recorder] = {}
    faults: list[str] = []
    left: dict[str, tuple[str, ...]] = {}
    n_same = 0
    for item_id, content in items.items():
        who = by or str(content.get("author") or "").strip()
        if not who:
            faults.append(f"{item_id} has no author; name who puts it in")
            continue
        recorder = recorders.setdefault(who, Recorder(reviews, by=who, role=role, at=at))
        if recorder.is_last(item_id, content):
            n_same += 1
        else:
            kind, origin = _wording(recorder.state(item_id), role)
            if kind == "resubmit" and (same := _left(reviews, item_id, content)):
                left[item_id] = same
            faults.append(recorder.revise(item_id, content, kind=kind, origin=origin))
    refuse_all(list(filter(None, faults)), what="items cannot be put in")
    n_new = sum(len(entry.revisions) for entry in recorders.values())
    return tuple(recorders.values()), Submitted(n_new=n_new, n_same=n_same, untouched=left)


def _left(reviews: Reviews, item_id: str, content: Mapping[str, object]) -> tuple[str, ...]:
    """Return the fields marked by the last return that a new wording leaves unchanged."""
    event = last_return(reviews.events_of.get(item_id, ()), reviews.states[item_id].revision)
    stage = None if event is None else stage_of(event, reviews.protocol)
    if event is None or stage is None:
        return ()
    return untouched(reviews.content(item_id), content, marked_fields(event, stage))


def translate(
    reviews: Reviews, items: Mapping[str, Mapping[str, object]], recorder: Recorder, *, language: str
) -> Submitted:
    """Record translated wordings of items, by their reviewer.

    The wording that was translated stays (`Reviews.source`); the translation is a revision made of it.

    Args:
        reviews: the review.
        items: the translated wordings by their ids; those that are as they were are passed over.
        recorder: where they go.
        language: of all of them, such as ``en``; empty if each has it as the tag ``language``.

    Raises:
        DataError: some cannot be put in; the first twenty are named.
    """
    faults: list[str] = []
    n_same = 0
    for item_id, content in items.items():
        worded = in_language(content, language) if language else dict(content)
        if item_id not in reviews.states:
            faults.append(f"{item_id} is not in the review; `vidence items review open` puts items in")
        elif recorder.is_last(item_id, worded):
            n_same += 1
        else:
            faults.append(recorder.revise(item_id, worded, kind="edit", origin="translate"))
    refuse_all(list(filter(None, faults)), what="translations cannot be put in")
    return Submitted(n_new=len(recorder.revisions), n_same=n_same)


def _wording(state: ItemState, role: Role) -> tuple[Kind, Origin]:
    if role == "reviewer":
        return "edit", "validator_edit"
    if role == "meta":
        return "edit", "meta_edit"
    return ("resubmit", "author_revise") if state.state == "returned" else ("submit", "submit")


def refuse_all(faults: Sequence[str], *, what: str) -> None:
    """Reject faulty input, listing the first twenty faults.

    Raises:
        DataError: there are some.
    """
    if faults:
        raise DataError(f"{len(faults)} {what}\n{first_lines(faults)}")


@dataclass(frozen=True, kw_only=True)
class Share:
    """The `share` of waiting items to draw: per value of the tag `tag`, ordered by `seed`."""

    share: float = 1.0
    tag: str = ""
    seed: int = 0


def draw(reviews: Reviews, recorder: Recorder, *, by: str, role: StageRole, wanted: Share) -> int:
    """Claim a stratified share of the waiting items that this person may review; return the number.

    Args:
        reviews: the review.
        recorder: where the claims go.
        by: who looks.
        role: at which stage.
        wanted: how much is drawn.
    """
    strata: dict[str, list[str]] = {}
    for item_id, state in reviews.states.items():
        if stage_role(state, reviews.protocol) == role and not may_look(state, by, reviews.protocol):
            strata.setdefault(_tag(reviews.content(item_id), wanted.tag), []).append(item_id)
    sizes = {name: len(mine) for name, mine in sorted(strata.items())}
    counts = shares(sizes, wanted.share, seed=wanted.seed)
    drawn = {name for mine in first_of(strata, counts, seed=wanted.seed).values() for name in mine}
    faults = [recorder.add("claim", item_id) for item_id in reviews.states if item_id in drawn]
    refuse_all(list(filter(None, faults)), what="items cannot be claimed")
    return len(drawn)


def _tag(content: Mapping[str, object], tag: str) -> str:
    tags = content.get("tags")
    return str(tags.get(tag, "")) if tag and isinstance(tags, dict) else ""


def held(reviews: Reviews, *, by: str, role: StageRole) -> tuple[ItemState, ...]:
    """Return the items that this person holds."""
    return tuple(
        state
        for state in reviews.states.values()
        if by in state.claims and reviews.protocol.stages[state.stage].role == role
    )


def shown_to(reviews: Reviews, state: ItemState, *, by: str) -> Mapping[str, object]:
    """Return an item as this person may see it: solvers see no key before they answer."""
    content = reviews.content(state.item_id)
    if not reviews.protocol.stages[state.stage].solves or by in state.solved:
        return content
    return {name: value for name, value in content.items() if name in reviews.protocol.shows}


def said_before(reviews: Reviews, state: ItemState, *, by: str) -> tuple[Event, ...]:
    """Return the messages that this person may read: on earlier revisions, and their own.

    What others who look said of the revision that the person still looks at, and what they counted, is not
    among them; messages of its author and of operators are.
    """
    before = ("author", OPERATOR)
    return tuple(
        event
        for event in reviews.events_of.get(state.item_id, ())
        if event.message
        and (
            event.by == by
            or event.revision != state.revision
            or by not in state.claims
            or (event.kind == "say" and event.role in before)
        )
    )
