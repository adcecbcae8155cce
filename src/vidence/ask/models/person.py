"""A person who took part in a study: ``person:P03?answers=FILE``, whose answers were collected in a browser.

FILE holds a line for each question, with the columns ``item_id``, ``text`` and perhaps ``reasoning``; a
question that was not answered has an empty text. No frame is looked at.
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
        """Refuse a name that a table cannot show."""
        if not self.name.strip() or not self.name.isprintable():
            raise UsageError(f"person: {self.name!r} is not a pseudonym; expected a name such as P03")


def create(settings: Settings) -> ReplayModel:
    """The model that gives the answers of one person, which are read now and never again.

    Raises:
        DataError: the file cannot be read, or a row is not what it should be.
    """
    model = replay.create(replay.Settings(file=settings.answers))
    model.identity = f"person:{settings.name} {model.identity.partition('?')[0]}"
    return model
