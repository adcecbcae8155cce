"""One session of making HERBench questions: what is wanted, where it is kept, what is known by now."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vidence.engine.jobs import Jobs
from vidence.make.cards.cards import Flag
from vidence.make.cards.crops import TrackPictures
from vidence.make.herbench.config import HerbenchConfig
from vidence.make.herbench.drafting import Ready
from vidence.make.herbench.sources import Source
from vidence.make.pipeline.accounts import Books
from vidence.make.pipeline.making import MakeWishes, Workshop
from vidence.make.pipeline.material import Dropped, Material
from vidence.make.pipeline.progress import StageBegan, StageEnded
from vidence.make.pipeline.stages import Shelf

STAGES = (
    "sources",
    "events",
    "watching",
    "cards",
    "scenes",
    "drafts",
    "gates",
    "questions",
    "review",
    "release",
    "report",
)


@dataclass(frozen=True, kw_only=True)
class Work:
    """What the steps share. `root` is the folder of the configuration, `out` the folder of the set."""

    config: HerbenchConfig
    root: Path
    out: Path
    workshop: Workshop
    wishes: MakeWishes
    jobs: Jobs
    books: Books = field(default_factory=Books)

    @property
    def shelf(self) -> Shelf:
        """Where results are kept."""
        return Shelf(folder=self.out / "stages", on_event=self.workshop.on_event)

    @property
    def pictures(self) -> Path:
        """The folder of the pictures that models are shown."""
        return self.out / "pictures"

    @property
    def prompts(self) -> Path | None:
        """The user's folder of templates; None for ours."""
        return self.root / self.config.prompts if self.config.prompts else None

    def goes_to(self, stage: str) -> bool:
        """Whether this session does a stage, or ends before it."""
        until = self.wishes.until
        return not until or STAGES.index(stage) <= STAGES.index(until)

    def began(self, stage: str, n_units: int) -> None:
        """Say that a stage begins."""
        self.workshop.on_event(StageBegan(stage=stage, n_units=n_units))

    def close(
        self,
        stage: str,
        *,
        unit: str,
        taken: Sequence[str],
        kept: Sequence[str],
        dropped: Sequence[Dropped],
        n_kept: int = 0,
    ) -> None:
        """Close the account of a stage and say so; `n_kept` results were there from an earlier session.

        Raises:
            AccountError: the account does not hold.
        """
        account = self.books.close(stage, unit=unit, taken=taken, kept=kept, dropped=dropped)
        self.workshop.on_event(StageEnded(account=account, n_kept=n_kept))


@dataclass(kw_only=True)
class Known:
    """What is known of one video by now: its material, the digests of its parts, why others are not there.

    `pictures` are those of its chosen tracks; `flags` say which cards a person should look at.
    """

    source: Source
    material: Material
    digests: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, TrackPictures] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()

    @property
    def video_id(self) -> str:
        """The name of the video."""
        return self.source.video.video_id

    def ready(self) -> Ready:
        """The same for the tasks."""
        return Ready(material=self.material, digests=self.digests, absent=self.absent)
