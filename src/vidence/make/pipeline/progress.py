"""What a progress display needs to know of the making of questions; the command line draws it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from vidence.make.pipeline.accounts import StageAccount


@dataclass(frozen=True, kw_only=True)
class StageBegan:
    """A stage begins; `n_units` is how many pieces of work it has."""

    stage: str
    n_units: int


@dataclass(frozen=True, kw_only=True)
class UnitDone:
    """A piece of work is done; `was_kept` where an earlier session had done it."""

    stage: str
    unit: str
    was_kept: bool


@dataclass(frozen=True, kw_only=True)
class StageEnded:
    """A stage is done, and its account holds; `n_kept` results were there from an earlier session."""

    account: StageAccount
    n_kept: int = 0


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Something is wrong with one source; the others go on."""

    message: str


MakeEvent: TypeAlias = StageBegan | UnitDone | StageEnded | Trouble
MakeListener: TypeAlias = Callable[[MakeEvent], None]


def nobody(event: MakeEvent) -> None:
    """For whoever does not watch."""
