"""How replies were obtained, derived from the trials: asked, recorded elsewhere, or produced by a rule."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from vidence.ask.prompting.released import Wording, wording_of
from vidence.ask.prompting.templates import Templates
from vidence.catalog import parse_spec
from vidence.engine.plan import Plan
from vidence.engine.specs import short_names
from vidence.errors import UsageError
from vidence.records import Failed, Trial, VideoPart, by_key
from vidence.report.results import Row, Run

Origin: TypeAlias = Literal["asked", "recorded", "rule", "made", "people"]
# Models that ask nobody, by name; all others are sent the prompt.
_ORIGINS: Mapping[str, Origin] = {
    "replay": "recorded",
    "person": "people",
    "people": "people",
    "baseline": "rule",
    "phantom": "made",
    "scripted": "made",
}
_WORDINGS: Mapping[Wording, str] = {
    "own": "own wording",
    "authors": "the authors' wording",
    "unchecked": "imported wording, not checked",
}
_BEFORE_THE_MODEL = ("media", "selection", "prompting")
_UNKNOWN_WORDING = "wording unknown since its templates have changed"
_RULE = "a rule that sees neither frames nor prompt"


def origin_of(run: Run) -> Origin:
    """Return whether a model was asked, or else the source of the replies."""
    return origin_of_model(run.plan.model)


def origin_of_model(model: str) -> Origin:
    """Return the origin for a model's spec."""
    return _ORIGINS.get(parse_spec(model).name, "asked")


def is_asked(run: Run) -> bool:
    """Whether the respondent saw the plan's frames and prompts."""
    return origin_of(run) in ("asked", "made")


def how_asked(run: Run) -> str:
    """Describe protocol, prompts, style, frames and scorer briefly.

    For replies recorded elsewhere, only what their source declares; such a run's plan describes what would
    have been asked.
    """
    match origin_of(run):
        case "recorded":
            how = f"recorded replies, {_declared(run)}"
        case "rule":
            how = _RULE
        case "people":
            how = _people(run)
        case _:
            plan = run.plan
            how_asked = f"{plan.style}, {frames_shown(run)}, {plan.selector}"
            how_asked += "" if plan.subtitles == "none" else f", subtitles {plan.subtitles}"
            how = f"{plan.protocol} protocol, {wording(run)}; {how_asked}"
    return f"{how}; {_marked_by(run)}"


def asked_sentence(run: Run, *names: str) -> str:
    """Describe how a run was asked, as a footnote.

    Args:
        run: the run.
        names: its row's label, and those of others asked in the same way.
    """
    how, who, were = how_asked(run), " and ".join(names), "were" if len(names) > 1 else "was"
    match origin_of(run):
        case "recorded" | "rule":
            return f"{who} {were} not asked: {how}."
        case "people":
            return f"{who} {were} answered by {how}."
        case "made":
            return (
                f"{who} {were} asked: {how}. A simulated model: the replies are computed.{_never_sent(run)}"
            )
        case _:
            return f"{who} {were} asked: {how}.{_never_sent(run)}"


def asked_sentences(runs: Iterable[tuple[Run, str]]) -> list[str]:
    """Describe how some runs were asked; those asked in the same way share a sentence."""
    alike = by_key((asked_sentence(run, ""), (run, name)) for run, name in runs)
    return [asked_sentence(some[0][0], *(name for _, name in some)) for some in alike.values()]


def plan_note(run: Run) -> str:
    """Return the note above a run's plan: how it was asked, or that the plan is hypothetical."""
    sentence = asked_sentence(run, "This run")
    return sentence if is_asked(run) else f"{sentence} The plan says only how a model would have been asked."


def not_asked(run: Run) -> str:
    """Return the note next to a score if no model was asked; empty if one was."""
    reasons = {
        "recorded": f"the replies were recorded elsewhere, {_declared(run)}",
        "rule": f"the answers are those of {_RULE}",
        "people": f"the answers are of {_people(run)}",
    }
    why = reasons.get(origin_of(run))
    return f"No model was asked: {why}." if why else ""


def wording(run: Run) -> str:
    """Say whose prompts a run used, from the templates in its trials."""
    labels = dict.fromkeys(t.prompt.template for t in _sent(run) if t.prompt is not None)
    names = list(dict.fromkeys(wording_of(label) for label in labels if label)) or ["own"]
    return " and ".join(_WORDINGS[name] for name in names)


def frames_shown(run: Run) -> str:
    """Describe the frames that the trials record as sent."""
    sent = _sent(run)
    if any(isinstance(part, VideoPart) for t in sent if t.prompt is not None for part in t.prompt.parts):
        return "whole videos"
    counts = {len(t.selection.frames) if t.selection is not None else 0 for t in sent}
    most = max(counts, default=0)
    if not most:
        return "no frames"
    some = f"{most} frame" if most == 1 else f"{most} frames"
    return some if counts == {most} else f"up to {some}"


