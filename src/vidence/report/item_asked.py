"""What models add to an audit: which questions need no video, one frame, more, or cannot be solved."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.audit.reasons import Reason
from vidence.explain.diagnostics.blind_panel import PanelFinding
from vidence.explain.diagnostics.modality import ModalityFinding
from vidence.explain.diagnostics.mrfs import MrfsFinding
from vidence.explain.diagnostics.tables import guess
from vidence.records import Item
from vidence.report.diagnosed import Diagnosed
from vidence.tables.findings import Sheet, Statement, Value

PANEL, MODALITY, MRFS = "blind-panel", "modality", "mrfs"
# Of each diagnostic only these statements stand on the page of an audit; the others are in its own files.
SHOWN: Mapping[str, tuple[str, ...]] = {
    PANEL: ("blind-panel", "members"),
    MODALITY: ("modality", "solved"),
    MRFS: ("mrfs", "categories", "distribution"),
}


@dataclass(frozen=True, kw_only=True)
class Asked:
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
        for statement in self.found[diagnostic].statements:
            if isinstance(statement, Sheet) and statement.name == sheet:
                has_line = any(entry.key == at[0] for entry in statement.entries)
                return statement.value(*at) if has_line else None
        return None

    def reasons(self) -> dict[str, tuple[Reason, ...]]:
        """What was found against single questions, by item id."""
        reasons: dict[str, list[Reason]] = defaultdict(list)
        asked = {name: _by_id(one.examined) for name, one in self.found.items()}
        items = {one.item.item_id: one.item for d in self.found.values() for one in d.examined}
        for item_id, item in items.items():
            panel = asked.get(PANEL, {}).get(item_id)
            modality = asked.get(MODALITY, {}).get(item_id)
            mrfs = asked.get(MRFS, {}).get(item_id)
            reasons[item_id] += _blind(item, panel, modality)
            reasons[item_id] += _one_frame(item, modality)
            reasons[item_id] += _never(modality, mrfs)
        return {item_id: tuple(some) for item_id, some in reasons.items() if some}


def _by_id(examined: Sequence[Examined]) -> dict[str, Examined]:
    return {one.item.item_id: one for one in examined}


def _guessed(item: Item) -> str:
    chance = guess(item)
    return f"; one guess is right in {100 * chance:.0f} % of cases" if chance else ""


def _blind(item: Item, panel: Examined | None, modality: Examined | None) -> list[Reason]:
    """What the panel says; where there is none, what the main model said once."""
    if panel is not None and isinstance(panel.finding, PanelFinding):
        if not panel.finding.is_flagged:
            return []
        n = len(panel.finding.votes)
        said = f"{panel.finding.n_right} of {n} answers from the words alone are right{_guessed(item)}"
        return [Reason(kind="solved-blind", severity="warning", says=said)]
    if modality is None or not isinstance(modality.finding, ModalityFinding):
        return []
    if not modality.finding.solved["text"]:
        return []
    said = f"answered from the words alone, by one model{_guessed(item)}"
    return [Reason(kind="solved-blind", severity="note" if item.choices else "warning", says=said)]


def _one_frame(item: Item, modality: Examined | None) -> list[Reason]:
    if modality is None or not isinstance(modality.finding, ModalityFinding):
        return []
    solved = modality.finding.solved
    if not solved["central"] or solved["text"] or modality.finding.n_frames < 2:
        return []
    said = f"answered from one central frame and not from the words alone{_guessed(item)}"
    return [Reason(kind="solved-one-frame", severity="note", says=said)]


def _never(modality: Examined | None, mrfs: Examined | None) -> list[Reason]:
    """Wrong under every condition and with every number of frames that was asked."""
    right: list[bool | None] = []
    if modality is not None and isinstance(modality.finding, ModalityFinding):
        right += modality.finding.solved.values()
    if mrfs is not None and isinstance(mrfs.finding, MrfsFinding) and mrfs.finding.category != "error":
        right += mrfs.finding.right.values()
    if not right or any(one or one is None for one in right):
        return []
    said = f"not answered in any of {len(right)} ways of showing it"
    return [Reason(kind="never-solved", severity="note", says=said)]


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
