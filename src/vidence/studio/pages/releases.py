"""Release accepted questions, as `vidence items release` does, and list what to do with a release."""

import os
import shlex
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

import numpy as np
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.errors import DataError, UsageError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.pipeline.ledger import ACCOUNT_FILE, Account, read_account
from vidence.make.release.sets import ReleasedSet, SetMaterial, SetRules, release_set
from vidence.make.review.files import Reviews
from vidence.make.review.rates import rates_of
from vidence.records import Item, Record
from vidence.studio.access import BOTH, PROJECT, route
from vidence.studio.audit import note
from vidence.studio.bridge.items import item_of
from vidence.studio.bridge.recorded_files import events_in
from vidence.studio.pages.answers import tried
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.settings import current
from vidence.studio.workflow import protocol_of

_MOST_WORDS: Final = 300
RELEASES: Final = "releases"
FIRST_VERSION: Final = "1.0.0"
_SECRET_BYTES: Final = 32
_SEED: Final = 0  # of intervals in the datasheet, as of `vidence items release`


class Wish(Record):
    """The settings of a release; `without_licence` are sources that need none, ``all`` for any."""

    version: str = FIRST_VERSION
    title: str = ""
    without_licence: tuple[str, ...] = ()


def releases_of(project: ProjectRow) -> list[Path]:
    """The releases of a project that are there, by name."""
    into = current().settings.data / RELEASES / project.slug
    return sorted(path.parent for path in into.glob("*/SHA256SUMS"))


def accounts_of(project: ProjectRow) -> dict[Path, Account]:
    """What the makings of the sets of a project say of themselves, by file; those that do not exist are not.

    Raises:
        DataError: one is no account of a making.
    """
    folders = MadeSetRow.objects.filter(project=project).order_by("folder").values_list("folder", flat=True)
    paths = [path for folder in folders if (path := Path(folder) / ACCOUNT_FILE).is_file()]
    return {path: read_account(path) for path in paths}


def cautions_of(accounts: Mapping[Path, Account]) -> tuple[str, ...]:
    """What the makings say must not go unnoticed, as `vidence items release` prints it.

    The datasheet of a release has the account of one making: of several, it says nothing.
    """
    unsaid = (
        ""
        if len(accounts) == 1
        else " The datasheet does not mention it, since the project has several sets."
    )
    return tuple(
        f"Caution: {warning}.{unsaid}" for account in accounts.values() for warning in account.warnings
    )


def release(project: ProjectRow, wish: Wish, *, by: str) -> ReleasedSet:
    """Write the accepted questions of a project into a folder of the studio, whole or not at all.

    Args:
        project: whose questions.
        wish: version, title, and which sources need no licence.
        by: the pseudonym of the user.

    Raises:
        UsageError: nothing was accepted, or the release cannot be made as it is wished for.
        DataError: a wording is no question, or a file would tell what is hidden.
        StoreError: it cannot be written.
    """
    protocol = protocol_of(project)
    with transaction.atomic():
        reviews = Reviews.of(protocol, *events_in(project))
    accepted = _accepted(reviews)
    if not accepted:
        raise UsageError("no question is accepted yet; expected one or more")
    rules = SetRules(
        name=project.slug,
        about=ReleaseRules(
            version=wish.version, title=wish.title or project.title, without_licence=wish.without_licence
        ),
        formats=("items",),
    )
    accounts = accounts_of(project)
    material = SetMaterial(
        account=next(iter(accounts.values())) if len(accounts) == 1 else None,
        reviews=reviews,
        rates=rates_of(reviews, rng=np.random.default_rng(_SEED)),
        fresh_secret=os.urandom(_SECRET_BYTES),
    )
    released_set = release_set(
        accepted, rules, material, into=current().settings.data / RELEASES / project.slug
    )
    if released_set.is_new:
        fields = {"version": wish.version, "n": len(released_set.parts.open_ones)}
        note("released", by=by, about=project.slug, details=fields)
    return released_set


def _accepted(reviews: Reviews) -> list[Item]:
    """The last wordings of the questions that were accepted.

    Raises:
        DataError: one is no question, or its media lie outside the folder of the project.
    """
    entries = []
    for item_id in sorted(name for name, state in reviews.states.items() if state.state == "accepted"):
        item = item_of(reviews.revisions[reviews.states[item_id].revision])
        outside = [
            medium.path
            for medium in item.media
            if medium.path and (Path(medium.path).is_absolute() or ".." in Path(medium.path).parts)
        ]
        if outside:
            raise DataError(f"{item_id} shows {outside[0]}, which is outside the folder of the project")
        entries.append(item)
    return entries


# --------------------------------------------------------------------------- the page


def show(request: HttpRequest, project: str) -> HttpResponse:
    """The form, the releases that are there, and the commands that ask and show one."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    fields = {
        name: request.POST.get(name, "").strip()[:_MOST_WORDS] for name in ("version", "title", "without")
    }
    wish = Wish(
        version=fields["version"] or FIRST_VERSION,
        title=fields["title"],
        without_licence=tuple(filter(None, (part.strip() for part in fields["without"].split(",")))),
    )
    done, wrong = tried(request, lambda: release(row, wish, by=request.person.name), "releases", project)
    if done is not None:
        return done
    items = ItemRow.objects.filter(project=row)
    try:
        cautions = cautions_of(accounts_of(row))
    except DataError as error:
        cautions, wrong = (), wrong or str(error)
    entries = {
        "project": row,
        "n_accepted": items.filter(state="accepted").count(),
        "n_items": items.count(),
        "releases": [(release.name, _commands(row, release)) for release in releases_of(row)],
        "said": fields if wrong else {"version": FIRST_VERSION, "title": row.title, "without": ""},
        "wrong": wrong,
        "cautions": cautions,
    }
    status = HTTPStatus.BAD_REQUEST if wrong else HTTPStatus.OK
    return render(request, "release/release.html", entries, status=status)


def _commands(project: ProjectRow, folder: Path) -> list[str]:
    """Return the commands that run a model on a release and open its results."""
    run = f"runs/{folder.name}"
    media = ["--media", project.media_root] if project.media_root else []
    asked = ["vidence", "run", "table", "--data", str(folder), *media, "--model", "SPEC", "--out", run]
    return [shlex.join(asked), shlex.join(["vidence", "view", run])]


urls = [route(f"{PROJECT}/releases/", show, name="releases", roles={"operator"}, to=BOTH)]
