"""Questions in another layout, written in the item format."""

import sys
from pathlib import Path

import click
import msgspec

from vidence.ask.benchmarks.question_files import seen_from
from vidence.console.options import NOT_ALL, PATH
from vidence.console.screen import several
from vidence.errors import StoreError

SECTION = "Ask"


@click.command()
@click.argument("data", type=PATH)
@click.option("--map", "mapping", metavar="MAP", help="A preset, FILE.toml, or FIELD=COLUMN,...")
@click.option(
    "--benchmark", default="table", show_default=True, help="The benchmark that the questions are of."
)
@click.option("--split", help="Which part of it (default: its first split).")
@click.option("--strict", is_flag=True, help="Stop at the first bad line.")
@click.option("--out", type=PATH, help="The file to write (default: standard output).")
def convert(
    *, data: Path, mapping: str | None, benchmark: str, split: str | None, strict: bool, out: Path | None
) -> int:
    """Write the questions of DATA in the item format, one JSON object on a line.

    Paths of media are written as they are seen from the folder of the new file.
    """
    from vidence.engine.plan import PlanOverrides
    from vidence.engine.prepare import load_questions, make_plan
    from vidence.media.whole import whole_file

    overrides: PlanOverrides = {"map": mapping, "split": split, "strict": strict or None}
    plan = make_plan(benchmark, data=data, model="baseline:random", overrides=overrides)
    loaded = load_questions(plan)
    is_file = out is not None and str(out) != "-"
    folder = out.parent if is_file and out is not None else Path()
    lines = [msgspec.json.encode(seen_from(folder, item, loaded.media_root)) + b"\n" for item in loaded.items]
    if is_file and out is not None:
        try:
            with whole_file(out) as unfinished:
                unfinished.write_bytes(b"".join(lines))
        except OSError as error:
            raise StoreError(f"cannot write {out}: {error}") from error
    else:
        sys.stdout.buffer.write(b"".join(lines))
        sys.stdout.buffer.flush()
    for note in (*loaded.notes, *(f"left out: {problem}" for problem in loaded.problems[:20])):
        click.echo(note, err=True)
    where = f", wrote {out}" if is_file else ""
    click.echo(
        f"{several(len(loaded.items), 'question')}{where}; {several(len(loaded.problems), 'line')} left out",
        err=True,
    )
    return NOT_ALL if loaded.problems else 0
