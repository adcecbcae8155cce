"""Questions with three spans of evidence, frames that show some of them, and models with planted defects."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from subjects.simulated import Simulated, drive, times_shown
from vidence import catalog
from vidence.contracts import Ask, Diagnostic, Examined
from vidence.records import Estimate, Evidence, Item, Media, Reply
from vidence.tables.charts import Statement
from vidence.tables.table import Table

# Three spans of evidence; a frame in each of them, and frames beside them.
SPANS = tuple(Evidence(kind="oracle", start_s=10.0 * i, end_s=10.0 * i + 2) for i in (1, 2, 3))
INSIDE = (11.0, 21.0, 31.0)
BESIDE = (5.0, 15.0, 25.0)
Reader: TypeAlias = Callable[[Item, Ask], bool]
Views: TypeAlias = Callable[[int], dict[str, tuple[float, ...]]]


def diagnostic(name: str, options: Mapping[str, str]) -> Diagnostic:
    made: Diagnostic = catalog.create("diagnostic", catalog.Spec(name=name, options=options))
    return made


def item(number: int = 0, *, has_evidence: bool = True, kind: str = "", n_choices: int = 4) -> Item:
    """The right choice moves along; two questions share a video."""
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number // 2}.mp4"),),
        question="Which?",
        choices=tuple(f"choice {i}" for i in range(n_choices)),
        answer=chr(ord("A") + number % n_choices),
        tags={"kind": kind} if kind else {},
        evidence=SPANS if has_evidence else (),
    )


def frames(n_found: int) -> tuple[float, ...]:
    """Three frames of which so many show a span of evidence."""
    return tuple(sorted((*INSIDE[:n_found], *BESIDE[n_found:])))


def n_seen(ask: Ask) -> int:
    return len(set(INSIDE) & set(times_shown(ask)))


def fuser(asked: Item, ask: Ask) -> bool:
    """Right where everything is seen."""
    return n_seen(ask) == 3


def half_fuser(asked: Item, ask: Ask) -> bool:
    """Fuses in every second pair of questions."""
    return n_seen(ask) == 3 and int(asked.item_id[1:]) % 4 < 2


def reply(asked: Item, is_right: bool) -> Reply:
    wrong = "B" if asked.answer == "A" else "A"
    return Reply(text=asked.answer if is_right else wrong)


def examine_all(one: Diagnostic, items: list[Item], views: Views, reader: Reader) -> list[Examined]:
    found = []
    for number, asked in enumerate(items):

        def answers(ask: Ask, asked: Item = asked) -> Reply:
            return reply(asked, reader(asked, ask))

        driven = drive(one.examine(Simulated(asked, views(number))), answers)
        found.append(Examined(item=asked, finding=driven.made))
    return found


def said_by(one: Diagnostic, found: list[Examined]) -> dict[str, Statement]:
    return {s.name: s for s in one.summarise(found, rng=np.random.default_rng(0), level=0.95)}


def sheet(statements: Mapping[str, Statement], name: str) -> Table:
    found = statements[name]
    assert isinstance(found, Table)
    return found


def estimate(statements: Mapping[str, Statement], name: str, entry: str, heading: str) -> Estimate:
    found = sheet(statements, name).value(entry, heading)
    assert isinstance(found, Estimate)
    return found


def value(statements: Mapping[str, Statement], name: str, entry: str, heading: str) -> float:
    found = sheet(statements, name).value(entry, heading)
    if isinstance(found, Estimate):
        return found.value
    assert isinstance(found, float | int)
    return found
