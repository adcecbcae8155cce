"""The state of an item: a fold over events, with guards that refuse invalid ones."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.make.review.protocol import ROLES, Protocol, Stage, StageRole, canonical
from vidence.make.review.revisions import Event, Kind, Origin, Revision, Role
from vidence.make.review.translations import translation_fault
from vidence.records import Record

State = Literal[
    "drafting",
    "submitted",
    "in-review",
    "returned",
    "reviewed",
    "in-meta",
    "accepted",
    "rejected",
    "withdrawn",
    "voided",
]
Verdict = Literal["accept", "return", "reject"]
ENDS: Final[frozenset[State]] = frozenset({"accepted", "rejected", "withdrawn", "voided"})
OPERATOR: Final = "operator"
_WAITING: Final[tuple[State, State]] = ("submitted", "reviewed")
_LOOKING: Final[tuple[State, State]] = ("in-review", "in-meta")
_LATE: Final[frozenset[Kind]] = frozenset(
    {"claim", "release", "solve", "witness", "accept", "return", "reject"}
)
_DAY_S: Final = 86_400
_UNSOLVED: Final = "not solved yet; reviewers answer before they see the key"
_OF_A_LOOK: Final = (
    *("claim", "release", "solve", "witness", "edit", "accept", "return", "reject"),
    *("say", "expire"),
)
_ALLOWED: Final[Mapping[State, tuple[Kind, ...]]] = {
    "drafting": ("submit",),
    "submitted": ("claim", "withdraw", "say"),
    "in-review": _OF_A_LOOK,
    "returned": ("resubmit", "withdraw", "reject", "say"),
    "reviewed": ("claim", "say"),
    "in-meta": _OF_A_LOOK,
    "accepted": ("reject", "withdraw", "reopen"),
    "rejected": ("reopen",),
    "withdrawn": ("reopen",),
    "voided": ("reopen",),
}
_ORIGINS: Final[Mapping[Kind, tuple[Origin, ...]]] = {
    "submit": ("submit", "import"),
    "resubmit": ("author_revise",),
}


class Decision(Record, gc=False):
    """One person's decision on the last revision."""

    by: str
    verdict: Verdict
    event_id: str


class ItemState(Record, omit_defaults=True, gc=False):
    """The state of an item.

    `revision` is the last one and `n` its number. `stage` is the one that looks, or looked last; `claims` are
    those who look now, `since` when each of them began, `decisions` what was decided in it of the last
    revision. `is_disputed` until one more person has decided where two differ. `people` are by role those who
    had a say in any revision. `solved` are those who did so with the last one; `witnessed` who gave a witness
    of it for which condition, as `NAME: CONDITION`. `ended_from`
    is the state before an end, `reopening` who asked for it first.
    """

    item_id: str
    returns_left: int
    state: State = "drafting"
    stage: int = 0
    revision: str = ""
    n: int = 0
    author: str = ""
    claims: tuple[str, ...] = ()
    since: dict[str, str] = msgspec.field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    is_disputed: bool = False
    is_settled: bool = False
    was_edited: bool = False
    was_disputed: bool = False
    people: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    solved: tuple[str, ...] = ()
    witnessed: tuple[str, ...] = ()
    ended_from: State = "drafting"
    reopening: str = ""
    n_reopened: int = 0

    @property
    def is_ended(self) -> bool:
        """Whether only an operator can continue."""
        return self.state in ENDS


Next: TypeAlias = ItemState | str


@dataclass(frozen=True, kw_only=True)
class _Case:
    """An event applied to a state.

    `revision` is the one that it names, where there is one of the item; `before` is the last one until then.
    """

    state: ItemState
    event: Event
    revision: Revision | None
    before: Revision | None
    protocol: Protocol

    @property
    def stage(self) -> Stage:
        return self.protocol.stages[self.state.stage]

    def refused(self, reason: str) -> str:
        kinds = ", ".join(allowed_kinds(self.state, self.protocol))
        return (
            f"{self.event.item_id} is {self.state.state}; {self.event.kind} by {self.event.by}: {reason}; "
            f"allowed now: {kinds}"
        )


