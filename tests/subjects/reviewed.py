"""A making of questions with gates, review and release, from a log of five kitchens, in this process."""

import json
import shutil
from pathlib import Path

from vidence.make.makers.herbench import create
from vidence.make.pipeline.ledger import MakeEvent, Trouble
from vidence.make.pipeline.session import BuildContext, Built, MakeOverrides
from vidence.make.review.files import read_reviews
from vidence.make.review.recording import Filled, Recorder, write

GOLDEN = Path(__file__).parents[1] / "golden" / "makers" / "herbench"
MORE = """
[models]
long = "baseline:longest"
middle = "baseline:median"
a = "scripted:Answer: A"
c = "scripted:Answer: C"

[gates.text_only]
models = ["long", "middle", "a", "c"]
at_least = 2

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


class Reviewed:
    """The folders ``set`` and ``out`` of a making; `troubles` are those of the last one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(GOLDEN, folder / "set")
        self.config = folder / "set" / "config.toml"
        self.bare = self.config.read_text().replace("per_video = 3", "per_video = 3\nsame_answer = 1.0")
        self.config.write_text(self.bare + MORE)
        self.page = folder / "out" / "review" / "sheet.html"
        self.reviews = folder / "set" / "review"
        self.troubles: list[str] = []

    def make(self, **overrides: object) -> Built:
        self.troubles = []
        context = BuildContext(
            cache_root=self.folder / "cache", memory=self.folder / "replies.sqlite", on_event=self._hear
        )
        return create().make(
            self.config, out=self.folder / "out", overrides=MakeOverrides(**overrides), context=context
        )

    def _hear(self, event: MakeEvent) -> None:
        if isinstance(event, Trouble):
            self.troubles.append(event.message)

    def decide(self, *, reject: int) -> dict[str, str]:
        """Decide what waits as a person would; what was said by question."""
        return decide(self.reviews, reject=reject)

    def account(self) -> dict[str, dict]:
        """The stages by name, each of which holds."""
        found = json.loads((self.folder / "out" / "account.json").read_text())
        for stage in found["stages"]:
            assert stage["n_in"] == stage["n_out"] + sum(stage.get("dropped", {}).values())
        return {stage["stage"]: stage for stage in found["stages"]}

    def release(self, version: str = "1.0.0") -> Path:
        return self.folder / "out" / "release" / f"kitchens-{version}"

    def contents(self, folder: Path) -> dict[str, bytes]:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
