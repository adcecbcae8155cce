"""Runs to look at: with flips, cut replies, judges who differ, and texts that attack whoever shows them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vidence.engine.plan import Facts, Plan, write_plan
from vidence.engine.store import RunStore
from vidence.records import (
    Answered,
    Evidence,
    FrameRef,
    Item,
    Media,
    Prompt,
    Reply,
    Sampling,
    Score,
    Selection,
    TextPart,
    Trial,
    Unreadable,
    Usage,
    Verdict,
)

PWN = "<script>window.pwned=1</script><img src=x onerror='window.pwned=1'>{{7*7}}{% debug %}"
PLAN = Plan(
    benchmark="table",
    data="questions.jsonl",
    split="all",
    model="scripted:test",
    selector="midpoints",
    frames=2,
    style="direct",
    prompts="plain",
    layout="images",
    frame_times=False,
    size="short:720",
    jpeg_quality=85,
    sampling=Sampling(),
    parser="robust",
    headline="micro",
)
FACTS = Facts(
    vidence="0.1.0",
    git_revision="",
    python="3.11.7",
    platform="test",
    libraries={},
    benchmark_version=1,
    benchmark_revision="",
    content_hash="0" * 64,
    prompts_digest="1" * 64,
    selector_version=1,
    model_identity="scripted:test",
    citation="",
    licence="",
    n_items=4,
    n_planned=4,
    started_at="2026-11-20T08:00:00+00:00",
)
ITEMS = tuple(
    Item(
        item_id=item_id,
        question=f"What of {item_id}?",
        choices=("red", "green", "blue"),
        answer="A",
        media=(Media(path="film.mp4"),),
        tags={"task": task, "mark=er": "x=1"},
        evidence=(Evidence(start_s=1.0, end_s=2.0),),
        rationale="Because it is red.",
    )
    for item_id, task in (("q1", "order"), ("q2", "order"), ("q/3?&", "count"), (f"q4{PWN}", PWN))
)


def trial(
    item: Item,
    answer: str | None,
    *,
    text: str = "",
    value: float | None = None,
    finish: str = "stop",
    tokens: int = 10,
    repeat: int = 0,
    verdicts: Sequence[Verdict] = (),
    logps: dict[str, float] | None = None,
) -> Trial:
    """A trial in which a letter was read, or none."""
    outcome = (
        Unreadable(reason="no letter") if answer is None else Answered(answer=answer, rule="answer-line")
    )
    return Trial(
        item_id=item.item_id,
        repeat=repeat,
        selection=Selection(
            selector="midpoints",
            version=1,
            frames=(FrameRef(frame_index=3, time_s=0.1), FrameRef(frame_index=45, time_s=1.5)),
            n_candidates=90,
        ),
        prompt=Prompt(parts=(TextPart(text="Look, and answer."),)),
        reply=Reply(
            text=text or f"Answer: {answer}",
            finish=finish,
            usage=Usage(input_tokens=100, output_tokens=tokens),
            latency_s=tokens / 10,
            choice_logps=logps,
        ),
        score=Score(
            outcome=outcome,
            value=float(answer == item.answer) if value is None else value,
            scorer="robust",
            scorer_version=2,
            verdicts=tuple(verdicts),
        ),
    )


TRIALS = (
    trial(ITEMS[0], "A", tokens=30, logps={"A": -0.1, "B": -2.6}),
    trial(ITEMS[1], "B", tokens=20, finish="length"),
    trial(
        ITEMS[2],
        "A",
        tokens=40,
        verdicts=[Verdict(judge_model="j1", value=1.0), Verdict(judge_model="j2", value=0.0, reason=PWN)],
    ),
    trial(ITEMS[3], None, text=f"It is {PWN}"),
)
OTHERS = (
    trial(ITEMS[0], "B"),
    trial(ITEMS[1], "A"),
    trial(ITEMS[2], "A"),
    trial(ITEMS[3], None, text="I cannot say."),
)


def write_run(
    folder: Path,
    *,
    items: Sequence[Item] = ITEMS,
    trials: Sequence[Trial] = TRIALS,
    plan: dict[str, object] | None = None,
    facts: dict[str, object] | None = None,
) -> Path:
    """A finished run."""
    folder.mkdir(parents=True)
    write_plan(
        folder, msgspec.structs.replace(PLAN, **(plan or {})), msgspec.structs.replace(FACTS, **(facts or {}))
    )
    with RunStore(folder, is_writer=True) as store:
        store.put_items(items)
        for one in trials:
            store.add(one)
    return folder


def state(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Everything in a folder: sizes, times and contents."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_size,
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