class Folded(Record):
    """The states of all items, and the events without effect, with reasons."""

    states: dict[str, ItemState]
    refused: tuple[tuple[Event, str], ...]


def fold(revisions: Mapping[str, Revision], events: Iterable[Event], protocol: Protocol) -> Folded:
    """Return the states that events lead to.

    Where several people wrote apart from each other, two may have looked at one revision without knowing of
    it. The second decision counts as well as long as nothing was built on the first; where they differ, the
    item is in review again until a third person has decided.

    Args:
        revisions: by their hashes.
        events: in order (`revisions.in_order`).
        protocol: the rules.
    """
    begun = {revision.item_id: drafting(revision.item_id, protocol) for revision in revisions.values()}
    refused: list[tuple[Event, str]] = []
    for event in events:
        state = begun.get(event.item_id, drafting(event.item_id, protocol))
        result = advance(state, event, revisions=revisions, protocol=protocol, is_merged=True)
        if isinstance(result, str):
            refused.append((event, result))
        else:
            begun[event.item_id] = result
    return Folded(states=begun, refused=tuple(refused))


def drafting(item_id: str, protocol: Protocol) -> ItemState:
    """Return the initial state of an item."""
    return ItemState(item_id=item_id, returns_left=protocol.returns)


def advance(
    state: ItemState,
    event: Event,
    *,
    revisions: Mapping[str, Revision],
    protocol: Protocol,
    is_merged: bool = False,
) -> Next:
    """Return the state after an event, or why it is refused, with what is allowed.

    Args:
        state: that of the item.
        event: what somebody does.
        revisions: by their hashes, with that of the event.
        protocol: the rules.
        is_merged: whether somebody may have done it without knowing what others did before; see `fold`.
    """
    revision = revisions.get(event.revision)
    if revision is not None and revision.item_id != event.item_id:
        revision = None
    before = revisions.get(state.revision)
    case = _Case(state=state, event=event, revision=revision, before=before, protocol=protocol)
    is_late = is_merged and _is_late(case)
    if event.kind not in _ALLOWED[state.state] and not is_late:
        return case.refused(f"{event.kind!r} is not allowed")
    fault = _content_fault(case) or _moved(case, is_late=is_late)
    if isinstance(fault, str):
        return case.refused(fault)
    since = {by: state.since.get(by, event.at) for by in fault.claims}
    return fault if since == fault.since else msgspec.structs.replace(fault, since=since)


def allowed_kinds(state: ItemState, protocol: Protocol) -> tuple[Kind, ...]:
    """Return the acts allowed on an item in this state, by any person."""
    stage = protocol.stages[state.stage]
    impossible = {
        "edit": not stage.edits,
        "solve": not stage.solves,
        "witness": not stage.witnesses,
        "return": state.returns_left == 0,
        "claim": state.state in _LOOKING and not _has_room(state, stage),
    }
    return tuple(kind for kind in _ALLOWED[state.state] if not impossible.get(kind, False))


def may_look(state: ItemState, by: str, protocol: Protocol) -> str:
    """Return why this person may not claim a waiting item; empty if they may."""
    if state.state not in (*_WAITING, *_LOOKING):
        return f"it is {state.state}"
    stage = protocol.stages[_next_stage(state)]
    if fault := _second_look(state, by, stage.role):
        return fault
    is_full = state.state in _LOOKING and not _has_room(state, stage)
    return f"{', '.join(state.claims)} looks at it" if is_full else ""


def _second_look(state: ItemState, by: str, role: Role) -> str:
    """Why a person had a part in an item and may not look at it in this role; empty if they may."""
    if by == state.author:
        return f"{by} is its author; authors do not review their own items"
    for other, people in state.people.items():
        if other != role and by in people:
            return f"{by} was its {other}; each stage needs another person"
    has_it = by in state.claims or any(decision.by == by for decision in state.decisions)
    return f"{by} has it already" if has_it else ""


