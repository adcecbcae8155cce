"""Which kinds of errors wrong replies make: draw, label, import, report."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.cli.plan_flags import patience_option
from vidence.console.files import screen, write_asked
from vidence.console.options import NOT_ALL, PATH, html_option, json_option, level_option, parser_option
from vidence.console.screen import Screen, say, several
from vidence.engine.display import Waits
from vidence.engine.environment import cache_root, environment
from vidence.engine.events import Away, Back, Event
from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.explain.errors.packet import Packet
    from vidence.explain.errors.taxonomies import Taxonomy

SECTION = "Explain"

_taxonomy = click.option(
    "--taxonomy", help="The kinds: a name, or a TOML file (default: that of the packet, or of the benchmark)."
)
_packet = click.argument("folder", metavar="PACKET", type=PATH)


@click.group()
def errors() -> None:
    """Which kinds of errors wrong replies make: draw them, label them, report the labels."""


@errors.command()
@click.argument("folders", metavar="RUN...", nargs=-1, required=True, type=PATH)
@click.option("--same", type=click.IntRange(1), help="So many questions, the same for all runs.")
@click.option("--wrong", type=click.IntRange(1), help="So many wrong replies of each run.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides which, and in which order.")
@_taxonomy
@click.option("--out", type=PATH, required=True, help="Folder of the packet; not one that has any.")
@click.option("--frames/--no-frames", default=True, help="Picture the frames that were shown.")
@parser_option
def draw(
    *,
    folders: tuple[Path, ...],
    same: int | None,
    wrong: int | None,
    seed: int,
    taxonomy: str | None,
    out: Path,
    frames: bool,
    parser: str | None,
) -> None:
    """Draw replies of RUN folders into a packet for labellers, in an order that hides whose they are.

    One wrong reply in ten stands in it twice. The file key.json says whose each is: keep it from labellers.
    """
    from vidence.explain.errors.packet import Draw
    from vidence.explain.errors.taxonomies import load_taxonomy, taxonomy_of
    from vidence.report.error_kinds import draw as draw_packet
    from vidence.report.error_kinds import write_packet
    from vidence.report.results import load_run

    if (same is None) == (wrong is None):
        raise UsageError("say either --same N, the same questions for all runs, or --wrong N, of each run")
    runs = [load_run(folder, parser=parser) for folder in folders]
    name = taxonomy or taxonomy_of(run.plan.benchmark for run in runs)
    kinds = load_taxonomy(name)
    kept = str(Path(name).resolve()) if name.endswith(".toml") else name
    n = same if same is not None else wrong
    wanted = Draw(taxonomy=kept, rule="wrong" if same is None else "same", n=n or 1, seed=seed)
    packet, pictures = draw_packet(runs, wanted, cache_root=cache_root(), with_frames=frames)
    for path in write_packet(out, packet, kinds, pictures=pictures):
        click.echo(f"wrote {path}", err=True)
    n_wrong = sum(one.is_wrong for one in packet.key.drawn)
    console = Screen(stderr=True)
    say(
        console,
        f"{several(n_wrong, 'wrong reply', many='wrong replies')} of {several(len(runs), 'run')}, in "
        f"{several(len(packet.rows), 'row')}. Give labellers packet.html and labels.csv, not key.json.",
    )


@errors.command()
@_packet
@click.option("--model", required=True, help="Who labels, for example openai:gpt-4.1.")
@_taxonomy
@click.option("--limit", type=click.IntRange(1), help="Only the first so many rows.")
@click.option("--max-cost", type=float, help="Stop when so many US dollars are spent; needs prices.")
@click.option("--price-in", type=float, default=0.0, help="US dollars per million tokens read.")
@click.option("--price-out", type=float, default=0.0, help="US dollars per million tokens written.")
@click.option(
    "--concurrency", type=click.IntRange(1), default=4, show_default=True, help="Requests in flight."
)
@patience_option("10m")
def label(
    *,
    folder: Path,
    model: str,
    taxonomy: str | None,
    limit: int | None,
    max_cost: float | None,
    price_in: float,
    price_out: float,
    concurrency: int,
    patience_s: float,
) -> int:
    """Have a model label the rows of PACKET, one ask each; its labels are kept apart from those of people.

    Every label quotes words of the reply. One that cannot be read, or quotes what is not there, is asked for
    once more and then left out. Replies are remembered: the same command asks nobody twice.
    """
    from vidence.engine.jobs import Jobs, NamedModel
    from vidence.engine.limits import AskLimits
    from vidence.engine.trust import needs_of_spec, remember
    from vidence.explain.errors.packet import read_packet
    from vidence.records import Failed
    from vidence.report.error_kinds import flows, write_labels

    if max_cost is not None and not (price_in or price_out):
        raise UsageError("--max-cost needs prices: give --price-in and --price-out")
    packet = read_packet(folder)
    kinds = _kinds(packet, taxonomy)
    rows = [row.row for row in packet.rows][:limit]
    asked, picture = flows(folder, packet, kinds, labeller=model, rows=rows)
    place = environment()
    remember(needs_of_spec("model", model), environment=place)
    named = NamedModel(spec=model, price_in=price_in, price_out=price_out)
    place.memory.parent.mkdir(parents=True, exist_ok=True)
    limits = AskLimits(concurrency=concurrency, max_cost=max_cost, patience_s=patience_s)
    console = Screen(stderr=True)
    waits = Waits(console)

    def heard(event: Event) -> None:
        if isinstance(event, Away | Back):
            waits.words(event)

    with Jobs(
        {model: named}, memory=place.memory, limits=limits, pictures=picture, on_event=heard, on=place.on
    ) as jobs:
        found = jobs.run(asked, model=model)
        spent = jobs.spent
    labels, n_left = [], 0
    for row, one in found.items():
        problem = one.message if isinstance(one, Failed) else one.problem
        if not isinstance(one, Failed) and one.label is not None:
            labels.append(one.label)
            continue
        n_left += 1
        say(console, (f"{row}: ", "yellow"), problem)
    path = write_labels(folder, labels, labeller=model, by="model")
    click.echo(f"wrote {path}", err=True)
    say(
        console,
        f"{several(len(labels), 'row')} labelled, {n_left} without a label; "
        f"{several(spent.n_asked, 'reply', many='replies')} asked for, {spent.n_remembered} remembered",
    )
    return NOT_ALL if n_left else 0


@errors.command("import")
@_packet
@click.argument("sheet", type=PATH)
@click.option("--labeller", required=True, help="Whose labels they are.")
@_taxonomy
def import_labels(*, folder: Path, sheet: Path, labeller: str, taxonomy: str | None) -> None:
    """Import the SHEET that a person filled in for PACKET.

    Either the whole sheet is taken over or nothing: every line that cannot be used is named. A second sheet
    of the same labeller takes the place of the first.
    """
    from vidence.explain.errors.labels import read_sheet
    from vidence.explain.errors.packet import read_packet
    from vidence.report.error_kinds import write_labels

    packet = read_packet(folder)
    labels = read_sheet(sheet, packet, labeller=labeller, taxonomy=_kinds(packet, taxonomy))
    if not labels:
        raise UsageError(f"{sheet} has no label of {labeller!r}: no line has a kind")
    click.echo(f"wrote {write_labels(folder, labels, labeller=labeller, by='person')}", err=True)
    n_wrong = sum(one.is_wrong for one in packet.key.drawn)
    n = len({(one.run, one.item_id) for one in labels})
    wrong = several(n_wrong, "wrong reply", many="wrong replies")
    say(Screen(stderr=True), f"{n} of {wrong} labelled by {labeller}")


@errors.command()
@_packet
@_taxonomy
@level_option("Level of the intervals.")
@html_option
@json_option
def report(
    *,
    folder: Path,
    taxonomy: str | None,
    level: float,
    html: Path | None,
    json_path: Path | None,
) -> None:
    """Shares of the kinds of errors in PACKET by its labels, agreement, chains, examples."""
    import numpy as np

    from vidence.explain.errors.labels import read_labels
    from vidence.explain.errors.packet import read_packet
    from vidence.explain.errors.sheets import report as report_of
    from vidence.media.whole import write_file
    from vidence.report.error_kinds import report_json, write_report_page
    from vidence.report.results import SEED
    from vidence.tables.terminal import plain, print_table

    packet = read_packet(folder)
    kinds = _kinds(packet, taxonomy)
    found = report_of(
        packet,
        read_labels(folder, packet, taxonomy=kinds),
        kinds,
        rng=np.random.default_rng(SEED),
        level=level,
    )
    console = screen(html, json_path)
    write_asked(
        (html, lambda file: write_report_page(found, file, level=level)),
        (json_path, lambda file: write_file(file, report_json(found))),
    )
    for sentence in found.sentences:
        console.print(plain(sentence))
    for table in found.tables:
        print_table(table, console)


def _kinds(packet: "Packet", named: str | None) -> "Taxonomy":
    from vidence.explain.errors.taxonomies import load_taxonomy

    return load_taxonomy(named or packet.key.draw.taxonomy)
