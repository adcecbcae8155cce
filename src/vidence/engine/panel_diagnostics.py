"""The diagnostics of a panel: their runs, options and requirements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vidence.catalog import parse_spec
from vidence.contracts import Diagnostic
from vidence.engine.diagnose import open_diagnostic, option_texts
from vidence.engine.panel import PanelDiagnostic, PanelFile, PanelRun
from vidence.engine.session import check_draws
from vidence.engine.specs import model_spec
from vidence.engine.store import diagnosis_name
from vidence.engine.trust import Need, needs_of_spec
from vidence.errors import UnknownNameError, UsageError


@dataclass(frozen=True, kw_only=True)
class Examination:
    """A diagnostic on one run of a panel; findings are stored per question in the run's folder."""

    run: PanelRun
    diagnostic: Diagnostic
    options: Mapping[str, str]

    @property
    def label(self) -> str:
        """Return the diagnostic with its options, the benchmark and the run."""
        label = ", ".join(f"{key} {value}" for key, value in self.options.items())
        what = f"{self.diagnostic.name} ({label})" if label else self.diagnostic.name
        return f"{what} on {self.run.benchmark}, {self.run.label}"

    @property
    def name(self) -> str:
        """Return the name under which findings are stored."""
        return diagnosis_name(self.diagnostic.name, self.options)

    @property
    def others(self) -> dict[str, str]:
        """Return the specs of the other models that it asks, by its names for them."""
        return {
            name: model_spec(self.run.plan.model, spec) for name, spec in self.diagnostic.models().items()
        }

    def needs(self) -> Iterator[Need]:
        """Yield what its further models and selectors need the user's trust for."""
        plan = self.run.plan
        for spec in self.others.values():
            yield from needs_of_spec("model", spec, base=plan.model)
        for view in self.diagnostic.views(selector=plan.selector, n_frames=plan.frames).values():
            yield from needs_of_spec("selector", view.selector, base=plan.model)


def examinations(panel: PanelFile, runs: Sequence[PanelRun]) -> tuple[Examination, ...]:
    """What the diagnostics of a panel examine: one diagnostic after the other, each run by run.

    Args:
        panel: the panel.
        runs: its runs, as `planned` gives them.

    Raises:
        UsageError: a name that the panel does not have, no such diagnostic or option, a diagnostic that is
            twice on one run, or a plan of which it can show no part or draw no second reply. Nothing was
            asked.
    """
    examinations: dict[tuple[object, str], Examination] = {}
    for entry in panel.diagnostics:
        spec = parse_spec(entry.diagnostic)
        options = {**spec.options, **option_texts(entry.options)}
        diagnostic = open_diagnostic(spec.name, options)
        for run in _chosen(entry, runs):
            examination = Examination(run=run, diagnostic=diagnostic, options=options)
            _check(examination)
            if examinations.setdefault((run.folder, examination.name), examination) is not examination:
                raise UsageError(f"{examination.label} is in the panel twice; remove one of them")
    return tuple(examinations.values())


def _chosen(entry: PanelDiagnostic, runs: Sequence[PanelRun]) -> list[PanelRun]:
    """Return the runs that a diagnostic applies to."""
    kept = list(runs)
    for field, names in (
        ("benchmark", entry.benchmarks),
        ("model", entry.models),
        ("condition", entry.conditions),
    ):
        known = dict.fromkeys(str(getattr(run, field)) for run in runs)
        if unknown := next((name for name in names if name not in known), None):
            raise UnknownNameError(f"{field} of the panel", unknown, known)
        kept = [run for run in kept if not names or getattr(run, field) in names]
    return kept


def _check(examination: Examination) -> None:
    """Reject now what `diagnose` would reject later."""
    if examination.run.plan.layout == "video":
        raise UsageError(
            f"{examination.label}: diagnostics show parts of a video, the layout 'video' all of it; name the "
            "conditions or models of the diagnostic, or set layout = 'images'"
        )
    try:
        check_draws(examination.diagnostic, examination.run.plan)
    except UsageError as error:
        raise UsageError(f"{examination.label}: {error}") from error
