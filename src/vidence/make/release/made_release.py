"""Release from a `make` run: like `vidence items release`, with the maker's knowledge."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from vidence.engine.jobs import NamedModel
from vidence.engine.limits import AskLimits
from vidence.errors import UsageError
from vidence.make.gates.licences import LicenceCheck
from vidence.make.gates.rules import ReleaseRules, ReviewFolder
from vidence.make.pipeline.ledger import Account, Ledger
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import MakerConfig, Session
from vidence.make.release.admission import read_withdrawn, with_licence, withdrawn_since
from vidence.make.release.media import MediaFiles, MediaRules, inside_one_folder
from vidence.make.release.papers import NO_SECTION, Section, read_agreement
from vidence.make.release.sets import ReleasedSet, SetMaterial, SetRules, release_set
from vidence.make.release.writing import RELEASE, SUMS_FILE
from vidence.make.review.files import PROTOCOL_FILE, Reviews, read_reviews
from vidence.make.review.rates import rates_of
from vidence.records import Item

SECRET_BYTES: Final = 32
_SEED: Final = 0  # of intervals in the datasheet


class MakingRelease(ReleaseRules, omit_defaults=True):
    """``[release]`` of a maker: the flags of `vidence items release`.

    Paths start from the folder of the configuration. `formats` are names of exporters, `hidden` the splits
    whose answers stay at home, `stratify` tags that `splits` spread evenly. `media_files` puts media into the
    release where their licence allows it, or is one of `media_licences`. `agreement`, `withdrawn` are files,
    `after` is the release before.
    """

    formats: tuple[str, ...] = ("items",)
    hidden: tuple[str, ...] = ()
    stratify: tuple[str, ...] = ()
    keep_tags: tuple[str, ...] = ()
    hide_tags: tuple[str, ...] = ()
    media_files: MediaFiles = "none"
    media_licences: tuple[str, ...] = ()
    agreement: str = ""
    withdrawn: str = ""
    after: str = ""


@dataclass(frozen=True, kw_only=True)
class ReleaseExtras:
    """What a maker adds about its questions.

    `rows` are further lines by file and question; those of hidden questions stay at home. `licences` is what
    was found of films; None if they were not looked at. `making` and `reviewed` go into the datasheet.
    `is_decided` says that the maker itself has left out what people did not accept.
    """

    rows: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    licences: Mapping[str, LicenceCheck] | None = None
    making: Section = NO_SECTION
    reviewed: Section = NO_SECTION
    is_decided: bool = False


NO_EXTRAS: Final = ReleaseExtras()


@dataclass(frozen=True, kw_only=True)
class Making:
    """Input to a release besides the questions and the rules.

    Args:
        name: of the set.
        root: the folder of the configuration.
        media_root: the folder that paths of media start from.
        seed: decides the splits.
        account: that of the making so far.
        fresh_secret: what salts are drawn from where there is no secret yet.
        reviews: where people have looked; the questions are those that it left.
        extras: what the maker knows besides.
    """

    name: str
    root: Path
    media_root: Path
    seed: int
    account: Account
    fresh_secret: bytes
    reviews: Reviews | None = None
    extras: ReleaseExtras = NO_EXTRAS


@dataclass(frozen=True, kw_only=True)
class ReleasedMaking:
    """The result; `released` is None if no question was left."""

    items: tuple[Item, ...]
    dropped: tuple[Dropped, ...]
    sentences: tuple[str, ...]
    files: tuple[Path, ...] = ()
    released: ReleasedSet | None = None


def release_making(
    items: Sequence[Item], rules: MakingRelease, making: Making, *, into: Path
) -> ReleasedMaking:
    """Write ``into/NAME-VERSION`` as `release_set` does; what has no licence is dropped.

    Raises:
        UsageError: as for `release_set`, or a file that the rules name is not there.
        DataError: as for `release_set`.
        StoreError: it cannot be written.
    """
    ledger = Ledger()
    kept = with_licence(items, ledger, checks=making.extras.licences, without_licence=rules.without_licence)
    dropped = tuple(msgspec.structs.replace(entry, stage=RELEASE) for entry in ledger.dropped)
    if not kept:
        hint = f" ({dropped[0].detail})" if dropped else ""
        nothing = f"Nothing is released: no question is left{hint}."
        return ReleasedMaking(items=(), dropped=dropped, sentences=(nothing,))
    kept, root = inside_one_folder(kept, making.media_root)
    released_set = release_set(
        kept, _rules(rules, making, media_root=root), _material(rules, making, kept), into=into
    )
    messages = [f"Release {released_set.folder}: {len(kept):,} questions."]
    if released_set.parts.hidden.whole:
        n = len(released_set.parts.hidden.whole)
        messages.append(
            f"The answers of {n:,} questions are in {released_set.hidden_files[0].parent}, for you alone."
        )
    messages += [released_set.facts.media.words] if released_set.facts.media.words else []
    messages += [released_set.parts.shared] if released_set.parts.shared else []
    return ReleasedMaking(
        items=kept,
        dropped=dropped,
        sentences=tuple(messages),
        files=(released_set.folder / SUMS_FILE,),
        released=released_set,
    )


class MadeConfig(MakerConfig, omit_defaults=True):
    """The part of a configuration about gates, review and release.

    `seed` decides orders and splits. `models` are asked by their names.
    """

    seed: int = 0
    models: Mapping[str, NamedModel | str] = msgspec.field(default_factory=dict)
    asking: AskLimits = AskLimits()
    review: ReviewFolder | None = None
    release: MakingRelease | None = None


def release_questions(
    work: Session,
    items: Sequence[Item],
    config: MadeConfig,
    *,
    media_root: Path,
    extras: ReleaseExtras = NO_EXTRAS,
) -> tuple[Item, ...]:
    """Run the stage ``release``: release the remaining questions and close the account.

    A session that was narrowed releases nothing, and nothing is released that a review has not accepted.

    Args:
        work: the session.
        items: what is left of the questions.
        config: its configuration.
        media_root: the folder that paths of media start from.
        extras: what the maker knows of the questions besides.

    Raises:
        UsageError: as for `release_making` and `refuse_unreviewed`.
        DataError: as for `release_making`.
        StoreError: it cannot be written.
    """
    rules, review = config.release, config.review
    if rules is None:
        return tuple(items)
    if work.overrides.only or work.overrides.limit is not None:
        work.sentences.append("Nothing is released by a session that was narrowed with --only or --limit.")
        return tuple(items)
    refuse_unreviewed(rules, is_reviewed=review is not None)
    if not items:
        return ()
    folder = None if review is None else work.root / review.folder
    has_review = folder is not None and (folder / PROTOCOL_FILE).is_file()
    making = Making(
        name=config.name,
        root=work.root,
        media_root=media_root,
        seed=config.seed,
        account=work.ledger.account(work.tasks),
        fresh_secret=os.urandom(SECRET_BYTES),
        reviews=read_reviews(folder) if folder is not None and has_review else None,
        extras=extras,
    )
    waiting = () if rules.unreviewed or extras.is_decided else _waiting(items, making.reviews)
    gone = {dropped.what for dropped in waiting}
    left = [item for item in items if item.item_id not in gone]
    released_making = release_making(left, rules, making, into=work.out / RELEASE)
    work.close(
        RELEASE,
        unit="questions",
        taken=[item.item_id for item in items],
        kept=[item.item_id for item in released_making.items],
        dropped=[*waiting, *released_making.dropped],
    )
    work.files += released_making.files
    work.sentences += released_making.sentences
    return released_making.items


def _waiting(items: Sequence[Item], reviews: Reviews | None) -> tuple[Dropped, ...]:
    """Questions that people have not accepted."""
    states = {} if reviews is None else {name: state.state for name, state in reviews.states.items()}
    return tuple(
        Dropped(
            what=item.item_id,
            stage=RELEASE,
            reason="not-accepted",
            detail=states.get(item.item_id, "not reviewed"),
        )
        for item in items
        if states.get(item.item_id) != "accepted"
    )


def refuse_unreviewed(rules: MakingRelease, *, is_reviewed: bool) -> None:
    """Reject to release unreviewed questions, unless the rules allow it.

    Raises:
        UsageError: there is no review.
    """
    if not is_reviewed and not rules.unreviewed:
        raise UsageError(
            "[release] without [review]: these questions are not reviewed. Add [review], or set "
            "unreviewed = true in [release]; the datasheet then says so"
        )


def _rules(rules: MakingRelease, making: Making, *, media_root: Path) -> SetRules:
    return SetRules(
        name=making.name,
        about=rules,
        formats=rules.formats,
        shares=rules.splits,
        stratify=rules.stratify,
        seed=making.seed,
        hidden=frozenset(rules.hidden),
        keep_tags=frozenset(rules.keep_tags),
        hide_tags=frozenset(rules.hide_tags),
        media=MediaRules(files=rules.media_files, root=media_root, licences=frozenset(rules.media_licences)),
    )


def _material(rules: MakingRelease, making: Making, items: Sequence[Item]) -> SetMaterial:
    gone = read_withdrawn(making.root / rules.withdrawn) if rules.withdrawn else ()
    before = making.root / rules.after if rules.after else None
    if before is not None:
        gone = withdrawn_since(before, items, now_withdrawn=gone, version=rules.version)
    reviews, rng = making.reviews, np.random.default_rng(_SEED)
    return SetMaterial(
        account=making.account,
        rates=None if reviews is None else rates_of(reviews, rng=rng),
        licences=making.extras.licences,
        agreement=read_agreement(making.root / rules.agreement) if rules.agreement else None,
        withdrawn=gone,
        rows=making.extras.rows,
        fresh_secret=making.fresh_secret,
        making=making.extras.making,
        reviewed=making.extras.reviewed,
    )
