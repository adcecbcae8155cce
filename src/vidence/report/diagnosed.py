"""The findings of a diagnostic on a run, and what they say together."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from vidence.contracts import Diagnostic, Examined, RunDiagnostic
from vidence.engine.plan import Plan, read_plan
from vidence.engine.specs import label
from vidence.engine.store import Header, RunStore, diagnosis_name
from vidence.errors import UsageError
from vidence.records import Failed, source_noun
from vidence.report.export import write_file
from vidence.report.provenance import diagnosed_note
from vidence.report.results import SEED
from vidence.tables.charts import Statement, table_of
from vidence.tables.export import statement_as_json
from vidence.tables.rendering import render
from vidence.tables.table import Table, several

JSON_FORMAT = "vidence-diagnosis/1"


@dataclass(frozen=True, kw_only=True)
class Diagnosed:
    """What a diagnostic has to say about a run; `sentences` are about how far it got, `path` is its page."""

    diagnostic: Diagnostic
    path: Path
    plan: Plan
    header: Header
    examined: tuple[Examined, ...]
    statements: tuple[Statement, ...]
    sentences: tuple[str, ...]

    def tables(self) -> dict[str, Table]:
        """The statements as tables, by their names; of a figure, the numbers that it is drawn from."""
        return {table.name: table for table in map(table_of, self.statements)}


def load_diagnosed(
    diagnostic: Diagnostic,
    folder: Path,
    *,
    options: Mapping[str, str],
    seed: int = SEED,
    level: float = 0.95,
) -> Diagnosed:
    """Read the findings of a diagnostic and add them up.

    Args:
        diagnostic: made with `options`.
        folder: the run.
        options: those of the diagnostic.
        seed: where the draws of the intervals come from.
        level: coverage of the intervals.

    Raises:
        StoreError: no findings, or damaged ones.
        UsageError: no question could be examined.
    """
    plan, facts = read_plan(folder)
    name = diagnosis_name(diagnostic.name, options)
    with RunStore(folder) as store:
        items = store.items()
        n_items = len(items)
        header = store.header(name)
        examined = tuple(store.findings(name, diagnostic.finding).values())
    good = [one for one in examined if not isinstance(one.finding, Failed)]
    failed = Counter(
        f"{one.finding.error}: {one.finding.message}" for one in examined if isinstance(one.finding, Failed)
    )
    if not good:
        reason = f"; the most frequent reason: {failed.most_common(1)[0][0]}" if failed else ""
        raise UsageError(f"no question of {folder} could be examined with {diagnostic.name}{reason}")
    sentences = [
        f"{diagnostic.name} on {plan.benchmark}, {plan.model}: {len(good):,} of {n_items:,} questions "
        "examined."
    ]
    views = diagnostic.views(selector=plan.selector, n_frames=plan.n_frames).values()
    sentences += [
        f"Frames ranked by {one.selector}, at most {one.n_frames}." for one in views if one.is_ranked
    ]
    kinds = {one.item.answer_kind for one in examined}
    sentences.append(diagnosed_note(plan, kinds=kinds, prompts_digest=header.prompts_digest))
    if failed:
        error, n = failed.most_common(1)[0]
        sentences.append(
            f"{sum(failed.values()):,} failed and are in no number, {n:,} of them with: {error[:300]}"
        )
    if facts.left_out:
        sentences.append(facts.left_out)
    if source_noun(items) == "source":
        about = several(len({item.source_id for item in items}), "source")
        sentences.append(f"Intervals are clustered by source: the questions are about {about}.")
    if isinstance(diagnostic, RunDiagnostic):
        diagnostic = diagnostic.of_run(model=plan.model, selector=plan.selector)
    rng = np.random.default_rng(seed)
    return Diagnosed(
        diagnostic=diagnostic,
        path=folder / "diagnostics" / f"{name}.html",
        plan=plan,
        header=header,
        examined=examined,
        statements=diagnostic.summarise(examined, rng=rng, level=level),
        sentences=tuple(sentences),
    )


def write_diagnosed_json(diagnosed: Diagnosed, path: Path) -> None:
    """Write header, statements and the finding of every question as one JSON object.

    Raises:
        StoreError: the file cannot be written.
    """
    whole = {
        "format": JSON_FORMAT,
        "header": diagnosed.header,
        "plan": diagnosed.plan,
        "sentences": diagnosed.sentences,
        "statements": [statement_as_json(one) for one in diagnosed.statements],
        "findings": [{"item_id": one.item.item_id, "finding": one.finding} for one in diagnosed.examined],
    }
    write_file(path, msgspec.json.encode(whole) + b"\n")


def write_diagnosed_page(diagnosed: Diagnosed, path: Path) -> None:
    """Write what was found as one HTML file that loads nothing from elsewhere.

    Raises:
        StoreError: the file cannot be written.
    """
    page = render(
        "diagnosis.html.j2",
        eyebrow="vidence diagnosis",
        title=f"{diagnosed.diagnostic.name} · {diagnosed.plan.benchmark} · {label(diagnosed.plan)}",
        sentences=diagnosed.sentences,
        statements=diagnosed.statements,
        facts=(("Findings", diagnosed.header), ("Plan", diagnosed.plan)),
    )
    write_file(path, page)
