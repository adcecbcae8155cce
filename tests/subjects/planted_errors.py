"""Packets with planted errors: who errs how is known, so that every figure is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from vidence.explain.errors.labels import By, Label
from vidence.explain.errors.packet import Candidate, Draw, Packet, make_packet
from vidence.records import Evidence, Item

RIGHT = "right"


@dataclass(frozen=True)
class PlantedErrors:
    """Replies whose kinds of error are known: `kinds` by run and question; ``right`` where there is none."""

    packet: Packet
    kinds: Mapping[tuple[str, str], str]

    def label(self, row: str, *, kind: str, labeller: str = "ann", by: By = "person") -> Label:
        """What somebody says of a row."""
        drawn = self.packet.key.reply_of()[row]
        return Label(row=row, item_id=drawn.item_id, run=drawn.run, labeller=labeller, by=by, kind=kind)

    def labels(
        self,
        *,
        labeller: str = "ann",
        by: By = "person",
        n: int | None = None,
        says: Callable[[str], str] = lambda kind: kind,
    ) -> tuple[Label, ...]:
        """The truth as somebody says it, of the first `n` rows or of all."""
        drawn = self.packet.key.reply_of()
        return tuple(
            self.label(
                row.row,
                kind=says(self.kinds[drawn[row.row].run, drawn[row.row].item_id]),
                labeller=labeller,
                by=by,
            )
            for row in self.packet.rows[:n]
        )


def item(number: int, *, question: str = "What happens?") -> Item:
    """A question whose right answer is A; two of them are about one film."""
    return Item(
        item_id=f"q{number:04}",
        benchmark="humanpcr",
        question=question,
        choices=("one", "two", "three"),
        answer="A",
        source=f"film-{number // 2}",
        evidence=(Evidence(kind="proactive", start_s=1.0, end_s=2.0, note="a door opens"),),
        rationale="The door opens first.",
    )


def plant(
    chances: Mapping[str, Mapping[str, float]],
    *,
    n: int = 200,
    seed: int = 0,
    taxonomy: str = "humanpcr",
    question: str = "What happens?",
) -> PlantedErrors:
    """Make a packet of the replies of runs to the same questions."""
    rng = np.random.default_rng(seed)
    kinds: dict[tuple[str, str], str] = {}
    runs: dict[str, dict[str, Candidate]] = {}
    for run, shares in chances.items():
        names = [*shares, RIGHT]
        weights = np.array([*shares.values(), 1 - sum(shares.values())])
        for number in range(n):
            one = item(number, question=question)
            kind = names[int(rng.choice(len(names), p=weights / weights.sum()))]
            kinds[run, one.item_id] = kind
            runs.setdefault(run, {})[one.item_id] = Candidate(
                item=one,
                standing="right" if kind == RIGHT else "wrong",
                answer="A" if kind == RIGHT else "B",
                reply="Nobody opens the  door.\nSo it is B.",
            )
    packet = make_packet(
        runs,
        Draw(taxonomy=taxonomy, rule="same", n=n, seed=seed),
        folders={run: f"/runs/{run}" for run in runs},
        pictures={},
    )
    return PlantedErrors(packet=packet, kinds=kinds)
