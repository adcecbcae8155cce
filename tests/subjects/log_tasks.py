"""What a task makes of a log."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from subjects.kitchens import material
from vidence import catalog
from vidence.make.pipeline.material import Corpus, Draft, Dropped, Event, Made


def ask(
    name: str, found: Sequence[Event], others: Sequence[Event] = (), *, most: int = 30, **options: str
) -> list[Made]:
    """What a task makes of one video; `others` are the log of another one."""
    corpus = Corpus(events={"v": tuple(found), "w": tuple(others)})
    task = catalog.create("task", catalog.Spec(name=name, options=options))
    flow = task.draft(material(found), corpus, most=most, rng=np.random.default_rng(0))
    with pytest.raises(StopIteration) as stop:
        next(flow)
    return list(stop.value.value)


def drafts(made: Sequence[Made], structure: str = "") -> list[Draft]:
    return [one for one in made if isinstance(one, Draft) and structure in ("", one.structure)]


def reasons(made: Sequence[Made]) -> Counter[str]:
    return Counter(one.reason for one in made if isinstance(one, Dropped))


def right(draft: Draft) -> str:
    return draft.choices[draft.answer_index]
