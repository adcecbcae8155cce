"""The example studio: runs of simulated models, a review, boards, a study, and a leaderboard."""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio
import msgspec
from msgspec.structs import replace

from vidence.ask.phantom.plan import PlantedPiece, WorldSpec
from vidence.ask.phantom.world import ITEMS_FILE, World, read_world, render
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.installation import adding
from vidence.make.review.protocol import NO, YES, Check, Stage
from vidence.make.review.revisions import Kind, Role
from vidence.media.whole import is_marked, own_folder
from vidence.records import Item
from vidence.studio import demonstration_sets
from vidence.studio.rules.wording import EvidenceKind, Knowledge, Mark, Wording

if TYPE_CHECKING:
    from vidence.studio.records.items import ItemRow

WORLD, RUNS, STUDIO = "world", "runs", "studio"
_MARK: Final = ".vidence-studio-demo"
PROJECT: Final = "demonstration"
PROTOCOL: Final = "humanpcr-r"
_REASONING: Final = "assessment"
_SPEC: Final = WorldSpec(
    n_videos=3, items_per_video=5, min_s=20, max_s=22, sizes=((320, 180),), rates=(10,), n_variable=1
)
_SEED: Final = 7
_MODELS: Final[Mapping[str, str]] = {"sees-everything": "phantom:fuser", "never-looks": "phantom:blind"}
_N_FRAMES: Final = 16
_WANTED: Final = "Say whether the card that appears first is meant, or the one that is read first."
_PEOPLE: Final[Mapping[str, Role]] = {"Ann": "author", "Bo": "reviewer", "Cleo": "meta", "Dara": "operator"}


class _Step(NamedTuple):
    """An act of one of `_PEOPLE`."""

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
"What is done with each question, in order; the first are left for the visitor."


def is_made(folder: Path) -> bool:
    """Whether a folder contains a demonstration.

    Raises:
        UsageError: it holds something else.
    """
    return is_marked(folder, _MARK) and (folder / STUDIO).is_dir()


def make_material(folder: Path, *, environment: Environment, now: datetime) -> str:
    """Render the videos, ask the models, make a set, draw a study, release a split; needs no database.

    Args:
        folder: the folder of the demonstration.
        environment: the cache, and how many processes decode.
        now: the time that the runs say.

    Returns:
        What is left out, since a library is not installed; empty if nothing is.

    Raises:
        StoreError: the folder cannot be written.
        MediaError: a video cannot be encoded.
    """
    own_folder(folder, _MARK, mode=0o700)
    render(folder / WORLD, _SPEC, seed=_SEED)
    anyio.run(_ask, folder, environment, now)
    demonstration_sets.draw_study(folder, environment=environment, now=now)
    demonstration_sets.release_hidden(folder, _questions(folder))
    if find_spec("scipy") is None:
        return f"without boards, whose tracks need scipy; add it with: {adding('build')}"
    demonstration_sets.make_street(folder, cache_root=environment.cache_root)
    return ""


def paths_of(folder: Path) -> tuple[Path, ...]:
    """Return what a demonstration shows: its runs, and the set with its configuration."""
    config = folder / demonstration_sets.CONFIG
    return (folder / RUNS, *((config, config.parent / "made") if config.is_file() else ()))


def _questions(folder: Path) -> list[Item]:
    lines = (folder / WORLD / ITEMS_FILE).read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Item) for line in lines]


async def _ask(folder: Path, environment: Environment, now: datetime) -> None:
    for name, model in _MODELS.items():
        plan = make_plan(
            "phantom",
            data=folder / WORLD,
            model=model,
            overrides={"selector": "midpoints", "frames": _N_FRAMES},
        )
        await run(plan, folder / RUNS / name, environment=environment, now=now, on_event=lambda _event: None)


def fill(folder: Path) -> None:
    """Fill the configured studio, unless that was done, with questions in every state and the rest.

    No one knows the passwords of its people.
    """
    from django.db import transaction

    from vidence.studio.accounts import Profile, add_user, user_of
    from vidence.studio.bridge.recorded_files import media_of
    from vidence.studio.intake import ORDER
    from vidence.studio.projects import add_items, add_project
    from vidence.studio.records.items import ItemRow
    from vidence.studio.records.people import ProjectRow
    from vidence.studio.writing import FORM

    if ProjectRow.objects.filter(slug=PROJECT).exists():
        return
    world = (folder / WORLD).resolve()
    questions = _questions(folder)
    written = contents_of(questions, read_world(world))
    with transaction.atomic():
        project = add_project(
            PROJECT, PROTOCOL, title="Demonstration", media_root=str(world), languages=("en",)
        )
        for name, role in _PEOPLE.items():
            profile = Profile(pseudonym=name.casefold())
            add_user(name, secrets.token_urlsafe(16), roles=(role,), project=PROJECT, profile=profile)
        add_items(
            project, [item.item_id for item in questions], kinds={item.item_id: "open" for item in questions}
        )
        media_of(project, questions)
        rows = {value.item_id: value for value in ItemRow.objects.filter(project=project)}
        for row in rows.values():
            row.strata = {FORM: PROTOCOL, ORDER: [str(medium.public) for medium in row.media.all()]}
            row.save(update_fields=["strata"])
        author = user_of("Ann")
        for question, story in zip(questions, STORIES, strict=False):
            row = rows[question.item_id]
            row.author = author
            row.save(update_fields=["author"])
            for step in story:
                _do(row, written[question.item_id], step)
        if (folder / demonstration_sets.CONFIG).is_file():
            demonstration_sets.open_street(folder, project)
        demonstration_sets.open_to_three(folder)
        environment = Environment(cache_root=folder / "cache", n_workers=1)
        demonstration_sets.open_to_teams(folder, environment=environment)


