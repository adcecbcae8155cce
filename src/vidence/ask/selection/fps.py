"""A fixed number of frames per second of presentation time: ``fps:2``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from vidence.ask.selection.candidates import Grid, nearest_to_grid
from vidence.ask.selection.uniform import Positions, check_budget, midpoints
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item, Record


class Settings(Record):
    """Options of the selector."""

    positional: ClassVar[str] = "rate"

    rate: Annotated[float, Meta(gt=0, description="frames per second of presentation time")] = 1.0


class Fps(Selector):
    """Frames on a grid of 1/rate seconds of presentation time, which handles variable frame rates.

    Each medium of a question has its own grid from its first frame. No frame is repeated. More frames than
    `n_frames` are thinned to the middles of `n_frames` equal segments; the limit is the plan's ``--frames``,
    or the benchmark's protocol.
    """

    version = 1
    budget = "at most"
    thins = True

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """Return positions in `clip`, in time order, at most `n_frames`.

        Raises:
            UsageError: `n_frames` is not positive.
        """
        check_budget(n_frames)
        on_grid = Grid(rule=lambda times_s, fps: nearest_to_grid(times_s, self.rate)).positions(clip)
        if len(on_grid) <= n_frames:
            return on_grid
        return on_grid[midpoints(len(on_grid), n_frames)]


def create(settings: Settings) -> Selector:
    """Create the selector; without a rate, one frame per second."""
    return Fps(settings.rate)