def _next_stage(state: ItemState) -> int:
    return state.stage + 1 if state.state == "reviewed" else state.stage


def _has_room(state: ItemState, stage: Stage) -> bool:
    n_wanted = len(state.decisions) + 1 if state.is_disputed else stage.looks
    return len(state.decisions) + len(state.claims) < n_wanted


def _is_late(case: _Case) -> bool:
    """Return whether an event belongs to a second review, after or alongside a first one."""
    state, event = case.state, case.event
    return (
        event.kind in _LATE
        and event.revision == state.revision
        and event.role == case.stage.role
        and (state.is_settled or (event.kind == "claim" and state.state in _LOOKING))
    )


def _moved(case: _Case, *, is_late: bool) -> Next:
    state, event = case.state, case.event
    if (of_anybody := _OF_ANYBODY.get(event.kind)) is not None:
        return of_anybody(case)
    if event.role == OPERATOR:
        return _rejected_later(state, event)
    if event.kind == "claim":
        return _claimed(case, is_late=is_late)
    if event.role != case.stage.role:
        return f"the role {event.role!r}; expected {case.stage.role!r}"
    if event.by not in state.claims:
        return "no claim of this person; claim it first"
    return _decided(case) if event.kind in ("accept", "return", "reject") else _looked(case)


def _content_fault(case: _Case) -> str:
    """Return what is wrong with the content of an event, regardless of state."""
    event, revision = case.event, case.revision
    if revision is None:
        return f"there is no revision {event.revision[:12]!r} of it"
    if event.kind in ("submit", "resubmit", "edit"):
        if fault := _wording_fault(case, revision):
            return fault
    elif event.revision != case.state.revision:
        return f"it is about revision {revision.n}, and {case.state.n} is the last"
    if event.kind == "witness":
        return "" if event.checks and event.message.strip() else "no condition, or no words of what was seen"
    if event.kind not in ("accept", "return", "reject"):
        return f"checks or scores with {event.kind!r}" if event.checks or event.scores else ""
    if event.role == OPERATOR:
        return ""
    return _answers_fault(event, case.stage)


def _wording_fault(case: _Case, revision: Revision) -> str:
    """Return what is wrong with the wording of an event."""
    event, state = case.event, case.state
    origins = case.stage.edits if event.kind == "edit" else _ORIGINS[event.kind]
    if revision.origin not in origins:
        return f"the revision is {revision.origin!r}; expected {' or '.join(origins) or 'no edit'}"
    if revision.parent != state.revision or revision.n != state.n + 1:
        return f"the revision {revision.n} is not made of the last one, {state.n}"
    if revision.by != event.by:
        return f"the revision is by {revision.by}"
    if case.before is None:
        return ""
    if canonical(case.before.content) == canonical(revision.content):
        return "nothing in it is changed"
    if revision.origin == "translate":
        return translation_fault(case.before.content, revision.content, texts=case.protocol.texts)
    return ""


def _answers_fault(event: Event, stage: Stage) -> str:
    checks = {check.id: check for check in stage.checks}
    scales = {score.id: score for score in stage.scores}
    if unknown := sorted({*event.checks} - {*checks}) or sorted({*event.scores} - {*scales}):
        return f"{unknown[0]!r} is no check or score here; expected {', '.join([*checks, *scales])}"
    faults = [checks[name].fault(check) for name, check in event.checks.items()]
    faults += [scales[name].fault(value) for name, value in event.scores.items()]
    return next(filter(None, faults), "")


def failed_checks(event: Event, stage: Stage) -> tuple[str, ...]:
    """Return the checks that report faults, in protocol order."""
    return tuple(c.id for c in stage.checks if c.id in event.checks and c.is_failed(event.checks[c.id]))


