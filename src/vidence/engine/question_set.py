"""Load the questions that a command works on, from a file or a benchmark, and write questions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec

from vidence.ask.benchmarks.question_files import said_answer, seen_from
from vidence.catalog import is_known
from vidence.console.files import STANDARD_OUTPUT, written
from vidence.console.flags import PATH, WHERE, argument, flag
from vidence.console.screen import Screen, say, show_licence
from vidence.contracts import Loaded
from vidence.engine.environment import cache_root
from vidence.engine.plan import Plan, PlanOverrides
from vidence.engine.prepare import NOBODY, every_item, load_questions, make_plan
from vidence.errors import UsageError
from vidence.media.whole import write_file
from vidence.records import Item, Record

_MOST_NAMED = 5


class QuestionSet(Record):
    """The questions that a command works on, by file or benchmark name."""

    what: Annotated[str, argument("ITEMS")]
    data: Annotated[Path | None, flag("Questions of a benchmark (default: as fetched).", type=PATH)] = None
    split: Annotated[str | None, flag("Split of the benchmark.")] = None
    map: Annotated[str | None, flag("How columns map to fields; see vidence run --map.")] = None
    media: Annotated[str | None, flag("Folder of the videos, or its address.", metavar="FOLDER")] = None
    where: Annotated[dict[str, str], WHERE] = msgspec.field(default_factory=dict)

    def load(self) -> "LoadedSet":
        """Load the questions; print a benchmark's licence and notes on what was left out.

        Raises:
            UsageError: there is no such file or benchmark, or it has no questions.
        """
        overrides: PlanOverrides = {
            "split": self.split,
            "map": self.map,
            "media": self.media,
            "where": self.where or None,
        }
        plan = make_plan(self.what, data=self.data, model=NOBODY, overrides=overrides)
        console = Screen(stderr=True)
        show_licence(plan.benchmark, console, cache_root=cache_root())
        loaded = load_questions(plan)
        for problem in loaded.problems[:_MOST_NAMED]:
            say(console, f"left out: {problem}")
        if len(loaded.problems) > _MOST_NAMED:
            say(console, f"and {len(loaded.problems) - _MOST_NAMED:,} more lines left out")
        name = self.what if is_known("benchmark", self.what) else Path(self.what).name
        return LoadedSet(name=name, plan=plan, loaded=loaded, items=tuple(every_item(loaded, plan)))


@dataclass(frozen=True, kw_only=True)
class LoadedSet:
    """Loaded questions, and the plan they were loaded by."""

    name: str
    plan: Plan
    loaded: Loaded
    items: tuple[Item, ...]

    def with_answers(self, *, doing: str, is_partial: bool = False) -> "LoadedSet":
        """Return the set for work that needs answers.

        Args:
            doing: what needs them, for the message.
            is_partial: leave out questions with hidden answers, and say how many.

        Raises:
            UsageError: answers are hidden; with `is_partial`, those of all questions.
        """
        kept = tuple(item for item in self.items if not item.is_hidden)
        if not (n_hidden := len(self.items) - len(kept)):
            return self
        answers = f"answers hidden: {n_hidden:,} of {len(self.items):,} questions of {self.name}"
        if not (is_partial and kept):
            raise UsageError(f"{answers}; {doing} needs them: give the questions with their answers")
        say(Screen(stderr=True), f"{answers}, left out")
        return replace(self, items=kept)


def items_in(items: Iterable[Item], path: Path, *, media_root: Path) -> None:
    """Write questions in the item format, with paths relative to the file; ``-`` prints them.

    Raises:
        StoreError: the file cannot be written.
    """
    folder = Path() if path == STANDARD_OUTPUT else path.parent
    result = (msgspec.structs.replace(item, answer=said_answer(item)) for item in items)
    lines = "".join(
        msgspec.json.encode(seen_from(folder, item, media_root)).decode() + "\n" for item in result
    )
    with written(path) as file:
        write_file(file, lines)
