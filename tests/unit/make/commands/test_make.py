"""What the display of a making says of how far it is."""

import io

from rich.console import Console

from vidence.make.commands.make import MakeDisplay
from vidence.make.pipeline.ledger import FramesDone, StageBegan, UnitDone


def test_frames_of_videos_are_counted_with_the_video_and_the_time_left():
    display = MakeDisplay(Console(file=io.StringIO()), mode="plain")
    display(StageBegan(stage="watching", n_units=1000, n_done=200, counts_frames=True))
    display(FramesDone(video_id="street-4", n_frames=240))
    display(UnitDone(stage="watching", unit="street-4", was_cached=False))
    line = display.progress.line()
    assert line.startswith("watching, frames: 440 of 1,000 (44 %)")
    assert "left" in line
    assert line.endswith("; street-4")


def test_other_stages_count_their_units():
    display = MakeDisplay(Console(file=io.StringIO()), mode="plain")
    display(StageBegan(stage="watching", n_units=10, counts_frames=True))
    display(StageBegan(stage="cards", n_units=4))
    display(UnitDone(stage="cards", unit="a", was_cached=False))
    assert display.progress.line().startswith("cards: 1 of 4 (25 %)")
