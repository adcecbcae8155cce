"""``vidence get``: the questions of a benchmark and the videos that they need, from their release."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from vidence.ask.fetching.address import data_place, hub_cache
from vidence.ask.fetching.hub import Hub, HubFile
from vidence.ask.fetching.plain import github_base
from vidence.catalog import create
from vidence.cli.console import say, several
from vidence.cli.run import NOT_ALL, pairs
from vidence.contracts import Benchmark, Loaded
from vidence.engine import get as getting
from vidence.engine.environment import environment, now
from vidence.engine.prepare import narrowed
from vidence.errors import UsageError

_MOST_FILES = 8
_MOST_NAMES = 10


@click.command()
@click.argument("name")
@click.option("--media", "with_media", is_flag=True, help="Fetch videos, too: those that the questions need.")
@click.option("--revision", help="Another branch, tag or commit than the benchmark's own.")
@click.option("--config", help="The configuration, where a release has several.")
@click.option("--split", help="Which part of the benchmark the videos are for (default: its first split).")
@click.option("--limit", type=click.IntRange(min=1), help="Only videos of the first N questions.")
@click.option(
    "--where",
    multiple=True,
    metavar="TAG=VALUE",
    callback=lambda context, flag, texts: pairs(texts, "--where"),
    help="Only videos of questions with this tag; repeatable.",
)
@click.option(
    "--questions",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file of questions that was fetched by other means.",
)
@click.option("--yes", is_flag=True, help="Do not ask before fetching.")
def get(
    *,
    name: str,
    with_media: bool,
    revision: str | None,
    config: str | None,
    split: str | None,
    limit: int | None,
    where: Mapping[str, str],
    questions: Path | None,
    yes: bool,
) -> int:
    """Fetch benchmark NAME, or a data set hf:OWNER/NAME@REVISION of the Hugging Face hub.

    What there is, its licence and its size are shown before anything is fetched. Files lie in the cache of
    the hub's library (HF_HOME); HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are heeded. The same command
    goes on where it was stopped.
    """
    console, here = Console(stderr=True), environment()
    hub = Hub(hub_cache(), endpoint=os.environ.get("HF_ENDPOINT"))
    offered = getting.offer(name, hub=hub, revision=revision, config=config)
    if not offered.benchmark and (where or limit or split or questions):
        raise UsageError("--where, --limit, --split and --questions go with a benchmark, not with an address")
    _show(offered, console, with_media=with_media)
    _ask("Fetch the questions?" if offered.benchmark else "Fetch these files?", yes=yes)
    if not offered.benchmark:
        files = (*offered.questions, *(offered.media if with_media else ()))
        with _Bar(console, files) as bar:
            folder = hub.fetch(offered.listing, files, named=offered.named.revision, on_file=bar)
        say(console, f"{offered.listing.address} lies in {folder}")
        return 0
    with _Bar(console, offered.questions) as bar:
        data = getting.get_questions(
            offered,
            hub=hub,
            cache_root=here.cache_root,
            github=github_base(os.environ),
            own=questions,
            on_file=bar,
        )
    benchmark: Benchmark = create("benchmark", offered.benchmark)
    loaded = benchmark.load(data_place(data), split=split or benchmark.splits[0])
    say(console, f"{several(len(loaded.items), 'question')} in {data}")
    media: str | None = None
    absent: tuple[str, ...] = ()
    if with_media:
        media, absent = _media(
            offered, loaded, hub=hub, cache_root=here.cache_root, where=where, limit=limit, yes=yes
        )
    got = getting.Got(
        data=data,
        media=media,
        release=str(offered.listing.address),
        licence=offered.listing.licence,
        hashes=getting.file_hashes(offered.questions),
        fetched_at=getting.when(now()),
    )
    getting.note(here.cache_root, offered.benchmark, got)
    say(console, "now: ", (f"vidence run {offered.benchmark} --model SPEC", "bold"))
    return NOT_ALL if absent else 0


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
    loaded: Loaded,
    *,
    hub: Hub,
    cache_root: Path,
    where: Mapping[str, str],
    limit: int | None,
    yes: bool,
) -> tuple[str | None, tuple[str, ...]]:
    """Fetch what the chosen questions need: where it lies, and what could not be had."""
    console = Console(stderr=True)
    wanted = getting.wanted_media(offered, narrowed(loaded.items, where=where, limit=limit))
    archives = f", of them {several(len(wanted.packed), 'archive')} to unpack" if wanted.packed else ""
    files = f"{several(len(wanted.files), 'file')}, {size(_total(wanted.files))}"
    say(console, f"media of these questions: {files}{archives}")
    _ask("Fetch them?", yes=yes)
    with _Bar(console, wanted.files) as bar:
        media, absent, refused = getting.get_media(
            offered, wanted, hub=hub, cache_root=cache_root, on_file=bar
        )
    if refused:
        members = (f"{several(len(refused), 'member')} of archives not unpacked", "red")
        say(console, members, f": {_some(refused)}: links, or names that leave the folder")
    if absent:
        videos = (f"{several(len(absent), 'video')} cannot be had", "red")
        say(console, videos, f": {_some(absent)}; vidence run --allow-missing goes on without them")
    say(console, f"media in {media}" if media else "media lie beside the questions")
    return media, absent


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


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


class _Bar:
    """The progress of a fetch; told of each file that is there."""

    def __init__(self, console: Console, files: Sequence[HubFile]) -> None:
        from huggingface_hub.utils import disable_progress_bars

        disable_progress_bars()
        self._progress = Progress(
            TextColumn("fetching"),
            BarColumn(bar_width=24),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal or not files,
        )
        self._task = self._progress.add_task("fetching", total=_total(files))

    def __enter__(self) -> "_Bar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, file: HubFile) -> None:
        """Draw one file."""
        self._progress.advance(self._task, file.n_bytes)
