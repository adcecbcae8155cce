"""Make questions from videos, logs, motion capture, annotations, scenes or drafts."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import click
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from vidence.catalog import create
from vidence.console.files import screen, show, write_said
from vidence.console.flags import FILE, JOBS, JSON, ON, PROGRESS, TRUST, argument, command, flag, names_of
from vidence.console.progress import Meter, interruptible
from vidence.console.screen import Screen, say, several
from vidence.engine.display import Waits
from vidence.engine.environment import environment
from vidence.engine.events import Away, Back, Event, JobDone, Waiting
from vidence.errors import UsageError, VidenceError
from vidence.make.pipeline.ledger import (
    FramesDone,
    MakeEvent,
    StageAccount,
    StageBegan,
    StageEnded,
    Trouble,
    UnitDone,
)
from vidence.make.pipeline.session import BuildContext, Built, MakeOverrides, Maker
from vidence.records import Record


def assisted(make: Callable[[bool], Built], *, config: Path, console: Console) -> Built:
    """Make a dataset, name the next task for a person, open its board; repeat while new work waits.

    A board is opened once: *Done, go on* passes it. Stopped and called again, it goes on with what waits.

    Args:
        make: makes the set; True: as far as the review, since what is released stays as it is.
        config: its file, beside which the studio lies.
        console: where the next act is named.

    Raises:
        UsageError: the studio could not be opened.
        VidenceError: as for `make`.
    """
    passed, studio = set[str](), config.with_name(f"{config.stem}-studio")
    while stop := next((entry for entry in make(True).stops if entry.first not in passed), None):
        passed.add(stop.first)
        say(console, ("next: ", "green"), stop.words)
        words = ("studio", "open", studio, config, "--first", stop.first)
        ended = subprocess.run([sys.executable, "-m", "vidence", *map(str, words)], check=False)  # noqa: S603
        if ended.returncode not in (0, 130):  # it was told to end, as by its button
            raise UsageError(f"the studio ended with {ended.returncode}; fix what it reports, then go on")
    return make(False)


SECTION = "Start here"
ORDER = 11

NOTHING_MADE = 3  # the command did its work, and there is no question


class MakeDisplay:
    """Shows the stages of a run inside ``with display.progress``: one line per stage, and progress."""

    def __init__(self, console: Console, *, mode: str = "auto") -> None:
        """Shows nothing yet; `mode` is one of `console.flags.MODES`."""
        self._console = console
        self.progress = Meter(console, mode=mode, is_transient=True)
        self.progress.begin("making")
        self._n_jobs = self._n_failed = 0
        self._waits = Waits(console)
        self.has_begun = False
        self._counts_frames = False

    def __call__(self, event: MakeEvent) -> None:
        """Show an event of the run."""
        match event:
            case StageBegan():
                self.has_begun = True
                self._counts_frames = event.counts_frames
                doing = f"{event.stage}, frames" if event.counts_frames else event.stage
                self.progress.begin(doing, total=event.n_units, n_done=event.n_done)
                self._note("")
            case FramesDone():
                self.progress.advance(event.n_frames)
                self.progress.note(lambda: event.video_id)
            case UnitDone():
                if not self._counts_frames:
                    self.progress.advance()
            case StageEnded():
                self._console.print(account_line(event.account, n_cached=event.n_cached), soft_wrap=True)
            case Trouble():
                say(self._console, ("note: ", "yellow"), event.message)

    def asking(self, event: Event) -> None:
        """Show what happened to the models asked."""
        match event:
            case Waiting() | Away() | Back():
                self._note(self._waits.words(event))
            case JobDone():
                self._n_jobs += 1
                self._n_failed += event.failed is not None
                self._note("")
            case _:
                pass

    def _note(self, words: str) -> None:
        """Report what was asked so far, and why asking stopped."""
        jobs = f"{several(self._n_jobs, 'job')} done, {self._n_failed:,} failed" if self._n_jobs else ""
        self.progress.note(lambda: "; ".join(filter(None, (jobs, words))))


def account_line(account: StageAccount, *, n_cached: int = 0) -> Text:
    """Format a stage on one line: inputs, outputs, and drops by reason."""
    what, *more = account.unit.split()
    unit = " ".join((what.removesuffix("s") if account.n_in == 1 else what, *more))
    line = Text(f"{account.stage:12} {account.n_in:>7,} {unit} -> {account.n_out:,}")
    if account.dropped:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in account.dropped.items())
        line.append(f"; dropped {account.n_dropped:,}: {reasons}", style="dim")
    if n_cached:
        line.append(f" ({n_cached:,} results were cached)", style="dim")
    return line


class Make(Record):
    """What to make."""

    name: Annotated[str, argument(**names_of("maker"))]
    config: Annotated[Path, argument(type=FILE)]
    overrides: MakeOverrides
    trust: Annotated[bool, TRUST] = False
    check: Annotated[bool, flag("Only report what the configuration can produce, and what is missing.")] = (
        False
    )
    assist: Annotated[bool, flag("Open the studio at each task for a person, then continue.")] = False
    jobs: Annotated[int | None, JOBS] = None
    on: Annotated[str | None, ON] = None
    json_path: Annotated[Path | None, JSON] = None
    progress: Annotated[str, PROGRESS] = "auto"


@command()
def make(given: Make) -> int:
    """Make questions with the maker NAME, configured by the file CONFIG; rerun to continue.

    Stages cache their results, so a rerun repeats no work. OUT/account.json and OUT/dropped.jsonl give the
    reason for everything that did not become a question. The exit code is 3 if no question was made.
    """
    maker: Maker = create("maker", given.name)
    config, json_path = given.config, given.json_path
    if given.check:
        context = BuildContext.of(environment())
        outlook = maker.foresee(config, overrides=given.overrides, context=context)
        write_said(json_path, "make", sentences=outlook.sentences, tables=outlook.tables)
        show(screen(json_path), outlook.sentences, outlook.tables)
        return 0 if outlook.can_make else NOTHING_MADE
    make_once = partial(_made, given, maker)
    built = (
        assisted(make_once, config=config, console=Screen(stderr=True)) if given.assist else make_once(False)
    )
    counts = ", ".join(f"{task} {n:,}" for task, n in built.account.questions.items())
    sentences = (*built.sentences, *([counts] if counts else []))
    values = {"folder": str(built.folder), "account": built.account, "files": [str(p) for p in built.files]}
    write_said(json_path, "make", sentences=sentences, tables=built.tables, values=values)
    show(screen(json_path), sentences, built.tables)
    for path in built.files:
        click.echo(f"wrote {path}", err=True)
    return NOTHING_MADE if built.is_empty else 0


def _made(given: Make, maker: Maker, is_held: bool) -> Built:
    """Run the maker and show it; a held run ends before the release if the maker has a review."""
    console, overrides = Screen(stderr=True), given.overrides
    if is_held and not overrides.until and "review" in maker.stages:
        overrides = replace(overrides, until="review")
    display = MakeDisplay(console, mode=given.progress)
    with display.progress, interruptible(console):
        context = BuildContext.of(
            environment(on=given.on),
            on_event=display,
            on_asking=display.asking,
            is_trusted=given.trust,
            jobs=given.jobs,
        )
        try:
            return maker.make(given.config, overrides=overrides, context=context)
        except (KeyboardInterrupt, VidenceError) as error:
            if display.has_begun:
                ended = "stopped" if isinstance(error, KeyboardInterrupt) else "the making did not finish"
                click.echo(f"{ended}; every result is kept, and the same command goes on", err=True)
            raise
