"""Check whether a person may start a piece of work: guidelines, qualification, domain, caps.

Who may do what with an item in which state is said by `make.review.states`; this is about the person. It
holds for the accounts of a team: one who works alone asks nobody, and what is imported was done elsewhere.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

import msgspec

from vidence.make.review.pay import ANNOTATIONS, VALIDATIONS
from vidence.make.review.protocol import Protocol
from vidence.make.review.revisions import Kind, Origin, Role
from vidence.studio import training
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.people import MembershipRow, ProjectRow, UserRow
from vidence.studio.rules.caps import DailyAllowance, day_of, most_of, piece_of
from vidence.studio.settings import current

BEGINS: Final[frozenset[Kind]] = frozenset({"submit", "claim"})
"""Acts that start a piece of work; started work may always be finished."""


def is_asked(kind: Kind, origin: Origin) -> bool:
    """Whether an act starts work in this studio; imported work was started elsewhere."""
    return kind in BEGINS and origin != "import"


def refusal(
    by: str, project: ProjectRow, protocol: Protocol, *, role: Role, item: ItemRow | None = None
) -> str:
    """Return why a person may not start a piece of work, naming the rule; empty if they may.

    Args:
        by: the pseudonym.
        project: where.
        protocol: its rules.
        role: the role.
        item: on what; None if it is to be made.
    """
    if role not in training.WORKERS:
        return ""
    studio = current().settings
    user = UserRow.objects.filter(pseudonym=by).first() if studio.mode == "team" else None
    if user is None:
        return ""
    seat = training.Seat(user=user, project=project, protocol=protocol, role=role)
    fault = training.refusal(seat) or _domain_fault(user, project, item)
    left = None if fault else left_today(by, project, role, clock=studio.clock, protocol=protocol)
    return fault or ("" if left is None else left.refusal)


def _domain_fault(user: UserRow, project: ProjectRow, item: ItemRow | None) -> str:
    """Return why an item is outside the person's domains; without domains, all are permitted."""
    domain = None if item is None else item.strata.get("domain")
    if not domain:
        return ""
    rows = MembershipRow.objects.filter(user=user, project=project).values_list("domains", flat=True)
    mine = [entry for row in rows for entry in row]
    if not mine or domain in mine:
        return ""
    return f"it is of the domain {domain!r}; this person works in {', '.join(map(repr, sorted(mine)))}"


def left_today(
    by: str, project: ProjectRow, role: Role, *, clock: Callable[[], datetime], protocol: Protocol
) -> DailyAllowance | None:
    """Return what a person may still start today in a project; None if the protocol sets no limit.

    Both kinds of reviewers share one bound, as in `make.review.pay`. What is claimed and not decided yet
    counts, so that claims are not collected; a new wording of what was returned does not.

    Args:
        by: the pseudonym.
        project: where.
        role: as whom.
        clock: gives the time now; days are those of UTC.
        protocol: the rules of the project.
    """
    piece = piece_of(role)
    most = 0 if piece is None else most_of(protocol, piece)
    if piece is None or not most:
        return None
    begin, end = day_of(clock())
    done = TransitionRow.objects.filter(
        project=project,
        by=by,
        kind__in=ANNOTATIONS if piece == "annotation" else VALIDATIONS,
        at__gte=f"{begin:%Y-%m-%dT%H}",  # times are texts of one form, which sort as times do
        at__lt=f"{end:%Y-%m-%dT%H}",
    ).exclude(role="operator")
    n_held = 0 if piece == "annotation" else _n_held(by, project)
    return DailyAllowance(piece=piece, most=most, n_done=done.count(), n_held=n_held, again_at=end)


def _n_held(by: str, project: ProjectRow) -> int:
    looked_at = ItemRow.objects.filter(project=project, state__in=("in-review", "in-meta"))
    mine = looked_at.filter(claims__contains=msgspec.json.encode(by).decode())
    return sum(by in msgspec.json.decode(claims) for claims in mine.values_list("claims", flat=True))
