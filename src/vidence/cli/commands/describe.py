"""Describe a set of questions: lengths, videos, evidence, answer letters, vocabulary, tags."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.cli.outputs import Outputs
from vidence.console.flags import command, flag
from vidence.engine.environment import cache_root
from vidence.engine.question_set import QuestionSet
from vidence.errors import MediaError, UsageError
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.media.address import MediaPath
    from vidence.records import Item

GROUP = "items"


class Describe(Record):
    """The questions to describe."""

    questions: QuestionSet
    measure: Annotated[
        bool, flag("Measure the lengths of videos that are on this machine.", "--measure/--no-measure")
    ] = True
    cross: Annotated[tuple[str, ...], flag("Cross-tabulate two tags; repeatable.", metavar="TAG,TAG")] = ()
    files: Outputs


@command()
def describe(given: Describe) -> None:
    """Describe a set of questions: ITEMS is a file in the item format, or a benchmark.

    Reports lengths of texts, videos, sources, evidence, answer letters, vocabulary and tags. Missing videos
    are counted, not measured.
    """
    from vidence.engine.prepare import media_root_of
    from vidence.report import set_statistics
    from vidence.report.terminal import draw_section
    from vidence.tables.terminal import Sheet

    screen = given.files.screen()
    crossed = [_crossed(text) for text in given.cross]
    read = given.questions.load()
    root = media_root_of(read.plan, read.loaded)
    described = set_statistics.describe(
        read.items,
        name=read.name,
        durations_s=_durations(root, read.items) if given.measure else {},
        crossed=crossed,
    )
    settings = {"questions": str(read.plan.data), "where": given.questions.where or "all"}
    section, form = set_statistics.section(described), set_statistics.JSON_FORMAT
    given.files.write(
        described.tables,
        csv=lambda file: set_statistics.write_described_csv(described, file),
        json=lambda file: section.write_json(file, form, name=described.name, problems=described.problems),
        html=lambda file: section.write_page(
            file, eyebrow="vidence items describe", facts=(("Set", settings),)
        ),
    )
    draw_section(section, Sheet(screen))  # last: the reader may close the pipe


def _crossed(text: str) -> tuple[str, str]:
    name, _, other = (part.strip() for part in text.partition(","))
    if not name or not other or "," in other:
        raise UsageError(f"--cross {text!r}; expected two tags: --cross discipline,answer_kind")
    return name, other


def _durations(root: "MediaPath", items: "Sequence[Item]") -> dict[str, float]:
    """Return the seconds of local videos below `root` by `Item.video_id`; warn of unreadable ones."""
    from vidence.media.files import located, missing, outside, read_facts

    durations: dict[str, float] = {}
    firsts = list({item.video_id: item for item in items}.values())
    # Nobody was asked whether what lies elsewhere on a network may be read.
    elsewhere = {path for path in outside(root, firsts) if not isinstance(path, Path)}
    near = [item for item in firsts if elsewhere.isdisjoint(located(root, medium) for medium in item.media)]
    absent = {*missing(root, near), *elsewhere}
    for item in firsts:
        paths = [located(root, medium) for medium in item.media if medium.kind == "video"]
        if not paths or len(paths) < len(item.media) or not absent.isdisjoint(paths):
            continue
        try:
            facts = [read_facts(path, kind="video", cache_root=cache_root()) for path in paths]
        except MediaError as error:
            click.echo(f"not measured: {error}", err=True)
            continue
        durations[item.video_id] = sum(fact.probe.counted.duration_s for fact in facts)
    return durations
