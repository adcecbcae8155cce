"""Fetch a benchmark by its name: questions, and the videos that they need."""

import os
import shlex
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from vidence.ask.fetching.address import data_place, hub_cache
from vidence.ask.fetching.hub import DatasetListing, Hub, HubFile
from vidence.ask.fetching.plain import github_base
from vidence.catalog import create
from vidence.console.files import write_said
from vidence.console.options import NOT_ALL, json_option, progress_option, where_option
from vidence.console.progress import LINE_S
from vidence.console.screen import say, several
from vidence.contracts import Benchmark
from vidence.engine import get as getting
from vidence.engine.environment import environment, now
from vidence.engine.plan import read_overrides
from vidence.engine.prepare import NOBODY, make_plan, narrowed
from vidence.errors import UsageError
from vidence.records import Item
from vidence.text import some

SECTION = "Ask"

_MOST_FILES = 8
_MOST_NAMES = 10
_LOOK_S = 0.5  # between two looks at what has been written, for the bar


@click.command()
@click.argument("name")
@click.option("--media", "with_media", is_flag=True, help="Fetch videos, too: those that the questions need.")
@click.option("--config", help="The configuration, where a release has several.")
@click.option("--split", help="Which part of the benchmark the videos are for (default: its first split).")
@click.option("--limit", type=click.IntRange(min=1), help="Only videos of the first N questions.")
@where_option("videos of questions with this tag")
@click.option("--sample", type=click.IntRange(min=1), help="Only videos of the N questions that run samples.")
@click.option("--sample-by", metavar="TAG=N", help="Only videos of N questions with each value of a tag.")
@click.option("--seed", type=int, help="Seed of the sample, as for run (default 0).")
@click.option(
    "--questions",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file of questions that was fetched by other means.",
)
@click.option("--yes", is_flag=True, help="Do not ask before fetching.")
@json_option
@progress_option
def get(
    *,
    name: str,
    with_media: bool,
    config: str | None,
    questions: Path | None,
    yes: bool,
    json_path: Path | None,
    progress: str,
    **chosen: object,
) -> int:
    """Fetch benchmark NAME, or a data set hf:OWNER/NAME@REVISION of the Hugging Face hub.

    What there is, its licence and its size are shown before anything is fetched. Files lie in the cache of
    the hub's library (HF_HOME); HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are heeded. The same command
    goes on where it was stopped.
    """
    console, here = Console(stderr=True), environment()
    hub = Hub(hub_cache(), endpoint=os.environ.get("HF_ENDPOINT"))
    offered = getting.offer(name, hub=hub, config=config)
    given = read_overrides({key: value for key, value in chosen.items() if value != {}})
    if not offered.benchmark and (given or questions):
        raise UsageError(
            "--split, --where, --limit, the samples and --questions go with a benchmark, not with an address"
        )
    fetch = _Watched(console=console, listing=offered.listing, hub=hub, mode=progress)
    _show(offered, console, with_media=with_media)
    _ask("Fetch the questions?" if offered.benchmark else "Fetch these files?", yes=yes)
    if not offered.benchmark:
        lies = _files(offered, fetch, hub=hub, cache_root=here.cache_root, with_media=with_media)
        _write(json_path, offered, **lies)
        return 0
    getting.check_room(
        offered.questions, listing=offered.listing, hub=hub, cache_root=here.cache_root, is_unpacked=False
    )
    with fetch.bar(offered.questions) as bar:
        data = getting.get_questions(
            offered,
            hub=hub,
            cache_root=here.cache_root,
            github=github_base(os.environ),
            own=questions,
            on_file=bar,
        )
    plan = make_plan(offered.benchmark, data=Path(data), model=NOBODY, overrides=given)
    benchmark: Benchmark = create("benchmark", offered.benchmark)
    loaded = benchmark.load(data_place(data), split=plan.split)
    say(console, f"{several(len(loaded.items), 'question')} in {data}")
    media: str | None = None
    absent: tuple[str, ...] = ()
    if with_media:
        items, notes = narrowed(loaded.items, plan)
        for note in notes:
            say(console, note)
        media, absent = _media(offered, items, fetch, hub=hub, cache_root=here.cache_root, yes=yes)
    getting.note(here.cache_root, offered.benchmark, _got(offered, data=data, media=media))
    _write(json_path, offered, data=data, media=media, n_questions=len(loaded.items), absent=absent)
    say(console, "now: ", (f"vidence run {offered.benchmark} --model SPEC{_as_flags(given)}", "bold"))
    return NOT_ALL if absent else 0


