"""A studio to try: planted videos, runs of simulated models, and questions in every state of a review."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import msgspec

from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.world import ITEMS_FILE, WORLD_FILE, render
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.events import Event
from vidence.engine.prepare import make_plan
from vidence.errors import StoreError, UsageError
from vidence.make.review.protocol import NO, YES, Check, Protocol, Stage
from vidence.make.review.revisions import Kind, Role
from vidence.records import Item
from vidence.studio.settings import current

WORLD, RUNS, STUDIO = "world", "runs", "studio"
PROJECT: Final = "demonstration"
PROTOCOL: Final = "humanpcr-r"
_FORM: Final = "mmvu"  # one right and four wrong options, as planted questions have
_SPEC: Final = WorldSpec(
    n_videos=3, items_per_video=5, min_s=20, max_s=22, sizes=((320, 180),), rates=(10,), n_variable=1
)
_SEED: Final = 7
_MODELS: Final[Mapping[str, str]] = {"sees-everything": "phantom:fuser", "never-looks": "phantom:blind"}
_N_FRAMES: Final = 16
_WANTED: Final = "Say at which second the card is seen first, and which of the two cards is meant."
_PEOPLE: Final[Mapping[str, Role]] = {"Ann": "author", "Bo": "reviewer", "Cleo": "meta", "Dara": "operator"}


class _Step(NamedTuple):
    """One act of one of `_PEOPLE`."""

    who: str
    kind: Kind


_SUBMIT, _CLAIM, _ACCEPT = _Step("Ann", "submit"), _Step("Bo", "claim"), _Step("Bo", "accept")
_REVIEWED: Final = (_SUBMIT, _CLAIM, _ACCEPT)
_META: Final = (*_REVIEWED, _Step("Cleo", "claim"))
STORIES: Final[Sequence[tuple[_Step, ...]]] = (
    (_SUBMIT,),
    (_SUBMIT,),
    (_SUBMIT,),
    (_SUBMIT, _CLAIM),
    (_SUBMIT, _CLAIM, _Step("Bo", "return")),
    (_SUBMIT, _CLAIM, _Step("Bo", "return"), _Step("Ann", "resubmit"), _CLAIM, _ACCEPT),
    _REVIEWED,
    _META,
    (*_META, _Step("Cleo", "accept")),
    (*_META, _Step("Cleo", "accept"), _Step("Dara", "withdraw")),
    (*_META, _Step("Cleo", "reject")),
    (_SUBMIT, _Step("Ann", "withdraw")),
)
"""What is done with each question, in their order; the first of them are left to whoever tries the studio."""


def is_made(folder: Path) -> bool:
    """Whether a folder holds a demonstration.

    Raises:
        UsageError: it holds something else.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    if not (folder / WORLD / WORLD_FILE).is_file():
        raise UsageError(f"{folder} holds something else; expected a new folder, or a demonstration")
    return (folder / STUDIO).is_dir()


def make_material(folder: Path, *, environment: Environment, now: datetime) -> None:
    """Render the videos and ask the models; this needs no database.

    Args:
        folder: the folder of the demonstration.
        environment: the cache, and how many processes decode.
        now: the time that the runs say.

    Raises:
        StoreError: the folder cannot be written.
        MediaError: a video cannot be encoded.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror}") from error
    render(folder / WORLD, _SPEC, seed=_SEED)
    anyio.run(_ask, folder, environment, now)


async def _ask(folder: Path, environment: Environment, now: datetime) -> None:
    for name, model in _MODELS.items():
        plan = make_plan(
            "phantom",
            data=folder / WORLD,
            model=model,
            overrides={"selector": "midpoints", "n_frames": _N_FRAMES},
        )
        await run(plan, folder / RUNS / name, environment=environment, now=now, on_event=_nothing)


def _nothing(_event: Event) -> None:
    return None


def fill(folder: Path) -> None:
    """Begin the project in the configured studio, where it is not there, with questions in every state.

    Its people have no passwords.
    """
    from django.contrib.auth.hashers import make_password
    from django.db import transaction

    from vidence.studio.accounts import key_of
    from vidence.studio.bridge.taking import media_of
    from vidence.studio.intake import ORDER
    from vidence.studio.projects import add_items, add_project
    from vidence.studio.records.items import ItemRow
    from vidence.studio.records.people import MembershipRow, ProjectRow, UserRow
    from vidence.studio.writing import FORM

    if ProjectRow.objects.filter(slug=PROJECT).exists():
        return
    world = (folder / WORLD).resolve()
    lines = (world / ITEMS_FILE).read_bytes().splitlines()
    questions = [msgspec.json.decode(line, type=Item) for line in lines]
    with transaction.atomic():
        project = add_project(PROJECT, PROTOCOL, title="Demonstration", media_root=str(world))
        now = current().settings.clock()
        for name, role in _PEOPLE.items():
            user = UserRow.objects.create(
                name=name,
                key=key_of(name),
                shown=name,
                pseudonym=name.casefold(),
                password=make_password(None),
                created_at=now,
            )
            MembershipRow.objects.create(user=user, project=project, roles=[role])
        add_items(
            project, [one.item_id for one in questions], kinds={one.item_id: "mcq" for one in questions}
        )
        media_of(project, questions)
        rows = {one.item_id: one for one in ItemRow.objects.filter(project=project)}
        for row in rows.values():
            row.strata = {FORM: _FORM, ORDER: [str(one.public) for one in row.media.all()]}
            row.save(update_fields=["strata"])
        author = UserRow.objects.get(pseudonym="ann")
        for question, story in zip(questions, STORIES, strict=False):
            row = rows[question.item_id]
            if not story:
                continue
            row.author = author
            row.save(update_fields=["author"])
            for step in story:
                _do(row, question, step)


def _do(row: Any, question: Item, step: _Step) -> None:  # noqa: ANN401 - a row of Django
    """One act, with what the rules ask for.

    Raises:
        AssertionError: the rules refuse it.
    """
    from vidence.studio.workflow import Act, Refused, act, protocol_of

    protocol = protocol_of(row.project)
    role = _PEOPLE[step.who]
    content = None
    if step.kind in ("submit", "resubmit"):
        content = msgspec.to_builtins(question)
        if step.kind == "resubmit":
            content["question"] = f"{question.question} ({_REVISED})"
    told = _told(step.kind, protocol, role)
    done = act(
        row,
        Act(
            kind=step.kind,
            role=role,
            by=step.who.casefold(),
            content=content,
            origin="author_revise" if step.kind == "resubmit" else "submit",
            **told,
        ),
    )
    if isinstance(done, Refused):
        raise AssertionError(done.reason)


_REVISED: Final = "the second that the card is seen is meant"


def _told(kind: Kind, protocol: Protocol, role: Role) -> dict[str, Any]:
    """What whoever decides says."""
    stage = next((one for one in protocol.stages if one.role == role), None)
    if stage is None or kind not in ("accept", "return", "reject"):
        return {"message": _WANTED} if kind == "withdraw" else {}
    if kind == "accept":
        return {"checks": passed(stage), "scores": {one.id: one.high for one in stage.scores}, "minutes": 4.0}
    failed = next(one for one in stage.checks if one.kind == "yes-no")
    return {"checks": {failed.id: NO}, "message": _WANTED, "minutes": 2.5}


def passed(stage: Stage) -> dict[str, str]:
    """Answers to all checks of a stage with which an item is accepted."""
    return {one.id: _passing(one) for one in stage.checks}


def _passing(check: Check) -> str:
    if check.kind == "count":
        return str(check.least)
    return YES if check.kind == "yes-no" else (check.passing or check.options)[0]
