"""Release a dataset: formats, datasheet, checksums, hidden answers of a split."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from vidence.console.files import screen, show, write_said
from vidence.console.flags import FOLDER, JSON, argument, command, flag
from vidence.engine.environment import now
from vidence.engine.question_set import QuestionSet
from vidence.errors import UsageError
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.make.gates.licences import LicenceCheck
    from vidence.make.gates.rules import ReleaseRules
    from vidence.make.pipeline.ledger import Account
    from vidence.make.release.scan import Leak
    from vidence.make.release.sets import ReleasedSet, SetMaterial
    from vidence.records import Item
    from vidence.tables.table import Table

GROUP = "items"

GIVES_AWAY = 3  # a folder tells hidden answers
_SECRET_BYTES = 32
_SEED = 0  # of intervals in the datasheet
_MOST_LISTED = 50


class Papers(Record):
    """The files added to a release besides the questions."""

    account: Annotated[Path | None, flag("account.json of vidence make, for the datasheet.")] = None
    review: Annotated[Path | None, flag("Review folder; release only accepted questions.")] = None
    licences: Annotated[Path | None, flag("File of vidence videos licence; every video must pass.")] = None
    manual: Annotated[Path | None, flag("Sheet that two people filled in, for --licences.")] = None
    agreement: Annotated[
        Path | None, flag("User agreement; if the file does not exist, a form to fill in.")
    ] = None
    withdrawn: Annotated[Path | None, flag("Withdrawn questions: JSON lines with item_id and reason.")] = None
    after: Annotated[Path | None, flag("Previous release; questions missing since then are withdrawn.")] = (
        None
    )


class Release(Record):
    """What to release, and how."""

    what: Annotated[str, argument("ITEMS")]
    into: Annotated[Path | None, flag("Parent folder; the release is NAME-VERSION in it.", type=FOLDER)] = (
        None
    )
    version: Annotated[str | None, flag("Version (default: that of --about, or 1.0.0).")] = None
    name: Annotated[str | None, flag("Name of the dataset (default: that of the file).")] = None
    about: Annotated[
        Path | None, flag("TOML file with title, authors, contact, url, date, licence, without_licence, …")
    ] = None
    formats: Annotated[str, flag("Formats; see vidence list exporters.", "--format", metavar="NAME,…")] = (
        "items"
    )
    media: Annotated[str | None, flag("Folder of the media files.", metavar="FOLDER")] = None
    media_files: Annotated[
        Literal["none", "copy", "link"], flag("Include the media files whose licence allows it.")
    ] = "none"
    hide: Annotated[str, flag("Splits whose answers stay hidden.", metavar="SPLIT,…")] = ""
    papers: Papers
    push: Annotated[str | None, flag("Also push to the Hugging Face hub.", metavar="OWNER/NAME")] = None
    scan: Annotated[
        Path | None, flag("Check whether the release ITEMS reveals these hidden answers.", metavar="HIDDEN")
    ] = None
    json_path: Annotated[Path | None, JSON] = None


@command()
def release(given: Release) -> int:
    """Release the questions of ITEMS: formats, datasheet, checksums, hidden answers in a separate folder.

    Splits are the values of the tag split; see vidence items split. Writes INTO/NAME-VERSION, complete or not
    at all, and for hidden splits INTO/NAME-VERSION.hidden, which only you may read. Every format is read back
    and every file scanned for hidden answers first. With --scan, the exit code is 3 if a file reveals one.
    """
    if given.scan is not None:
        return _scan(Path(given.what), given.scan, json_path=given.json_path)
    if given.into is None:
        raise UsageError("no folder for the releases; give one: --into releases")
    from vidence.make.release.media import MediaRules, inside_one_folder
    from vidence.make.release.sets import SetRules, release_set

    result = screen(given.json_path)
    read = QuestionSet(what=given.what, media=given.media).load().with_answers(doing="a release")
    items, root = inside_one_folder(read.items, read.loaded.media_root)
    rules = SetRules(
        name=given.name or Path(given.what).name.partition(".")[0],
        about=_about(given.about, given.version),
        formats=_words(given.formats),
        hidden=frozenset(_words(given.hide)),
        media=MediaRules(files=given.media_files, root=root),
    )
    material = _material(given.papers, items, version=rules.about.version)
    released = release_set(items, rules, material, into=given.into)
    sentences = [*_sentences(released), *_cautions(Path(given.what), material.account)]
    if given.push is not None:
        from vidence.make.release.push import push

        sentences.append(f"It is at {push(released, given.push)}; a data set that is new is private.")
    write_said(given.json_path, "release", sentences=sentences, tables=[_table(released)])
    show(result, sentences, [_table(released)])
    return 0


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _about(path: Path | None, version: str | None) -> "ReleaseRules":
    import msgspec

    from vidence.engine.config_file import read_config
    from vidence.make.gates.rules import ReleaseRules

    rules = ReleaseRules() if path is None else read_config(path, ReleaseRules)
    return msgspec.structs.replace(rules, version=version or rules.version)


# --------------------------------------------------------------------------- what is given besides


def _material(papers: Papers, items: "Sequence[Item]", *, version: str) -> "SetMaterial":
    import numpy as np

    from vidence.make.pipeline.ledger import read_account
    from vidence.make.release.admission import read_withdrawn, withdrawn_since
    from vidence.make.release.papers import read_agreement
    from vidence.make.release.sets import SetMaterial
    from vidence.make.review.files import read_reviews
    from vidence.make.review.rates import rates_of

    reviews = None if papers.review is None else read_reviews(papers.review)
    gone = () if papers.withdrawn is None else read_withdrawn(papers.withdrawn)
    if papers.after is not None:
        gone = withdrawn_since(papers.after, items, now_withdrawn=gone, version=version)
    return SetMaterial(
        account=None if papers.account is None else read_account(papers.account),
        reviews=reviews,
        rates=None if reviews is None else rates_of(reviews, rng=np.random.default_rng(_SEED)),
        licences=None if papers.licences is None else _licences(papers.licences, papers.manual, items),
        agreement=None if papers.agreement is None else read_agreement(papers.agreement),
        withdrawn=gone,
        fresh_secret=os.urandom(_SECRET_BYTES),
    )


def _cautions(what: Path, account: "Account | None") -> "Sequence[str]":
    """Return the cautions of the `make` run, from its account."""
    from vidence.make.pipeline.ledger import ACCOUNT_FILE, read_account

    path = what.parent / ACCOUNT_FILE
    if account is not None:
        return [f"Caution: {warning}." for warning in account.warnings]
    if not what.is_file() or not path.is_file():
        return ()
    return [
        f"Caution: {warning}. The datasheet does not say so: name {path} with --account."
        for warning in read_account(path).warnings
    ]


def _licences(kept: Path, manual: Path | None, items: "Sequence[Item]") -> "Mapping[str, LicenceCheck]":
    """Return the licences of the videos; checks older than 30 days are repeated."""
    from vidence.make.commands.licence import client
    from vidence.make.gates.licence_checking import check_licences
    from vidence.make.gates.licences import LicenceCheck, read_looks
    from vidence.make.release.admission import film_of

    known = {look.video for look in read_looks(kept, LicenceCheck)}
    films = list(dict.fromkeys(film for item in items if (film := film_of(item, known)) is not None))
    *_, checked = check_licences(films, kept=kept, now=now(), api=client, manual=manual)
    return {check.video: check for check in checked.checks}


# --------------------------------------------------------------------------- what is said


def _sentences(released_set: "ReleasedSet") -> "Sequence[str]":
    parts = released_set.parts
    sentences = [
        f"Release {released_set.folder}: {len(parts.open_ones):,} questions with answers, "
        f"{len(parts.hidden.public):,} without{'' if released_set.is_new else '; as it was'}."
    ]
    for stage in parts.account.stages:
        if stage.n_dropped:
            reasons = ", ".join(f"{n:,} {why}" for why, n in stage.dropped.items())
            sentences.append(
                f"{stage.stage}: {stage.n_dropped:,} of {stage.n_in:,} questions left out ({reasons})."
            )
    if parts.hidden.tags:
        sentences.append(f"Left out with the hidden answers: the tags {', '.join(parts.hidden.tags)}.")
    if released_set.facts.media.words:
        sentences.append(released_set.facts.media.words)
    if released_set.hidden_files:
        folder = released_set.hidden_files[0].parent
        sentences.append(f"The answers are in {folder}, readable by you alone; keep it secret.")
    return [*sentences, parts.shared] if parts.shared else sentences


def _table(released_set: "ReleasedSet") -> "Table":
    from vidence.tables.table import RowSpec, tabulate, words

    lost = {
        exporter.name: ", ".join(f"{k} {n}" for k, n in released_set.losses[exporter.name].items())
        for exporter in released_set.facts.formats
    }
    return tabulate(
        "formats",
        "Formats",
        label="format",
        rows=[RowSpec(name, name, name) for name in lost],
        measures=[words("lost", lambda name: lost[name] or "nothing", "what it does not hold")],
    )


# --------------------------------------------------------------------------- a folder looked through


def _scan(folder: Path, hidden: Path, *, json_path: Path | None) -> int:
    """Scan an existing release for its hidden answers."""
    from vidence.make.release.sets import scan_again

    result = screen(json_path)
    leaks: Sequence[Leak] = scan_again(folder, hidden)
    messages = (
        [f"{folder} tells no hidden answer."] if not leaks else [str(leak) for leak in leaks[:_MOST_LISTED]]
    )
    if len(leaks) > _MOST_LISTED:
        messages.append(f"and {len(leaks) - _MOST_LISTED:,} more places")
    write_said(json_path, "release", sentences=messages)
    show(result, messages, ())
    return GIVES_AWAY if leaks else 0
