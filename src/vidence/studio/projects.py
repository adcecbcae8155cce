"""Projects: created under a protocol, and filled with items."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from django.db import transaction
from django.utils.text import slugify

from vidence.errors import UsageError
from vidence.make.review.protocol import Protocol, digest, load_protocol, protocol_bytes, protocol_of_text
from vidence.records import Record
from vidence.studio.audit import note
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow, ProtocolRow
from vidence.studio.settings import current
from vidence.studio.workflow import protocol_of

MOST_SLUG: Final = 60
MOST_TITLE: Final = 300
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")

MOST_BYTES = 200_000
_NAME = "protocol.toml"


class RuleText(Record):
    """A protocol given as text rather than by file or name."""

    source: str


def add_project(
    slug: str,
    protocol: str | RuleText,
    *,
    title: str = "",
    media_root: str = "",
    languages: Sequence[str] = (),
    by: str = "",
) -> ProjectRow:
    """Create a project.

    Args:
        slug: its name in addresses.
        protocol: a name that vidence knows, a file, or a text.
        title: its name on pages; the slug by default.
        media_root: the folder that its media lie in.
        languages: what its items are written in, the usual one first.
        by: the pseudonym of the operator; empty: the command line.

    Raises:
        UsageError: the name is taken or cannot stand in an address, there is no such protocol, or a language
            is no tag of one.
    """
    if not slug or slugify(slug) != slug:
        raise UsageError(
            f"the project {slug!r}; expected lower-case letters, digits and -: {slugify(slug) or 'films'!r}"
        )
    if len(slug) > MOST_SLUG or len(title) > MOST_TITLE:
        raise UsageError(
            f"a name of {len(slug)} characters and a title of {len(title)}; "
            f"expected {MOST_SLUG} and {MOST_TITLE} at most"
        )
    if bad := [language for language in languages if not _LANGUAGE.fullmatch(language)]:
        raise UsageError(f"the language {bad[0]!r}; expected a tag such as en, de or pt-BR")
    rules, source = _rules(protocol)
    now = current().settings.clock()
    with transaction.atomic():
        if ProjectRow.objects.filter(slug=slug).exists():
            raise UsageError(f"there is already a project {slug!r}; expected a new name")
        kept, _ = ProtocolRow.objects.get_or_create(
            sha256=digest(source), defaults={"title": rules.title, "source": source.decode(), "added_at": now}
        )
        project = ProjectRow.objects.create(
            slug=slug,
            title=title or slug,
            protocol=kept,
            state="open",
            media_root=media_root,
            languages=list(dict.fromkeys(languages)),
            created_at=now,
        )
        note("project-added", by=by, about=slug, details={"protocol": kept.sha256})
    return project


def read_rules(source: str) -> Protocol:
    """Parse a protocol.

    Raises:
        UsageError: they cannot be read; the message has the line.
    """
    if len(source.encode()) > MOST_BYTES:
        raise UsageError(f"a protocol of {len(source.encode())} bytes; expected {MOST_BYTES} at most")
    return protocol_of_text(source, name=_NAME)


def _rules(protocol: str | RuleText) -> tuple[Protocol, bytes]:
    if isinstance(protocol, RuleText):
        words = protocol.source.replace("\r\n", "\n")
        return read_rules(words), words.encode()
    return load_protocol(protocol), protocol_bytes(protocol)


def languages_in(words: str) -> tuple[str, ...]:
    """Parse language tags separated by commas or blanks.

    >>> languages_in("en, pt-BR en")
    ('en', 'pt-BR')
    """
    return tuple(dict.fromkeys(words.replace(",", " ").split()))


def folder_below(words: str, roots: Sequence[Path]) -> str:
    """Return the media folder that was entered, if it is inside a folder of the studio.

    Args:
        words: a whole path, or one that begins in or with a folder of the studio; empty: all of these.
        roots: the folders of the studio.

    Raises:
        UsageError: it is none, is not there, or lies elsewhere; links are followed first.
    """
    if not words:
        return ""
    if not roots:
        raise UsageError("this studio has no media folder; start it with --media-root DIR")
    whole = tuple(root.resolve() for root in roots)
    refused = f"the folder {words!r}; expected one of this studio: {', '.join(map(str, roots))}, or below"
    for start in (*whole, *(entry.parent for entry in whole)):
        path = (start / words).resolve()
        if any(path == entry or entry in path.parents for entry in whole) and path.is_dir():
            return str(path)
    raise UsageError(refused)


def add_items(project: ProjectRow, item_ids: Iterable[str], *, kinds: Mapping[str, str]) -> int:
    """Create empty items for new ids; return how many are new.

    Args:
        project: where they belong.
        item_ids: their names.
        kinds: of each what it is: ``open``, ``mcq``, ...
    """
    now = current().settings.clock()
    returns = protocol_of(project).returns
    with transaction.atomic():
        known = set(ItemRow.objects.filter(project=project).values_list("item_id", flat=True))
        fresh = [name for name in dict.fromkeys(item_ids) if name not in known]
        ItemRow.objects.bulk_create(
            ItemRow(
                project=project,
                item_id=name,
                kind=kinds.get(name, "open"),
                state="drafting",
                returns_left=returns,
                created_at=now,
                changed_at=now,
            )
            for name in fresh
        )
    return len(fresh)
