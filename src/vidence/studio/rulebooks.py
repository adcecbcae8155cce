"""Versions of the rules of a project: checked, tried on what was done already, taken into use, locked."""

import difflib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from django.db import transaction

from vidence.errors import UsageError
from vidence.make.review.protocol import Protocol, digest, protocol_of_text
from vidence.make.review.revisions import Event
from vidence.make.review.states import fold
from vidence.records import Record
from vidence.studio.audit import note
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow, ProtocolRow, ProtocolVersionRow
from vidence.studio.settings import current
from vidence.studio.workflow import events_of, revisions_of, show

MOST_BYTES = 200_000
_NAME = "protocol.toml"


class RulesPreview(Record):
    """What would become of the items of a project under other rules.

    `n_items` were looked at, and `n_events` acts. `faults` are acts that these rules refuse and items whose
    state they change; `n_changed` items only have another number of returns.
    """

    n_items: int
    n_events: int
    n_changed: int
    faults: tuple[str, ...]


def read(source: str) -> Protocol:
    """The rules that a text holds.

    Raises:
        UsageError: they cannot be read; the message has the line.
    """
    if len(source.encode()) > MOST_BYTES:
        raise UsageError(f"a protocol of {len(source.encode())} bytes; expected {MOST_BYTES} at most")
    return protocol_of_text(source, name=_NAME)


def dry_run(project: ProjectRow, protocol: Protocol) -> RulesPreview:
    """Do everything again that was done in a project, under other rules, without writing anything."""
    n_items = n_events = n_changed = 0
    faults: list[str] = []
    for item, events in _done(project):
        n_items, n_events = n_items + 1, n_events + len(events)
        folded = fold(revisions_of(item), events, protocol)
        faults += [f"{item.item_id}: {why}" for _, why in folded.refused]
        state = folded.states.get(item.item_id)
        if state is not None and not folded.refused:
            if state.state != item.state:
                faults.append(f"{item.item_id} is {item.state} and would be {state.state}")
            n_changed += state.returns_left != item.returns_left
    return RulesPreview(n_items=n_items, n_events=n_events, n_changed=n_changed, faults=tuple(faults))


def _done(project: ProjectRow) -> Iterator[tuple[ItemRow, list[Event]]]:
    for item in ItemRow.objects.filter(project=project).order_by("pk").iterator():
        yield item, list(events_of(item))


def versions(project: ProjectRow) -> list[ProtocolVersionRow]:
    """The versions that are kept, the newest first; none until there was a second one."""
    return list(project.versions.select_related("protocol").order_by("-n"))


def keep(project: ProjectRow, source: str, *, by: str) -> ProtocolVersionRow:
    """Keep a text as the next version; it is not in use yet.

    Raises:
        UsageError: it cannot be read, or is kept already.
    """
    words = source.replace("\r\n", "\n")
    rules = read(words)
    now = current().settings.clock()
    with transaction.atomic():
        locked = ProjectRow.objects.select_for_update().get(pk=project.pk)
        if not locked.versions.exists():
            ProtocolVersionRow.objects.create(
                project=locked, n=1, protocol=locked.protocol, at=locked.created_at, used_at=locked.created_at
            )
        kept, _ = ProtocolRow.objects.get_or_create(
            sha256=digest(words.encode()), defaults={"title": rules.title, "source": words, "added_at": now}
        )
        if (same := locked.versions.filter(protocol=kept).first()) is not None:
            raise UsageError(f"nothing is changed; version {same.n} has the same text")
        last = locked.versions.order_by("-n").first()
        row: ProtocolVersionRow = ProtocolVersionRow.objects.create(
            project=locked, n=last.n + 1, protocol=kept, by=by, at=now
        )
        note("protocol-kept", by=by, about=project.slug, details={"version": row.n, "sha256": kept.sha256})
    return row


def use(version: ProtocolVersionRow, *, by: str) -> RulesPreview:
    """Put a project under another version, where that changes the state of no item.

    Raises:
        UsageError: it would.
    """
    with transaction.atomic():
        project = ProjectRow.objects.select_for_update().get(pk=version.project_id)
        rules = read(version.protocol.source)
        tried = dry_run(project, rules)
        if tried.faults:
            raise UsageError(f"version {version.n} does not fit what was done: {tried.faults[0]}")
        project.protocol = version.protocol
        project.save(update_fields=["protocol"])
        for item, events in _done(project):
            state = fold(revisions_of(item), events, rules).states.get(item.item_id)
            if state is not None:
                show(item, state)
            else:
                item.returns_left = rules.returns
                item.save(update_fields=["returns_left"])
        if version.used_at is None:
            version.used_at = current().settings.clock()
            version.save(update_fields=["used_at"])
        note("protocol-used", by=by, about=project.slug, details={"version": version.n})
    return tried


def remove(version: ProtocolVersionRow, *, by: str) -> None:
    """Take away a version that was never used.

    Raises:
        UsageError: it was used, and so is locked.
    """
    with transaction.atomic():
        row = ProtocolVersionRow.objects.select_for_update().get(pk=version.pk)
        if row.used_at is not None:
            raise UsageError(f"version {row.n} is locked: it was in use from {row.used_at:%Y-%m-%d}")
        row.delete()
        note("protocol-removed", by=by, about=row.project.slug, details={"version": row.n})


def diff(before: str, after: str, *, names: tuple[str, str]) -> str:
    """What differs between two texts, line by line; empty where nothing does."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), fromfile=names[0], tofile=names[1], lineterm="", n=2
    )
    return "\n".join(lines)


def changes(texts: Sequence[tuple[int, str]]) -> list[str]:
    """What each version of a text changed in the one before it; the first of all nothing.

    Args:
        texts: the number and the words of each, the newest first.
    """
    said = [
        diff(before, now, names=(f"version {m}", f"version {n}")) for (n, now), (m, before) in pairwise(texts)
    ]
    return [*said, ""]
