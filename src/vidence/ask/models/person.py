"""A participant of a study: ``person:P03?answers=FILE``, with answers collected in a browser.

FILE has a line per question with the columns ``item_id``, ``text`` and optionally ``reasoning``; an
unanswered question has an empty text. Frames are not used.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from vidence.ask.models import replay
from vidence.ask.models.replay import ReplayModel
from vidence.catalog import FilePath
from vidence.errors import UsageError
from vidence.records import Record


class Settings(Record):
    """Options of ``person:`` models: the pseudonym, and the file of answers."""

    positional: ClassVar[str] = "name"

    name: Annotated[str, Meta(description="the pseudonym of the participant")]
    answers: Annotated[FilePath, Meta(description="the answers; vidence study close writes them")]

    def __post_init__(self) -> None:
        """Reject names that tables cannot show."""
        if not self.name.strip() or not self.name.isprintable():
            raise UsageError(f"person: {self.name!r} is not a pseudonym; expected a name such as P03")


def create(settings: Settings) -> ReplayModel:
    """Create a model with one person's answers, which are read once, now.

    Raises:
        DataError: the file cannot be read, or has an invalid row.
    """
    model = replay.create(replay.Settings(file=settings.answers))
    model.identity = f"person:{settings.name} {model.identity.partition('?')[0]}"
    return model
