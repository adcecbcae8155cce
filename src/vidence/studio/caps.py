"""What is left to a person of the day's work that the protocol allows; counted from what was recorded."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from vidence.make.review.pay import ANNOTATIONS, VALIDATIONS
from vidence.make.review.protocol import Protocol
from vidence.make.review.revisions import Role
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.rules.caps import DailyAllowance, day_of, most_of, piece_of


def left(
    by: str, project: ProjectRow, role: Role, *, clock: Callable[[], datetime], protocol: Protocol
) -> DailyAllowance | None:
    """What one person may still begin today in one project; None where the protocol sets no bound.

    Both kinds of reviewers share one bound, as in `make.review.pay`. What is claimed and not decided yet
    counts, so that nobody collects claims; a new wording of what was returned does not.

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
