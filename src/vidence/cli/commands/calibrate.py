"""Difficulty and discrimination of questions from many runs; doubtful keys first."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from vidence.console.files import screen, show, write_asked, write_said
from vidence.console.flags import JSON, PARSER, argument, command, file_flag, flag
from vidence.media.whole import write_file
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.report.pairing import PairedRuns
    from vidence.tables.table import Table

GROUP = "stats"


class ManyRuns(Record):
    """The runs for question statistics."""

    folders: Annotated[tuple[Path, ...], argument("RUN...")]
    shared: Annotated[bool, flag("Use only questions that all runs share.")] = False
    parser: Annotated[str | None, PARSER] = None
    out: Annotated[
        Path | None,
        file_flag("Write the result, for vidence items audit --calibration or run --subset.", "--out"),
    ] = None
    json_path: Annotated[Path | None, JSON] = None

    def paired(self) -> "PairedRuns":
        """Return their replies, question by question."""
        from vidence.report.items import paired_replies
        from vidence.report.results import load_runs

        runs = load_runs(self.folders, parser=self.parser, are_brief=True)
        return paired_replies(runs, shared=self.shared)

    def show(self, name: str, messages: Sequence[str], table: "Table", *, found: Record | None) -> None:
        """Write and print the results."""
        console = screen(self.out, self.json_path)
        write_asked((self.out, lambda file: write_file(file, msgspec.json.encode(found))))
        write_said(self.json_path, f"stats {name}", sentences=messages, tables=[table])
        show(console, messages, [table])


@command()
def calibrate(given: ManyRuns) -> None:
    """Estimate difficulty and discrimination from eight or more RUN folders; list doubtful keys first.

    Recorded replies and people count as runs. The model is a two-parameter logistic with priors shared by
    all questions. A key is doubtful if right answers become rarer as ability rises.
    """
    from vidence.report import items as of
    from vidence.report.results import SEED

    paired = given.paired()
    calibration = of.calibrated(paired, rng=np.random.default_rng(SEED))
    given.show(
        "calibrate",
        (*of.sentences(calibration), *paired.notes),
        of.items_table(calibration),
        found=calibration,
    )
