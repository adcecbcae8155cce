"""Servers that answer wrongly: each mode ends in a right answer or in one clear failure per question."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import numpy as np
import pytest

from servers.hostile_modes import Mode
from servers.hostile_stub import MODES
from vidence.catalog import create
from vidence.contracts import Model, Request, Scorer
from vidence.engine.engine import Asker
from vidence.engine.events import Event
from vidence.engine.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.engine.memory import Memory
from vidence.engine.scoring import MOST_READ_CHARACTERS
from vidence.errors import AccessError, ModelError, ServerDownError
from vidence.records import Item, Prompt, Reply, Sampling, TextPart

IS_LONG = os.environ.get("VIDENCE_ATTACK") == "long"
KEY = "sk-CANARY-0123456789"
N_QUESTIONS = 2
TIMEOUT_S = 60.0 if IS_LONG else 10.0  # bodies of 32 MB, on a machine that does other things, too
SILENT_TIMEOUT_S = 1.0  # where nothing else ends the wait
SPECS = {
    "chat": "openai:m?base_url={address}/v1&api_key_env=HOSTILE_KEY",
    "responses": "openai:m?base_url={address}/v1&api_key_env=HOSTILE_KEY&api=responses",
    "anthropic": "anthropic:m?base_url={address}&api_key_env=HOSTILE_KEY",
    "gemini": "gemini:m?base_url={address}&api_key_env=HOSTILE_KEY",
}


@dataclass
class Outcome:
    """What came of the questions of one mode."""

    replies: list[Reply] = field(default_factory=list)
    errors: list[ModelError] = field(default_factory=list)

    def misses(self, mode: Mode, *, n_questions: int) -> str:
        """What is not as the mode expects it; empty where all is."""
        said = [
            *(("answer" if "Answer: A" in r.text else "empty") for r in self.replies),
            *map(str, self.errors),
        ]
        is_ended = any(isinstance(error, AccessError | ServerDownError) for error in self.errors)
        if not is_ended and len(said) != n_questions:
            return f"{len(said)} outcomes"
        if wrong := [words for words in said if not re.search(mode.expects, words, re.DOTALL)]:
            return f"said {wrong[0][:400]!r}"
        if KEY in "".join(map(str, self.errors)):
            return "the key is in a message"
        if any("SMUGGLED" in reply.text for reply in self.replies):
            return "the answer of somebody else"
        if longest := max((len(str(error)) for error in self.errors), default=0) > 1500:
            return f"a message of {longest} characters"
        tokens = [n for r in self.replies for n in (r.usage.input_tokens, r.usage.output_tokens)]
        return "tokens that cannot be" if any(n is not None and not 0 <= n <= 10**9 for n in tokens) else ""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The hostile server, in a process of its own."""
    port_file = tmp_path_factory.mktemp("hostile") / "port"
    command = [sys.executable, "-m", "servers.hostile_stub", "--port-file", str(port_file)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[1]) as process:
        while not port_file.exists():
            assert process.poll() is None
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port_file.read_text()}"
        process.kill()


async def _ask(model: Model, memory: Memory, outcome: Outcome, *, n_questions: int, timeout_s: float) -> None:
    limits = Limits(
        in_flight=AdaptiveLimit(N_QUESTIONS, clock=anyio.current_time),
        backoff=Backoff(rng=np.random.default_rng(0), first_s=0.05, most_s=0.4),
        budget=Budget(),
        attempts=2,
        patience_s=1.2,
        timeout_s=timeout_s,
    )
    events: list[Event] = []
    asker = Asker(model, memory=memory, limits=limits, on_event=events.append)
    left = iter(range(n_questions))

    async def work() -> None:
        for number in left:
            prompt = Prompt(parts=(TextPart(text=f"Question {number}?"),))
            try:
                asked = await asker.ask(Request(item_id="q", prompt=prompt, sampling=Sampling()))
            except (AccessError, ServerDownError) as error:
                outcome.errors.append(error)
                tasks.cancel_scope.cancel()
            except ModelError as error:
                outcome.errors.append(error)
            else:
                outcome.replies.append(asked.reply)

    async with anyio.create_task_group() as tasks:
        for _ in range(N_QUESTIONS):
            tasks.start_soon(work)


def _n(mode: Mode, n_questions: int) -> int:
    """More questions where it matters that connections are used again."""
    return 4 * n_questions if "second" in mode.name or "behind" in mode.name else n_questions


def _try_all(tried: list[tuple[str, Mode]], address: str, folder: Path, *, n_questions: int) -> list[str]:
    """What was not as expected, for each protocol and mode."""
    outcomes = {(dialect, mode.name): Outcome() for dialect, mode in tried}

    async def one(dialect: str, mode: Mode, memory: Memory, places: anyio.CapacityLimiter) -> None:
        spec = SPECS[dialect].format(address=f"{address}/{mode.name}") + "&max_answer_mb=2.2"
        async with places:
            model = create("model", spec)
            timeout_s = SILENT_TIMEOUT_S if "no reply within" in mode.expects else TIMEOUT_S
            outcome = outcomes[dialect, mode.name]
            await _ask(model, memory, outcome, n_questions=_n(mode, n_questions), timeout_s=timeout_s)
            await model.close()

    async def go() -> None:
        places = anyio.CapacityLimiter(16)
        with Memory(folder / "replies.sqlite") as memory:
            async with anyio.create_task_group() as tasks:
                for dialect, mode in tried:
                    tasks.start_soon(one, dialect, mode, memory, places)

    anyio.run(go)
    found = [
        (f"{d}: {mode.name}: ", outcomes[d, mode.name].misses(mode, n_questions=_n(mode, n_questions)))
        for d, mode in tried
    ]
    return [name + missed for name, missed in found if missed]


