"""A look at an item: which step it is at, what is shown before the next one, and what was filled in."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.make.review.audit import span_words
from vidence.make.review.files import Reviews
from vidence.make.review.protocol import NO, NOT_APPLICABLE, YES, Check, Protocol, Scale, Stage
from vidence.make.review.recording import said_before, shown_to
from vidence.make.review.revisions import Event, Kind
from vidence.make.review.states import ItemState, failed_checks
from vidence.records import Evidence, Record

Step = Literal["closed", "solve", "count", "decide"]
RIGHT: Final = "right"
WRONG: Final = "wrong"
DECIDING: Final[tuple[Kind, ...]] = ("accept", "return", "reject")
LOOKS: Final[frozenset[Kind]] = frozenset({"solve", "edit", *DECIDING})
"""A person who did one of these with a revision knows what it says."""
# What an item holds of its own making: nobody looks whether it is right.
_NOT_LOOKED_AT: Final = frozenset(
    {"item_id", "author", "minutes", "benchmark", "source_id", "question_id", "why", "check", "language"}
)
_BESIDE: Final = "annotations"
"""The field of what the question itself does not hold."""
_OWN_LOOK: Final = "own look"
SOURCES: Final = ("the first", "the second", _OWN_LOOK)
"""What the decision between two that differ can rest on."""


class FieldLine(Record):
    """One field of an item as a page shows it, with the checks that are about it.

    `is_marked` says that it is called right or wrong by itself: no check of the protocol is about it.
    """

    name: str
    texts: tuple[str, ...]
    is_list: bool = False
    checks: tuple[Check, ...] = ()
    is_marked: bool = False


class AnswerOption(Record):
    """One answer that can be picked; `key` picks it where its row has the focus."""

    value: str
    words: str
    key: str
    is_picked: bool = False


class Control(Record):
    """An input control: choices to pick from, or a number if it has no choices.

    A `locked` one was answered before, and stays as it is.
    """

    name: str
    words: str
    choices: tuple[AnswerOption, ...] = ()
    value: str = ""
    about: str = ""
    is_needed: bool = True
    is_locked: bool = False


class FilledForm(Record):
    """What was filled in: verdicts on fields and notes on them, checks, scores, words."""

    fields: dict[str, str] = msgspec.field(default_factory=dict)
    notes: dict[str, str] = msgspec.field(default_factory=dict)
    checks: dict[str, str] = msgspec.field(default_factory=dict)
    scores: dict[str, int] = msgspec.field(default_factory=dict)
    message: str = ""
    source: str = ""
    witnesses: str = ""


class Compared(Record):
    """The answers of two or more people to one question, side by side."""

    name: str
    said: tuple[str, ...]
    differs: bool


Read: TypeAlias = FilledForm | str


def counts_of(stage: Stage) -> tuple[Check, ...]:
    """Return the counts of a stage; each person counts before seeing the counts of others."""
    return tuple(check for check in stage.checks if check.kind == "count")


def step_of(state: ItemState, by: str, stage: Stage, *, counted: Collection[str]) -> Step:
    """What this person does next.

    Args:
        state: of the item.
        by: who looks.
        stage: the one that looks.
        counted: the ids of the counts that the person has given of this revision.
    """
    if by not in state.claims:
        return "closed"
    if stage.solves and by not in state.solved:
        return "solve"
    return "count" if any(check.id not in counted for check in counts_of(stage)) else "decide"


def shown_at(reviews: Reviews, state: ItemState, *, by: str, step: Step) -> Mapping[str, object]:
    """The fields of an item that the page may hold at a step; of an item that is not this person's, none.

    Whoever solves sees what the protocol shows them. Whoever counts sees the answer, too, but neither the
    evidence that its author named nor anything else that others have counted.
    """
    if step == "closed":
        return {}
    content = shown_to(reviews, state, by=by)
    if step != "count":
        return content
    named = (*reviews.protocol.shows, "answer")
    return {name: value for name, value in content.items() if name in named}


def told_at(reviews: Reviews, state: ItemState, *, by: str, step: Step) -> tuple[Event, ...]:
    """The messages that the page may hold at a step: before the answer and the counts are in, none."""
    if step in ("solve", "count"):
        return ()
    return said_before(reviews, state, by=by)


def summaries_at(reviews: Reviews, state: ItemState, *, step: Step) -> tuple[Event, ...]:
    """Return the summaries of the previous stage, shown to a reviewer after their own counts."""
    if step != "decide":
        return ()
    before = {stage.role for stage in reviews.protocol.stages[: state.stage]}
    return tuple(
        event
        for event in reviews.events_of.get(state.item_id, ())
        if event.kind in DECIDING and event.role in before and event.revision == state.revision
    )


def rivals_at(reviews: Reviews, state: ItemState, *, step: Step) -> tuple[Event, ...]:
    """The decisions between which this person decides; empty if none differ."""
    if step != "decide" or not state.is_disputed:
        return ()
    decided = {decision.event_id for decision in state.decisions}
    return tuple(event for event in reviews.events_of.get(state.item_id, ()) if event.event_id in decided)


def is_blind(
    state: ItemState, protocol: Protocol, *, by: str, roles: Collection[str], counted: Collection[str] = ()
) -> bool:
    """Return whether a person has still to review an item and so may not read others' reviews of it.

    They are where the item waits for a role of theirs, or will, and the rules let them look: they neither
    wrote it nor had a say in another stage. It ends with their own answer and counts of this wording, or
    with the item. Who leads a project and reads all of it at once has none of these roles.

    Args:
        state: of the item.
        protocol: its rules.
        by: who reads.
        roles: what they may do.
        counted: the ids of the counts that they have given of this revision.
    """
    if state.is_ended or not state.revision or by == state.author:
        return False
    if any(decision.by == by for decision in state.decisions):
        return False
    if by in state.claims:
        return step_of(state, by, protocol.stages[state.stage], counted=counted) != "decide"
    first = 0 if state.state == "returned" else state.stage + (state.state == "reviewed")
    return any(
        stage.role in roles
        and not any(by in people for role, people in state.people.items() if role != stage.role)
        for stage in protocol.stages[first:]
    )


def is_hidden(event: Event, state: ItemState, protocol: Protocol, *, by: str, is_blind: bool = False) -> bool:
    """Return whether a decision is hidden: others are reviewing the wording and `by` has not decided.

    Whoever is blind, as `is_blind` says, is told none of this wording, also of the stages before theirs.
    """
    is_of_another = event.kind in DECIDING and event.by != by and event.revision == state.revision
    if is_blind:
        return is_of_another
    return (
        is_of_another
        and event.role == protocol.stages[state.stage].role
        and state.state in ("in-review", "in-meta")
        and not any(decision.by == by for decision in state.decisions)
    )


def answers_of(reviews: Reviews, state: ItemState, rivals: Sequence[Event]) -> tuple[str, ...]:
    """What each of those who decided had answered before the key was shown; empty if they had not."""
    solved = {
        event.by: event.answer
        for event in reviews.events_of.get(state.item_id, ())
        if event.kind == "solve" and event.revision == state.revision
    }
    return tuple(solved.get(rival.by, "") for rival in rivals)


def compared(rivals: Sequence[Event], answers: Sequence[str]) -> tuple[Compared, ...]:
    """Decisions side by side, with a mark at what differs."""
    rows: list[tuple[str, tuple[str, ...]]] = [
        ("verdict", tuple(rival.kind for rival in rivals)),
        ("own answer", tuple(answers)),
    ]
    for name in dict.fromkeys(name for rival in rivals for name in rival.checks):
        rows.append((name, tuple(rival.checks.get(name, "") for rival in rivals)))
    for name in dict.fromkeys(name for rival in rivals for name in rival.scores):
        rows.append((name, tuple(str(rival.scores.get(name, "")) for rival in rivals)))
    rows.append(("message", tuple(rival.message for rival in rivals)))
    return tuple(
        Compared(name=name, said=messages, differs=len(set(messages)) > 1)
        for name, messages in rows
        if any(messages)
    )


# --------------------------------------------------------------------------- what is shown


def lines_of(content: Mapping[str, object], stage: Stage) -> tuple[FieldLine, ...]:
    """The fields of an item in order, each with the checks that are about it."""
    fields = [name for name in content if name not in ("item_id", _BESIDE) and not _is_empty(content[name])]
    named = any(check.field for check in stage.checks)
    lines = tuple(
        FieldLine(
            name=name,
            texts=texts_of(content[name], name=name),
            is_list=isinstance(content[name], list),
            checks=(mine := tuple(check for check in stage.checks if check.field == name)),
            is_marked=named and not mine and name not in _NOT_LOOKED_AT,
        )
        for name in fields
    )
    return lines + tuple(line for line in _lines_beside(content.get(_BESIDE)) if line.name not in fields)


def _lines_beside(value: object) -> tuple[FieldLine, ...]:
    """Return information shown with the question that reviewers do not check by itself."""
    if not isinstance(value, Mapping):
        return ()
    texts = {
        "conditions": _entries(value.get("conditions")),
        "steps of the evidence": [
            f"evidence {n}: {', '.join(str(step + 1) for step in steps if isinstance(step, int))}"
            for n, row in enumerate(_maps(value.get("evidence")), 1)
            if isinstance(steps := row.get("steps"), list | tuple) and steps
        ],
        "knowledge": _entries(value.get("knowledge")),
    }
    lines = [FieldLine(name=name, texts=tuple(text), is_list=True) for name, text in texts.items() if text]
    if program := value.get("program"):
        lines.append(FieldLine(name="program", texts=texts_of(program)))
    return tuple(lines)


def _entries(value: object) -> list[str]:
    """Each entry of a list as a text, after its number."""
    return [f"{n}. {_words(row)}" for n, row in enumerate(_maps(value), 1)]


def _maps(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


def other_checks(lines: Iterable[FieldLine], stage: Stage) -> tuple[Check, ...]:
    """The checks that stand at no field: they are about the whole, or about a field that is empty."""
    placed = {check.id for line in lines for check in line.checks}
    return tuple(check for check in stage.checks if check.id not in placed and check.kind != "count")


def field_control(line: FieldLine, typed: Mapping[str, str]) -> Control:
    """Right or wrong, for a field that no check is about."""
    name = f"field:{line.name}"
    return Control(
        name=name,
        words=line.name,
        choices=_picks([RIGHT, WRONG], typed.get(name, "")),
        value=typed.get(name, ""),
    )


def check_control(check: Check, typed: Mapping[str, str], counted: Mapping[str, str]) -> Control:
    """What is filled in for a check; a count that was given stays."""
    name = f"check:{check.id}"
    value = counted.get(check.id, typed.get(name, ""))
    options = [] if check.kind == "count" else [*(check.options or (YES, NO))]
    if check.na:
        options.append(NOT_APPLICABLE)
    example = f"Such as: {check.example}" if check.example else ""
    return Control(
        name=name,
        words=check.words,
        choices=_picks(options, value),
        value=value,
        about=" ".join(filter(None, [check.help, example])),
        is_needed=check.needed,
        is_locked=check.id in counted,
    )


def score_control(scale: Scale, typed: Mapping[str, str]) -> Control:
    """A score to pick."""
    name = f"score:{scale.id}"
    values = [str(value) for value in range(scale.low, scale.high + 1)]
    least = "" if scale.least is None else f"To accept: {scale.least} or more."
    picks = tuple(
        AnswerOption(
            value=value, words=value, key=value if len(value) == 1 else "", is_picked=value == typed.get(name)
        )
        for value in values
    )
    return Control(name=name, words=scale.words, choices=picks, value=typed.get(name, ""), about=least)


def _picks(options: Sequence[str], picked: str) -> tuple[AnswerOption, ...]:
    """Choices with their keys: V for the one that is well, X for the other, numbers for more than these."""
    keys = {RIGHT: "v", YES: "v", WRONG: "x", NO: "x"}
    return tuple(
        AnswerOption(
            value=option,
            words=option,
            key=keys.get(option, str(i) if i < 10 else ""),
            is_picked=option == picked,
        )
        for i, option in enumerate(options, 1)
    )


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {})


def texts_of(value: object, *, name: str = "") -> tuple[str, ...]:
    """A value as texts, one for each entry of a list.

    >>> texts_of(["red", "blue"], name="choices")
    ('A. red', 'B. blue')
    """
    if isinstance(value, list | tuple):
        texts = [_words(entry, name=name) for entry in value]
        if name == "choices" and len(texts) <= 26:
            return tuple(f"{chr(ord('A') + i)}. {text}" for i, text in enumerate(texts))
        return tuple(texts)
    if isinstance(value, Mapping):
        return tuple(f"{key}: {_words(entry)}" for key, entry in value.items())
    return (_words(value),)


def _words(value: object, *, name: str = "") -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        if name == "evidence":
            span = _evidence(value)
            if span is not None:
                return f"{span.kind}, {span_words(span)}"
        shown = {key: entry for key, entry in value.items() if key != "sha256" and not _is_empty(entry)}
        return "; ".join(f"{key}: {_words(entry)}" for key, entry in shown.items())
    return "" if value is None else msgspec.json.encode(value).decode()


def _evidence(value: object) -> Evidence | None:
    """The span of a wording, where it is one."""
    try:
        return msgspec.convert(value, Evidence, strict=False)
    except msgspec.ValidationError:
        return None


def spans_of(content: Mapping[str, object]) -> tuple[Evidence, ...]:
    """The evidence of a wording that is given as spans or frames, for the time line."""
    given = content.get("evidence")
    entries = (_evidence(entry) for entry in given) if isinstance(given, list | tuple) else iter(())
    return tuple(evidence for evidence in entries if evidence is not None)


# --------------------------------------------------------------------------- what was filled in


def read_given(values: Mapping[str, str], stage: Stage, lines: Sequence[FieldLine]) -> Read:
    """What a form says, or what in it cannot be read; what was not answered is left out.

    Args:
        values: by the names ``field:NAME``, ``note:NAME``, ``check:ID``, ``score:ID``, ``message``,
            ``source`` and ``witnesses``.
        stage: whose checks and scores are asked for.
        lines: the fields that were shown.
    """
    marked = [line.name for line in lines if line.is_marked]
    fields = {name: values.get(f"field:{name}", "") for name in marked}
    if bad := [name for name, verdict in fields.items() if verdict not in ("", RIGHT, WRONG)]:
        return f"{fields[bad[0]]!r} at {bad[0]}; expected {RIGHT} or {WRONG}"
    scores = {}
    for scale in stage.scores:
        text = values.get(f"score:{scale.id}", "").strip()
        if text and not (text.isascii() and text.isdecimal() and len(text) < 4):
            return f"{text!r} at {scale.id!r}; expected {scale.low} to {scale.high}"
        if text:
            scores[scale.id] = int(text)
    checks = {check.id: values.get(f"check:{check.id}", "").strip().casefold() for check in stage.checks}
    return FilledForm(
        fields={name: verdict for name, verdict in fields.items() if verdict},
        notes={line.name: note for line in lines if (note := values.get(f"note:{line.name}", "").strip())},
        checks={name: answer for name, answer in checks.items() if answer},
        scores=scores,
        message=values.get("message", "").replace("\r\n", "\n").strip(),
        source=values.get("source", "").strip(),
        witnesses=values.get("witnesses", "").replace("\r\n", "\n").strip(),
    )


def given_fault(kind: Kind, given: FilledForm, lines: Sequence[FieldLine], *, is_disputed: bool) -> str:
    """Why a decision cannot be taken as it was filled in; empty if the rules of the states decide.

    Args:
        kind: ``accept``, ``return`` or ``reject``.
        given: what was filled in.
        lines: the fields that were shown.
        is_disputed: whether it is between two decisions that differ.
    """
    wrong = [name for name, verdict in given.fields.items() if verdict == WRONG]
    if noteless := [name for name in wrong if name not in given.notes]:
        return f"{noteless[0]} is marked wrong without a note; say what is wrong with it"
    if kind == "accept":
        if wrong:
            return f"it is accepted, and {wrong[0]} is marked wrong; change one of the two"
        if left := [line.name for line in lines if line.is_marked and line.name not in given.fields]:
            return f"no verdict on {', '.join(left)}; check every field before you accept an item"
    if is_disputed and given.source not in SOURCES:
        return f"no source of the decision; expected one of {', '.join(SOURCES)}"
    if is_disputed and not given.message:
        return "no reason; when two reviews differ, say why you decide so"
    return ""


def message_of(given: FilledForm) -> str:
    """The words that go with a decision; between two that differ they end with what it rests on."""
    return f"{given.message}\nRests on: {given.source}" if given.source else given.message


def why_not(kind: Kind, state: ItemState, protocol: Protocol, *, step: Step) -> str:
    """Why an act is closed whatever is filled in; empty if it is open."""
    stage = protocol.stages[state.stage]
    if step == "closed":
        return "claim the item before you decide"
    if step == "solve":
        return "answer it yourself first; the key is shown afterwards"
    if step == "count":
        return "make your own count first; the counts of others are shown afterwards"
    if kind == "return" and protocol.returns == 0:
        return "this protocol has no returns"
    if kind == "return" and state.returns_left == 0:
        return f"its author has revised it already ({protocol.returns} of {protocol.returns})"
    if kind == "edit" and not stage.edits:
        return "this protocol has no edits at this stage"
    return ""


def conditions_of(text: str) -> dict[str, str]:
    """The conditions that lines such as ``second: at 41 s a red cup`` give a witness for.

    >>> conditions_of("second: at 41 s a red cup, too")
    {'second': 'yes'}
    """
    heads = (line.partition(":") for line in text.splitlines())
    return {name.strip(): "yes" for name, colon, words in heads if colon and name.strip() and words.strip()}


def marks_of(event: Event, stage: Stage) -> tuple[str, ...]:
    """The words of the checks that a decision finds fault with."""
    words = {check.id: check.words for check in stage.checks}
    return tuple(words[name] for name in failed_checks(event, stage))


# --------------------------------------------------------------------------- a new wording


def new_wording(content: Mapping[str, object], values: Mapping[str, str]) -> dict[str, object] | str:
    """A wording with what a form changes in it, or what cannot be read.

    Texts are texts, lists of texts one line each, all else JSON; fields that the form lacks stay.
    """
    fields = dict(content)
    for name, value in content.items():
        text = values.get(f"text:{name}")
        if text is None or name == "item_id":
            continue
        text = text.replace("\r\n", "\n").strip()
        if isinstance(value, str):
            fields[name] = text
        elif _is_texts(value):
            fields[name] = [line.strip() for line in text.splitlines() if line.strip()]
        else:
            try:
                fields[name] = msgspec.json.decode(text)
            except (msgspec.DecodeError, ValueError) as error:
                return f"{name} is not JSON: {error}"
    return fields


def as_typed(value: object) -> str:
    """A value as `new_wording` reads it."""
    if isinstance(value, str):
        return value
    if _is_texts(value):
        return "\n".join(map(str, value)) if isinstance(value, list) else ""
    return msgspec.json.format(msgspec.json.encode(value)).decode()


def _is_texts(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(name, str) and "\n" not in name for name in value)
    )
