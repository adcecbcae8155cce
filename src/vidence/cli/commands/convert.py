"""Convert questions from another layout to the item format."""

from pathlib import Path
from typing import Annotated

import click
import msgspec

from vidence.ask.benchmarks.question_files import seen_from
from vidence.console.files import STANDARD_OUTPUT, write_asked
from vidence.console.flags import NOT_ALL, argument, command, flag
from vidence.console.screen import several
from vidence.records import Record

GROUP = "items"


class Convert(Record):
    """The file to convert."""

    data: Annotated[Path, argument()]
    map: Annotated[str | None, flag("A preset, FILE.toml, or FIELD=COLUMN,...", metavar="MAP")] = None
    benchmark: Annotated[str, flag("The benchmark that the questions belong to.")] = "table"
    split: Annotated[str | None, flag("Split of the benchmark (default: the first).")] = None
    strict: Annotated[bool, flag("Stop at the first bad line.")] = False
    out: Annotated[Path | None, flag("Output file (default: standard output).")] = None


@command()
def convert(given: Convert) -> int:
    """Convert the questions of DATA to the item format, one JSON object per line.

    Paths of media are written relative to the folder of the new file.
    """
    from vidence.engine.plan import PlanOverrides
    from vidence.engine.prepare import NOBODY, load_questions, make_plan
    from vidence.media.whole import write_file

    out = given.out or STANDARD_OUTPUT
    overrides: PlanOverrides = {"map": given.map, "split": given.split, "strict": given.strict or None}
    plan = make_plan(given.benchmark, data=given.data, model=NOBODY, overrides=overrides)
    loaded = load_questions(plan)
    folder = Path() if out == STANDARD_OUTPUT else out.parent
    lines = [msgspec.json.encode(seen_from(folder, item, loaded.media_root)) + b"\n" for item in loaded.items]
    write_asked((out, lambda file: write_file(file, b"".join(lines))))
    for note in (*loaded.notes, *(f"left out: {problem}" for problem in loaded.problems[:20])):
        click.echo(note, err=True)
    n, n_bad = len(loaded.items), len(loaded.problems)
    click.echo(f"{several(n, 'question')}; {several(n_bad, 'line')} left out", err=True)
    return NOT_ALL if loaded.problems else 0
