"""What a session of asking did is said in a few lines."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from vidence.cli.asking import say_summary
from vidence.engine.evaluate import Summary


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        ({"n_answered_before": 2}, "2 of 3 were answered before"),
        ({"n_remembered": 1}, "1 reply taken from the reply memory"),
        ({"input_tokens": 5, "output_tokens": 7, "cost": 0.5}, "5 tokens read, 7 written, $0.5000"),
        ({"n_cut": 1, "n_tried": 3}, "1 of 3 replies cut off at the limit of 9 tokens"),
        ({"n_left_out": 2}, "2 lines of the questions left out"),
        (
            {"n_judge_errors": 1},
            "Judge only these with: vidence replies judge 'my r' --judge-model (the same)",
        ),
    ],
)
def test_a_summary_is_said(counts: dict[str, int], line: str) -> None:
    console = Console(file=io.StringIO(), width=200)
    summary = Summary(**{"n_planned": 3, "n_answered_before": 0, **counts})
    say_summary(summary, Path("my r"), console, max_tokens=9)
    assert isinstance(console.file, io.StringIO)
    assert line in console.file.getvalue()
