"""Run a review: draw samples, read verdicts, report states, pay."""

from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated, Literal

import click

from vidence.console.files import screen, show, write_asked, write_said
from vidence.console.flags import CSV, JSON, NOT_ALL, argument, command, file_flag, flag
from vidence.console.screen import Screen, say, several
from vidence.errors import DataError, UsageError
from vidence.make.review.protocol import StageRole
from vidence.make.review.revisions import Role
from vidence.records import Record
from vidence.text import quoted

GROUP = "items"

_SHEETS = "sheets"
_SEED = 0  # of the intervals of agreement
Act = Literal["claim", "release", "expire", "say", "withdraw", "reject", "reopen"]
_BY = flag("Pseudonym of the person who acts.", metavar="NAME")


class Timed(Record):
    """An act with its time."""

    at: Annotated[str | None, flag("Time of the act in UTC (default: now).", metavar="TIME")] = None

    @property
    def moment(self) -> str:
        """The time as it is recorded.

        Raises:
            UsageError: it cannot be read.
        """
        try:
            when = datetime.now(UTC) if self.at is None else datetime.fromisoformat(self.at)
        except ValueError as error:
            raise UsageError(f"--at {self.at!r}; expected a time such as 2026-11-22T09:30:00Z") from error
        moment = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@click.group()
def review() -> None:
    """Review questions in files that a team can merge: draw samples, read verdicts, report states, pay."""


class Open(Timed):
    """Items to submit for review."""

    items: Annotated[Path, argument("ITEMS")]
    out: Annotated[Path, flag("Review folder.")]
    protocol: Annotated[str | None, flag("Name or FILE.toml; required for a new folder.")] = None
    by: Annotated[str, flag("Submitter (default: the author of each line).", metavar="NAME")] = ""
    role: Annotated[
        Literal["author", "reviewer", "meta"],
        flag("Role of the submitter; reviewers submit edits of what they review."),
    ] = "author"


@command("open", group=review)
def open_review(given: Open) -> None:
    """Submit ITEMS (JSON lines with an item_id) for review: new ones and revised ones.

    Creates the folder if it does not exist. Skips unchanged lines.
    """
    from vidence.make.review.files import PROTOCOL_FILE, read_items, read_reviews
    from vidence.make.review.protocol import load_protocol, protocol_bytes
    from vidence.make.review.recording import begin, submit, write

    out, protocol = given.out, given.protocol
    wordings = read_items(given.items)
    if protocol is not None:
        load_protocol(protocol)
        begin(out, protocol_bytes(protocol))
    elif not (out / PROTOCOL_FILE).is_file():
        raise UsageError(f"{out} is not a review yet; add --protocol NAME to start one")
    recorders, done = submit(read_reviews(out), wordings, by=given.by, role=given.role, at=given.moment)
    write(out, recorders)
    console = Screen(stderr=True)
    for item_id, fields in done.untouched.items():
        say(console, ("as it was: ", "yellow"), f"{item_id}: {', '.join(fields)}, which was to be mended")
    say(console, f"{several(done.n_new, 'wording')} put in, {done.n_same} as they were; {out}")


class Translate(Timed):
    """Translations to submit."""

    folder: Annotated[Path, argument("REVIEW")]
    items: Annotated[Path, argument("ITEMS")]
    by: Annotated[str, _BY]
    role: Annotated[StageRole, flag("Review stage.")] = "reviewer"
    language: Annotated[
        str, flag("Language code, such as en (default: the tag language of each line).", metavar="CODE")
    ] = ""


@command(group=review)
def translate(given: Translate) -> None:
    """Submit ITEMS (JSON lines with an item_id) as translations of items that NAME reviews.

    A translation changes texts and the language tag, nothing else. The original stays.
    """
    from vidence.make.review.files import read_items, read_reviews
    from vidence.make.review.recording import Recorder, write
    from vidence.make.review.recording import translate as translate_items

    reviews = read_reviews(given.folder)
    recorder = Recorder(reviews, by=given.by, role=given.role, at=given.moment)
    done = translate_items(reviews, read_items(given.items), recorder, language=given.language)
    write(given.folder, [recorder])
    say(Screen(stderr=True), f"{several(done.n_new, 'translation')} put in, {done.n_same} as they were")


class Draw(Timed):
    """What to draw for a reviewer."""

    folder: Annotated[Path, argument("REVIEW")]
    by: Annotated[str, _BY]
    role: Annotated[StageRole, flag("Review stage.")] = "reviewer"
    share: Annotated[
        float,
        flag(
            "Share of the waiting items to draw; at least one per stratum.",
            type=click.FloatRange(0, 1, min_open=True),
        ),
    ] = 1.0
    stratum: Annotated[str, flag("Sample from each value of this tag.", metavar="TAG")] = ""
    seed: Annotated[int, flag("Seed of the sample.")] = 0
    more: Annotated[bool, flag("Draw even if items drawn earlier are undecided.")] = False


