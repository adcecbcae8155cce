"""Run a diagnostic on the questions of a plan: the frames of its views, its requests, its findings."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from vidence.catalog import Spec, create
from vidence.contracts import Diagnostic, Examined, OwnFramesDiagnostic, SetDiagnostic
from vidence.engine.engine import AskCount
from vidence.engine.environment import Environment
from vidence.engine.evaluate import Failures, opened_run
from vidence.engine.events import ExaminedOne, Listener, Started
from vidence.engine.plan import Plan
from vidence.engine.session import Session, ShownSubject, check_draws, opened_session
from vidence.engine.specs import what_is_asked
from vidence.engine.store import Header, RunStore, diagnosis_name
from vidence.engine.views import DecodeCount
from vidence.errors import UsageError
from vidence.records import Failed


@dataclass(kw_only=True)
class Account:
    """Counts of a session of a diagnostic: `n_asked` requests sent, `n_remembered` cached replies."""

    n_planned: int = 0
    n_before: int = 0
    n_examined: int = 0
    n_failed: int = 0
    failures: Failures = field(default_factory=Failures)
    n_asked: int = 0
    n_remembered: int = 0
    cost: float = 0.0
    decoding: DecodeCount = field(default_factory=DecodeCount)


def open_diagnostic(name: str, options: Mapping[str, str]) -> Diagnostic:
    """Open the diagnostic with this name."""
    diagnostic: Diagnostic = create("diagnostic", Spec(name=name, options=options))
    return diagnostic


def option_texts(options: Mapping[str, object]) -> dict[str, str]:
    """Return options as texts for a spec, without those that are None.

    >>> option_texts({"seed": 3, "is_blind": True, "models": ("openai:a", "openai:b"), "max": None})
    {'seed': '3', 'is_blind': 'true', 'models': 'openai:a|openai:b'}
    """
    texts: dict[str, str] = {}
    for name, value in options.items():
        match value:
            case None:
                continue
            case list() | tuple():
                texts[name] = "|".join(map(str, value))
            case bool() | dict():
                texts[name] = msgspec.json.encode(value).decode()
            case _:
                texts[name] = str(value)
    return texts


async def diagnose(  # noqa: PLR0913 - one call, one argument for each thing that differs
    diagnostic: Diagnostic,
    plan: Plan,
    folder: Path,
    *,
    options: Mapping[str, str],
    environment: Environment,
    now: datetime,
    on_event: Listener,
) -> Account:
    """Examine all questions of a plan that have no finding yet; findings are stored in the run folder.

    Args:
        diagnostic: the diagnostic, created with `options`.
        plan: what to ask, as for a run.
        folder: the run folder; a new one is set up so that `vidence resume` can also run the plan.
        options: of the diagnostic, stored with its findings.
        environment: cache and workers.
        now: written to the header of the findings.
        on_event: receives events.

    Raises:
        UsageError: all answers are hidden, the plan sends whole videos, which cannot be shown in part, or it
            samples at temperature 0 although multiple replies per prompt are needed.
        StoreError: the folder contains another run, or findings of another diagnostic.
        VidenceError: the session cannot continue; findings so far are kept.
    """
    if plan.layout == "video":
        raise UsageError(
            "diagnostics show parts of a video, the layout 'video' all of it; add --layout images"
        )
    check_draws(diagnostic, plan)
    async with opened_session(
        plan,
        environment=environment,
        now=now,
        on_event=on_event,
        views=diagnostic.views(selector=plan.selector, n_frames=plan.frames),
        others=diagnostic.models(),
    ) as session:
        hidden = [item for item in session.prepared.items if item.is_hidden]
        if len(hidden) == len(session.prepared.items):
            raise UsageError(
                f"answers hidden: diagnostics need those of the {len(hidden):,} questions; give them as well"
            )
        if isinstance(diagnostic, SetDiagnostic):
            diagnostic = diagnostic.of_items(session.prepared.items)
        facts = session.prepared.facts
        header = Header(
            diagnostic=diagnostic.name,
            version=diagnostic.version,
            options=dict(options),
            plan_digest=plan_digest(plan),
            content_hash=facts.content_hash,
            model_identities=dict(session.identities),
            prompts_digest=facts.prompts_digest,
            started_at=now.isoformat(timespec="seconds"),
        )
        # The run is made ready, so that `vidence resume` can run it; its lock is held meanwhile.
        with opened_run(folder, session.prepared) as store:
            name = diagnosis_name(diagnostic.name, options)
            store.begin_diagnosis(name, header)
            return await _examine_all(session, diagnostic, store, name=name)


def plan_digest(plan: Plan) -> str:
    """Return a short digest of everything in a plan that determines its answers."""
    asked = msgspec.to_builtins(msgspec.structs.replace(what_is_asked(plan), media_at=()))
    asked = {name: value for name, value in asked.items() if name not in ("until", "against", "margin")}
    asked["n_frames"] = asked.pop("frames")  # as it was called when findings were first stored
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()[:16]


def own_frames(diagnostic: Diagnostic, plan: Plan) -> tuple[str, ...]:
    """Return notes that a diagnostic shows other frames than the plan, and how to align them."""
    if not isinstance(diagnostic, OwnFramesDiagnostic):
        return ()
    frames = max(v.n_frames for v in diagnostic.views(selector=plan.selector, n_frames=plan.frames).values())
    if frames == plan.frames:
        return ()
    option = diagnostic.frames_option
    return (
        f"{diagnostic.name} ranks {frames} frames of each question ({option}), the plan shows {plan.frames}; "
        f"--set {option}={plan.frames} makes them equal",
    )


async def _examine_all(session: Session, diagnostic: Diagnostic, store: RunStore, *, name: str) -> Account:
    prepared = session.prepared
    known = store.findings(name, diagnostic.finding)
    done = {item_id for item_id, examined in known.items() if not isinstance(examined.finding, Failed)}
    items = [item for item in prepared.items if not item.is_hidden]  # the notes count the others
    todo = [item for item in items if item.item_id not in done]
    account = Account(n_planned=len(items), n_before=len(items) - len(todo))
    session.on_event(
        Started(
            n_planned=account.n_planned,
            n_answered_before=account.n_before,
            notes=(*own_frames(diagnostic, session.prepared.plan), *prepared.facts.notes),
            problems=prepared.facts.problems,
        )
    )

    async def examine(subject: ShownSubject) -> None:
        count = AskCount()
        finding = await session.engine.run(diagnostic.examine(subject), subject.context, count=count)
        store.add_finding(name, Examined(item=subject.item, finding=finding))
        account.n_examined += 1
        account.n_asked += count.n_asked
        account.n_remembered += count.n_remembered
        if isinstance(finding, Failed):
            account.n_failed += 1
            account.failures.add(finding)
        session.on_event(ExaminedOne(item_id=subject.item.item_id, finding=finding))

    if todo:
        await session.work(
            [(item, 0) for item in todo],
            examine,
            n_consumers=prepared.plan.concurrency,
            count=account.decoding,
        )
    account.cost = session.asking.cost + session.judging.cost
    return account
