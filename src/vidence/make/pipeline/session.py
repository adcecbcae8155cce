"""The interface of makers, their stage tables, and the session that runs them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Generic, Protocol, TypedDict, TypeVar, cast

import click

from vidence.console.flags import flag
from vidence.contracts import Flow
from vidence.engine.engine import no_image
from vidence.engine.environment import Environment, now
from vidence.engine.events import Listener
from vidence.engine.executor import Parallelism
from vidence.engine.jobs import Jobs, NamedModel
from vidence.engine.limits import AskLimits
from vidence.engine.side_by_side import side_by_side
from vidence.engine.trust import check, needs_of_spec
from vidence.errors import MediaError, StoreError, UnknownNameError, UsageError, VidenceError, cause
from vidence.make.pipeline.cache import Artifact, ArtifactCache, FlowUnit, KeptRow, MadeAway, Stage, Unit
from vidence.make.pipeline.kept_video import KeptVideo, kept_video
from vidence.make.pipeline.ledger import (
    ACCOUNT_FILE,
    DROPPED_FILE,
    Account,
    Ledger,
    MakeListener,
    StageBegan,
    StageEnded,
    Trouble,
    UnitDone,
    ignore,
)
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.pictures import PICTURES, PictureFolder
from vidence.media.whole import own_folder, remove_leftovers, write_whole
from vidence.records import Failed, Record
from vidence.tables.table import Table

T = TypeVar("T")
WorkT = TypeVar("WorkT", bound="Session")
STAGES_FOLDER: Final = "stages"


class MakeOverrides(Record, omit_defaults=True):
    """Per-session options besides the configuration; they change no question.

    `out` is the folder to work in (None: the configuration's), `only` are the tasks (or other parts of the
    maker). With `sheets` the session ends when they are written.
    """

    out: Annotated[Path | None, flag("Working folder (default: the configuration's).")] = None
    only: Annotated[tuple[str, ...], flag("Make only this task; repeatable.", metavar="TASK")] = ()
    until: Annotated[str, flag("Stop after this stage.", metavar="STAGE")] = ""
    limit: Annotated[int | None, flag("Use only the first N sources.", type=click.IntRange(min=1))] = None
    sheets: Annotated[
        str,
        flag(
            "Only analyse the videos, and write sheets for people to DIR: cards, tracks, shots, counts.",
            type=click.Path(file_okay=False),
            metavar="DIR",
        ),
    ] = ""


@dataclass(frozen=True, kw_only=True)
class BuildContext:
    """The environment of a maker: folders and listeners; it changes no question.

    `memory` is the file of remembered replies, shared with runs. `on_event` hears of stages, `on_asking`
    of the models that are asked.
    """

    cache_root: Path
    memory: Path
    cache_max_bytes: int = 20 * 2**30
    on_event: MakeListener = field(default=ignore)
    on_asking: Listener = field(default=lambda event: None)
    environment: Environment | None = None
    """Where permissions are stored (`engine.trust`); None: nothing is permitted or stored."""
    is_trusted: bool = False
    """Whether the user now permits what the configuration names."""
    parallel: Parallelism = field(default=Parallelism())
    """Where videos are watched, and by how many processes; local models run there, too."""
    clock: Callable[[], datetime] = field(default=now)
    """The time; checks of the outside world are dated by it and expire."""

    @classmethod
    def of(
        cls,
        environment: Environment,
        *,
        on_event: MakeListener = ignore,
        on_asking: Listener = lambda event: None,
        is_trusted: bool = False,
        jobs: int | None = None,
    ) -> "BuildContext":
        """The context of a run, with the reply memory in its cache folder.

        `jobs` is how many processes watch videos (`Parallelism.of`).

        Raises:
            UsageError: the environment names no place to work, or Ray is not installed.
        """
        return cls(
            cache_root=environment.cache_root,
            memory=environment.memory(),
            cache_max_bytes=environment.cache_max_bytes,
            on_event=on_event,
            on_asking=on_asking,
            environment=environment,
            is_trusted=is_trusted,
            parallel=Parallelism.of(environment, jobs=jobs),
        )

    def models(
        self,
        named: Mapping[str, str | NamedModel],
        *,
        source: Path,
        limits: AskLimits,
        out: Path | None = None,
    ) -> Jobs:
        """The models of a configuration, using this context's memory and listener.

        Args:
            named: specs by the names of the configuration.
            source: the file of the configuration.
            limits: how much is asked at once, and for how long.
            out: the folder of the set, in whose ``pictures`` lie those that are shown (None: none is).

        Raises:
            TrustError: the configuration wants what needs the user's word.
        """
        models = Jobs(
            named,
            memory=self.memory,
            limits=limits,
            pictures=no_image if out is None else PictureFolder(out / PICTURES).get,
            on_event=self.on_asking,
            on=self.parallel.on,
        )
        check(
            (need for model in models.named.values() for need in needs_of_spec("model", model.spec)),
            source=source,
            environment=self.environment or Environment(cache_root=self.cache_root),
            is_trusted=self.is_trusted,
        )
        return models

    def video(self, path: Path, *, kind: str = "video") -> KeptVideo:
        """Return a video file with a frame cache; by `kind` an image, or a folder of images.

        Raises:
            MediaError: it cannot be read.
        """
        return kept_video(path, kind=kind, cache_root=self.cache_root, max_bytes=self.cache_max_bytes)


class Stop(Record):
    """A task that a dataset needs from a person, with its ``VIDEO/BOARD`` in the studio."""

    first: str
    words: str


@dataclass(frozen=True, kw_only=True)
class Built:
    """The result of a session: folder, accounts, files, and messages.

    `tables` are what people read beside the sentences; `is_empty` says that it was to make questions, and
    there is none. `stops` are what people may do, in the order in which it is best done.
    """

    folder: Path
    account: Account
    files: tuple[Path, ...]
    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    is_empty: bool = False
    stops: tuple[Stop, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """The expected yield of a configuration; `can_make` is False if it is zero."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    can_make: bool = True


