"""Classify the errors of wrong replies: draw, label, report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from vidence.console.files import screen, show, write_asked
from vidence.console.flags import HTML, JSON, LEVEL, NOT_ALL, PARSER, argument, command, flag
from vidence.console.screen import Screen, say, several
from vidence.engine.display import Waits
from vidence.engine.environment import cache_root, environment
from vidence.engine.events import Away, Back, Event
from vidence.engine.plan import PATIENCE
from vidence.errors import UsageError
from vidence.media.whole import own_folder
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.explain.errors.packet import Packet
    from vidence.explain.errors.taxonomies import Taxonomy

GROUP = "replies"


@click.group()
def errors() -> None:
    """Classify the errors of wrong replies: draw replies, label them, report the labels."""


class DrawWanted(Record):
    """The replies to draw."""

    folders: Annotated[tuple[Path, ...], argument("RUN...")]
    same: Annotated[
        int | None, flag("Number of questions, the same for all runs.", type=click.IntRange(1))
    ] = None
    wrong: Annotated[int | None, flag("Number of wrong replies of each run.", type=click.IntRange(1))] = None
    seed: Annotated[int, flag("Seed of the sample and of its order.")] = 0
    taxonomy: Annotated[
        str | None, flag("Taxonomy of errors: a name, or a TOML file (default: that of the benchmark).")
    ] = None
    out: Annotated[Path, flag("New folder to write to.")]
    frames: Annotated[bool, flag("Include pictures of the frames.", "--frames/--no-frames")] = True
    parser: Annotated[str | None, PARSER] = None


@command(group=errors)
def draw(given: DrawWanted) -> None:
    """Draw replies of RUN folders for models to label, in a random order without the names of runs.

    People label with a study: the preset errors of `vidence study draw`.
    """
    from vidence.explain.errors.packet import Draw
    from vidence.explain.errors.taxonomies import load_taxonomy, taxonomy_of
    from vidence.report.error_kinds import draw as draw_packet
    from vidence.report.error_kinds import write_packet
    from vidence.report.results import load_runs

    if (given.same is None) == (given.wrong is None):
        raise UsageError("give either --same N (the same questions for all runs) or --wrong N (of each run)")
    own_folder(given.out)
    runs = load_runs(given.folders, parser=given.parser)
    name = given.taxonomy or taxonomy_of(run.plan.benchmark for run in runs)
    load_taxonomy(name)
    kept = str(Path(name).resolve()) if name.endswith(".toml") else name
    rule: Literal["wrong", "same"] = "wrong" if given.same is None else "same"
    wanted = Draw(taxonomy=kept, rule=rule, n=given.same or given.wrong or 1, seed=given.seed)
    packet, pictures = draw_packet(runs, wanted, cache_root=cache_root(), with_frames=given.frames)
    for path in write_packet(given.out, packet, pictures=pictures):
        click.echo(f"wrote {path}", err=True)
    n_wrong = sum(reply.is_wrong for reply in packet.key.drawn)
    say(
        Screen(stderr=True),
        f"{several(n_wrong, 'wrong reply', many='wrong replies')} of {several(len(runs), 'run')}, in "
        f"{several(len(packet.rows), 'row')}.",
    )


class Label(Record):
    """The labelling model, and its limits."""

    folder: Annotated[Path, argument("PACKET")]
    model: Annotated[str, flag("The model that labels, for example openai:gpt-4.1.")]
    limit: Annotated[int | None, flag("Only the first N rows.", type=click.IntRange(1))] = None
    max_cost: Annotated[
        float | None, flag("Stop when this many US dollars are spent; see `vidence list prices`.")
    ] = None
    price_in: Annotated[float, flag("US dollars per million tokens read (default: as listed).")] = 0.0
    price_out: Annotated[float, flag("US dollars per million tokens written (default: as listed).")] = 0.0
    concurrency: Annotated[int, flag("Requests in flight.", type=click.IntRange(1))] = 4
    patience_s: Annotated[float, PATIENCE] = 600.0


@command(group=errors)
def label(given: Label) -> int:
    """Have a model label the rows of PACKET, or of a study with drawn replies.

    The model is asked once for each row, and each label must quote words of the reply. A label that cannot
    be parsed, or quotes other words, is requested once more, then left out. Labels of models are kept apart
    from those of people.
    """
    from vidence.explain.errors.packet import read_packet

    return _ask(read_packet(given.folder), given)


def _ask(packet: "Packet", given: Label) -> int:
    """Have a model label; replies are cached, so that rerunning asks nothing twice."""
    from vidence.engine.jobs import Jobs, NamedModel
    from vidence.engine.limits import AskLimits
    from vidence.engine.trust import needs_of_spec, remember
    from vidence.records import Failed
    from vidence.report.error_kinds import flows, write_labels

    model = given.model
    rows = [row.row for row in packet.rows][: given.limit]
    asked, picture = flows(given.folder, packet, _kinds(packet), labeller=model, rows=rows)
    place = environment()
    remember(needs_of_spec("model", model), environment=place)
    place.memory().parent.mkdir(parents=True, exist_ok=True)
    console = Screen(stderr=True)
    waits = Waits(console)

    def heard(event: Event) -> None:
        if isinstance(event, Away | Back):
            waits.words(event)

    with Jobs(
        {model: NamedModel(spec=model, price_in=given.price_in, price_out=given.price_out)},
        memory=place.memory(),
        limits=AskLimits(concurrency=given.concurrency, max_cost=given.max_cost, patience_s=given.patience_s),
        pictures=picture,
        on_event=heard,
        on=place.on,
    ) as jobs:
        replies = jobs.run(asked, model=model)
        spent = jobs.spent
    labels, n_left = [], 0
    for row, reply in replies.items():
        problem = reply.message if isinstance(reply, Failed) else reply.problem
        if not isinstance(reply, Failed) and reply.label is not None:
            labels.append(reply.label)
            continue
        n_left += 1
        say(console, (f"{row}: ", "yellow"), problem)
    click.echo(f"wrote {write_labels(given.folder, labels, labeller=model, by='model')}", err=True)
    say(
        console,
        f"{several(len(labels), 'row')} labelled, {n_left} without a label; "
        f"{several(spent.n_asked, 'reply', many='replies')} requested, {spent.n_remembered} from memory",
    )
    return NOT_ALL if n_left else 0


class ErrorReport(Record):
    """The packet to report on."""

    folder: Annotated[Path, argument("PACKET")]
    level: Annotated[float, LEVEL] = 0.95
    html: Annotated[Path | None, HTML] = None
    json_path: Annotated[Path | None, JSON] = None


@command(group=errors)
def report(given: ErrorReport) -> None:
    """Report the share of each kind of error in PACKET, or in a study, with agreement and chains."""
    import numpy as np

    from vidence.explain.errors.labels import read_labels
    from vidence.explain.errors.packet import read_packet
    from vidence.explain.errors.shares import report as report_of
    from vidence.media.whole import write_file
    from vidence.report.error_kinds import report_json, write_report_page
    from vidence.report.results import SEED

    packet = read_packet(given.folder)
    kinds = _kinds(packet)
    labels = read_labels(given.folder, packet, taxonomy=kinds)
    reported = report_of(packet, labels, kinds, rng=np.random.default_rng(SEED), level=given.level)
    console = screen(given.html, given.json_path)
    write_asked(
        (given.html, lambda file: write_report_page(reported, file, level=given.level)),
        (given.json_path, lambda file: write_file(file, report_json(reported))),
    )
    show(console, reported.sentences, reported.tables)


def _kinds(packet: "Packet") -> "Taxonomy":
    from vidence.explain.errors.taxonomies import load_taxonomy

    if not packet.key.draw.taxonomy:
        raise UsageError("these replies were drawn without kinds of errors: the study has no field of kinds")
    return load_taxonomy(packet.key.draw.taxonomy)