def _got(offered: getting.Offer, *, data: str, media: str | None) -> getting.Got:
    return getting.Got(
        data=data,
        media=media,
        release=str(offered.listing.address),
        licence=offered.listing.licence,
        hashes=getting.file_hashes(offered.questions),
        fetched_at=getting.when(now()),
    )


def _as_flags(given: Mapping[str, object]) -> str:
    """Choices of questions as flags, with which `vidence run` asks the questions whose videos are there."""
    words = []
    for key, value in given.items():
        flag = "--" + key.replace("_", "-")
        texts = [f"{k}={v}" for k, v in value.items()] if isinstance(value, Mapping) else [str(value)]
        words += [f" {flag} {shlex.quote(text)}" for text in texts]
    return "".join(words)


def _files(
    offered: getting.Offer, fetch: "_Watched", *, hub: Hub, cache_root: Path, with_media: bool
) -> dict[str, str | None]:
    """Fetch the files of a data set that is no benchmark; where they lie, and where their media."""
    files = (*offered.questions, *(offered.media if with_media else ()))
    getting.check_room(files, listing=offered.listing, hub=hub, cache_root=cache_root, is_unpacked=with_media)
    console = fetch.console
    with fetch.bar(files) as bar:
        folder, media, refused = getting.get_files(
            offered, hub=hub, cache_root=cache_root, with_media=with_media, on_file=bar
        )
    getting.note(cache_root, "", _got(offered, data=str(offered.listing.address), media=None))
    _say_refused(refused, console)
    say(console, f"{offered.listing.address} lies in {folder}")
    if media is not None:
        say(console, f"its media, unpacked, lie in {media}; name it with --media")
    return {"data": str(folder), "media": None if media is None else str(media)}


def _write(path: Path | None, offered: getting.Offer, **values: object) -> None:
    """Write what was fetched, from where and under which licence."""
    listing = offered.listing
    write_said(path, "get", values={"release": str(listing.address), "licence": listing.licence, **values})


def _show(offered: getting.Offer, console: Console, *, with_media: bool) -> None:
    """What there is, from where, under which terms, and how large it is."""
    address = offered.listing.address
    say(console, (str(address), "bold"), f" ({offered.named.revision})")
    if offered.benchmark:
        benchmark: Benchmark = create("benchmark", offered.benchmark)
        say(console, f"licence: {benchmark.licence}")
        say(console, f"terms: {benchmark.terms}")
    gate = ", gated: its terms must be accepted there" if offered.listing.is_gated else ""
    say(console, f"licence on the hub: {offered.listing.licence or 'none stated'}{gate}")
    if offered.release.github:
        say(console, f"questions: one file of github.com, {offered.release.github}")
    _list("questions", offered.questions, console)
    _list("media", offered.media, console, more="" if with_media else "; fetched with --media")


def _list(what: str, files: Sequence[HubFile], console: Console, *, more: str = "") -> None:
    if not files:
        return
    say(console, f"{what}: {several(len(files), 'file')}, {size(_total(files))}{more}")
    for one in files[:_MOST_FILES]:
        say(console, f"  {one.path}  {size(one.n_bytes)}")
    if len(files) > _MOST_FILES:
        say(console, f"  and {len(files) - _MOST_FILES:,} more")