@command(group=review)
def draw(given: Draw) -> None:
    """Draw items for NAME and write the sheet to fill in, REVIEW/sheets/NAME-ROLE.csv.

    Authors never draw their own items. If the stage asks for an answer first, the next sheet shows the key.
    While items are undecided, rerunning writes the same sheet.
    """
    from vidence.make.pipeline.ledger import write_file
    from vidence.make.review.files import read_reviews
    from vidence.make.review.protocol import ROLES
    from vidence.make.review.recording import Recorder, Share, held, write
    from vidence.make.review.recording import draw as draw_items
    from vidence.make.review.sheets import filled_in, has_writing, sheet, take_in

    folder, by, role = given.folder, given.by, given.role
    reviews = read_reviews(folder)
    if given.more or not held(reviews, by=by, role=role):
        recorder = Recorder(reviews, by=by, role=role, at=given.moment)
        wanted = Share(share=given.share, tag=given.stratum, seed=given.seed)
        draw_items(reviews, recorder, by=by, role=role, wanted=wanted)
        write(folder, [recorder])
        reviews = read_reviews(folder)
    mine = held(reviews, by=by, role=role)
    if not mine:
        raise UsageError(
            f"nothing waits for {by} as {role}; see: vidence items review state {quoted(folder)}"
        )
    path = folder / _SHEETS / f"{by}-{role}.csv"
    content = sheet(reviews, by=by, role=role)
    to_fill = filled_in(reviews.protocol.stages[ROLES.index(role)])
    if has_writing(path, content, filled=to_fill):
        kept = next(suffix for n in count(1) if not (suffix := path.with_suffix(f".{n}.csv")).exists())
        try:
            taken = take_in(
                reviews, Recorder(reviews, by=by, role=role, at=given.moment), (path,), by=by, role=role
            )
        except DataError as error:
            raise UsageError(f"{path} has been filled in but cannot be read: {error}") from error
        if taken.n_decided or taken.n_solved:
            raise UsageError(
                f"{path} has been filled in; read it first: vidence items review read {quoted(folder)} "
                f"{quoted(path)} --by {by} --role {role}"
            )
        path.rename(kept)
        click.echo(f"kept the sheet that was read as {kept}", err=True)
    write_file(path, content)
    click.echo(f"wrote {path}", err=True)
    say(Screen(stderr=True), f"{several(len(mine), 'item')} to look at")


class Read(Timed):
    """What to read: a person's sheets, or copies of the review."""

    folder: Annotated[Path, argument("REVIEW")]
    paths: Annotated[tuple[Path, ...], argument("SHEET|COPY...")]
    by: Annotated[str, flag("For sheets: pseudonym of the person who filled them in.", metavar="NAME")] = ""
    role: Annotated[StageRole, flag("For sheets: review stage.")] = "reviewer"


@command(group=review)
def read(given: Read) -> int:
    """Import SHEETs (.csv) that NAME filled in, or merge COPYs of REVIEW: folders or event files.

    A sheet with an invalid line is rejected as a whole; lines without a verdict wait. Each person's chain of
    events in a copy is verified; events that break a rule are stored without effect and reported. Reading the
    same file twice changes nothing.
    """
    from vidence.make.review.files import merge, read_reviews
    from vidence.make.review.recording import Recorder, write
    from vidence.make.review.sheets import take_in

    console = Screen(stderr=True)
    sheets = tuple(path for path in given.paths if path.suffix == ".csv")
    if sheets:
        if not given.by:
            raise UsageError("no name of who filled in the sheets; add --by NAME")
        reviews = read_reviews(given.folder)
        recorder = Recorder(reviews, by=given.by, role=given.role, at=given.moment)
        taken = take_in(reviews, recorder, sheets, by=given.by, role=given.role)
        write(given.folder, [recorder])
        say(
            console,
            f"{several(taken.n_decided, 'verdict')} taken in, {several(taken.n_solved, 'answer')} before the "
            f"key, {several(taken.n_known, 'line')} known already",
        )
    copies = tuple(path for path in given.paths if path not in sheets)
    if not copies:
        return 0
    merged = merge(given.folder, copies)
    for event, reason in merged.refused:
        say(console, ("without effect: ", "yellow"), f"{event.event_id[:12]}: {reason}")
    say(
        console,
        f"{several(merged.n_events, 'event')} and {several(merged.n_revisions, 'revision')} added, "
        f"{len(merged.refused)} without effect",
    )
    return NOT_ALL if merged.refused else 0


class ActWanted(Timed):
    """One act of a person on an item."""

    folder: Annotated[Path, argument("REVIEW")]
    item_id: Annotated[str, argument("ITEM")]
    kind: Annotated[Act, argument("ACT")]
    by: Annotated[str, _BY]
    role: Annotated[Role, flag("Role of that person.")]
    message: Annotated[str, flag("Reason; required of an operator.")] = ""
    minutes: Annotated[str, flag("Time spent, in minutes: 4.2 or 4:12.", metavar="TIME")] = ""
    whose: Annotated[str, flag("For expire: the person who holds the claim.", metavar="NAME")] = ""


