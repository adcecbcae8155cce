"""Release any file of questions: formats, hidden answers, documents; checked before it is named."""

import hashlib
import re
import tempfile
import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from vidence.errors import UsageError
from vidence.make.gates.licences import LicenceCheck
from vidence.make.gates.rules import ALL, ReleaseRules
from vidence.make.gates.splits import sha256_of, sources_of, split_items
from vidence.make.pipeline.ledger import Account, Ledger
from vidence.make.pipeline.output import json_file, json_lines
from vidence.make.release.admission import (
    IDS_FILE,
    WITHDRAWN_FILE,
    ReleasedId,
    Withdrawn,
    read_ids,
    refuse_withdrawn,
    reviewed,
    with_licence,
)
from vidence.make.release.exporters.exporting import SPLIT, ExportSet, exporters, read_back, refuse_misfits
from vidence.make.release.exporters.huggingface import FOLDER as HUB_FOLDER
from vidence.make.release.exporters.huggingface import path_of
from vidence.make.release.hidden import (
    ANSWERS_FILE,
    COMMITMENTS_FILE,
    HIDDEN_SUFFIX,
    SHARED_FILE,
    Hidden,
    HiddenAnswer,
    answers_of,
    commitments_of,
    hide,
    row_of,
    rows_of,
    secret_in,
    write_answers,
)
from vidence.make.release.media import (
    AT_HOME,
    MEDIA_FILE,
    MediaRules,
    ReleasedMedia,
    ReleasedMedium,
    media_of,
)
from vidence.make.release.papers import (
    CROISSANT_FILE,
    NO_SECTION,
    Section,
    SetFacts,
    agreement_of,
    citation,
    croissant,
    eval_yaml,
    hub_card,
    set_datasheet,
)
from vidence.make.release.scan import Leak, Scan, refuse_leaks, scan_folder, shared_texts
from vidence.make.release.writing import ABOUT, SUMS_FILE, with_sums, write_release
from vidence.make.review.files import Reviews
from vidence.make.review.rates import ReviewRates
from vidence.media.files import resolve
from vidence.media.whole import write_into
from vidence.records import Item, Record

MANIFEST: Final = ABOUT / "release.json"
HUB: Final = "huggingface"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_CITE: Final = "Please cite this set of questions, and those that it is made of."


@dataclass(frozen=True, kw_only=True)
class SetRules:
    """What is released, and how.

    `shares` are splits to cut; without any, the tag ``split`` says them, and where there is none all is
    ``test``. `hidden` are the splits whose answers stay at home. `keep_tags` are public in them whatever they
    look like, `hide_tags` are not. `media` says what becomes of the files of media. The splits and sources
    without licence of `about` are not used here.
    """

    name: str
    about: ReleaseRules
    formats: tuple[str, ...]
    shares: Mapping[str, float] = field(default_factory=dict)
    stratify: tuple[str, ...] = ()
    seed: int = 0
    hidden: frozenset[str] = frozenset()
    keep_tags: frozenset[str] = frozenset()
    hide_tags: frozenset[str] = frozenset()
    media: MediaRules = AT_HOME


@dataclass(frozen=True, kw_only=True)
class SetMaterial:
    """Input to a release besides the questions; None and empty mean not given.

    `rows` are further lines by file and
    question, such as proofs; those of hidden questions go with the answers. `making` and `reviewed` go into
    the datasheet.
    """

    account: Account | None = None
    reviews: Reviews | None = None
    rates: ReviewRates | None = None
    licences: Mapping[str, LicenceCheck] | None = None
    agreement: str | None = None
    withdrawn: tuple[Withdrawn, ...] = ()
    rows: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    fresh_secret: bytes = b""
    making: Section = NO_SECTION
    reviewed: Section = NO_SECTION


class LicenceLook(Record, omit_defaults=True):
    """A video's licence check: result, date, person; the platform's full answer is not released."""

    video: str
    outcome: str
    licence: str
    at: datetime
    way: str
    by: tuple[str, ...] = ()


class SetManifest(Record):
    """The contents of a release: ``about/release.json``."""

    format: str = "vidence-release/2"
    name: str
    version: str
    canary: str
    formats: tuple[str, ...]
    splits: dict[str, int]
    hidden: dict[str, int]
    hidden_tags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ReleaseSplits:
    """The questions of a release with and without answers; `shared` names what splits share."""

    open_ones: tuple[Item, ...]
    hidden: Hidden
    shared: str
    account: Account


