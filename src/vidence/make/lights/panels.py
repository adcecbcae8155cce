"""The panel that asks models about the clips, and gives the paper's tables and figures: ``panel.toml``."""

from pathlib import Path

import msgspec
import tomli_w

from vidence.catalog import check_name
from vidence.engine.panel import PanelFile
from vidence.errors import UsageError
from vidence.media.whole import write_whole
from vidence.records import Record

PANEL_FILE = "panel.toml"
_OURS = "# Rewritten by each `vidence make actpld`; name models under [panel] of its configuration.\n"


class PanelRules(Record, omit_defaults=True):
    """Which models the panel asks; specs as of ``--model``, paths relative to the configuration.

    `models` see eight images, `montages` one picture of 4 by 2, as the paper has it for Gemini. `judges` say
    what descriptions mean, in place of the rules. `max_cost` is as in any panel.
    """

    models: tuple[str, ...] = ("baseline:random",)
    montages: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    max_cost: float | None = None

    def __post_init__(self) -> None:
        if not (self.models or self.montages):
            raise UsageError("panel.models and panel.montages name no model; name one at least")


def panel_table(rules: PanelRules, folder: Path, *, title: str, root: Path) -> dict[str, object]:
    """The panel of the clips in a folder, as its file holds it.

    Choices are asked once; the logs of the same replies are marked as descriptions.

    Args:
        rules: who is asked.
        folder: that of the benchmark, into which the file goes.
        title: what the panel is called.
        root: the folder that paths of models are relative to.

    Raises:
        UnknownNameError: there is no such model.
        UsageError: two of the models have one name.
    """
    for spec in (*rules.models, *rules.montages):
        check_name("model", spec)
    logs: dict[str, object] = {"protocol": "thought-log"}
    if rules.judges:
        logs |= {"judge": "description-match", "judge_models": list(rules.judges)}
    models = [_model(spec, row, root=root) for spec, row in _rows(rules)]
    panel: dict[str, object] = {
        "title": title,
        **({} if rules.max_cost is None else {"max_cost": rules.max_cost}),
        "benchmarks": [
            {"benchmark": "actpld", "name": "choices", "data": "."},
            {"benchmark": "actpld", "name": "logs", "data": ".", "settings": logs},
        ],
        "models": models,
    }
    msgspec.convert(panel, PanelFile)
    return panel


def write_panel(rules: PanelRules, folder: Path, *, title: str, root: Path) -> Path:
    """Write ``panel.toml`` into the folder of the clips; all as for `panel_table`."""
    panel = panel_table(rules, folder, title=title, root=root)
    path = folder / PANEL_FILE
    write_whole(path, (_OURS + tomli_w.dumps(panel)).encode())
    return path


def _rows(rules: PanelRules) -> list[tuple[str, str]]:
    return [(spec, "frames") for spec in rules.models] + [(spec, "montage") for spec in rules.montages]


def _model(spec: str, row: str, *, root: Path) -> dict[str, object]:
    """A model of the panel; paths become whole, since a panel may be run from any folder.

    Recorded letters are those of the benchmark's own order of choices.
    """
    rows = [f"actpld/{row}"]
    name, colon, rest = spec.partition(":")
    if name == "replay" and colon:
        path, mark, options = rest.partition("?")
        file = (root / path).resolve()
        model = f"replay:{file}{mark}{options}"
        return {"model": model, "name": file.stem, "rows": rows, "settings": {"shuffle_choices": False}}
    return {"model": spec, "rows": rows}
