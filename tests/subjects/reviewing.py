"""A review in memory: people who act at one minute after the other, and what the guards say."""

from vidence.make.review.files import Reviews
from vidence.make.review.protocol import Protocol, load_protocol
from vidence.make.review.recording import Filled, Recorder, submit

CONTENT = {"item_id": "q1", "question": "Which?", "choices": ["a", "b"], "answer": "A", "source_id": "film"}
LONG = "Please look at the third choice again, it is right as well."


def at(minute: int) -> str:
    return f"2026-11-22T{minute // 60:02d}:{minute % 60:02d}:00.000000Z"


def answers(protocol: Protocol, role: str = "reviewer", **said: str) -> dict[str, str]:
    """Every check of a stage answered well, but for those that are said."""
    stage = next(one for one in protocol.stages if one.role == role)
    good = {one.id: str(one.least or 1) if one.kind == "count" else "yes" for one in stage.checks}
    return good | said


class Team:
    """A review that grows; each act is a minute after the one before."""

    def __init__(self, protocol: str | Protocol = "mmvu") -> None:
        self.protocol = load_protocol(protocol) if isinstance(protocol, str) else protocol
        self.reviews = Reviews.of(self.protocol, (), ())
        self.minute = 0

    def copy(self) -> "Team":
        """Somebody's own copy, who does not see what others do from now on."""
        other = Team(self.protocol)
        other.reviews, other.minute = self.reviews, self.minute
        return other

    def _take(self, *recorders: Recorder) -> None:
        self.reviews = Reviews.of(
            self.protocol,
            (*self.reviews.revisions.values(), *(one for r in recorders for one in r.revisions)),
            (*self.reviews.events, *(one for r in recorders for one in r.events)),
        )

    def put(self, by: str = "ann", role: str = "author", item_id: str = "q1", **fields: object) -> None:
        self.minute += 1
        content = CONTENT | {"item_id": item_id} | fields
        recorders, _ = submit(self.reviews, {item_id: content}, by=by, role=role, at=at(self.minute))
        self._take(*recorders)

    def act(self, kind: str, by: str, role: str = "reviewer", item_id: str = "q1", **said: object) -> str:
        """What is wrong with it; empty where it was recorded."""
        self.minute += 1
        recorder = Recorder(self.reviews, by=by, role=role, at=at(self.minute))
        note, whose = str(said.pop("message", "")), str(said.pop("whose", ""))
        scores = {
            one.id: one.high for stage in self.protocol.stages for one in stage.scores if stage.role == role
        }
        checks = said.pop("checks", answers(self.protocol, role) if kind == "accept" else {})
        filled = Filled(
            item_id=item_id,
            verdict=kind,
            checks=checks,
            scores=said.pop("scores", scores if kind == "accept" else {}),
            note=note,
            **said,
        )
        fault = recorder.add(kind, item_id, said=filled, message=note, whose=whose)
        if not fault:
            self._take(recorder)
        return fault

    def look(self, by: str, verdict: str = "accept", role: str = "reviewer", **said: object) -> str:
        """Claim and decide."""
        return self.act("claim", by, role) or self.act(verdict, by, role, **said)

    def back(self, by: str, role: str = "reviewer") -> str:
        """Claim and return."""
        name = self.protocol.stages[0].checks[0].id if role == "reviewer" else "together"
        return self.look(by, "return", role, message=LONG, checks={name: "no"})

    @property
    def state(self) -> str:
        return self.reviews.states["q1"].state

    def merged(self, other: "Team") -> "Team":
        whole = Team(self.protocol)
        whole.minute = max(self.minute, other.minute)
        whole.reviews = Reviews.of(
            self.protocol,
            {**self.reviews.revisions, **other.reviews.revisions}.values(),
            {one.event_id: one for one in (*self.reviews.events, *other.reviews.events)}.values(),
        )
        return whole