def contents_of(questions: Sequence[Item], world: World) -> dict[str, dict[str, object]]:
    """Return the author's text of each question by name, as the protocol's form requires.

    Each asks for two cards, of which it names one: the other has to be looked for.

    Args:
        questions: those that the models were asked, for their names and videos.
        world: what is planted in the videos.
    """
    from vidence.studio.bridge.items import Subject, content_of

    videos = {video.path: video for video in world.videos}
    n_of = Counter[str]()
    contents = {}
    for question in questions:
        path = question.media[0].path or ""
        pieces = sorted(videos[path].pieces, key=lambda piece: piece.start_s)
        first, second = pieces[n_of[path]], pieces[n_of[path] + 1]
        n_of[path] += 1
        subject = Subject(
            item_id=question.item_id,
            form=PROTOCOL,
            seed=_SEED,
            media=question.media,
            benchmark=PROJECT,
            source=path,
        )
        contents[question.item_id] = content_of(
            _wording(first, second, until_s=videos[path].duration_s), subject
        )
    return contents


def _wording(first: PlantedPiece, second: PlantedPiece, *, until_s: float) -> Wording:
    kinds: tuple[EvidenceKind, EvidenceKind] = ("referred", "proactive")
    marks = [
        Mark(
            kind=kind,
            start=f"{piece.start_s:.2f}",
            end=f"{piece.end_s:.2f}",
            text=f"{piece.colour} card: {piece.value}",
            steps=str(n),
        )
        for n, (piece, kind) in enumerate(zip((first, second), kinds, strict=True), 1)
    ]
    return Wording(
        question=(
            f"What is the sum of the number on the {first.colour} card and of that on the first card that "
            "appears after it?"
        ),
        language="en",
        answer=str(first.value + second.value),
        reasoning=_REASONING,
        steps=(
            f"The {first.colour} card shows {first.value}.",
            f"The first card that appears after it is the {second.colour} one; it shows {second.value}.",
            f"{first.value} + {second.value} = {first.value + second.value}.",
        ),
        evidence=tuple(marks),
        knowledge=(Knowledge(title="Addition", url="https://en.wikipedia.org/wiki/Addition"),),
        start="0",
        end=f"{until_s:.2f}",
    )


def _do(row: "ItemRow", written: Mapping[str, object], step: _Step) -> None:
    """Perform one act, with everything that the rules require.

    Raises:
        AssertionError: the rules refuse it.
    """
    from vidence.studio.workflow import Act, Refused, act, protocol_of

    protocol = protocol_of(row.project)
    role = _PEOPLE[step.who]
    content = None
    if step.kind in ("submit", "resubmit"):
        content = dict(written)
        if step.kind == "resubmit":
            content["question"] = f"{content['question']} ({_REVISED})"
    result = Act(
        kind=step.kind,
        role=role,
        by=step.who.casefold(),
        content=content,
        origin="author_revise" if step.kind == "resubmit" else "submit",
    )
    stage = next((entry for entry in protocol.stages if entry.role == role), None)
    if step.kind == "withdraw":
        result = replace(result, message=_WANTED)
    elif stage is not None and step.kind == "accept":
        scores = {score.id: score.high for score in stage.scores}
        result = replace(result, checks=passed(stage), scores=scores, minutes=4.0)
    elif stage is not None and step.kind in ("return", "reject"):
        failed = next(check for check in stage.checks if check.kind == "yes-no")
        result = replace(result, checks={failed.id: NO}, message=_WANTED, minutes=2.5)
    done = act(row, result)
    if isinstance(done, Refused):
        raise AssertionError(done.reason)


_REVISED: Final = "the one whose first frame comes first is meant"


def passed(stage: Stage) -> dict[str, str]:
    """Return answers to all checks of a stage that accept an item."""
    return {check.id: _passing(check) for check in stage.checks}


def _passing(check: Check) -> str:
    if check.kind == "count":
        return str(check.least)
    return YES if check.kind == "yes-no" else (check.passing or check.options)[0]
