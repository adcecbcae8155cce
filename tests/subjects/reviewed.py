"""A making of questions with gates, review and release, from a log of five kitchens, in this process."""

from pathlib import Path

from subjects.making import Making
from vidence.make.pipeline.ledger import Trouble
from vidence.make.review.files import read_reviews
from vidence.make.review.recording import Filled, Recorder, write

MORE = """
[models]
long = "baseline:longest"
middle = "baseline:median"
a = "scripted:Answer: A"
c = "scripted:Answer: C"

[gates.text_only]
models = ["long", "middle", "a", "c"]
at_least = 2
[gates.blind]
draws = 199

[review]
share = 0.5
most_rejected = 0.7

[release]
version = "1.0.0"
title = "Five kitchens"
splits = { train = 0.6, test = 0.4 }
"""


def decide(folder: Path, *, reject: int = 0, tasks: tuple[str, ...] = (), by: str = "bob") -> dict[str, str]:
    """Decide what waits in a review, of some tasks or of all, the first so many against it; by question."""
    reviews, told = read_reviews(folder), {}
    recorder = Recorder(reviews, by=by, role="reviewer", at="2030-01-01T10:00:00.000000Z")
    for name, state in reviews.states.items():
        content = reviews.content(name)
        if state.is_ended or (tasks and content["tags"]["task"] not in tasks):
            continue
        verdict = "reject" if len(told) < reject else "accept"
        checks = {"unique": "no" if verdict == "reject" else "yes"}
        assert recorder.add("claim", name) == ""
        assert recorder.add(verdict, name, said=Filled(item_id=name, verdict=verdict, checks=checks)) == ""
        told[content["question_id"]] = verdict
    write(folder, [recorder])
    return told


class Reviewed(Making):
    """The folders ``set`` and ``out`` of a making; `troubles` are those of the last one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "herbench")
        self.bare = self.config.read_text().replace("per_video = 3", "per_video = 3\nsame_answer = 1.0")
        self.config.write_text(self.bare + MORE)
        self.page = self.out / "review" / "sheet.html"
        self.reviews = self.root / "review"

    @property
    def troubles(self) -> list[str]:
        return [one.message for one in self.events if isinstance(one, Trouble)]

    def decide(self, *, reject: int) -> dict[str, str]:
        """Decide what waits as a person would; what was said by question."""
        return decide(self.reviews, reject=reject)

    def release(self, version: str = "1.0.0") -> Path:
        return self.out / "release" / f"kitchens-{version}"
