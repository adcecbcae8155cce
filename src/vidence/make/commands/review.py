"""Who looked at which question, and what follows: draw, read, state, rates."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import click

from vidence.console.files import screen, show, write_asked, write_said
from vidence.console.options import NOT_ALL, PATH, csv_option, file_option, json_option, level_option
from vidence.console.screen import Screen, say, several
from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.make.review.protocol import StageRole
    from vidence.make.review.revisions import Kind, Role

SECTION = "Make"

F = TypeVar("F", bound=Callable[..., object])

_folder = click.argument("folder", metavar="REVIEW", type=PATH)
_SHEETS = "sheets"
_ACTS = ("claim", "release", "expire", "say", "withdraw", "reject", "reopen")


def _at(context: click.Context, flag: click.Parameter, text: str | None) -> str:
    """The time of what is done: now, or as it was given."""
    try:
        when = datetime.now(UTC) if text is None else datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--at {text!r}; expected a time such as 2026-11-22T09:30:00Z") from error
    moment = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


_at_option = click.option(
    "--at", metavar="TIME", callback=_at, help="When it is done, in UTC (default: now)."
)
_by_option = click.option("--by", required=True, metavar="NAME", help="Who does it: a pseudonym.")
_role_option = click.option(
    "--role",
    type=click.Choice(["reviewer", "meta"]),
    default="reviewer",
    show_default=True,
    help="At which stage.",
)


@click.group()
def review() -> None:
    """Who looked at what, and what follows: draw, read, state, rates; files that a team can merge."""


@review.command("open")
@click.argument("items", metavar="ITEMS", type=PATH)
@click.option("--out", type=PATH, required=True, help="The folder of the review.")
@click.option("--protocol", help="A name, or FILE.toml; needed where the folder is new.")
@click.option("--by", default="", metavar="NAME", help="Who puts them in (default: author of each line).")
@click.option(
    "--role",
    type=click.Choice(["author", "reviewer", "meta"]),
    default="author",
    show_default=True,
    help="Others than authors put in edits of what they look at.",
)
@_at_option
def open_review(*, items: Path, out: Path, protocol: str | None, by: str, role: str, at: str) -> None:
    """Put ITEMS (JSON lines with an item_id) in for review: new ones, and those that were returned.

    The folder is made where it is not there. Lines that are as they were are passed over.
    """
    from vidence.make.review.files import PROTOCOL_FILE, read_items, read_reviews
    from vidence.make.review.protocol import load_protocol, protocol_bytes
    from vidence.make.review.recording import begin, submit, write

    wordings = read_items(items)
    if protocol is not None:
        load_protocol(protocol)
        begin(out, protocol_bytes(protocol))
    elif not (out / PROTOCOL_FILE).is_file():
        raise UsageError(f"{out} is no review yet; say --protocol NAME to begin one")
    recorders, done = submit(read_reviews(out), wordings, by=by, role=cast("Role", role), at=at)
    write(out, recorders)
    console = Screen(stderr=True)
    for item_id, fields in done.untouched.items():
        say(console, ("as it was: ", "yellow"), f"{item_id}: {', '.join(fields)}, which was to be mended")
    say(console, f"{several(done.n_new, 'wording')} put in, {done.n_same} as they were; {out}")


@review.command()
@_folder
@click.argument("items", metavar="ITEMS", type=PATH)
@_by_option
@_role_option
@click.option(
    "--language", default="", metavar="CODE", help="Such as en (default: the tag language of each line)."
)
@_at_option
def translate(*, folder: Path, items: Path, by: str, role: str, language: str, at: str) -> None:
    """Put ITEMS (JSON lines with an item_id) in as translations of items that NAME looks at.

    A translation changes texts and the tag of the language, nothing else. What it was made of stays.
    """
    from vidence.make.review.files import read_items, read_reviews
    from vidence.make.review.recording import Recorder, write
    from vidence.make.review.recording import translate as translate_items

    reviews = read_reviews(folder)
    recorder = Recorder(reviews, by=by, role=cast("Role", role), at=at)
    done = translate_items(reviews, read_items(items), recorder, language=language)
    write(folder, [recorder])
    say(Screen(stderr=True), f"{several(done.n_new, 'translation')} put in, {done.n_same} as they were")


@review.command()
@_folder
@_by_option
@_role_option
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Of what waits; at least one of each stratum.",
)
@click.option("--stratum", default="", metavar="TAG", help="Draw from each value of this tag.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides which.")
@click.option("--more", is_flag=True, help="Draw also where something drawn before is not decided.")
@_at_option
def draw(
    *, folder: Path, by: str, role: str, share: float, stratum: str, seed: int, more: bool, at: str
) -> None:
    """Draw items that wait for NAME, and write them into a sheet to fill in, REVIEW/sheets/NAME-ROLE.csv.

    Nobody gets their own; where a stage asks for an answer first, the key is shown in the next sheet. While
    something is not decided, the same command writes the same sheet.
    """
    from vidence.make.pipeline.ledger import write_file
    from vidence.make.review.files import read_reviews
    from vidence.make.review.protocol import ROLES
    from vidence.make.review.recording import Recorder, Share, held, write
    from vidence.make.review.recording import draw as draw_items
    from vidence.make.review.sheets import filled_in, has_writing, sheet

    stage = cast("StageRole", role)
    reviews = read_reviews(folder)
    if more or not held(reviews, by=by, role=stage):
        recorder = Recorder(reviews, by=by, role=stage, at=at)
        wanted = Share(share=share, tag=stratum, seed=seed)
        draw_items(reviews, recorder, by=by, role=stage, wanted=wanted)
        write(folder, [recorder])
        reviews = read_reviews(folder)
    mine = held(reviews, by=by, role=stage)
    if not mine:
        raise UsageError(f"nothing waits for {by} as {role}; `vidence review state {folder}` says why")
    path = folder / _SHEETS / f"{by}-{role}.csv"
    content = sheet(reviews, by=by, role=stage)
    to_fill = filled_in(reviews.protocol.stages[ROLES.index(stage)])
    if has_writing(path, to_fill) and path.read_bytes() != content:
        raise UsageError(
            f"somebody has written into {path}; take it in with `vidence review read`, and move it away"
        )
    write_file(path, content)
    click.echo(f"wrote {path}", err=True)
    say(Screen(stderr=True), f"{several(len(mine), 'item')} to look at")


@review.command()
@_folder
@click.argument("sheets", metavar="SHEET...", nargs=-1, required=True, type=PATH)
@_by_option
@_role_option
@_at_option
def read(*, folder: Path, sheets: tuple[Path, ...], by: str, role: str, at: str) -> None:
    """Take in what NAME wrote into SHEETs: all of it or, where a line cannot be used, nothing.

    Lines without a verdict wait. A sheet that is read twice says nothing new.
    """
    from vidence.make.review.files import read_reviews
    from vidence.make.review.recording import Recorder, write
    from vidence.make.review.sheets import take_in

    stage = cast("StageRole", role)
    reviews = read_reviews(folder)
    recorder = Recorder(reviews, by=by, role=stage, at=at)
    taken = take_in(reviews, recorder, sheets, by=by, role=stage)
    write(folder, [recorder])
    say(
        Screen(stderr=True),
        f"{several(taken.n_decided, 'verdict')} taken in, {several(taken.n_solved, 'answer')} before the "
        f"key, {several(taken.n_known, 'line')} known already",
    )


@review.command()
@_folder
@click.argument("item_id", metavar="ITEM")
@click.argument("kind", metavar="ACT", type=click.Choice(_ACTS))
@_by_option
@click.option(
    "--role",
    type=click.Choice(["author", "reviewer", "meta", "operator"]),
    required=True,
    help="As what.",
)
@click.option("--message", default="", help="Why; an operator has to say it.")
@click.option("--minutes", default="", metavar="TIME", help="How long it took: 4.2 or 4:12.")
@click.option("--whose", default="", metavar="NAME", help="Of expire: the person whose claim it is.")
@_at_option
def act(
    *,
    folder: Path,
    item_id: str,
    kind: str,
    by: str,
    role: str,
    message: str,
    minutes: str,
    whose: str,
    at: str,
) -> None:
    """Do one thing to ITEM without a sheet: claim, release, expire, say, withdraw, reject, reopen."""
    from vidence.make.review.files import read_reviews
    from vidence.make.review.recording import Recorder, write
    from vidence.make.review.sheets import minutes_of

    reviews = read_reviews(folder)
    if item_id not in reviews.states:
        raise UsageError(f"{folder} has no item {item_id!r}; `vidence review state {folder}` lists them")
    took = minutes_of(minutes) if minutes else None
    if minutes and took is None:
        raise UsageError(f"--minutes {minutes!r}; expected minutes such as 4.2, or 4:12")
    recorder = Recorder(reviews, by=by, role=cast("Role", role), at=at)
    if fault := recorder.add(cast("Kind", kind), item_id, message=message, minutes=took, whose=whose):
        raise UsageError(fault)
    write(folder, [recorder])
    say(Screen(stderr=True), f"{item_id} is {recorder.state(item_id).state}")


@review.command()
@_folder
@click.argument("others", metavar="OTHER...", nargs=-1, required=True, type=PATH)
def merge(*, folder: Path, others: tuple[Path, ...]) -> int:
    """Add to REVIEW what others did in copies of it: their folders, or files of events.

    Each person's chain is checked. What the guards refuse is kept, has no effect, and is named.
    """
    from vidence.make.review.files import merge as merge_files

    merged = merge_files(folder, others)
    console = Screen(stderr=True)
    for event, reason in merged.refused:
        say(console, ("without effect: ", "yellow"), f"{event.event_id[:12]}: {reason}")
    say(
        console,
        f"{several(merged.n_events, 'event')} and {several(merged.n_revisions, 'revision')} added, "
        f"{len(merged.refused)} without effect",
    )
    return NOT_ALL if merged.refused else 0


@review.command()
@_folder
@click.option("--where", "state_name", metavar="STATE", help="Only items in this state.")
@csv_option("item")
@json_option
def state(*, folder: Path, state_name: str | None, csv_path: Path | None, json_path: Path | None) -> None:
    """In which state each item is, who looks at it, what was decided, and what had no effect."""
    from vidence.make.review.files import read_reviews
    from vidence.make.review.rates import states_table, states_words
    from vidence.media.whole import write_file
    from vidence.tables.export import table_as_csv

    console = screen(csv_path, json_path)
    reviews = read_reviews(folder)
    table = states_table(reviews, only=state_name)
    sentences = states_words(reviews)
    write_asked((csv_path, lambda file: write_file(file, table_as_csv(table))))
    write_said(json_path, "review state", sentences=sentences, tables=(table,))
    show(console, sentences, [table])


@review.command()
@_folder
@level_option("Level of the intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="For the intervals of agreement.")
@click.option(
    "--by",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Also by author, reviewer, week, or tag:NAME; repeatable.",
)
@click.option("--operator", is_flag=True, help="Show cells below 5 items, too: for operators, not for peers.")
@json_option
def rates(
    *, folder: Path, level: float, seed: int, keys: tuple[str, ...], operator: bool, json_path: Path | None
) -> None:
    """Rates with their denominators, agreement of two people on one revision, minutes; from the events.

    By week, an item counts in the week in which it came to its end.
    """
    import numpy as np

    from vidence.make.review.files import read_reviews
    from vidence.make.review.groups import group_table, groups_of
    from vidence.make.review.rates import rates_of, rates_tables, rates_words

    console = screen(json_path)
    reviews = read_reviews(folder)
    found = rates_of(reviews, rng=np.random.default_rng(seed), level=level)
    split = [group_table(groups_of(reviews, key), key, level=level, shows_all=operator) for key in keys]
    tables, sentences = (*rates_tables(found), *split), rates_words(found)
    write_said(json_path, "review rates", sentences=sentences, tables=tables)
    show(console, sentences, tables)


@review.command()
@_folder
@csv_option("entry of the ledger")
@json_option
def pay(*, folder: Path, csv_path: Path | None, json_path: Path | None) -> None:
    """What each person is owed by the rules of the protocol, for pieces and for minutes that were stated."""
    from vidence.make.review.files import read_reviews
    from vidence.make.review.pay import ledger, ledger_csv, over_the_cap, pay_table
    from vidence.media.whole import write_file

    console = screen(csv_path, json_path)
    reviews = read_reviews(folder)
    rules = reviews.protocol.pay
    if rules is None:
        raise UsageError(f"the protocol of {folder} has no [pay]; nothing is owed")
    entries = ledger(reviews.events, rules)
    table, sentences = pay_table(entries, rules), over_the_cap(entries, rules)
    write_asked((csv_path, lambda file: write_file(file, ledger_csv(entries))))
    write_said(json_path, "review pay", sentences=sentences, tables=(table,))
    show(console, sentences, [table])


@review.command()
@_folder
@file_option("--events", "events_path", "Write the events, as JSON lines.")
@file_option("--accepted", "accepted_path", "Write the last wording of the accepted items, as JSON lines.")
@file_option("--sources", "sources_path", "The same, as they were before they were translated.")
def export(
    *, folder: Path, events_path: Path | None, accepted_path: Path | None, sources_path: Path | None
) -> None:
    """Write the events of REVIEW for a table or another team, or the items that were accepted."""
    from vidence.make.pipeline.output import json_lines
    from vidence.make.review.files import read_reviews
    from vidence.media.whole import write_file

    if events_path is None and accepted_path is None and sources_path is None:
        raise UsageError("what is to be written? say --events FILE, --accepted FILE, or --sources FILE")
    screen(events_path, accepted_path, sources_path)
    reviews = read_reviews(folder)
    names = [name for name, one in reviews.states.items() if one.state == "accepted"]
    accepted = [reviews.content(name) for name in names]
    sources = [reviews.source(name) for name in names]
    write_asked(
        (events_path, lambda file: write_file(file, json_lines(reviews.events))),
        (accepted_path, lambda file: write_file(file, json_lines(accepted))),
        (sources_path, lambda file: write_file(file, json_lines(sources))),
    )