def _submitted(case: _Case) -> Next:
    state, event = case.state, case.event
    if event.role != "author":
        return f"the role {event.role!r}; expected 'author'"
    if event.kind == "resubmit" and event.by != state.author:
        return f"its author is {state.author}"
    return msgspec.structs.replace(
        _fresh(case), state="submitted", stage=0, author=event.by, claims=(), is_settled=False
    )


def _fresh(case: _Case) -> ItemState:
    """Return the state with a new revision, which voids decisions, solutions and witnesses of the last."""
    return msgspec.structs.replace(
        case.state,
        revision=case.event.revision,
        n=case.state.n + 1,
        decisions=(),
        solved=(),
        witnessed=(),
        is_disputed=False,
    )


def _withdrawn(case: _Case) -> Next:
    state, event = case.state, case.event
    if state.state == "accepted":
        if event.role != OPERATOR or not event.message.strip():
            return "an accepted item is withdrawn by an operator, with a message"
        return _ended(state, "voided")
    if event.role != "author" or event.by != state.author:
        return f"an item is withdrawn by its author, {state.author}"
    return _ended(state, "withdrawn")


def _ended(state: ItemState, end: State) -> ItemState:
    return msgspec.structs.replace(
        state, state=end, ended_from=state.state, claims=(), is_settled=False, reopening=""
    )


def _rejected_later(state: ItemState, event: Event) -> Next:
    if event.kind != "reject" or state.state not in ("accepted", "returned"):
        return "an operator decides nothing that waits for a look"
    if event.by == state.author:
        return f"{event.by} is its author; authors do not review their own items"
    if not event.message.strip():
        return f"no message; an item that is {state.state} is rejected with a reason"
    return _ended(state, "rejected")


def _reopened(case: _Case) -> Next:
    state, event = case.state, case.event
    if event.role != OPERATOR or not event.message.strip():
        return "an item is reopened by operators, with a message"
    if event.by == state.author or any(event.by in people for people in state.people.values()):
        return f"{event.by} is its author, or looked at it; an operator did neither"
    if event.by == state.reopening:
        return f"{event.by} asked for it already; a second operator has to"
    if not state.reopening:
        return msgspec.structs.replace(state, reopening=event.by)
    back = state.ended_from
    stage, ended_from = state.stage, state.ended_from
    if back in _LOOKING:
        stage, back = 0, _WAITING[_LOOKING.index(back)]
    elif back == "accepted":
        ended_from = _LOOKING[stage]
    return msgspec.structs.replace(
        state,
        state=back,
        stage=stage,
        decisions=() if back in _WAITING else state.decisions,
        is_disputed=False,
        is_settled=False,
        claims=(),
        ended_from=ended_from,
        reopening="",
        n_reopened=state.n_reopened + 1,
    )


def _said(case: _Case) -> Next:
    """Apply a message: the state stays; the sender must be involved in the item."""
    state, event = case.state, case.event
    if not event.message.strip():
        return "no message"
    mine = {"author": (state.author,), OPERATOR: (event.by,)}.get(
        event.role, state.people.get(event.role, ())
    )
    looks = state.claims if event.role == case.stage.role else ()
    return state if event.by in (*mine, *looks) else f"{event.by} is not its {event.role}"


def _expired(case: _Case) -> Next:
    """Apply an operator's release of an overdue claim."""
    state, event = case.state, case.event
    if event.role != OPERATOR:
        return f"the role {event.role!r}; expected {OPERATOR!r}"
    if event.whose not in state.claims:
        return f"no claim of {event.whose or '(no name)'}; claims: {', '.join(state.claims) or 'none'}"
    then, now = (datetime.fromisoformat(at) for at in (state.since[event.whose], event.at))
    days = (now - then).total_seconds() / _DAY_S
    if days < case.protocol.claim_days:
        least = case.protocol.claim_days
        return f"{event.whose} has had it for {days:.1f} days; a claim expires after {least:g}"
    return _released(state, event.whose)


