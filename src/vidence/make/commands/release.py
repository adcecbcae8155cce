"""Give a set away: formats, datasheet, checksums; answers of a split stay hidden."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from vidence.console.files import screen, show, write_said
from vidence.console.options import PATH, json_option
from vidence.engine.environment import now
from vidence.engine.plan import PlanOverrides
from vidence.errors import UsageError
from vidence.make.commands.gate import load_items
from vidence.make.commands.split import shares_of

if TYPE_CHECKING:
    from vidence.make.gates.licence_checks import LicenceCheck
    from vidence.make.gates.rules import ReleaseRules
    from vidence.make.pipeline.ledger import Account
    from vidence.make.release.scan import Leak
    from vidence.make.release.sets import ReleasedSet, SetMaterial
    from vidence.records import Item
    from vidence.tables.table import Table

SECTION = "Make"

GIVES_AWAY = 3  # a folder tells hidden answers
_SECRET_BYTES = 32
_SEED = 0  # of intervals in the datasheet
_MOST_LISTED = 50


@dataclass(frozen=True, kw_only=True)
class Papers:
    """The files that a release is given besides the questions."""

    account: Path | None
    review: Path | None
    licences: Path | None
    manual: Path | None
    agreement: Path | None
    withdrawn: Path | None
    after: Path | None


@click.command()
@click.argument("what", metavar="ITEMS")
@click.option(
    "--into", type=click.Path(path_type=Path, file_okay=False), help="Folder of releases: NAME-VERSION in it."
)
@click.option("--version", help="Of this release (default: that of --about, or 1.0.0).")
@click.option("--name", help="Of the set (default: the name of the file).")
@click.option("--about", type=PATH, help="TOML file: title, authors, contact, url, date, licence, …")
@click.option(
    "--format",
    "formats",
    default="items",
    show_default=True,
    metavar="NAME,…",
    help="In which formats; see vidence list exporters.",
)
@click.option("--data", type=PATH, help="A benchmark's questions, for a name of one.")
@click.option("--part", metavar="SPLIT", help="The part of the benchmark.")
@click.option("--media", type=PATH, help="The folder in which the media lie.")
@click.option(
    "--media-files",
    type=click.Choice(["none", "copy", "link"]),
    default="none",
    show_default=True,
    help="Put the files of media into the release, where their licence allows it.",
)
@click.option("--shares", metavar="NAME=SHARE,…", help="Cut splits by source (default: by the tag split).")
@click.option(
    "--stratify", default="", metavar="TAG,…", help="Spread the values of these tags over --shares."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the order of sources.")
@click.option("--hide", default="", metavar="SPLIT,…", help="Splits whose answers are not released.")
@click.option("--account", type=PATH, help="The account.json of the making, for the datasheet.")
@click.option("--review", type=PATH, help="Folder of a review: only what it accepted is released.")
@click.option("--licences", type=PATH, help="File of vidence licence check: films must pass it.")
@click.option("--manual", type=PATH, help="The sheet that two people filled, for --licences.")
@click.option(
    "--without-licence", multiple=True, metavar="NAME", help="Sources allowed without a licence; all: any."
)
@click.option(
    "--agreement", type=PATH, help="Text that users agree to; headings are written if it is absent."
)
@click.option("--withdrawn", type=PATH, help="Withdrawn questions: JSON lines with item_id and reason.")
@click.option("--after", type=PATH, help="The release before: what is gone since is withdrawn.")
@click.option(
    "--scan", type=PATH, metavar="HIDDEN", help="Look whether the release ITEMS tells these answers."
)
@json_option
def release(
    *,
    what: str,
    into: Path | None,
    version: str | None,
    name: str | None,
    about: Path | None,
    formats: str,
    data: Path | None,
    part: str | None,
    media: Path | None,
    media_files: Literal["none", "copy", "link"],
    shares: str | None,
    stratify: str,
    seed: int,
    hide: str,
    without_licence: tuple[str, ...],
    scan: Path | None,
    json_path: Path | None,
    **papers: Path | None,
) -> int:
    """Release the questions of ITEMS: formats, datasheet, checksums, hidden answers apart.

    Written is INTO/NAME-VERSION, whole or not at all, and where splits are hidden INTO/NAME-VERSION.hidden,
    which is for you alone. Before the folder gets its name every format is read back, and every file is
    looked through for hidden answers. With --scan exit code 3: a file tells one.
    """
    if scan is not None:
        return _scan(Path(what), scan, json_path=json_path)
    if into is None:
        raise UsageError("where to? Name the folder of releases: --into releases")
    from vidence.make.release.media import MediaRules, inside_one_folder
    from vidence.make.release.sets import SetRules, release_set

    shown = screen(json_path)
    given: PlanOverrides = {"split": part, "media": str(media) if media else None}
    loaded, items = load_items(what, data, overrides=given)
    items, root = inside_one_folder(items, loaded.media_root)
    rules = SetRules(
        name=name or Path(what).name.partition(".")[0],
        about=_about(about, version, without_licence),
        formats=_words(formats),
        shares=shares_of(shares) if shares else {},
        stratify=_words(stratify),
        seed=seed,
        hidden=frozenset(_words(hide)),
        media=MediaRules(files=media_files, root=root),
    )
    material = _material(Papers(**papers), items, version=rules.about.version)
    found = release_set(items, rules, material, into=into)
    sentences = [*_sentences(found), *_cautions(Path(what), material.account)]
    write_said(json_path, "release", sentences=sentences, tables=[_table(found)])
    show(shown, sentences, [_table(found)])
    return 0


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _about(path: Path | None, version: str | None, without_licence: tuple[str, ...]) -> "ReleaseRules":
    import msgspec

    from vidence.engine.config_file import read_config
    from vidence.make.gates.rules import ReleaseRules

    found = ReleaseRules(version=version or "1.0.0") if path is None else read_config(path, ReleaseRules)
    allowed = (*found.without_licence, *without_licence)
    return msgspec.structs.replace(found, version=version or found.version, without_licence=allowed)


# --------------------------------------------------------------------------- what is given besides


def _material(papers: Papers, items: "Sequence[Item]", *, version: str) -> "SetMaterial":
    import numpy as np

    from vidence.make.pipeline.ledger import read_account
    from vidence.make.release.papers import read_agreement
    from vidence.make.release.sets import SetMaterial
    from vidence.make.release.withdrawn import read_withdrawn, withdrawn_since
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
    """What the making says must not go unnoticed: by the account that was named, or the one beside ITEMS."""
    from vidence.make.pipeline.ledger import ACCOUNT_FILE, read_account

    beside = what.parent / ACCOUNT_FILE
    if account is not None:
        return [f"Caution: {said}." for said in account.warnings]
    if not what.is_file() or not beside.is_file():
        return ()
    return [
        f"Caution: {said}. The datasheet does not say so: name {beside} with --account."
        for said in read_account(beside).warnings
    ]


def _licences(kept: Path, manual: Path | None, items: "Sequence[Item]") -> "Mapping[str, LicenceCheck]":
    """What is known of the films of the questions; what is older than 30 days is asked again."""
    from vidence.make.commands.licence import client
    from vidence.make.gates.licence_checking import check_licences
    from vidence.make.gates.licence_checks import LicenceCheck, read_looks
    from vidence.make.release.admission import film_of

    known = {one.video for one in read_looks(kept, LicenceCheck)}
    films = list(dict.fromkeys(film for item in items if (film := film_of(item, known)) is not None))
    *_, checked = check_licences(films, kept=kept, now=now(), api=client, manual=manual)
    return {one.video: one for one in checked.checks}


# --------------------------------------------------------------------------- what is said


def _sentences(found: "ReleasedSet") -> "Sequence[str]":
    parts = found.parts
    said = [
        f"Release {found.folder}: {len(parts.open_ones):,} questions with answers, "
        f"{len(parts.hidden.public):,} without{'' if found.is_new else '; as it was'}."
    ]
    for stage in parts.account.stages:
        if stage.n_dropped:
            reasons = ", ".join(f"{n:,} {why}" for why, n in stage.dropped.items())
            said.append(
                f"{stage.stage}: {stage.n_dropped:,} of {stage.n_in:,} questions left out ({reasons})."
            )
    if parts.hidden.tags:
        said.append(f"Left out with the hidden answers: the tags {', '.join(parts.hidden.tags)}.")
    if found.facts.media.words:
        said.append(found.facts.media.words)
    if found.hidden_files:
        folder = found.hidden_files[0].parent
        said.append(f"The answers are in {folder}, for you alone; keep it, and give it to nobody.")
    return [*said, parts.shared] if parts.shared else said


def _table(found: "ReleasedSet") -> "Table":
    from vidence.tables.table import RowSpec, number, tabulate

    lost = {
        one.name: ", ".join(f"{k} {n}" for k, n in found.losses[one.name].items())
        for one in found.facts.formats
    }
    return tabulate(
        "formats",
        "Formats",
        label="format",
        rows=[RowSpec(name, name, name) for name in lost],
        measures=[number("lost", lambda name: lost[name] or "nothing", "what it does not hold", kind="text")],
    )


# --------------------------------------------------------------------------- a folder looked through


def _scan(folder: Path, hidden: Path, *, json_path: Path | None) -> int:
    """Look through a release, as it lies there now, for the answers that were hidden with it."""
    from vidence.make.release.rescan import scan_again

    shown = screen(json_path)
    leaks: Sequence[Leak] = scan_again(folder, hidden)
    said = [f"{folder} tells no hidden answer."] if not leaks else [str(one) for one in leaks[:_MOST_LISTED]]
    if len(leaks) > _MOST_LISTED:
        said.append(f"and {len(leaks) - _MOST_LISTED:,} more places")
    write_said(json_path, "release", sentences=said)
    show(shown, said, ())
    return GIVES_AWAY if leaks else 0
