"""What models add to an audit: which questions need no video, one frame, more, or cannot be solved."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vidence.errors import UsageError
from vidence.explain.audit.reasons import Reason, note, warning
from vidence.explain.diagnostics.blind_panel import PanelFinding
from vidence.explain.diagnostics.modality import ModalityFinding
from vidence.explain.diagnostics.mrfs import MrfsFinding
from vidence.explain.diagnostics.tables import guess
from vidence.records import Item
from vidence.report.diagnosis import Diagnosed
from vidence.tables.charts import Statement
from vidence.tables.table import Value

FindingT = TypeVar("FindingT")
PANEL, MODALITY, MRFS = "blind-panel", "modality", "mrfs"
# Of each diagnostic only these statements stand on the page of an audit; the others are in its own files.
SHOWN: Mapping[str, tuple[str, ...]] = {
    PANEL: ("blind-panel", "members"),
    MODALITY: ("modality", "solved"),
    MRFS: ("mrfs", "categories", "distribution"),
}


@dataclass(frozen=True, kw_only=True)
class ItemDiagnoses:
    """What the diagnostics of an audit found, by their names."""

    found: Mapping[str, Diagnosed]

    def statements(self) -> tuple[Statement, ...]:
        """Those that belong on the page of an audit."""
        return tuple(
            statement
            for name, shown in SHOWN.items()
            if name in self.found
            for statement in self.found[name].statements
            if statement.name in shown
        )

    def value(self, diagnostic: str, sheet: str, *, at: tuple[str, str]) -> Value:
        """One value of a sheet, at the keys of its line and column; None where it is not there."""
        if diagnostic not in self.found:
            return None
        table = self.found[diagnostic].tables().get(sheet)
        if table is None or all(row.key != at[0] for row in table.rows):
            return None
        return table.value(*at)

    def reasons(self) -> dict[str, tuple[Reason, ...]]:
        """What was found against single questions, by item id."""
        panel = self._findings(PANEL, PanelFinding)
        modality = self._findings(MODALITY, ModalityFinding)
        mrfs = self._findings(MRFS, MrfsFinding)
        items = {one.item.item_id: one.item for d in self.found.values() for one in d.examined}
        found = {
            item_id: (
                *_blind(item, panel.get(item_id), modality.get(item_id)),
                *_one_frame(item, modality.get(item_id)),
                *_never(modality.get(item_id), mrfs.get(item_id)),
            )
            for item_id, item in items.items()
        }
        return {item_id: reasons for item_id, reasons in found.items() if reasons}

    def _findings(self, diagnostic: str, kind: type[FindingT]) -> dict[str, FindingT]:
        """What a diagnostic found of each question, by item id."""
        examined = self.found[diagnostic].examined if diagnostic in self.found else ()
        return {one.item.item_id: one.finding for one in examined if isinstance(one.finding, kind)}


def _guessed(item: Item) -> str:
    chance = guess(item)
    return f"; one guess is right in {100 * chance:.0f} % of cases" if chance else ""


def _blind(item: Item, panel: PanelFinding | None, modality: ModalityFinding | None) -> Iterator[Reason]:
    """What the panel says; where there is none, what the main model said once."""
    if panel is not None:
        if panel.is_flagged:
            answers = f"{panel.n_right} of {len(panel.votes)} answers from the words alone are right"
            yield warning("solved-blind", f"{answers}{_guessed(item)}")
    elif modality is not None and modality.solved["text"]:
        says = f"answered from the words alone, by one model{_guessed(item)}"
        yield (note if item.choices else warning)("solved-blind", says)


def _one_frame(item: Item, modality: ModalityFinding | None) -> Iterator[Reason]:
    if modality is None or modality.n_frames < 2:
        return
    if modality.solved["central"] and not modality.solved["text"]:
        says = f"answered from one central frame and not from the words alone{_guessed(item)}"
        yield note("solved-one-frame", says)


def _never(modality: ModalityFinding | None, mrfs: MrfsFinding | None) -> Iterator[Reason]:
    """Wrong under every condition and with every number of frames that was asked."""
    right = [] if modality is None else [*modality.solved.values()]
    if mrfs is not None and mrfs.category != "error":
        right += mrfs.right.values()
    if right and all(one is False for one in right):
        yield note("never-solved", f"not answered in any of {len(right)} ways of showing it")


def panel_options(models: Sequence[str], *, runs: int, seed: int) -> dict[str, str]:
    """How the blind panel of an audit is asked.

    One model is asked `runs` times with its choices in other orders, and all must be right, as HumanPCR
    does; of several models, each asked once, three of four must be right, as HERBench does, or the same
    share of another number, rounded up.

    Raises:
        UsageError: a spec with ``|``, which separates the members.
    """
    if len(models) == 1:
        return {"protocol": "humanpcr", "runs": str(runs), "seed": str(seed)}
    bad = next((spec for spec in models if "|" in spec), None)
    if bad is not None:
        raise UsageError(f"--model {bad!r} holds '|', which separates the members of a panel; write %7C")
    return {
        "models": "|".join(models),
        "runs": "1",
        "permute": "false",
        "forced": "false",
        "at_least": str(-(-3 * len(models) // 4)),
        "seed": str(seed),
    }
