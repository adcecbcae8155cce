"""Let people read a sample of replies, and correct the score of a run by it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import numpy as np

from vidence.console.flags import argument, command, flag, given_flags
from vidence.console.screen import Screen, say
from vidence.engine.environment import environment, now
from vidence.errors import UsageError
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.study.replies import ShownTrial
    from vidence.study.study import Field

GROUP = "replies"


class Drawing(Record):
    """Which replies to draw, and for how many people."""

    n: Annotated[int, flag("Number of replies.", type=click.IntRange(50, 200))] = 100
    people: Annotated[int, flag("Number of people, each with a sheet.", type=click.IntRange(1, 20))] = 1
    seed: Annotated[int, flag("Seed of the sample.")] = 0


class CheckSample(Record):
    """A run, and how its sample is drawn and read."""

    folder: Annotated[Path, argument("RUN")]
    drawing: Drawing
    read: Annotated[bool, flag("Read the replies in the terminal, one by one; readings are saved.")] = False


@command("check-sample")
def check_sample(given: CheckSample) -> None:
    """Draw replies of RUN for people to read, and correct its score by their readings.

    The first call draws replies into RUN/check, a study with a sheet for each person. People read them here
    with --read, on the sheet, or in the browser, as in any study. Once all are read, report and compare
    print the corrected score next to the raw one. People do not see how a reply was parsed or scored, nor
    which choice is right.
    """
    from vidence.report.checked import FOLDER
    from vidence.report.results import SEED, load_run
    from vidence.report.scores import score_tables
    from vidence.report.tables import check_sentences
    from vidence.study.check_sample import ask_here, draw_sample

    run, folder = load_run(given.folder, are_brief=True), given.folder / FOLDER
    if run.sample is None:
        how, place = given.drawing, environment()
        for path in draw_sample(run, n=how.n, n_people=how.people, seed=how.seed, environment=place):
            click.echo(f"wrote {path}", err=True)
    elif unused := given_flags(Drawing):
        raise UsageError(
            f"{', '.join(unused)}: {folder} is already drawn; leave this out, or move it away to draw again"
        )
    if given.read:
        ask_here(folder, _put, at=now().isoformat())
    run = load_run(given.folder, are_brief=True)
    for sentence in check_sentences(run, score_tables(run, rng=np.random.default_rng(SEED))[0]):
        say(Screen(), sentence)


def _put(trial: "ShownTrial", field: "Field", place: str) -> str:
    """Show a reply and ask for its answer; None at the end of the input."""
    console = Screen()
    options = [o for o in field.options if len(o) > 1 or ord(o) - ord("A") < len(trial.choices)]
    say(console, (f"\nReply {place}", "bold"))
    for title, words in trial.parts:
        say(console, (f"{title}: ", "bold"), words)
    for i, choice in enumerate(trial.choices):
        say(console, f"{chr(ord('A') + i)}. {choice}")
    kinds = click.Choice([*options, "q"], case_sensitive=False)
    prompt: str = click.prompt(f"{field.title} (q to stop)", type=kinds)
    return "" if prompt == "q" else prompt
