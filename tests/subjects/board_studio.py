"""A studio with the boards of a small set, opened by one person, for tests of pages."""

from dataclasses import dataclass
from typing import Any

from subjects.street_set import StreetSet
from vidence.studio.bridge.places import place_id


@dataclass(frozen=True, kw_only=True)
class Boards:
    """The set, its row, and a browser."""

    street: StreetSet
    made: Any
    client: Any

    def at(self, name: str) -> str:
        """The address of a board of its video."""
        return f"/sets/{self.made.public}/north/{name}"

    def page(self, name: str, *, status: int = 200) -> str:
        """What a board shows."""
        answer = self.client.get(self.at(name))
        assert answer.status_code == status, answer.content
        return str(answer.content.decode())

    def post(self, name: str, **said: object) -> Any:
        """Say something."""
        return self.client.post(self.at(name), said)

    def file(self, name: str) -> str:
        """A people's file; empty where it is not there."""
        path = self.street.people / name
        return path.read_text() if path.exists() else ""


def open_boards(street: StreetSet, client: Any, *, project: str = "") -> Boards:
    """Open a set in a studio that was told of it."""
    answer = client.post("/sets/", {"set": place_id(street.made), "project": project})
    assert answer.status_code == 302, answer.content.decode()
    from vidence.studio.records.boards import MadeSetRow

    return Boards(
        street=street, made=MadeSetRow.objects.get(folder=str(street.made.resolve())), client=client
    )
