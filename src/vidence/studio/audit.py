"""Hash chains, and the chained log of security events: sign-ins, role changes, exports."""

from collections.abc import Iterable, Iterator, Mapping

from django.db import transaction

from vidence.make.review.protocol import canonical, digest
from vidence.studio.records.work import AuditEventRow
from vidence.studio.settings import current


def note(kind: str, *, by: str = "", about: str = "", details: Mapping[str, object] | None = None) -> None:
    """Log an event; call it in the transaction that it is about.

    Args:
        kind: what happened.
        by: the pseudonym of whoever did it; empty: nobody signed in, or the command line.
        about: whom or what.
        details: what else is worth knowing; no passwords, no content.
    """
    with transaction.atomic():
        last = AuditEventRow.objects.select_for_update().order_by("-number").first()
        row = AuditEventRow(
            number=1 if last is None else last.number + 1,
            kind=kind,
            by=by,
            about=about,
            details=dict(details or {}),
            at=current().settings.clock(),
        )
        row.chain_sha256 = link("" if last is None else last.chain_sha256, _content(row))
        row.save(force_insert=True)


def links() -> Iterator[tuple[int, Mapping[str, object], str]]:
    """Yield every event with its hash, for `first_break`."""
    for row in AuditEventRow.objects.order_by("number").iterator():
        yield row.number, _content(row), row.chain_sha256


def _content(row: AuditEventRow) -> dict[str, object]:
    return {
        "number": row.number,
        "kind": row.kind,
        "by": row.by,
        "about": row.about,
        "details": row.details,
        "at": row.at.isoformat(timespec="microseconds"),
    }


def link(before: str, content: Mapping[str, object]) -> str:
    """Return the hash of a row and its predecessor; the first has an empty predecessor."""
    return digest(before.encode() + b"\n" + canonical(content))


def first_break(rows: Iterable[tuple[int, Mapping[str, object], str]]) -> str:
    """Return where a chain first breaks; empty if it is intact.

    Args:
        rows: the number, the content and the hash of each row, in the order of their numbers.
    """
    before = ""
    for expected, (number, content, message) in enumerate(rows, start=1):
        if number != expected:
            return f"row {expected} is missing"
        if link(before, content) != message:
            return f"row {number} is not what its hash says"
        before = message
    return ""
