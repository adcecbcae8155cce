"""Whether somebody may begin a piece of work: guidelines read, qualified, of its domain, within the caps.

Who may do what with an item in which state is said by `make.review.states`; this is about the person. It
holds for the accounts of a team: one who works alone asks nobody, and what is imported was done elsewhere.
"""

from typing import Final

from vidence.make.review.protocol import Protocol
from vidence.make.review.revisions import Kind, Origin, Role
from vidence.studio import caps, training
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import MembershipRow, ProjectRow, UserRow
from vidence.studio.settings import current

BEGINS: Final[frozenset[Kind]] = frozenset({"submit", "claim"})
"""Acts that begin a piece of work; whatever was begun may be ended."""


def is_asked(kind: Kind, origin: Origin) -> bool:
    """Whether an act begins a piece of work here; what is imported was begun elsewhere."""
    return kind in BEGINS and origin != "import"


def refusal(
    by: str, project: ProjectRow, protocol: Protocol, *, role: Role, item: ItemRow | None = None
) -> str:
    """Why somebody may not begin a piece of work now, in words that name the rule; empty where they may.

    Args:
        by: the pseudonym.
        project: where.
        protocol: its rules.
        role: as whom.
        item: on what; None where it is to be made.
    """
    if role not in training.WORKERS:
        return ""
    studio = current().settings
    user = UserRow.objects.filter(pseudonym=by).first() if studio.mode == "team" else None
    if user is None:
        return ""
    seat = training.Seat(user=user, project=project, protocol=protocol, role=role)
    fault = training.refusal(seat) or _domain_fault(user, project, item)
    left = None if fault else caps.left(by, project, role, clock=studio.clock, protocol=protocol)
    return fault or ("" if left is None else left.refusal)


def _domain_fault(user: UserRow, project: ProjectRow, item: ItemRow | None) -> str:
    """Whether an item is of a domain that the person does not work in; without domains one works in all."""
    domain = None if item is None else item.strata.get("domain")
    if not domain:
        return ""
    rows = MembershipRow.objects.filter(user=user, project=project).values_list("domains", flat=True)
    mine = [one for row in rows for one in row]
    if not mine or domain in mine:
        return ""
    return f"it is of the domain {domain!r}; this person works in {', '.join(map(repr, sorted(mine)))}"
