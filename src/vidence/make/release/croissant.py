"""Croissant metadata of a release, ``croissant.json``: its files with checksums, and what their rows hold."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from vidence.make.pipeline.output import json_file
from vidence.make.release.papers import SetFacts

CROISSANT_FILE: Final = Path("croissant.json")
_KINDS: Final = {".jsonl": "application/jsonlines", ".json": "application/json"}
_TYPES: Final = {str: "sc:Text", int: "sc:Integer", float: "sc:Float"}
_WORDS: Final = "citeAs column extract field fileObject jsonPath key recordSet repeated source transform"
_CONTEXT: Final = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
} | {word: f"cr:{word}" for word in _WORDS.split()}


def croissant(facts: SetFacts, files: Mapping[Path, bytes]) -> bytes:
    """The metadata as JSON-LD; of questions in our item format each column is a field.

    Args:
        facts: of the release.
        files: of the formats, by their paths in it.

    Source: Croissant format specification, version 1.0 (MLCommons, 2024).
    """
    rules = facts.rules
    authors, title = rules.authors or ("The makers of this set",), rules.title or facts.name
    known = {"license": rules.licence, "url": rules.url, "datePublished": rules.date}
    if re.fullmatch(r"\d+\.\d+\.\d+", rules.version):  # the format has no other versions
        known["version"] = rules.version
    ours = {path: content for path, content in files.items() if path.parts == (f"{path.stem}.jsonl",)}
    return json_file(
        {
            "@context": _CONTEXT,
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": facts.name,
            "description": f"{title}: {len(facts.public):,} questions, released with vidence.",
            "identifier": facts.canary,
            "creator": [{"@type": "sc:Person", "name": author} for author in authors],
            "citeAs": ". ".join(filter(None, (", ".join(authors), title, rules.version, rules.url))),
            **{key: value for key, value in known.items() if value},
            "distribution": [_file(path, content) for path, content in sorted(files.items())],
            "recordSet": [_rows(path, content) for path, content in sorted(ours.items())],
        }
    )


def _file(path: Path, content: bytes) -> dict[str, str]:
    return {
        "@type": "cr:FileObject",
        **dict.fromkeys(("@id", "name", "contentUrl"), path.as_posix()),
        "encodingFormat": _KINDS.get(path.suffix, "application/x-parquet"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _rows(path: Path, content: bytes) -> dict[str, object]:
    seen: dict[tuple[str, str], tuple[str | None, bool]] = {}
    for line in content.splitlines():
        for column, value in msgspec.json.decode(line, type=dict[str, object]).items():
            is_list = isinstance(value, list)
            for entry in value if isinstance(value, list) else [value]:
                parts = entry if isinstance(entry, dict) else {"": entry}
                seen |= {(column, key): (_TYPES.get(type(part)), is_list) for key, part in parts.items()}
    fields = []
    for (column, key), (kind, is_list) in seen.items():
        if kind is not None and re.fullmatch(r"\w*", key):  # as a path in JSON says it
            source = {"fileObject": {"@id": path.as_posix()}, "extract": {"column": column}}
            source |= {"transform": {"jsonPath": key}} if key else {}
            name = f"{path.stem}/{column}{key and '/'}{key}"
            field = {"@type": "cr:Field", "@id": name, "name": name, "dataType": kind, "repeated": is_list}
            fields.append(field | {"source": source})
    about = {"@type": "cr:RecordSet", "@id": path.stem, "name": path.stem}
    return about | {"key": {"@id": f"{path.stem}/item_id"}, "field": fields}