@dataclass(frozen=True, kw_only=True)
class ReleasedSet:
    """A written release; `is_new` is False if it already existed. `hidden_files` are outside it."""

    folder: Path
    parts: ReleaseSplits
    is_new: bool
    hidden_files: tuple[Path, ...]
    losses: Mapping[str, Mapping[str, int]]
    facts: SetFacts


def release_set(items: Sequence[Item], rules: SetRules, material: SetMaterial, *, into: Path) -> ReleasedSet:
    """Write ``into/NAME-VERSION`` atomically, and the hidden answers next to it.

    Before it gets its name every format is read back by our own loader and held against the questions, and
    every file is looked through for hidden answers.

    Args:
        items: the questions; paths of their media lie inside one folder.
        rules: what is released.
        material: what is known besides.
        into: the folder of releases.

    Raises:
        UsageError: the release is invalid as it is wished for: another one is there, nothing is left, a
            format cannot say the questions, an id was withdrawn, a hidden split shares sources.
        DataError: a format does not come back as it was, or a file tells a hidden answer.
        StoreError: it cannot be written; nothing is left behind.
    """
    parts = _chosen(items, rules, material)
    canary = str(uuid.uuid5(uuid.NAMESPACE_URL, f"vidence:{rules.name}:{_digest(parts)}"))
    folder = into / f"{rules.name}-{rules.about.version}"
    outside = into / f"{folder.name}{HIDDEN_SUFFIX}"
    answers: tuple[HiddenAnswer, ...] = ()
    if parts.hidden.whole:
        secret = secret_in(outside, fresh=material.fresh_secret)
        splits = {item.item_id: item.tags[SPLIT] for item in parts.hidden.public}
        answers = answers_of(parts.hidden, secret=secret, splits=splits)
    exported = ExportSet(
        name=rules.name, open_ones=parts.open_ones, hidden=parts.hidden.public, canary=canary
    )
    exports, losses = _exports(exported, rules.formats)
    looks = material.licences or {}
    items = (*parts.open_ones, *parts.hidden.public)
    media = media_of(items, rules.media, looks=looks, taken=exports)
    facts = SetFacts(
        name=rules.name,
        rules=rules.about,
        canary=canary,
        open_ones=parts.open_ones,
        hidden=parts.hidden,
        formats=exporters(rules.formats),
        losses=losses,
        accounts=[*([material.account] if material.account else []), parts.account],
        review=material.rates,
        looked_up=_looked_up(material.licences),
        shared=parts.shared,
        has_agreement=material.agreement is not None,
        n_withdrawn=len(material.withdrawn),
        media=media,
        making=material.making,
        reviewed=material.reviewed,
    )
    papers = _papers(facts, material, answers)
    papers[CROISSANT_FILE] = croissant(facts, exports)
    files = with_sums(exports | papers, comment=f"canary {canary}", more=media.attached.hashes)
    scan = _scan(parts, answers, media)
    written: tuple[Path, ...] = ()
    if answers:
        hidden_ids = [item.item_id for item in parts.hidden.whole]
        more = {name: _lines_of(rows, hidden_ids) for name, rows in material.rows.items()}
        written = write_answers(outside, answers, parts.hidden, shared=scan.shared, more=more)
    is_new = write_release(
        files, folder, check=lambda path: refuse_leaks(scan_folder(path, scan), path), attached=media.attached
    )
    return ReleasedSet(
        folder=folder, parts=parts, is_new=is_new, hidden_files=written, losses=losses, facts=facts
    )


def _scan(parts: ReleaseSplits, answers: Sequence[HiddenAnswer], media: ReleasedMedia) -> Scan:
    """Return the scan for hidden answers."""
    return Scan(
        hidden=parts.hidden,
        open_ids=frozenset(item.item_id for item in parts.open_ones),
        shared=shared_texts(parts.hidden, parts.open_ones),
        salts={answer.salt: answer.item_id for answer in answers},
        media=frozenset(path.as_posix() for path in media.attached.files),
    )


# --------------------------------------------------------------------------- what is released


def _chosen(items: Sequence[Item], rules: SetRules, material: SetMaterial) -> ReleaseSplits:
    refuse_withdrawn(items, material.withdrawn)
    ledger = Ledger()
    kept = tuple(items) if material.reviews is None else reviewed(items, ledger, material.reviews)
    allowed = rules.about.without_licence
    kept = with_licence(kept, ledger, checks=material.licences, without_licence=allowed)
    if not kept:
        raise UsageError(f"no question is left to release: {_why(ledger)}")
    kept = _with_splits(kept, rules)
    hidden = hide(
        [item for item in kept if item.tags[SPLIT] in rules.hidden],
        keep=rules.keep_tags | {SPLIT},
        left_out=rules.hide_tags,
    )
    return ReleaseSplits(
        open_ones=tuple(item for item in kept if item.tags[SPLIT] not in rules.hidden),
        hidden=hidden,
        shared=_shared(kept, hidden=rules.hidden),
        account=ledger.account([]),
    )


