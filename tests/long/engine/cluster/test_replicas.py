"""Weights that are replicas of a cluster, asked by flows of this process; machines are processes of it."""

import json
import shutil
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import msgspec
import pytest

from servers import weights_standin
from servers.openai_stub import OpenAIStub
from servers.ray_machines import kill_one, wait_for, workers
from vidence.contracts import Ask
from vidence.engine import evaluate
from vidence.engine.cluster import machines
from vidence.engine.environment import Environment
from vidence.engine.jobs import Jobs, NamedModel
from vidence.engine.judges import JudgesWanted, ask_judges, judge_run
from vidence.engine.plan import read_plan
from vidence.engine.prepare import make_plan
from vidence.engine.store import RunStore
from vidence.errors import UsageError
from vidence.records import ImagePart, Prompt, TextPart

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)


@pytest.fixture
def weights(tmp_path) -> Path:
    """A folder in which each process with the weights has a file with a line for each request."""
    (tmp_path / "weights").mkdir()
    return tmp_path / "weights"


def asked(weights: Path) -> list[int]:
    """How many requests each process answered."""
    return sorted(len(file.read_text().split()) for file in weights.iterdir())


def questions(n: int):
    """Flows that show a picture."""

    def flow(number: int):
        picture = ImagePart(digest="d" * 64, width_px=2, height_px=2, media_type="image/png")
        prompt = Prompt(parts=(picture, TextPart(text=f"Question {number}?")))
        (reply,) = yield [Ask(prompt=prompt)]
        return reply.text

    return {f"q{number}": flow(number) for number in range(n)}


def answers(weights: Path, folder: Path, on: str, flows):
    named = {"m": NamedModel(spec=f"standin:{weights}?temperature=0")}
    with Jobs(named, memory=folder / f"{on}.sqlite", pictures=lambda digest: b"picture", on=on) as jobs:
        found = jobs.run(flows, model="m")
        return found, jobs.spent, jobs.identity("m")


def test_replicas_say_what_the_weights_here_would_and_end_with_the_work(on_ray, weights, tmp_path):
    weights_standin.hold(weights, 2)
    there = answers(weights, tmp_path, "ray", questions(24))
    assert len(asked(weights)) == 2
    assert min(asked(weights)) > 0
    assert sum(asked(weights)) == 24
    assert there == answers(weights, tmp_path, "local", questions(24))
    wait_for(lambda: not workers())
    assert not workers()


def test_what_is_remembered_needs_no_replica(on_ray, weights, tmp_path):
    here, _, _ = answers(weights, tmp_path, "ray", questions(4))
    n = sum(asked(weights))
    found, spent, _ = answers(weights, tmp_path, "ray", questions(4))
    assert found == here
    assert (sum(asked(weights)), spent.n_asked) == (n, 0)


def test_a_replica_that_is_killed_costs_what_it_was_asked(on_ray, weights, tmp_path):
    def kill():
        wait_for(lambda: len(asked(weights)) == 2 and min(asked(weights)) >= 4)
        kill_one()

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    found, spent, _ = answers(weights, tmp_path, "ray", questions(60))
    thread.join()
    assert spent.n_asked == 60
    assert sum(asked(weights)) <= 60 + 6  # what it had on hand: its max_in_flight
    here, _, _ = answers(weights, tmp_path, "local", questions(60))
    assert found == here


def test_another_version_on_a_machine_ends_the_asking(on_ray, weights, tmp_path, monkeypatch):
    monkeypatch.setattr(machines, "version", lambda: machines.Version(vidence="9.9", git_revision=""))
    with pytest.raises(UsageError, match=r"has vidence .*, this machine 9\.9;"):
        answers(weights, tmp_path, "ray", questions(1))


# ------------------------------------------------------------------ judges of finished runs


@pytest.fixture
def run(tmp_path):
    """A run over twelve open questions, all answered."""
    rows = [
        {"item_id": f"q{n}", "question": "What is it?", "answer": "a pan", "answer_kind": "text"}
        for n in range(12)
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with OpenAIStub(answer="A frying pan.") as server:
        plan = make_plan(
            "table",
            data=tmp_path / "questions.jsonl",
            model=f"openai:m?base_url={server.base_url}",
            overrides={"memory": str(tmp_path / "answers.sqlite")},
        )
        place = Environment(cache_root=tmp_path / "cache", n_workers=1)
        now = datetime(2026, 1, 1, tzinfo=UTC)
        answering = partial(
            evaluate.run, plan, tmp_path / "run", environment=place, now=now, on_event=lambda event: None
        )
        anyio.run(answering)
    return tmp_path / "run"


def test_a_finished_run_is_judged_with_the_same_verdicts(on_ray, run, weights):
    stored = {}
    for on, n_processes in (("local", 1), ("ray", 3)):
        weights_standin.hold(weights, n_processes)
        folder = run.parent / on
        shutil.copytree(run, folder)
        plan, _ = read_plan(folder)
        plan = msgspec.structs.replace(plan, judge="humanpcr", judge_models=(f"standin:{weights}",))
        place = Environment(cache_root=run.parent / f"cache-{on}", n_workers=1, on=on)
        plan = msgspec.structs.replace(plan, memory=str(run.parent / f"{on}.sqlite"))
        summary = anyio.run(partial(judge_run, plan, folder, environment=place, on_event=lambda event: None))
        assert (summary.n_tried, summary.n_judge_errors) == (12, 0)
        with RunStore(folder) as store:
            stored[on] = [msgspec.json.encode(trial) for trial in store.trials()]
    assert stored["ray"] == stored["local"]
    assert len({trial.partition(b"correctness")[2][:9] for trial in stored["ray"]}) == 2  # right and wrong
    assert len(asked(weights)) == 3


def test_judges_are_compared_on_the_same_lines(on_ray, run, weights):
    wanted = JudgesWanted(models=(f"standin:{weights}",), judges=("humanpcr",))
    lines = {}
    for on in ("local", "ray"):
        place = Environment(cache_root=run.parent / f"cache-{on}", n_workers=1, on=on)
        judging = partial(
            ask_judges,
            {"run": run},
            wanted,
            judges_of={"run": ("humanpcr",)},
            environment=place,
            on_event=lambda event: None,
        )
        lines[on] = [msgspec.json.encode(line) for line in anyio.run(judging)]
    assert lines["ray"] == lines["local"]
    assert len(lines["ray"]) == 12