def _requests(address: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{address}/stats") as answer:
        counted: dict[str, int] = json.load(answer)
        return counted


def test_every_mode_ends_in_an_answer_or_one_clear_failure(
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    effort: Callable[[int, int], int],
    record_attack: Callable[[str, int, int], None],
) -> None:
    monkeypatch.setenv("HOSTILE_KEY", KEY)
    assert len(MODES) >= 80
    others = effort(0, 1)
    tried = [("chat", mode) for mode in MODES.values()]
    tried += [(d, mode) for d in SPECS if d != "chat" for mode in MODES.values() if mode.is_body and others]
    missed = _try_all(tried, address, tmp_path, n_questions=effort(N_QUESTIONS, 30))
    record_attack("hostile HTTP", len(tried), len(tried) - len(missed))
    assert not missed, "\n".join(missed)
    assert "canary" not in _requests(address)  # no redirect was followed


ENDLESS = {"gzip_bomb": (1, 150), "endless_body": (16, 700), "endless_chunks": (16, 700)}


# What a process is said to have used counts the process that started it, so that a small one starts it.
_MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000)
"""


def _memory_mb(address: str, name: str, folder: Path, *, n_questions: int) -> tuple[float, str]:
    """The most memory of a run against one mode, in MB, and what it said."""
    row = {"choices": ["x", "y"], "answer": "A"}
    rows = [row | {"item_id": f"q{i}", "question": f"{i}?"} for i in range(n_questions)]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    spec = f"openai:m?base_url={address}/{name}/v1"
    run = [sys.executable, "-m", "vidence", "run", "table", "--data", "questions.jsonl", "--model", spec]
    command = [*run, "--out", name, "--no-page", "--set", f"memory={name}.sqlite"]
    with (folder / "said").open("w") as said:
        measured = [sys.executable, "-c", _MEASURED, *command]
        told = subprocess.run(
            measured, cwd=folder, stderr=said, stdout=subprocess.PIPE, check=True, text=True
        )
    return float(told.stdout.splitlines()[-1]), (folder / "said").read_text()


@pytest.mark.skipif(not IS_LONG, reason="VIDENCE_ATTACK=long measures memory")
@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_of_any_size_takes_bounded_memory(
    address: str, tmp_path: Path, name: str, record_attack: Callable[[str, int, int], None]
) -> None:
    n_questions, most_mb = ENDLESS[name]
    memory_mb, said = _memory_mb(address, name, tmp_path, n_questions=n_questions)
    record_attack("memory of answers without end", 1, int(memory_mb <= most_mb))
    assert memory_mb <= most_mb
    assert f"{n_questions} question{'s' if n_questions > 1 else ''} failed" in said


PHRASES = [
    *(
        "answer is ",
        "Answer: ",
        "answer is A. ",
        "the answer is\n",
        "<answer>",
        "</answer>",
        "<answer>A</answer>",
    ),
    *(
        "A. ",
        "so ",
        "wait, A. ",
        "no, ",
        "option ",
        "(A) ",
        "A: 0.1, ",
        "question 1 ",
        "q1 answer",
        "not ",
        "if ",
    ),
    *(
        "it is ",
        "\\boxed{",
        "\\boxed{A}",
        "red ",
        "x",
        " ",
        "\n",
        "A\n",
        "<think>",
        "</think>",
        "<",
        "$",
        "*",
        "_",
    ),
    *(
        "\\text{",
        "I think it is ",
        "答案是",
        "1,",
        "-",
        "'",
        "ab.c ",
        "the the ",
        "{",
        '"answer": "A", ',
        "because ",
    ),
    *("ответ ", ",", ";", "?", "A or B ", "A?\n", "red, ", "It is red. ", "(", "[", ":", "p(A)=0.2 "),
]
ITEM = Item(item_id="q", question="Which colour?", choices=("red", "blue", "green"), answer="A")


@pytest.mark.parametrize(
    "name", ["robust", "perceptioncomp-api", "perceptioncomp-gemini", "herbench-official"]
)
def test_a_reply_that_repeats_itself_is_read_in_bounded_time(
    name: str, effort: Callable[[int, int], int], record_attack: Callable[[str, int, int], None]
) -> None:
    parser: Scorer = create("parser", name)
    n = effort(12_000, MOST_READ_CHARACTERS)
    slow = []
    for phrase in PHRASES:
        reply = Reply(text=(phrase * n)[:n])
        start_s = time.process_time()
        parser.read(ITEM, reply)
        if time.process_time() - start_s > (6.0 if IS_LONG else 1.0):
            slow.append(phrase)
    record_attack("replies that repeat themselves", len(PHRASES), len(PHRASES) - len(slow))
    assert not slow