_OF_ANYBODY: Final[Mapping[Kind, Callable[[_Case], Next]]] = {
    "submit": _submitted,
    "resubmit": _submitted,
    "withdraw": _withdrawn,
    "reopen": _reopened,
    "say": _said,
    "expire": _expired,
}


def _claimed(case: _Case, *, is_late: bool) -> Next:
    state, event, protocol = case.state, case.event, case.protocol
    is_next = state.state in _WAITING and not (is_late and state.is_settled)
    stage = _next_stage(state) if is_next else state.stage
    if event.role != protocol.stages[stage].role:
        return f"the role {event.role!r}; expected {protocol.stages[stage].role!r}"
    fault = _second_look(state, event.by, event.role) if is_late else may_look(state, event.by, protocol)
    if fault:
        return fault
    if is_next:
        return msgspec.structs.replace(
            state,
            state=_LOOKING[stage],
            stage=stage,
            claims=(event.by,),
            decisions=(),
            solved=() if stage != state.stage else state.solved,
            witnessed=() if stage != state.stage else state.witnessed,
            is_settled=False,
        )
    return msgspec.structs.replace(state, claims=(*state.claims, event.by))


def _looked(case: _Case) -> Next:
    """Return the state after non-deciding acts of a review."""
    if case.event.kind == "release":
        return _released(case.state, case.event.by)
    return _solved(case) if case.event.kind == "solve" else _helped(case)


def _released(state: ItemState, by: str) -> ItemState:
    claims = tuple(claim for claim in state.claims if claim != by)
    if claims or state.decisions or state.is_settled:
        return msgspec.structs.replace(state, claims=claims)
    return msgspec.structs.replace(state, claims=(), state=_WAITING[state.stage], stage=0)


def _solved(case: _Case) -> Next:
    state, event = case.state, case.event
    if not case.stage.solves:
        return "this stage has no solvers"
    if event.by in state.solved or not event.answer.strip():
        return "solved already" if event.by in state.solved else "no answer"
    people = _with(state.people, case.stage.role, event.by)
    return msgspec.structs.replace(state, solved=(*state.solved, event.by), people=people)


def _helped(case: _Case) -> Next:
    """Return the state after a witness or an edit."""
    state, by = case.state, case.event.by
    if case.stage.solves and by not in state.solved:
        return _UNSOLVED
    people = _with(state.people, case.stage.role, by)
    if case.event.kind == "witness":
        if not case.stage.witnesses:
            return "this stage has no witnesses"
        given = (f"{by}: {name}" for name in case.event.checks)
        witnessed = tuple(dict.fromkeys((*state.witnessed, *given)))
        return msgspec.structs.replace(state, witnessed=witnessed, people=people)
    is_translation = case.revision is not None and case.revision.origin == "translate"
    return msgspec.structs.replace(
        _fresh(case),
        was_edited=state.was_edited or not is_translation,
        people=people,
        solved=tuple(name for name in state.solved if name == by),
    )


def _with(people: Mapping[str, tuple[str, ...]], role: str, by: str) -> dict[str, tuple[str, ...]]:
    return {**people, role: tuple(dict.fromkeys((*people.get(role, ()), by)))}


def _decided(case: _Case) -> Next:
    state, event, stage = case.state, case.event, case.stage
    verdict: Verdict = (
        "accept" if event.kind == "accept" else "return" if event.kind == "return" else "reject"
    )
    if stage.solves and event.by not in state.solved:
        return _UNSOLVED
    if fault := _verdict_fault(case, verdict):
        return fault
    decided = Decision(by=event.by, verdict=verdict, event_id=event.event_id)
    return _settled(
        msgspec.structs.replace(
            state,
            decisions=(*state.decisions, decided),
            claims=tuple(claim for claim in state.claims if claim != event.by),
            people=_with(state.people, stage.role, event.by),
        ),
        case.protocol,
    )