def _why(ledger: Ledger) -> str:
    counts = Counter((dropped.stage, dropped.reason) for dropped in ledger.dropped)
    why = ", ".join(f"{n:,} {reason}" for (_, reason), n in counts.items())
    hint = next((dropped.detail for dropped in ledger.dropped if dropped.detail), "")
    return f"{why}{f' ({hint})' if hint else ''}"


def _with_splits(items: Sequence[Item], rules: SetRules) -> tuple[Item, ...]:
    """The questions in their own order, tagged with their splits."""
    if rules.shares:
        cut = split_items(items, rules.shares, hashes={}, stratify=rules.stratify, seed=rules.seed)
        split_of = {item.item_id: name for name, mine in cut.parts.items() for item in mine}
    else:
        split_of = {item.item_id: item.tags.get(SPLIT, ALL) for item in items}
    if unknown := sorted(rules.hidden - set(split_of.values())):
        known = ", ".join(sorted(set(split_of.values())))
        raise UsageError(f"no question is in the split {unknown[0]!r} to hide; splits are {known}")
    if bad := sorted({name for name in split_of.values() if not _NAME.fullmatch(name)}):
        raise UsageError(f"{bad[0]!r} is no name of a split; expected letters, digits, _ and -")
    return tuple(
        msgspec.structs.replace(item, tags=item.tags | {SPLIT: split_of[item.item_id]}) for item in items
    )


def _shared(items: Sequence[Item], *, hidden: Collection[str]) -> str:
    """Return a sentence on sources shared between splits; empty if no source is shared.

    Raises:
        UsageError: a hidden split shares one with another.
    """
    splits: dict[int, set[str]] = {}
    for item, source in zip(items, sources_of(items, {}), strict=True):
        splits.setdefault(source, set()).add(item.tags[SPLIT])
    several = [mine for mine in splits.values() if len(mine) > 1]
    if entries := [mine for mine in several if mine & set(hidden)]:
        raise UsageError(
            f"{len(entries):,} sources have questions in {' and '.join(sorted(entries[0]))}, and "
            "a hidden split "
            "must share none; cut the splits by source with --shares, or see vidence items split --check"
        )
    if not several:
        return ""
    return f"{len(several):,} of {len(splits):,} sources have questions in more than one split."


def _digest(parts: ReleaseSplits) -> str:
    return hashlib.sha256(json_lines([*parts.open_ones, *parts.hidden.public])).hexdigest()


# --------------------------------------------------------------------------- its files


def _exports(
    exported: ExportSet, formats: Sequence[str]
) -> tuple[dict[Path, bytes], dict[str, dict[str, int]]]:
    """The files of all formats, and what each leaves out according to a reading of it."""
    files: dict[Path, bytes] = {}
    losses = {}
    for exporter in exporters(formats):
        refuse_misfits(exporter, (*exported.open_ones, *exported.hidden))
        values = exporter.files(exported)
        with tempfile.TemporaryDirectory() as folder:
            write_into(Path(folder), values)
            losses[exporter.name] = read_back(exporter, Path(folder), exported.open_ones)
        files |= values
    return files, losses


