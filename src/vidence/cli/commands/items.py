"""What many runs say of single questions: calibrate them, choose few that predict the full score."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import msgspec
import numpy as np

from vidence.console.files import screen, show, write_asked, write_said
from vidence.console.flags import JSON, PARSER, argument, command, file_flag, flag
from vidence.media.whole import write_file
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.report.pairing import PairedRuns

SECTION = "Explain"


@click.group()
def items() -> None:
    """What many runs say of single questions: calibrate them, choose few that predict the full score."""


class Given(Record):
    """The runs by which questions are judged."""

    folders: Annotated[tuple[Path, ...], argument("RUN...")]
    shared: Annotated[bool, flag("Only the questions that all runs share.")] = False
    parser: Annotated[str | None, PARSER] = None
    json_path: Annotated[Path | None, JSON] = None

    def paired(self) -> "PairedRuns":
        """Their replies, question by question."""
        from vidence.report.item_calibration import paired_replies
        from vidence.report.results import load_run

        runs = [load_run(folder, parser=self.parser, are_brief=True) for folder in self.folders]
        return paired_replies(runs, shared=self.shared)


class Calibrated(Record):
    """The runs by which questions are calibrated."""

    given: Given
    out: Annotated[
        Path | None, file_flag("Write the calibration, for vidence audit --calibration.", "--out")
    ] = None


@command(group=items)
def calibrate(given: Calibrated) -> None:
    """Difficulty and discrimination of each question by eight RUN folders or more; doubtful keys first.

    Recorded replies count, and people. The model is logistic with two parameters, which are drawn towards
    those of the other questions. A key is doubtful where right answers fall as ability rises.
    """
    from vidence.report import item_calibration as of
    from vidence.report.results import SEED

    console, paired = screen(given.out, given.given.json_path), given.given.paired()
    found = of.calibrated(paired, rng=np.random.default_rng(SEED))
    said, tables = (*of.sentences(found), *paired.notes), of.tables(found)
    write_asked((given.out, lambda file: write_file(file, msgspec.json.encode(found))))
    write_said(given.given.json_path, "items calibrate", sentences=said, tables=tables)
    show(console, said, tables)


class SubsetWanted(Record):
    """The runs that choose a subset, and how large it is."""

    given: Given
    n: Annotated[int, flag("So many questions.", type=click.IntRange(2))] = 100
    out: Annotated[Path | None, file_flag("Write the subset, for vidence run --subset.", "--out")] = None


@command(group=items)
def subset(given: SubsetWanted) -> None:
    """Choose questions that predict the score on all, by eight RUN folders or more on the same questions.

    The error is that of cross-validation: each run is left out, the others choose, and its score is
    predicted. Random questions are printed for comparison, and half and twice as many questions.
    """
    from vidence.report import item_subset as of
    from vidence.report.results import SEED

    console, paired = screen(given.out, given.given.json_path), given.given.paired()
    rng, n_items = np.random.default_rng(SEED), len(paired.items)
    others = {n for n in (given.n // 2, 2 * given.n) if 1 < n < n_items}
    errors = of.cross_validated(paired, tuple(sorted({given.n, *others})), rng=rng)
    (own,) = (one for one in errors if one.n == given.n)
    said, tables = (of.verdict(own), *paired.notes), (of.errors_table(errors),)
    if given.out is not None:
        chosen = msgspec.json.encode(of.chosen_subset(paired, own))
        write_asked((given.out, lambda file: write_file(file, chosen)))
    write_said(given.given.json_path, "items subset", sentences=said, tables=tables)
    show(console, said, tables)
