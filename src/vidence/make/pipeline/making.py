"""What a maker of questions takes and gives: one file in ``construction/makers/``, made by ``create()``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from vidence.engine.events import Event, Listener
from vidence.make.pipeline.accounts import Account, Books
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.progress import MakeListener, StageBegan, StageEnded, nobody
from vidence.records import Record


def _deaf(event: Event) -> None:
    """For whoever does not listen to models."""


class MakeWishes(Record, kw_only=True, omit_defaults=True):
    """What a user wants of one session beside the configuration; nothing of it changes a question.

    `only` are the tasks (or other parts of the maker) to make, `until` the last stage to do, `limit` how
    many sources to use.
    """

    only: tuple[str, ...] = ()
    until: str = ""
    limit: int | None = None


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """What a maker takes from outside: folders, cores, who listens. Nothing of it changes a question.

    `memory` is the file of remembered replies, shared with runs. `on_event` hears of stages, `on_asking`
    of the models that are asked.
    """

    cache_root: Path
    memory: Path
    cache_max_bytes: int = 20 * 2**30
    n_workers: int = 1
    on_event: MakeListener = field(default=nobody)
    on_asking: Listener = field(default=_deaf)


@dataclass(frozen=True, kw_only=True)
class Built:
    """What a session made: the folder, the account of everything, the files, and words for the user."""

    folder: Path
    account: Account
    files: tuple[Path, ...]
    sentences: tuple[str, ...]


class Maker(Protocol):
    """Turns material into a set of questions.

    A maker keeps its results with `stages.Shelf`, so that the same call goes on where a killed one was,
    and accounts for every thing with `accounts.Books`. `stages` are the names of its stages, in order.
    """

    name: str
    version: int
    stages: tuple[str, ...]

    def check(self, config: Path) -> None:
        """Read the configuration and see that what it names exists; nothing is made.

        Raises:
            VidenceError: what is wrong with it.
        """

    def make(self, config: Path, *, out: Path | None, wishes: MakeWishes, workshop: Workshop) -> Built:
        """Make the questions, or go on with making them.

        Args:
            config: the configuration.
            out: the folder to work in (None: as the configuration says).
            wishes: what is wanted of this session.
            workshop: what is taken from outside.

        Raises:
            VidenceError: it cannot go on; everything made so far is kept.
        """


# Which drafts stay, and why the others do not: quality gates, filters, balance.
Sieve: TypeAlias = Callable[[Sequence[Draft]], tuple[Sequence[Draft], Sequence[Dropped]]]


def sift(
    stage: str, drafts: Sequence[Draft], sieve: Sieve, *, books: Books, on_event: MakeListener = nobody
) -> tuple[Draft, ...]:
    """Put drafts through a sieve and close its account: this is where quality gates go in.

    Args:
        stage: the name of the gate.
        drafts: what comes in.
        sieve: keeps some of them; each of the others is among its `Dropped` under its ``draft_id``.
        books: where the account is written down.
        on_event: told of begin and end.

    Raises:
        AccountError: the sieve lost, doubled or invented a draft.
    """
    on_event(StageBegan(stage=stage, n_units=len(drafts)))
    kept, dropped = sieve(drafts)
    account = books.close(
        stage,
        unit="drafts",
        taken=[draft.draft_id for draft in drafts],
        kept=[draft.draft_id for draft in kept],
        dropped=dropped,
    )
    on_event(StageEnded(account=account))
    return tuple(kept)
