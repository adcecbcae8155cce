"""A grid of small runs whose answers are planted."""

import numpy as np
import pytest

from vidence.contracts import Examined
from vidence.engine.panel import ModelFacts
from vidence.engine.store import Header, RunStore, diagnosis_name
from vidence.records import Answered
from vidence.report.panel_grid import Grid, GridCell
from vidence.report.results import load_run
from vidence.report.scores import Draws

N = 120
PER_VIDEO = 3


@pytest.fixture
def draws():
    return Draws(rng=np.random.default_rng(0))


@pytest.fixture
def cell(runs):
    """Write a run whose questions are right where `right` says so, and give its cell."""
    n_made = 0

    def make(
        model="m",
        condition="",
        *,
        right=0.5,
        n=N,
        seed=0,
        benchmark="table",
        title=None,
        split="all",
        tags=lambda i: {"task": "order" if i % 2 else "count"},
        facts=None,
        about=None,
        questions=None,
        model_spec=None,
        **plan,
    ):
        nonlocal n_made
        n_made += 1
        if isinstance(right, float):
            right = np.random.default_rng(seed).random(n) < right
        prefix = questions or split
        items = [
            runs.question(f"{prefix}-{i}", f"v{i // PER_VIDEO}", "A", tags=tags(i)) for i in range(len(right))
        ]
        letters = ["A" if is_right else "B" for is_right in right]
        trials = [
            runs.marked(item, Answered(answer=letter), reply=runs.said(letter))
            for item, letter in zip(items, letters, strict=True)
        ]
        folder = runs.write(
            f"run-{n_made}",
            items=items,
            trials=trials,
            facts={"n_planned": len(items), **(facts or {})},
            benchmark=benchmark,
            split=split,
            **plan | ({"model": model_spec} if model_spec else {}),
        )
        place = {"benchmark": title or benchmark, "model": model, "condition": condition}
        return GridCell(**place, run=load_run(folder), about=about or ModelFacts())

    return make


@pytest.fixture
def bare(runs):
    """A run without trials, with the findings of a diagnostic on its questions."""
    n_made = 0

    def make(
        findings,
        *,
        diagnostic,
        version,
        options=None,
        title="table",
        model="m",
        spec="scripted:test",
        items=None,
        **plan,
    ):
        nonlocal n_made
        n_made += 1
        plan["model"] = spec
        items = items or [runs.question(f"q{i}", f"v{i // PER_VIDEO}", "A") for i in range(len(findings))]
        folder = runs.write(f"bare-{n_made}", items=items, trials=(), **plan)
        same = {"plan_digest": "", "content_hash": "", "model_identities": {}, "prompts_digest": ""}
        header = Header(diagnostic=diagnostic, version=version, options=options or {}, **same)
        name = diagnosis_name(diagnostic, header.options)
        with RunStore(folder, is_writer=True) as store:
            store.begin_diagnosis(name, header)
            for item, finding in zip(items, findings, strict=True):
                store.add_finding(name, Examined(item=item, finding=finding))
        return GridCell(benchmark=title, model=model, condition="", run=load_run(folder))

    return make


@pytest.fixture
def grid():
    return lambda *cells, **rest: Grid(cells=tuple(cells), **rest)