def _media(
    offered: getting.Offer,
    items: Sequence[Item],
    fetch: "_Watched",
    *,
    hub: Hub,
    cache_root: Path,
    yes: bool,
) -> tuple[str | None, tuple[str, ...]]:
    """Fetch what the chosen questions need: where it lies, and what could not be had."""
    console = fetch.console
    wanted = getting.wanted_media(offered, items)
    archives = f", of them {several(len(wanted.packed), 'archive')} to unpack" if wanted.packed else ""
    files = f"{several(len(wanted.files), 'file')}, {size(_total(wanted.files))}"
    say(console, f"media of these questions: {files}{archives}")
    getting.check_room(
        wanted.files, listing=offered.listing, hub=hub, cache_root=cache_root, is_unpacked=True
    )
    _ask("Fetch them?", yes=yes)
    with fetch.bar(wanted.files) as bar:
        media, absent, refused = getting.get_media(
            offered, wanted, hub=hub, cache_root=cache_root, on_file=bar
        )
    _say_refused(refused, console)
    if absent:
        videos = (f"{several(len(absent), 'video')} cannot be had", "red")
        say(
            console,
            videos,
            f": {some(absent, most=_MOST_NAMES)}; vidence run --allow-missing goes on without them",
        )
    say(console, f"media in {media}" if media else "media lie beside the questions")
    return media, absent


def _say_refused(refused: Sequence[str], console: Console) -> None:
    if refused:
        members = (f"{several(len(refused), 'member')} of archives not unpacked", "red")
        say(console, members, f": {some(refused, most=_MOST_NAMES)}: links, or names that leave the folder")


def _ask(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("nothing is fetched without a word: say --yes where nobody can be asked")
    click.confirm(question, abort=True, err=True)


def _total(files: Sequence[HubFile]) -> int:
    return sum(one.n_bytes for one in files)


def size(n_bytes: int) -> str:
    """A number of bytes as people say it.

    >>> size(999), size(1_500_000), size(2_340_000_000)
    ('999 B', '1.5 MB', '2.3 GB')
    """
    value = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


@dataclass(frozen=True, kw_only=True)
class _Watched:
    """A release whose fetch is shown."""

    console: Console
    listing: DatasetListing
    hub: Hub
    mode: str

    def bar(self, files: Sequence[HubFile]) -> "_Bar":
        """The progress of fetching some files of it."""
        there = partial(self.hub.n_bytes_there, self.listing, files)
        return _Bar(self.console, files, n_there=there, mode=self.mode)


class _Bar:
    """The progress of a fetch, of one large file, too: a bar, or where no terminal is a line every 30 s.

    A thread looks how much has been written, so that nothing is silent while one file comes.
    """

    def __init__(
        self, console: Console, files: Sequence[HubFile], *, n_there: Callable[[], int], mode: str
    ) -> None:
        """Nothing is shown yet.

        Args:
            console: where to.
            files: what is fetched.
            n_there: how many bytes of it are there by now.
            mode: one of `cli.progress.MODES`.
        """
        from huggingface_hub.utils import disable_progress_bars

        disable_progress_bars()
        self._console, self._n_there = console, n_there
        self._n_files, self._n_bytes = len(files), _total(files)
        self._n_whole = 0
        self._is_bar = mode == "auto" and console.is_terminal
        self._every_s = _LOOK_S if self._is_bar else LINE_S
        self._is_shown = mode != "none" and bool(files)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)
        self._progress = Progress(
            TextColumn("fetching"),
            BarColumn(bar_width=24),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not self._is_bar or not self._is_shown,
        )
        self._task = self._progress.add_task("fetching", total=self._n_bytes)

    def __enter__(self) -> "_Bar":
        self._progress.start()
        if self._is_shown:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._is_shown:
            self._thread.join()
            self._progress.update(self._task, completed=self._n_there())
        self._progress.stop()

    def __call__(self, file: HubFile) -> None:
        """Count a file that is there and is the one that was listed."""
        self._n_whole += 1

    def line(self) -> str:
        """The plain line."""
        files = f"{self._n_whole:,} of {several(self._n_files, 'file')}"
        share = 100 * self._n_there() // max(self._n_bytes, 1)
        return f"fetched {files}, {size(self._n_there())} of {size(self._n_bytes)} ({share} %)"

    def _watch(self) -> None:
        while not self._ended.wait(self._every_s):
            if self._is_bar:
                self._progress.update(self._task, completed=self._n_there())
            else:
                say(self._console, self.line())
