"""The files of an audit: page, JSON, and the list of suspicious questions."""

from pathlib import Path

import msgspec

from vidence.explain.audit.reasons import Suspect
from vidence.media.whole import write_file
from vidence.report.export import make_folder
from vidence.report.item_card import Card
from vidence.tables.export import csv_text, statement_as_json
from vidence.tables.rendering import render

JSON_FORMAT = "vidence-item-audit/1"
PAGE, JSON = "audit.html", "audit.json"
SUSPECTS_JSONL, SUSPECTS_CSV = "suspicious.jsonl", "suspicious.csv"


def write_audit(card: Card, folder: Path, *, with_page: bool) -> tuple[Path, ...]:
    """Write every file of an audit into a folder, which is made where it is not there.

    Raises:
        StoreError: the folder cannot be made, or a file cannot be written.
    """
    make_folder(folder)
    contents: dict[str, str | bytes] = {
        JSON: audit_json(card),
        SUSPECTS_JSONL: b"".join(msgspec.json.encode(one) + b"\n" for one in card.suspects),
        SUSPECTS_CSV: suspects_csv(card.suspects),
    }
    if with_page:
        contents[PAGE] = audit_page(card)
    for name, content in contents.items():
        write_file(folder / name, content)
    return tuple(folder / name for name in contents)


def audit_json(card: Card) -> bytes:
    """The whole audit as one JSON object."""
    whole = {
        "format": JSON_FORMAT,
        "name": card.name,
        "n_items": len(card.audit.items),
        "n_severe": card.n_severe,
        "sentences": card.sentences(),
        "problems": card.audit.problems,
        "notes": card.audit.notes,
        "statements": [statement_as_json(one) for one in card.statements()],
        "groups": card.audit.twins.groups,
        "suspects": card.suspects,
    }
    return msgspec.json.encode(whole) + b"\n"


def audit_page(card: Card) -> str:
    """The audit as one HTML file that loads nothing from elsewhere."""
    return render(
        "diagnosis.html.j2",
        eyebrow="vidence audit",
        title=card.name,
        sentences=card.sentences(),
        statements=card.statements(),
        facts=(("Audit", {"set": card.name, "level": card.level}),),
    )


def suspects_csv(suspects: tuple[Suspect, ...]) -> str:
    """One line for each reason."""
    rows = [
        (one.item_id, one.video_id, reason.severity, reason.kind, reason.says, " ".join(reason.others))
        for one in suspects
        for reason in one.reasons
    ]
    return csv_text([("item_id", "video_id", "severity", "kind", "reason", "others"), *rows])