def _verdict_fault(case: _Case, verdict: Verdict) -> str:
    state, event, stage, protocol = case.state, case.event, case.stage, case.protocol
    failed = failed_checks(event, stage)
    if verdict == "accept":
        return _acceptance_fault(case, failed)
    message = event.message.strip()
    if verdict == "reject":
        return "" if message or failed or not protocol.needs_reason else "no message and no failed check"
    if state.returns_left + (state.state == "returned") == 0:
        return "its author has revised it already; accept it, edit it or reject it"
    if len(message) < protocol.least_message:
        return f"a message of {len(message)} signs; expected {protocol.least_message} or more"
    return "" if failed else "no failed check; say what is to be mended"


def _acceptance_fault(case: _Case, failed: tuple[str, ...]) -> str:
    event, stage = case.event, case.stage
    by_id = {check.id: check for check in stage.checks}
    if blocking := [name for name in failed if by_id[name].blocks]:
        name = blocking[0]
        least = f"; {by_id[name].least} or more are needed" if by_id[name].kind == "count" else ""
        return f"it is accepted, and {name!r} is {event.checks[name]}{least}; one of them is wrong"
    if absent := [check.id for check in stage.checks if check.needed and check.id not in event.checks]:
        return f"no answer to {', '.join(absent)}"
    if unscored := [score.id for score in stage.scores if score.id not in event.scores]:
        return f"no score for {', '.join(unscored)}"
    for scale in stage.scores:
        if scale.least is not None and event.scores[scale.id] < scale.least:
            return f"{scale.id!r} is {event.scores[scale.id]}; {scale.least} or more are needed"
    return _unwitnessed(event.by, case.state, case.revision) if stage.witnesses else ""


def _unwitnessed(by: str, state: ItemState, revision: Revision | None) -> str:
    """Return whether a person has not given a witness for each condition of a question.

    Source: PerceptionComp, section 3.5 (each condition is necessary).
    """
    tags = None if revision is None else revision.content.get("tags")
    unwitnessed = str(tags.get("n_conditions", "")) if isinstance(tags, Mapping) else ""
    n_needed = max(1, int(unwitnessed)) if unwitnessed.isdecimal() else 1
    n = sum(word.startswith(f"{by}: ") for word in state.witnessed)
    if not n:
        return "no witness was given"
    return f"witnesses of {n} of {n_needed} conditions; each needs one" if n < n_needed else ""


def _settled(state: ItemState, protocol: Protocol) -> ItemState:
    """Settle the decisions; if two differ and there is no third, the item returns to review."""
    looks = protocol.stages[state.stage].looks
    verdicts = [decision.verdict for decision in state.decisions]
    returns_left = state.returns_left + (state.state == "returned")
    looking = _LOOKING[state.stage]
    if len(verdicts) < looks:
        return msgspec.structs.replace(state, state=looking)
    is_disputed = len(set(verdicts)) > 1
    if is_disputed and len(verdicts) <= max(2, looks):
        return msgspec.structs.replace(
            state,
            state=looking,
            is_disputed=True,
            was_disputed=True,
            is_settled=False,
            returns_left=returns_left,
        )
    (most, n_most), *others = Counter(verdicts).most_common()
    verdict = verdicts[-1] if others and others[0][1] == n_most else most
    is_last = state.stage == len(protocol.stages) - 1
    after: Mapping[Verdict, State] = {
        "accept": "accepted" if is_last else "reviewed",
        "return": "returned",
        "reject": "rejected",
    }
    return msgspec.structs.replace(
        state,
        state=after[verdict],
        is_disputed=False,
        is_settled=True,
        ended_from=looking,
        reopening="",
        returns_left=returns_left - (verdict == "return"),
    )


def stage_role(state: ItemState, protocol: Protocol) -> StageRole:
    """Return the role of the current or next reviewer of an item."""
    return ROLES[min(_next_stage(state), len(protocol.stages) - 1)]