class Maker(Protocol):
    """Makes a dataset of questions from material.

    A maker works in a `Session`: its results are cached, so that the same call goes on where a killed one
    was, and every thing is accounted for. `stages` are the names of its stages, in order.
    """

    name: str
    version: int
    stages: tuple[str, ...]

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """Check the configuration and all it names; return the expected yield and what is missing.

        Sources are read, nothing is made.

        Raises:
            VidenceError: what is wrong with it.
        """

    def make(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Built:
        """Make the questions, or resume an earlier session.

        Args:
            config: the configuration.
            overrides: what is wanted of this session.
            context: what is taken from outside.

        Raises:
            VidenceError: it cannot go on; everything made so far is kept.
        """


@dataclass(frozen=True, kw_only=True)
class Results(Generic[T]):
    """Results or failures of units, by name and in order."""

    made: Mapping[str, Artifact[T]]
    failed: Mapping[str, Failed]

    @property
    def n_cached(self) -> int:
        """How many results came from an earlier session."""
        return sum(artifact.was_cached for artifact in self.made.values())

    def dropped(self, name: str, *, stage: str, what: str = "") -> Dropped:
        """The account entry of a failed unit, as `what` or under its own name."""
        failed = self.failed[name]
        reason = f"{failed.stage}-failed"
        return Dropped(what=what or name, stage=stage, reason=reason, detail=failed.message)


@dataclass(kw_only=True)
class Session:
    """One run of a maker. `root` is the configuration's folder, `out` the dataset's.

    A maker adds its configuration and what its stages leave for each other as fields, and declares its stages
    as a table of `StageRow`, which `run` walks.
    """

    root: Path
    out: Path
    context: BuildContext
    overrides: MakeOverrides
    begun: str = ""
    """The stage that began last."""
    walked: list[str] = field(default_factory=list)
    """The names of completed stages."""
    ledger: Ledger = field(default_factory=Ledger)
    kept: dict[tuple[str, str], KeptRow] = field(default_factory=dict)
    """The results of named units found or made in this session."""
    files: list[Path] = field(default_factory=list)
    """Files written for the user."""
    sentences: list[str] = field(default_factory=list)
    """Messages for the user at the end."""
    tables: list[Table] = field(default_factory=list)
    stops: Sequence[Stop] = ()
    """Tasks now open to people."""
    tasks: Sequence[str] = ()
    """The task of each remaining question, for the account."""
    n_made: int | None = None
    """How many questions were written; None if the session ended earlier."""

    def run(self: WorkT, table: "Sequence[StageRow[WorkT]]") -> Built:
        """Run the stages of a table up to the last one requested, and write the account.

        Raises:
            VidenceError: it cannot go on; everything made so far is kept.
        """
        for row in table:
            row.do(self)
            self.walked.append(row.name)
            if row.name == self.overrides.until:
                break
        return self.end()

    def end(self) -> Built:
        """Write the account; return the result of the session.

        Raises:
            StoreError: it cannot be written.
        """
        account = self.ledger.write(self.out, self.tasks)
        return Built(
            folder=self.out,
            account=account,
            files=(*self.files, self.out / ACCOUNT_FILE, self.out / DROPPED_FILE),
            sentences=tuple(self.sentences),
            tables=tuple(self.tables),
            is_empty=self.n_made == 0,
            stops=tuple(self.stops),
        )

    @property
    def cache(self) -> ArtifactCache:
        """The cache of results."""
        return ArtifactCache(folder=self.out / STAGES_FOLDER, kept=self.kept)

    def began(self, stage: str, n_units: int, *, n_done: int = 0, counts_frames: bool = False) -> None:
        """Report that a stage has started; the arguments are those of `ledger.StageBegan`."""
        self.begun = stage
        began = StageBegan(stage=stage, n_units=n_units, n_done=n_done, counts_frames=counts_frames)
        self.context.on_event(began)

    def trouble(self, message: str) -> None:
        """Report a problem with one source; the others continue."""
        self.context.on_event(Trouble(message=message))

    def done(self, stage: str, unit: str, *, was_cached: bool) -> None:
        """Report a completed unit of work."""
        self.context.on_event(UnitDone(stage=stage, unit=unit, was_cached=was_cached))

    def close(
        self,
        stage: str,
        *,
        unit: str,
        taken: Collection[str],
        kept: Collection[str] | None = None,
        dropped: Sequence[Dropped] = (),
        n_cached: int = 0,
    ) -> None:
        """Close a stage's account and report it; `n_cached` results came from an earlier session.

        Without `kept`, all that came in and was not dropped is kept. A stage that never reported
        its start does so here.

        Raises:
            AccountError: the account does not hold.
        """
        if kept is None:
            gone = {entry.what for entry in dropped}
            kept = [name for name in taken if name not in gone]
        account = self.ledger.close(stage, unit=unit, taken=taken, kept=kept, dropped=dropped)
        if stage != self.begun:
            self.began(stage, len(taken))
        self.context.on_event(StageEnded(account=account, n_cached=n_cached))

    def compute(self, stage: str, units: Sequence[Unit[T]]) -> Results[T]:
        """Return results of a stage's units, computing uncached ones in sequence.

        A unit whose video cannot be read has failed and is tried again next time; the others go on.
        """
        self.began(stage, len(units))
        values: dict[str, Artifact[T]] = {}
        failed: dict[str, Failed] = {}
        for unit in units:
            try:
                values[unit.name] = artifact = self.cache.result(unit)
            except MediaError as error:
                self.trouble(str(error))
                failed[unit.name] = Failed(stage="media", error=type(error).__name__, message=str(error))
                continue
            self.done(stage, unit.name, was_cached=artifact.was_cached)
        return Results(made=values, failed=failed)

    def compute_apart(self, stage: str, units: Sequence[Unit[T]], *, folder: Path) -> Results[T]:
        """Like `compute`, in other processes if worthwhile; units must be picklable.

        Args:
            stage: of the units.
            units: what is wanted.
            folder: the folder of the set that they write into.
        """
        parallel = self.context.parallel
        if not parallel.has_others or (len(units) < 2 and not parallel.is_away):
            return self.compute(stage, units)
        self.began(stage, len(units))
        values: dict[str, Artifact[T]] = {}
        failed: dict[str, Failed] = {}
        missing: list[Unit[T]] = []
        for unit in units:
            artifact = self.cache.find(unit.stage, unit.inputs, unit=unit.name)
            if artifact is None or not unit.is_usable(artifact.value):
                missing.append(unit)
            else:
                values[unit.name] = artifact
                self.done(stage, unit.name, was_cached=True)

        folder.mkdir(parents=True, exist_ok=True)
        parallel = parallel.touching((path for entry in missing for path in entry.reads), folder)
        pieces = ((entry.name, self._work(entry)) for entry in missing)
        for number, came in side_by_side(pieces, parallel, on_trouble=self.trouble) if missing else ():
            unit = missing[number]
            if isinstance(came, MediaError):
                self.trouble(str(came))
                failed[unit.name] = Failed(stage="media", error=type(came).__name__, message=str(came))
            elif isinstance(came, VidenceError):
                raise came
            else:
                value = unit.stage.decode(self._brought(came) if isinstance(came, MadeAway) else came)
                values[unit.name] = self.cache.put(unit.stage, unit.inputs, value, unit=unit.name)
                self.done(stage, unit.name, was_cached=False)
        return Results(
            made={entry.name: values[entry.name] for entry in units if entry.name in values}, failed=failed
        )

    def _work(self, unit: Unit[T]) -> Callable[[], bytes | MadeAway[bytes]]:
        """A unit's work for another process."""
        try:
            work = unit.make if unit.apart is None else unit.apart(self.context.parallel.is_away)
        except MediaError as error:
            return partial(_unreadable, error)
        return partial(_encoded, unit.stage, work)

    def _brought(self, came: MadeAway[bytes]) -> bytes:
        """Write the files that came with a result."""
        root = self.out.resolve()
        if outside := [path for path in came.files if not (root / path).resolve().is_relative_to(root)]:
            raise StoreError(
                f"a worker gave {outside[0]!r}, which lies outside {self.out}; nothing it made was written"
            )
        for path, data in came.files.items():
            try:
                write_whole(root / path, data)
            except OSError as error:
                raise StoreError(
                    f"cannot write {self.out / path}: {cause(error)}; free some space, then run "
                    "the same command again"
                ) from error
        return came.value

    def ask(self, stage: str, units: Sequence[FlowUnit[T]], *, models: Jobs, model: str = "") -> Results[T]:
        """Return results of units that ask models concurrently; each is stored when its flow ends.

        Args:
            stage: whose beginning is reported; the units may be of several stages of their own.
            units: what is wanted.
            models: who is asked.
            model: the name of the model that flows ask which name none.

        Raises:
            VidenceError: a model answers nobody any more; every result so far is kept.
        """
        self.began(stage, len(units))
        cache = self.cache
        values = {unit.name: cache.find(unit.stage, unit.inputs, unit=unit.name) for unit in units}
        for unit in units:
            if values[unit.name] is not None:
                self.done(unit.stage.name, unit.name, was_cached=True)
        flows = {unit.name: self._keeping(unit) for unit in units if values[unit.name] is None}
        asked = models.run(flows, model=model)
        entries: dict[str, Artifact[T]] = {}
        failed: dict[str, Failed] = {}
        for name, artifact in values.items():
            result = asked.get(name, artifact)
            if isinstance(result, Failed):
                failed[name] = result
            elif result is not None:
                entries[name] = result
        return Results(made=entries, failed=failed)

    def _keeping(self, unit: FlowUnit[T]) -> Flow[Artifact[T]]:
        """The flow of a unit that stores its result on completion, so a later failure loses nothing."""
        value = yield from unit.start()
        artifact = self.cache.put(unit.stage, unit.inputs, value, unit=unit.name)
        self.done(unit.stage.name, unit.name, was_cached=False)
        return artifact


def _encoded(stage: Stage[T], work: Callable[[], T | MadeAway[T]]) -> bytes | MadeAway[bytes]:
    """Encode remote results: omitted fields *are* the default object, not a copy."""
    result = work()
    if isinstance(result, MadeAway):
        return MadeAway(value=stage.encode(result.value), files=result.files)
    return stage.encode(result)


def _unreadable(error: MediaError) -> bytes:
    """The result for a video that cannot be opened."""
    raise error


@dataclass(frozen=True, kw_only=True)
class StageRow(Generic[WorkT]):
    """One row of a maker's table of stages: `do` is its work, on the session.

    `asks` are settings of the configuration that name models, such as ``cards.model``.
    """

    name: str
    do: Callable[[WorkT], None]
    asks: tuple[str, ...] = ()


class MakerConfig(Record, omit_defaults=True):
    """What every maker's configuration has: the name of the set, and the working folder.

    `out` starts from the folder of the configuration; empty: ``made/NAME``.
    """

    name: str
    out: str = ""


class SessionStart(TypedDict):
    """The common start of sessions: fields of `Session`."""

    root: Path
    out: Path
    context: BuildContext
    overrides: MakeOverrides


def started(
    maker: Maker,
    config: Path,
    read: MakerConfig,
    *,
    overrides: MakeOverrides,
    context: BuildContext,
    has_sheets: bool = False,
) -> SessionStart:
    """Check the requested options, prepare the working folder, and return what a session starts with.

    Args:
        maker: the maker, with its stages.
        config: the file of its configuration.
        read: the configuration.
        overrides: what is wanted.
        context: the environment.
        has_sheets: whether the maker has sheets to fill in.

    Raises:
        UnknownNameError: `until` is no stage of the maker.
        UsageError: sheets are wanted, and the maker has none, or a last stage, too; or the folder holds what
            this maker did not write.
    """
    if overrides.until and overrides.until not in maker.stages:
        raise UnknownNameError(f"stage of {maker.name}", overrides.until, maker.stages)
    if overrides.sheets and not has_sheets:
        raise UsageError(f"{maker.name} has no sheets to fill in; leave out --sheets")
    if overrides.sheets and overrides.until:
        raise UsageError("a session with --sheets ends with them; leave out --until")
    folder = overrides.out or config.parent / (read.out or f"made/{read.name}")
    own_folder(folder, f".vidence-make-{maker.name}")
    if overrides.sheets:
        own_folder(Path(overrides.sheets), ".vidence-sheets")
    remove_leftovers(folder)
    return SessionStart(root=config.parent, out=folder, context=context, overrides=overrides)


def check_models(
    path: Path, read: MakerConfig, table: Sequence[StageRow[WorkT]], *, models: Collection[str]
) -> None:
    """Check that the models used by stages are configured in ``[models]``.

    Raises:
        UsageError: one is not there.
    """
    for setting in (ask for row in table for ask in row.asks):
        value: object = read
        for part in setting.split("."):
            value = getattr(value, part, None)
        for name in (value,) if isinstance(value, str) else cast("Sequence[str]", value or ()):
            if name and name not in models:
                known = ", ".join(models) or "none"
                raise UsageError(f"{path}: {setting} is {name!r}; [models] has {known}. Name one of these")