def shown_note(run: Run, row: Row) -> str:
    """Say why the shown frames are unknown; empty for a trial that was sent."""
    notes = {
        "recorded": "A recorded reply: what was shown is not known.",
        "rule": "A rule: nothing is shown to it.",
        "people": "A person: the study says what was shown.",
    }
    sent = "" if was_sent(row.trial) else "Nothing was sent: the trial failed before."
    return notes.get(origin_of(run), sent)


def prompt_note(run: Run, row: Row) -> str:
    """Return the note in place of a prompt that was never sent; empty if it was."""
    notes = {
        "recorded": f"A recorded reply: the prompt is not known; {_declared(run)}.",
        "rule": "A rule: no prompt was sent.",
        "people": "A person: no prompt was sent.",
    }
    sent = "" if was_sent(row.trial) else "No prompt was sent: the trial failed before."
    return notes.get(origin_of(run), sent)


def diagnosed_note(plan: Plan, *, kinds: Collection[str], prompts_digest: str) -> str:
    """Describe in a sentence how the replies behind a diagnostic were obtained.

    Args:
        plan: of the run; its model is asked again with other frames.
        kinds: the questions' answer kinds.
        prompts_digest: of the templates that the diagnostic used.
    """
    words = planned_wording(plan, kinds=kinds, prompts_digest=prompts_digest)
    how = f"{plan.protocol} protocol, {words}; {plan.style}"
    match origin_of_model(plan.model):
        case "recorded" | "people":
            return (
                "No model was asked: the replies were recorded elsewhere and stay the same whatever frames a "
                "condition shows, so nothing follows from differences between conditions."
            )
        case "rule":
            return f"No model was asked: the answers are those of {_RULE}."
        case "made":
            return f"{plan.model} was asked: {how}. It is a simulated model: its replies are computed."
        case _:
            return f"{plan.model} was asked: {how}."


def planned_wording(plan: Plan, *, kinds: Collection[str], prompts_digest: str) -> str:
    """Say whose prompts a plan uses, if its templates still match the digest."""
    own = None if plan.prompts_dir is None else Path(plan.prompts_dir)
    try:
        templates = Templates.load(plan.prompts, override=own)
    except UsageError:  # a folder of own templates that is gone
        return _UNKNOWN_WORDING
    if templates.digest != prompts_digest:
        return _UNKNOWN_WORDING
    names = [f"{'choice' if kind == 'choice' else 'open'}-{plan.style}" for kind in sorted(kinds)]
    values = dict.fromkeys(wording_of(templates.label(name)) for name in names)
    return " and ".join(_WORDINGS[name] for name in values)


def trial_origin(run: Run, row: Row) -> str:
    """Return the origin of a trial's reply: ``asked``, ``recorded``, ``rule`` or ``not sent``."""
    if not is_asked(run):
        return origin_of(run)
    return "asked" if was_sent(row.trial) else "not sent"


def was_sent(trial: Trial) -> bool:
    """Whether a trial reached the model."""
    outcome = trial.score.outcome
    return not isinstance(outcome, Failed) or outcome.stage not in _BEFORE_THE_MODEL


def _sent(run: Run) -> list[Trial]:
    return [row.trial for row in run.rows if was_sent(row.trial)]


def _never_sent(run: Run) -> str:
    n = len(run.rows) - len(_sent(run))
    return f" {n:,} of {len(run.rows):,} trials failed before anything was sent." if n else ""


def _declared(run: Run) -> str:
    declared = parse_spec(run.plan.model).options.get("asked", "")
    return (
        f"declared as asked with {declared!r}" if declared else "nothing is declared of how they were asked"
    )


def _people(run: Run) -> str:
    """Return the number of people; for one, that the interval applies to this person."""
    n = max(1, len(run.people))
    return f"{n} people" if n > 1 else "one person, whose interval is by videos alone"


def _marked_by(run: Run) -> str:
    """Return the parsers and judges that scored a run, with the judges' models and prompts."""
    scored = Counter(row.score.scorer for row in run.rows if not row.item.is_hidden)
    if not scored:
        return "answers hidden"
    by = " + ".join(name for name, _ in scored.most_common())
    models = short_names(v.judge_model for row in run.rows for v in row.score.verdicts).values()
    if not models:
        return f"scored by {by}"
    wording: Wording = run.facts.judge_wording or "own"
    return f"scored by {by} ({', '.join(models)}), the judge in {_WORDINGS[wording]}"
