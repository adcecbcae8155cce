"""The files of an ablation: a table, everything as JSON, and one page."""

import csv
import io
import math
from collections.abc import Sized
from pathlib import Path

import msgspec

from vidence.make.lights.ablation_results import Ablated, Measured, statements
from vidence.records import Estimate
from vidence.report.diagnosed import said_of, settings
from vidence.report.export import write_file
from vidence.tables.rendering import render

JSON_FORMAT = "vidence-ablation/1"
_COLUMNS = (
    *("model", "factor", "level", "n", "accuracy", "low", "high", "interval"),
    *("difference", "difference_low", "difference_high", "p_adjusted", "chance", "n_guessed"),
)


def write_files(ablated: Ablated, out: Path) -> tuple[Path, ...]:
    """Write ``ablation.csv``, ``ablation.json`` and ``ablation.html``.

    Raises:
        StoreError: a file cannot be written.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(_row(one, ablated.chance) for one in (*ablated.measured, *ablated.observed))
    said = statements(ablated)
    whole = {
        "format": JSON_FORMAT,
        "config": ablated.config,
        "chance": ablated.chance,
        "n_clips": ablated.n_clips,
        "notes": ablated.notes,
        "measured": ablated.measured,
        "observed": ablated.observed,
    }
    page = render(
        "ablation.html.j2",
        title=", ".join(
            (_several(ablated.config.ask.models, "model"), _several(ablated.config.vary, "manipulation"))
        ),
        sentences=(
            f"{ablated.n_clips} clips of point lights, each shown in every condition; chance is "
            f"{100 * ablated.chance:.1f} %. Bars are intervals of 95 %, with clips as clusters.",
            *ablated.notes,
        ),
        said=[said_of(one) for one in said],
        facts=(("Configuration", settings(ablated.config)),),
        drawing_of=lambda table: None,  # the figures here are those of the statements
    )
    paths = tuple(out / f"ablation.{kind}" for kind in ("csv", "json", "html"))
    contents = (text.getvalue().encode(), msgspec.json.encode(whole) + b"\n", page.encode())
    for path, content in zip(paths, contents, strict=True):
        write_file(path, content)
    return paths


def _several(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def _row(one: Measured, chance: float) -> list[str]:
    """One line of the table; numbers with all their digits, what does not apply is empty."""
    p_value = "" if one.p_value is None else repr(one.p_value)
    return [
        one.model,
        one.factor,
        one.level,
        str(one.accuracy.n),
        *_cells(one.accuracy),
        one.accuracy.method,
        *_cells(one.difference),
        p_value,
        repr(chance),
        str(one.n_guessed),
    ]


def _cells(estimate: Estimate | None) -> list[str]:
    if estimate is None:
        return ["", "", ""]
    values = (estimate.value, estimate.low, estimate.high)
    return ["" if math.isnan(value) else repr(value) for value in values]
