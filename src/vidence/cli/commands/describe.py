"""Statistics of a set: lengths, videos, evidence, letters, words, tags."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.cli.outputs import Outputs, outputs
from vidence.console.options import data_option, named_questions, where_option
from vidence.console.screen import Screen, show_licence
from vidence.engine.environment import cache_root
from vidence.errors import MediaError, UsageError

if TYPE_CHECKING:
    from vidence.media.address import MediaPath
    from vidence.records import Item

SECTION = "Explain"


@click.command()
@click.argument("what")
@data_option
@click.option("--split", help="The part of the benchmark.")
@click.option("--map", "map", help="How the columns of a table are called; see vidence run --map.")
@click.option("--media", metavar="FOLDER", help="The folder in which the videos lie, or its address.")
@click.option("--measure/--no-measure", default=True, help="Look into the videos that are here for lengths.")
@where_option("questions with this tag")
@click.option(
    "--cross", multiple=True, metavar="TAG,TAG", help="Count the values of two tags together; repeatable."
)
@outputs(csv="question")
def describe(
    *,
    what: str,
    data: Path | None,
    split: str | None,
    map: str | None,
    media: str | None,
    measure: bool,
    where: dict[str, str],
    cross: tuple[str, ...],
    files: Outputs,
) -> None:
    """Statistics of a set of questions: WHAT is a file in the item format, or a benchmark.

    Lengths of texts, videos, sources, evidence, letters, vocabulary and tags; videos that are not here are
    counted and not measured.
    """
    from vidence.engine.plan import PlanOverrides
    from vidence.engine.prepare import NOBODY, every_item, load_questions, make_plan, media_root_of
    from vidence.report import set_statistics
    from vidence.report.terminal import draw_section

    shown = files.screen()
    crossed = [_crossed(text) for text in cross]
    benchmark, source = named_questions(what, data)
    overrides: PlanOverrides = {"split": split, "map": map, "media": media, "where": where or None}
    plan = make_plan(benchmark, data=source, model=NOBODY, overrides=overrides)
    show_licence(plan.benchmark, Screen(stderr=True), cache_root=cache_root())
    loaded = load_questions(plan)
    items = every_item(loaded, plan)
    name = source.name if data is None and source is not None else benchmark
    found = set_statistics.describe(
        items,
        name=name,
        durations_s=_durations(media_root_of(plan, loaded), items) if measure else {},
        crossed=crossed,
    )
    for problem in loaded.problems[:_MOST_NAMED]:
        click.echo(f"left out: {problem}", err=True)
    if len(loaded.problems) > _MOST_NAMED:
        click.echo(f"and {len(loaded.problems) - _MOST_NAMED:,} more lines left out", err=True)
    settings = {"questions": str(plan.data), "where": where or "all"}
    files.write(
        found.tables,
        csv=lambda file: set_statistics.write_described_csv(found, file),
        json=lambda file: set_statistics.write_described_json(found, file),
        html=lambda file: set_statistics.write_described_page(found, file, settings=settings),
    )
    draw_section(set_statistics.section(found), shown)  # last: whoever reads may close the pipe


_MOST_NAMED = 5


def _crossed(text: str) -> tuple[str, str]:
    one, _, other = (part.strip() for part in text.partition(","))
    if not one or not other or "," in other:
        raise UsageError(f"--cross {text!r}; expected two tags: --cross discipline,answer_kind")
    return one, other


def _durations(root: "MediaPath", items: "Sequence[Item]") -> dict[str, float]:
    """The seconds of the videos here or below `root`, by `Item.video_id`; unreadable ones are said."""
    from vidence.media.files import located, missing, outside, read_facts

    found: dict[str, float] = {}
    firsts = list({item.video_id: item for item in items}.values())
    # Nobody was asked whether what lies elsewhere on a network may be read.
    elsewhere = {path for path in outside(root, firsts) if not isinstance(path, Path)}
    near = [item for item in firsts if elsewhere.isdisjoint(located(root, one) for one in item.media)]
    absent = {*missing(root, near), *elsewhere}
    for item in firsts:
        paths = [located(root, one) for one in item.media if one.kind == "video"]
        if not paths or len(paths) < len(item.media) or not absent.isdisjoint(paths):
            continue
        try:
            facts = [read_facts(path, kind="video", cache_root=cache_root()) for path in paths]
        except MediaError as error:
            click.echo(f"not measured: {error}", err=True)
            continue
        found[item.video_id] = sum(one.probe.counted.duration_s for one in facts)
    return found
