"""Download a benchmark: its questions, and with --media its videos."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Annotated

import click
import msgspec
from rich.console import Console
from rich.filesize import decimal

from vidence.ask.fetching.address import data_place, hub_cache
from vidence.ask.fetching.hub import Hub, HubFile
from vidence.ask.fetching.plain import github_base
from vidence.catalog import create, ready
from vidence.console.files import screen, show, write_said
from vidence.console.flags import JSON, NOT_ALL, PROGRESS, WHERE, argument, command, flag, names_of
from vidence.console.progress import Meter
from vidence.console.screen import say, several
from vidence.contracts import Benchmark, Release
from vidence.engine import get as getting
from vidence.engine.environment import environment, now
from vidence.engine.plan import PlanOverrides, read_overrides
from vidence.engine.prepare import NOBODY, make_plan, narrowed
from vidence.errors import UsageError
from vidence.records import Item, Record
from vidence.tables.table import RowSpec, Table, number, tabulate
from vidence.text import some

SECTION = "Start here"
ORDER = 2

_MOST_FILES = 8
_MOST_NAMES = 10


_AT_LEAST_1 = click.IntRange(min=1)


class Chosen(Record):
    """The questions whose videos to fetch, chosen as by `vidence run`."""

    split: Annotated[str | None, flag("Split to fetch the videos of (default: the first).")] = None
    limit: Annotated[int | None, flag("Only videos of the first N questions.", type=_AT_LEAST_1)] = None
    where: Annotated[dict[str, str], WHERE] = msgspec.field(default_factory=dict)
    sample: Annotated[
        int | None, flag("Only videos of the N questions that vidence run samples.", type=_AT_LEAST_1)
    ] = None
    sample_by: Annotated[
        str | None, flag("Only videos of N questions with each value of a tag.", metavar="TAG=N")
    ] = None
    seed: Annotated[int | None, flag("Seed of the sample, as for run (default 0).")] = None


class Get(Record):
    """What to fetch."""

    name: Annotated[str | None, argument(**names_of("benchmark"))] = None
    with_media: Annotated[bool, flag("Also fetch the videos that the questions need.", "--media")] = False
    config: Annotated[str | None, flag("The configuration, if the release has several.")] = None
    chosen: Chosen
    questions: Annotated[
        Path | None,
        flag(
            "A file of questions that you already have.",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
        ),
    ] = None
    yes: Annotated[bool, flag("Do not ask before fetching.")] = False
    listed: Annotated[bool, flag("List what can be fetched by name, and fetch nothing.", "--list")] = False
    json_path: Annotated[Path | None, JSON] = None
    progress: Annotated[str, PROGRESS] = "auto"


@command()
def get(given: Get) -> int:
    """Fetch benchmark NAME, or a data set hf:OWNER/NAME@REVISION of the Hugging Face hub.

    Contents, licence and size are shown before anything is fetched. Files are stored in the cache of the
    huggingface_hub library (HF_HOME); HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are respected. Run the same
    command again to resume.
    """
    if given.listed or given.name is None:
        if not given.listed:
            raise UsageError("give the name of a benchmark; --list shows all")
        table = _all(environment().cache_root)
        write_said(given.json_path, "get", tables=[table])
        show(screen(given.json_path), [], [table])
        return 0
    fetch = _Fetch.of(given, given.name)
    fetch.show()
    is_benchmark = bool(fetch.offered.benchmark)
    fetch.ask("Fetch the questions?" if is_benchmark else "Fetch these files?")
    return fetch.benchmark() if is_benchmark else fetch.files()


def _all(cache_root: Path) -> Table:
    """Return a table of all benchmarks with a release: location, size and licence."""
    rows: list[RowSpec[dict[str, float | str | None]]] = []
    for name in ready("benchmark"):
        benchmark: Benchmark = create("benchmark", name)
        release: Release | None = getattr(benchmark, "release", None)
        if release is not None:
            about = {
                "questions": release.hub or ("GitHub" if release.github else "your own"),
                "media": ", ".join(release.media_access) or None,
                "GB": release.media_gb,
                "fetched": "yes" if getting.is_fetched(cache_root, name) else "",
                "seen": "yes" if getattr(benchmark, "verified", True) else "in part",
                "licence": benchmark.licence,
            }
            rows.append(RowSpec(name, name, about))
    return tabulate(
        "benchmarks",
        "Benchmarks by name",
        label="name",
        rows=rows,
        measures=[
            number(key, itemgetter(key), kind="count" if key == "GB" else "text") for key in rows[0].about
        ],
        notes=["media 'here': in the release itself. seen: whether all of the release was checked."],
    )


@dataclass(frozen=True, kw_only=True)
class _Fetch:
    """What is available, and what to fetch of it."""

    given: Get
    overrides: PlanOverrides
    offered: getting.Offer
    console: Console
    cache_root: Path

    @classmethod
    def of(cls, given: Get, name: str) -> "_Fetch":
        """Look up what is available.

        Raises:
            UsageError: questions are chosen although there are none.
        """
        hub = Hub(hub_cache(), endpoint=os.environ.get("HF_ENDPOINT"))
        offered = getting.offer(name, hub=hub, config=given.config, split=given.chosen.split)
        chosen = msgspec.structs.asdict(given.chosen)
        overrides = read_overrides({key: value for key, value in chosen.items() if value != {}})
        if not offered.benchmark and (overrides or given.questions):
            raise UsageError("--questions, --split and other choices need a benchmark, not an address")
        return cls(
            given=given,
            overrides=overrides,
            offered=offered,
            console=Console(stderr=True),
            cache_root=environment().cache_root,
        )

    def ask(self, question: str) -> None:
        """Ask the user before continuing."""
        if self.given.yes:
            return
        if not sys.stdin.isatty():
            raise UsageError("nothing was fetched: there is no terminal to confirm on; give --yes")
        click.confirm(question, abort=True, err=True)

    def show(self) -> None:
        """Show contents, source, terms and size."""
        offered, console = self.offered, self.console
        say(console, (str(offered.listing.address), "bold"), f" ({offered.named.revision})")
        if offered.benchmark:
            benchmark: Benchmark = create("benchmark", offered.benchmark)
            say(console, f"licence: {benchmark.licence}")
            say(console, f"terms: {benchmark.terms}")
            for doubt in filter(None, (*getattr(benchmark, "doubts", ()), offered.release.by_hand)):
                say(console, ("note: ", "yellow"), doubt)
        gate = ", gated: its terms must be accepted there" if offered.listing.is_gated else ""
        say(console, f"licence on the hub: {offered.listing.licence or 'none stated'}{gate}")
        if offered.release.github:
            say(console, f"questions from github.com: {some(offered.release.github, most=3)}")
        _list("questions", offered.questions, console)
        more = "" if self.given.with_media else "; fetched with --media"
        _list("media", offered.media, console, more=more)

    def benchmark(self) -> int:
        """Fetch a benchmark's questions and their media; return the exit code."""
        offered, name = self.offered, self.offered.benchmark
        getting.check_room(offered, offered.questions, cache_root=self.cache_root, is_unpacked=False)
        with self.bar(offered.questions) as bar:
            data = getting.get_questions(
                offered,
                cache_root=self.cache_root,
                github=github_base(os.environ),
                own=self.given.questions,
                on_file=bar,
            )
        plan = make_plan(name, data=Path(data), model=NOBODY, overrides=self.overrides)
        benchmark: Benchmark = create("benchmark", name)
        loaded = benchmark.load(data_place(data), split=plan.split)
        say(self.console, f"{several(len(loaded.items), 'question')} in {data}")
        media: str | None = None
        absent: tuple[str, ...] = ()
        if self.given.with_media:
            items, notes = narrowed(loaded.items, plan)
            for note in notes:
                say(self.console, note)
            media, absent = self.media(items)
        self.note(data=data, media=media)
        self.write(data=data, media=media, n_questions=len(loaded.items), absent=absent)
        flags = _as_flags(self.overrides)
        say(self.console, "now: ", (f"vidence run {name} --model SPEC{flags}", "bold"))
        return NOT_ALL if absent else 0

    def files(self) -> int:
        """Fetch the files of another data set; return the exit code."""
        offered, with_media, console = self.offered, self.given.with_media, self.console
        files = (*offered.questions, *(offered.media if with_media else ()))
        getting.check_room(offered, files, cache_root=self.cache_root, is_unpacked=with_media)
        with self.bar(files) as bar:
            folder, media, refused = getting.get_files(
                offered, cache_root=self.cache_root, with_media=with_media, on_file=bar
            )
        address = str(offered.listing.address)
        place = str(media) if media else address if with_media else None
        self.note(data=address, media=place)
        self.say_refused(refused)
        say(console, f"{address} is in {folder}")
        if media is not None:
            say(console, f"its media, unpacked, are in {media}")
        say(console, "now: ", (f"vidence run {self.given.name} --model SPEC", "bold"))
        self.write(data=str(folder), media=None if media is None else str(media))
        return 0

    def media(self, items: Sequence[Item]) -> tuple[str | None, tuple[str, ...]]:
        """Fetch the chosen questions' media; return their location and what is missing."""
        console = self.console
        wanted = getting.wanted_media(self.offered, items)
        archives = f", including {several(len(wanted.packed), 'archive')} to unpack" if wanted.packed else ""
        files = f"{several(len(wanted.files), 'file')}, {decimal(_total(wanted.files))}"
        say(console, f"media of these questions: {files}{archives}")
        getting.check_room(self.offered, wanted.files, cache_root=self.cache_root, is_unpacked=True)
        self.ask("Fetch them?")
        with self.bar(wanted.files) as bar:
            media, absent, refused = getting.get_media(
                self.offered, wanted, cache_root=self.cache_root, on_file=bar
            )
        self.say_refused(refused)
        if absent:
            videos = (f"{several(len(absent), 'video')} not available", "red")
            more = "vidence run --allow-missing runs without them"
            say(console, videos, f": {some(absent, most=_MOST_NAMES)}; {more}")
        say(console, f"media in {media}" if media else "media are beside the questions")
        return media, absent

    @contextmanager
    def bar(self, files: Sequence[HubFile]) -> Iterator[Callable[[HubFile], None]]:
        """Show the progress of a download, file by file."""
        from huggingface_hub.utils import disable_progress_bars

        disable_progress_bars()
        with Meter(self.console, mode=self.given.progress) as meter:
            meter.begin("fetching, MB", total=sum(map(_megabytes, files)))
            yield lambda file: meter.advance(_megabytes(file))

    def say_refused(self, refused: Sequence[str]) -> None:
        """Name the archive members that were not extracted."""
        if refused:
            members = (f"{several(len(refused), 'member')} of archives not unpacked", "red")
            why = "links, or names outside the folder"
            say(self.console, members, f": {some(refused, most=_MOST_NAMES)}: {why}")

    def note(self, *, data: str, media: str | None) -> None:
        """Record what was fetched, for later runs."""
        listing = self.offered.listing
        got = getting.Got(
            data=data,
            media=media,
            release=str(listing.address),
            licence=listing.licence,
            hashes=getting.file_hashes(self.offered.questions),
            fetched_at=now().isoformat(timespec="seconds"),
        )
        getting.note(self.cache_root, self.offered.benchmark, got)

    def write(self, **values: object) -> None:
        """Write what was fetched, with source and licence."""
        listing = self.offered.listing
        about = {"release": str(listing.address), "licence": listing.licence}
        write_said(self.given.json_path, "get", values={**about, **values})


def _as_flags(given: PlanOverrides) -> str:
    """Return the choice of questions as `vidence run` flags."""
    words = []
    for key, value in given.items():
        flag = "--" + key.replace("_", "-")
        texts = [f"{k}={v}" for k, v in value.items()] if isinstance(value, Mapping) else [str(value)]
        words += [f" {flag} {shlex.quote(text)}" for text in texts]
    return "".join(words)


def _list(what: str, files: Sequence[HubFile], console: Console, *, more: str = "") -> None:
    if not files:
        return
    say(console, f"{what}: {several(len(files), 'file')}, {decimal(_total(files))}{more}")
    for file in files[:_MOST_FILES]:
        say(console, f"  {file.path}  {decimal(file.n_bytes)}")
    if len(files) > _MOST_FILES:
        say(console, f"  and {len(files) - _MOST_FILES:,} more")


def _total(files: Sequence[HubFile]) -> int:
    return sum(file.n_bytes for file in files)


def _megabytes(file: HubFile) -> int:
    """Return a file's size for the bar, at least one."""
    return max(1, file.n_bytes // 10**6)
