"""Projects: begun under a protocol, and filled with items."""

from collections.abc import Iterable, Mapping

from django.db import transaction
from django.utils.text import slugify

from vidence.errors import UsageError
from vidence.make.review.protocol import digest, load_protocol, protocol_bytes
from vidence.studio.audit import note
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow, ProtocolRow
from vidence.studio.settings import current
from vidence.studio.workflow import protocol_of


def add_project(slug: str, protocol: str, *, title: str = "", media_root: str = "") -> ProjectRow:
    """Begin a project.

    Args:
        slug: its name in addresses.
        protocol: a name that vidence knows, or a file.
        title: its name on pages; the slug by default.
        media_root: the folder that its media lie in.

    Raises:
        UsageError: the name is taken or cannot stand in an address, or there is no such protocol.
    """
    if not slug or slugify(slug) != slug:
        raise UsageError(
            f"the project {slug!r}; expected small letters, digits and -, as {slugify(slug) or 'films'!r}"
        )
    rules = load_protocol(protocol)
    source = protocol_bytes(protocol)
    now = current().settings.clock()
    with transaction.atomic():
        if ProjectRow.objects.filter(slug=slug).exists():
            raise UsageError(f"there is a project {slug!r} already; expected a new name")
        kept, _ = ProtocolRow.objects.get_or_create(
            sha256=digest(source), defaults={"title": rules.title, "source": source.decode(), "added_at": now}
        )
        project = ProjectRow.objects.create(
            slug=slug, title=title or slug, protocol=kept, state="open", media_root=media_root, created_at=now
        )
        note("project-added", about=slug, details={"protocol": kept.sha256})
    return project


def add_items(project: ProjectRow, item_ids: Iterable[str], *, kinds: Mapping[str, str]) -> int:
    """Make room for items that are not there yet; how many were new. They are empty until one is submitted.

    Args:
        project: where they belong.
        item_ids: their names.
        kinds: of each what it is: ``open``, ``mcq``, ...
    """
    now = current().settings.clock()
    returns = protocol_of(project).returns
    with transaction.atomic():
        known = set(ItemRow.objects.filter(project=project).values_list("item_id", flat=True))
        fresh = [one for one in dict.fromkeys(item_ids) if one not in known]
        ItemRow.objects.bulk_create(
            ItemRow(
                project=project,
                item_id=one,
                kind=kinds.get(one, "open"),
                state="drafting",
                returns_left=returns,
                created_at=now,
                changed_at=now,
            )
            for one in fresh
        )
    return len(fresh)