@command(group=review)
def act(given: ActWanted) -> None:
    """Act on ITEM without a sheet: claim, release, expire, say, withdraw, reject, reopen."""
    from vidence.make.review.files import read_reviews
    from vidence.make.review.recording import Recorder, write
    from vidence.make.review.sheets import minutes_of

    folder, item_id = given.folder, given.item_id
    reviews = read_reviews(folder)
    if item_id not in reviews.states:
        raise UsageError(
            f"{folder} has no item {item_id!r}; `vidence items review state {quoted(folder)}` lists them"
        )
    took = minutes_of(given.minutes) if given.minutes else None
    if given.minutes and took is None:
        raise UsageError(f"--minutes {given.minutes!r}; expected minutes such as 4.2, or 4:12")
    recorder = Recorder(reviews, by=given.by, role=given.role, at=given.moment)
    if fault := recorder.add(given.kind, item_id, message=given.message, minutes=took, whose=given.whose):
        raise UsageError(fault)
    write(folder, [recorder])
    say(Screen(stderr=True), f"{item_id} is {recorder.state(item_id).state}")


class State(Record):
    """Which state to report."""

    folder: Annotated[Path, argument("REVIEW")]
    where: Annotated[str | None, flag("List only items in this state.", metavar="STATE")] = None
    keys: Annotated[
        tuple[str, ...],
        flag("Also group rates by author, reviewer, week or tag:NAME; repeatable.", "--by", metavar="KEY"),
    ] = ()
    operator: Annotated[bool, flag("Also show cells below 5 items: for operators, not for peers.")] = False
    csv_path: Annotated[Path | None, CSV] = None
    json_path: Annotated[Path | None, JSON] = None


@command(group=review)
def state(given: State) -> None:
    """Report the state of each item, and rates with denominators, agreement, minutes.

    By week, an item counts in the week of its final decision. The CSV file has one row per item.
    """
    import numpy as np

    from vidence.make.review.files import read_reviews
    from vidence.make.review.groups import group_table, groups_of
    from vidence.make.review.rates import rates_of, rates_tables, rates_words, states_table, states_words
    from vidence.media.whole import write_file
    from vidence.tables.export import table_as_csv

    console = screen(given.csv_path, given.json_path)
    reviews = read_reviews(given.folder)
    states = states_table(reviews, only=given.where)
    rates = rates_of(reviews, rng=np.random.default_rng(_SEED))
    groups = [group_table(groups_of(reviews, key), key, shows_all=given.operator) for key in given.keys]
    tables = (states, *rates_tables(rates), *groups)
    sentences = (*states_words(reviews), *rates_words(rates))
    write_asked((given.csv_path, lambda file: write_file(file, table_as_csv(states))))
    write_said(given.json_path, "review state", sentences=sentences, tables=tables)
    show(console, sentences, tables)


class Pay(Record):
    """Where to write the payment ledger."""

    folder: Annotated[Path, argument("REVIEW")]
    csv_path: Annotated[Path | None, CSV] = None
    json_path: Annotated[Path | None, JSON] = None


@command(group=review)
def pay(given: Pay) -> None:
    """Compute what each person is owed under the protocol, per item and for reported minutes."""
    from vidence.make.review.files import read_reviews
    from vidence.make.review.pay import ledger, ledger_csv, over_the_cap, pay_table
    from vidence.media.whole import write_file

    console = screen(given.csv_path, given.json_path)
    reviews = read_reviews(given.folder)
    rules = reviews.protocol.pay
    if rules is None:
        raise UsageError(f"the protocol of {given.folder} has no [pay]; nothing is owed")
    entries = ledger(reviews.events, rules)
    table, sentences = pay_table(entries, rules), over_the_cap(entries, rules)
    write_asked((given.csv_path, lambda file: write_file(file, ledger_csv(entries))))
    write_said(given.json_path, "review pay", sentences=sentences, tables=(table,))
    show(console, sentences, [table])


class Export(Record):
    """What to export from a review."""

    folder: Annotated[Path, argument("REVIEW")]
    events: Annotated[Path | None, file_flag("Write the events, as JSON lines.")] = None
    accepted: Annotated[
        Path | None, file_flag("Write the accepted items in their last wording, as JSON lines.")
    ] = None
    sources: Annotated[
        Path | None, file_flag("Write the accepted items as before translation, as JSON lines.")
    ] = None


@command(group=review)
def export(given: Export) -> None:
    """Export the events of REVIEW for another team, or its accepted items.

    Items are in the item format; authors and working times are in the events.
    """
    from vidence.make.pipeline.output import json_lines
    from vidence.make.review.files import bare, read_reviews
    from vidence.media.whole import write_file

    if given.events is None and given.accepted is None and given.sources is None:
        raise UsageError("nothing to write; give --events FILE, --accepted FILE, or --sources FILE")
    screen(given.events, given.accepted, given.sources)
    reviews = read_reviews(given.folder)
    names = [name for name, state in reviews.states.items() if state.state == "accepted"]
    write_asked(
        (given.events, lambda file: write_file(file, json_lines(reviews.events))),
        (given.accepted, lambda file: write_file(file, json_lines(map(bare, map(reviews.content, names))))),
        (given.sources, lambda file: write_file(file, json_lines(map(bare, map(reviews.source, names))))),
    )
