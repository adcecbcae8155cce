"""A run as a log of inspect_ai (``.eval``), which ``inspect view`` opens and `read_eval_log` reads.

The format is a ZIP archive: ``header.json`` (task and results), ``summaries.json``, and
``samples/ID_epoch_N.json`` for each trial. Pictures are named in the prompt but not included.
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np

from vidence.errors import StoreError, UsageError, cause
from vidence.records import (
    Answered,
    Failed,
    ImagePart,
    Prompt,
    Reply,
    Sampling,
    TextPart,
    Usage,
    VideoPart,
    total_usage,
)
from vidence.report.results import SEED, Row, Run, with_prompts
from vidence.report.scores import Draws, headline_accuracy
from vidence.report.trials import cost_usd, reason, trial_records
from vidence.tables.table import has_interval

LOG_VERSION = 2
SCORER = "vidence"
Fields: TypeAlias = Mapping[str, object]
# How inspect_ai calls why a reply ended.
_STOPS = {"stop": "stop", "length": "max_tokens", "refusal": "content_filter", "other": "unknown"}
# What a trial knows that has no place of its own in a sample.
_METADATA = (
    "outcome", "read", "parser", "parser_version", "rule", "reason", "video", "source_id", "media",
    "evidence", "answer_kind", "choice_order", "rationale", "hints", "knowledge", "selector", "frame_index",
    "frame_time_s",
    "frame_media", "template", "images", "is_guess", "n_asked", "steps", "is_remembered", "choice_logps",
    "points", "verdicts", "unanswered",
)  # fmt: skip

_IN_SUMMARY = (
    *("id", "epoch", "input", "choices", "target", "scores", "model_usage"),
    *("total_time", "working_time", "uuid"),
)


def write_inspect_log(run: Run, path: Path) -> None:
    """Write a run as a log of inspect_ai.

    Args:
        run: the run.
        path: the file; inspect_ai requires the extension ``.eval``.

    Raises:
        UsageError: the run has no trials.
        StoreError: the file cannot be written.
    """
    if not run.rows:
        raise UsageError(f"{run.folder} has no trials yet; a log of inspect_ai is about replies")
    samples = [
        _sample(run, row, record)
        for row, record in zip(with_prompts(run, run.rows), trial_records(run), strict=True)
    ]
    header = _header(run, samples)
    contents: dict[str, object] = {
        "_journal/start.json": {key: header[key] for key in ("version", "eval", "plan")},
        **{f"samples/{sample['id']}_epoch_{sample['epoch']}.json": sample for sample in samples},
        "summaries.json": [_summary(sample) for sample in samples],
        "header.json": header,
    }
    began = _clock(run)
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in contents.items():
                entry = zipfile.ZipInfo(name, date_time=began)
                entry.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(entry, msgspec.json.encode(content))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {cause(error)}") from error


def _clock(run: Run) -> tuple[int, int, int, int, int, int]:
    """Return the run's start as a ZIP timestamp, so that a run's logs are byte-identical."""
    digits = [int(part) for part in run.facts.started_at[:19].replace("T", "-").replace(":", "-").split("-")]
    year, month, day, hour, minute, second = digits if len(digits) == 6 else (1980, 1, 1, 0, 0, 0)
    return (max(1980, year), month, day, hour, minute, second)


def _id(run: Run, *more: object) -> str:
    """Return a deterministic id."""
    message = json.dumps([run.facts.content_hash, run.facts.model_identity, run.facts.started_at, *more])
    return hashlib.sha256(message.encode()).hexdigest()[:22]


# --------------------------------------------------------------------------- the whole


def _header(run: Run, samples: Sequence[Fields]) -> dict[str, object]:
    plan, facts = run.plan, run.facts
    spec: dict[str, object] = {
        "eval_id": _id(run, "eval"),
        "run_id": _id(run, "run"),
        "created": facts.started_at,
        "task": plan.benchmark,
        "task_id": _id(run, "task"),
        "task_version": facts.benchmark_version,
        "task_display_name": f"{plan.benchmark} ({run.name})",
        "task_args": {"protocol": plan.protocol, "split": plan.split},
        "dataset": {
            "name": plan.benchmark,
            "location": plan.data,
            "samples": facts.n_items,
            "sample_ids": list(dict.fromkeys(str(sample["id"]) for sample in samples)),
            "shuffled": False,
        },
        "model": facts.model_identity or plan.model,
        "model_generate_config": _generation(plan.sampling),
        "config": {"epochs": plan.repeats, "epochs_reducer": ["mean"], "limit": plan.limit},
        "packages": {"vidence": facts.vidence, **facts.libraries},
        "metadata": {"plan": plan, "facts": facts},
        "scorers": [{"name": SCORER, "options": {"parser": run.parser}, "metrics": [{"name": "accuracy"}]}],
    }
    return {
        "version": LOG_VERSION,
        "status": "success" if run.n_missing == 0 else "cancelled",
        "eval": spec,
        "plan": {
            "name": plan.strategy,
            "steps": [{"solver": plan.strategy, "params": {"selector": plan.selector, "style": plan.style}}],
            "config": _generation(plan.sampling),
        },
        "results": _results(run),
        "stats": {
            "started_at": facts.started_at,
            "completed_at": "",
            "model_usage": {facts.model_identity or plan.model: _usage_of(run)},
        },
    }


def _generation(sampling: Sampling) -> dict[str, object]:
    names = ("temperature", "top_p", "max_tokens", "seed")
    return {name: value for name in names if (value := getattr(sampling, name)) is not None}


def _results(run: Run) -> Fields:
    estimate = headline_accuracy(run, draws=Draws(rng=np.random.default_rng(SEED)))
    metrics: dict[str, object] = {}
    if estimate is not None:
        metrics["accuracy"] = {
            "name": "accuracy",
            "value": estimate.value,
            "metadata": {"average": run.plan.headline, "n": estimate.n, "clusters": estimate.n_clusters},
        }
        if has_interval(estimate):
            ends = {"low": estimate.low, "high": estimate.high}
            metrics.update(
                (name, {"name": name, "value": end, "metadata": {"level": estimate.level}})
                for name, end in ends.items()
            )
    n_scored = sum(row.correct is not None for row in run.rows)
    return {
        "total_samples": run.facts.n_planned,
        "completed_samples": len(run.rows),
        "scores": [
            {
                "name": SCORER,
                "scorer": SCORER,
                "scored_samples": n_scored,
                "unscored_samples": len(run.rows) - n_scored,
                "metrics": metrics,
            }
        ],
    }


def _usage_of(run: Run) -> Fields:
    return _tokens(total_usage([reply.usage for row in run.rows for reply in row.trial.replies]))


def _tokens(usage: Usage) -> dict[str, object]:
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


# --------------------------------------------------------------------------- one trial


def _sample(run: Run, row: Row, record: Fields) -> dict[str, object]:
    item, trial = row.item, row.trial
    sample: dict[str, object] = {
        "id": item.item_id,
        "epoch": trial.repeat + 1,
        "input": item.question,
        "target": item.answer,
        "messages": [*_asked(trial.prompt), *([_said(trial.reply)] if trial.reply else [])],
        "output": _output(run, row),
        "scores": {SCORER: _score(row)} if row.correct is not None else {},
        "metadata": {"tags": item.tags, **{name: record[name] for name in _METADATA}},
        "model_usage": {},
        "uuid": _id(run, item.item_id, trial.repeat),
        "attachments": {},
    }
    if item.choices:
        sample["choices"] = item.choices
    if trial.reply is not None:
        sample["total_time"] = sample["working_time"] = trial.reply.latency_s
        sample["model_usage"] = {trial.reply.model or run.plan.model: _usage(run, row)}
    if isinstance(outcome := row.score.outcome, Failed):
        message = f"{outcome.error} ({outcome.stage}): {outcome.message}"
        sample["error"] = {"message": message, "traceback": message, "traceback_ansi": message}
    return sample


def _asked(prompt: Prompt | None) -> list[Fields]:
    """Return the messages sent, with pictures described in words."""
    if prompt is None:
        return []
    words = []
    for part in prompt.parts:
        match part:
            case TextPart():
                words.append(part.text)
            case ImagePart():
                words.append(f"[image {part.width_px}x{part.height_px}, sha256 {part.digest[:12]}]")
            case VideoPart():
                words.append(f"[video {part.path}]")
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    return [*system, {"role": "user", "content": "\n".join(words), "source": "input"}]


def _said(reply: Reply) -> Fields:
    content: object = reply.text
    if reply.reasoning:
        thought = {"type": "reasoning", "reasoning": reply.reasoning}
        content = [thought, {"type": "text", "text": reply.text}]
    return {"role": "assistant", "content": content, "source": "generate", "model": reply.model}


def _usage(run: Run, row: Row) -> Fields:
    """Return the tokens of all replies of a trial."""
    known, cost = _tokens(row.trial.usage), cost_usd(run, row)
    return known if cost is None else {**known, "total_cost": cost}


def _output(run: Run, row: Row) -> Fields:
    reply = row.trial.reply
    if reply is None:
        return {"model": run.plan.model, "choices": [], "completion": ""}
    return {
        "model": reply.model or run.plan.model,
        "choices": [{"message": _said(reply), "stop_reason": _STOPS[reply.finish]}],
        "completion": reply.text,
        "usage": _usage(run, row),
        "time": reply.latency_s,
    }


def _score(row: Row) -> Fields:
    outcome = row.score.outcome
    message = f"read by {row.score.scorer}"
    if isinstance(outcome, Answered):
        message += f": {outcome.rule}" if outcome.rule else ""
    else:
        message = f"{row.outcome}: {reason(row)}"
    return {
        "value": row.correct,
        "answer": row.read or None,
        "explanation": " ".join([message, *(v.reason or v.error for v in row.score.verdicts)]).strip(),
        "metadata": {"outcome": row.outcome, "status": row.status, "points": row.score.points},
        "history": [],
    }


def _summary(sample: Fields) -> Fields:
    """Return a sample's row in the list of samples."""
    error, messages = sample.get("error"), sample["messages"]
    return {
        **{name: sample[name] for name in _IN_SUMMARY if name in sample},
        "metadata": {},
        **({"error": error["message"]} if isinstance(error, dict) else {}),
        "completed": True,
        "message_count": len(messages) if isinstance(messages, list) else 0,
    }