def _papers(facts: SetFacts, material: SetMaterial, answers: Sequence[HiddenAnswer]) -> dict[Path, bytes]:
    """Everything but the formats; each file contains the canary."""
    mark = {"canary": facts.canary}
    release, making = facts.accounts[-1], facts.accounts[:-1]
    ids = [ReleasedId(item_id=item.item_id, split=item.tags[SPLIT]) for item in facts.public]
    lists: dict[Path, Sequence[object]] = {
        IDS_FILE: ids,
        WITHDRAWN_FILE: material.withdrawn,
        MEDIA_FILE: facts.media.rows,
        ABOUT / "account.jsonl": [*making, release],
    }
    if answers:
        lists[COMMITMENTS_FILE] = commitments_of(answers)
    if material.licences is not None:
        lists[ABOUT / "licences.jsonl"] = [
            msgspec.convert(look, LicenceLook, from_attributes=True)
            for _, look in sorted(material.licences.items())
        ]
    files = {path: json_lines([mark, *rows]) for path, rows in lists.items()}
    open_ids = [item.item_id for item in facts.open_ones]
    for name, rows in material.rows.items():
        files[Path(name)] = json_lines([mark]) + _lines_of(rows, open_ids)
    manifest = SetManifest(
        name=facts.name,
        version=facts.rules.version,
        canary=facts.canary,
        formats=tuple(exporter.name for exporter in facts.formats),
        splits=dict(Counter(item.tags[SPLIT] for item in facts.open_ones)),
        hidden=dict(Counter(item.tags[SPLIT] for item in facts.hidden.public)),
        hidden_tags=facts.hidden.tags,
    )
    files[MANIFEST] = json_file(manifest)
    body, comment = set_datasheet(facts), f"# canary {facts.canary}\n"
    splits = list(dict.fromkeys(item.tags[SPLIT] for item in facts.open_ones))
    papers = f"{len(facts.public):,} questions, version {facts.rules.version}, released with vidence."
    evaluated = eval_yaml(facts.rules, splits, name=facts.name, said=papers) + comment
    files[ABOUT / "eval.yaml"] = evaluated.encode()
    files[Path("DATASHEET.md")] = body.encode()
    files[Path("CITATION.cff")] = (citation(facts.rules, name=facts.name, message=_CITE) + comment).encode()
    if material.agreement is not None:
        files[Path("AGREEMENT.md")] = agreement_of(material.agreement, canary=facts.canary).encode()
    if any(exporter.name == HUB for exporter in facts.formats):
        names = list(dict.fromkeys(item.tags[SPLIT] for item in facts.public))
        paths = {name: path_of(name).relative_to(HUB_FOLDER).as_posix() for name in names}
        files[HUB_FOLDER / "README.md"] = hub_card(facts, paths=paths, body=body).encode()
    return files


def _lines_of(rows: Mapping[str, bytes], ids: Sequence[str]) -> bytes:
    return b"".join(rows[name] + b"\n" for name in ids if name in rows)


def _looked_up(looks: Mapping[str, LicenceCheck] | None) -> str:
    if looks is None:
        return ""
    if not looks:
        return "Licences were looked up, and no question names a film."
    days = sorted(f"{look.at:%Y-%m-%d}" for look in looks.values())
    return f"The licences of {len(looks):,} films were looked up from {days[0]} to {days[-1]}."


def scan_again(folder: Path, hidden: Path) -> tuple[Leak, ...]:
    """Return where a release reveals its hidden answers.

    Args:
        folder: the release.
        hidden: the folder of its hidden answers.

    Raises:
        UsageError: one of the two is no such folder.
        DataError: a file cannot be read.
    """
    if not (folder / MANIFEST).is_file() or not (hidden / ANSWERS_FILE).is_file():
        raise UsageError(
            f"expected a release of vidence items release ({folder / MANIFEST}) and its hidden answers "
            f"({hidden / ANSWERS_FILE})"
        )
    answers = rows_of(hidden / ANSWERS_FILE, HiddenAnswer)
    splits = dict.fromkeys(answer.split for answer in answers)
    whole = [item for split in splits for item in rows_of(hidden / f"{split}.jsonl", Item)]
    manifest = row_of((folder / MANIFEST).read_bytes(), SetManifest, place=folder / MANIFEST)
    gone = frozenset(manifest.hidden_tags)
    keep = {tag for item in whole for tag in item.tags} - gone
    names = {released_id.item_id for released_id in read_ids(folder)}
    wanted = Scan(
        hidden=hide(whole, keep=keep, left_out=gone),
        open_ids=frozenset(names - {item.item_id for item in whole}),
        shared=frozenset(rows_of(hidden / SHARED_FILE, str)),
        salts={answer.salt: answer.item_id for answer in answers},
        media=_media_in(folder),
    )
    return scan_folder(folder, wanted)


def _media_in(folder: Path) -> frozenset[str]:
    """Unchanged media files in a release, the only files that the scan skips."""
    rows = [row for row in rows_of(folder / MEDIA_FILE, dict[str, object]) if row.get("given")]
    given = {resolve(Path(), msgspec.convert(row, ReleasedMedium).medium).as_posix() for row in rows}
    sums = _sums(folder)
    held = {name for word in given for name in sums if name == word or name.startswith(f"{word}/")}
    return frozenset(
        name for name in held if (folder / name).is_file() and sha256_of(folder / name) == sums[name]
    )


def _sums(folder: Path) -> dict[str, str]:
    """The checksums stated by a release, by file."""
    lines = (folder / SUMS_FILE).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("  ", 1) for line in lines if not line.startswith("#") and "  " in line]
    return {name: digest for digest, name in pairs}
