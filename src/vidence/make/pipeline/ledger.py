"""The ledger of a run: inputs, outputs and drops of each stage; progress events."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import msgspec

from vidence.errors import AccountError, DataError, cause
from vidence.make.pipeline.material import Dropped
from vidence.media.whole import write_into
from vidence.records import Record

ACCOUNT_FILE, DROPPED_FILE = "account.json", "dropped.jsonl"
_MOST_NAMED = 3


class StageAccount(Record, omit_defaults=True):
    """The account of a stage: ``n_in = n_out + sum(dropped.values())``. `unit` names what is counted.

    `dropped` counts by reason; each single thing that was dropped is in ``dropped.jsonl``.
    """

    stage: str
    unit: str
    n_in: int
    n_out: int
    dropped: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def n_dropped(self) -> int:
        """How many were dropped, for whatever reason."""
        return sum(self.dropped.values())


class Account(Record):
    """All stages in order, and how many questions there are in the end, by task.

    `cautions` are said wherever the questions are released; without one the field is not there.
    """

    format: str = "vidence-make-account/1"
    stages: tuple[StageAccount, ...]
    questions: dict[str, int] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def warnings(self) -> tuple[str, ...]:
        """The cautions; none where there is no such field."""
        return () if self.cautions is msgspec.UNSET else self.cautions


def read_account(path: Path) -> Account:
    """The account of a making, out of its file.

    Raises:
        DataError: it cannot be read, or is none.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Account)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({cause(error)})") from error
    except msgspec.DecodeError as error:
        raise DataError(f"{path} is no account of a making: {error}") from error


def balanced(
    stage: str, *, unit: str, taken: Collection[str], kept: Collection[str], dropped: Sequence[Dropped]
) -> StageAccount:
    """The account of a stage, if every thing that came in was either kept or dropped, once.

    Args:
        stage: its name.
        unit: what is counted, such as ``drafts``.
        taken: the ids of what came in.
        kept: the ids of what came out.
        dropped: what did not, with the ids in `what`.

    Raises:
        AccountError: something is lost, there twice, both kept and dropped, or came from nowhere.
    """
    gone = [entry.what for entry in dropped]
    into = set(taken)
    faults = {
        "came in twice": _doubled(taken),
        "came out or were dropped twice": _doubled([*kept, *gone]),
        "came out without having come in": [name for name in (*kept, *gone) if name not in into],
        "are lost": sorted(into - {*kept, *gone}),
    }
    for what, names in faults.items():
        if names:
            listed = ", ".join(map(repr, names[:_MOST_NAMED]))
            raise AccountError(
                f"the account of the stage {stage!r} does not hold: {len(names)} {unit} {what} ({listed}); "
                f"{len(taken)} came in, {len(kept)} came out, {len(gone)} were dropped. This is a bug in the "
                "stage, not in the data"
            )
    return StageAccount(
        stage=stage,
        unit=unit,
        n_in=len(taken),
        n_out=len(kept),
        dropped=dict(sorted(Counter(entry.reason for entry in dropped).items())),
    )


def write_file(path: Path, content: bytes) -> None:
    """Write a file of a set, whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    write_into(path.parent, {path.name: content})


def _doubled(names: Iterable[str]) -> list[str]:
    return [name for name, n in Counter(names).items() if n > 1]


# --------------------------------------------------------------------------- progress


@dataclass(frozen=True, kw_only=True)
class StageBegan:
    """A stage begins; `n_units` is how many pieces of work it has, `n_done` how many are done already.

    With `counts_frames` the pieces are frames, and `FramesDone` tells of them; otherwise `UnitDone` does.
    """

    stage: str
    n_units: int
    n_done: int = 0
    counts_frames: bool = False


@dataclass(frozen=True, kw_only=True)
class FramesDone:
    """This many frames more of a video are done, in a stage that counts frames."""

    video_id: str
    n_frames: int


@dataclass(frozen=True, kw_only=True)
class UnitDone:
    """A piece of work is done; `was_cached` where an earlier session had done it."""

    stage: str
    unit: str
    was_cached: bool


@dataclass(frozen=True, kw_only=True)
class StageEnded:
    """A stage is done, and its account holds; `n_cached` results were there from an earlier session."""

    account: StageAccount
    n_cached: int = 0


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Something is wrong with one source; the others go on."""

    message: str


MakeEvent: TypeAlias = StageBegan | FramesDone | UnitDone | StageEnded | Trouble
MakeListener: TypeAlias = Callable[[MakeEvent], None]


def ignore(event: MakeEvent) -> None:
    """The default listener of stages; ignores events."""


# --------------------------------------------------------------------------- the whole


@dataclass(kw_only=True)
class Ledger:
    """The accounts of one session, stage by stage, with everything that was dropped."""

    stages: list[StageAccount] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)

    def close(
        self,
        stage: str,
        *,
        unit: str,
        taken: Collection[str],
        kept: Collection[str],
        dropped: Sequence[Dropped],
    ) -> StageAccount:
        """Write down one stage; errors as for `balanced`."""
        account = balanced(stage, unit=unit, taken=taken, kept=kept, dropped=dropped)
        self.stages.append(account)
        self.dropped.extend(dropped)
        return account

    def account(self, questions: Iterable[str]) -> Account:
        """The whole account; `questions` are the tasks of those that are left, one each."""
        return Account(
            stages=tuple(self.stages),
            questions=dict(sorted(Counter(questions).items())),
            notes=tuple(self.notes),
            cautions=tuple(self.cautions) or msgspec.UNSET,
        )

    def write(self, folder: Path, questions: Iterable[str]) -> Account:
        """Write ``account.json`` and ``dropped.jsonl``.

        Raises:
            StoreError: they cannot be written.
        """
        account = self.account(questions)
        lines = b"".join(msgspec.json.encode(dropped) + b"\n" for dropped in self.dropped)
        write_file(folder / ACCOUNT_FILE, msgspec.json.format(msgspec.json.encode(account)) + b"\n")
        write_file(folder / DROPPED_FILE, lines)
        return account
