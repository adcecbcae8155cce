"""A server that is away is sat out; a question that it can never answer is not taken for that."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import anyio
import numpy as np
import pytest

from servers import virtual_time
from vidence.contracts import Request
from vidence.engine.engine import Asker
from vidence.engine.events import Away, Back, Event
from vidence.engine.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.engine.memory import Memory
from vidence.errors import AccessError, ModelError, RejectedRequestError, ServerDownError, TransientModelError
from vidence.records import Prompt, Reply, Sampling, TextPart, Usage

ERRORS = {
    "refused": lambda: TransientModelError("refused", is_unreachable=True),
    "500": lambda: TransientModelError("500", is_server_error=True),
    "503": lambda: TransientModelError("503", is_server_error=True, is_overload=True),
    "429": lambda: TransientModelError("429", is_overload=True),
}


class Server:
    """Answers after `delay_s`, but for what `broken` says of a question and the time."""

    identity = "server:1"
    looks = True
    by_item = False
    max_in_flight = None

    def __init__(self, broken: Callable[[str, float], Exception | None], *, delay_s: float = 0.5) -> None:
        self.broken = broken
        self.delay_s = delay_s
        self.sent: list[tuple[float, str]] = []

    async def reply(self, request: Request) -> Reply:
        words = request.prompt.text
        self.sent.append((anyio.current_time(), words))
        error = self.broken(words, anyio.current_time())
        if error is not None:
            raise error
        await anyio.sleep(self.delay_s)
        return Reply(text="A", usage=Usage(input_tokens=10, output_tokens=1))

    async def close(self) -> None:
        return


class Run:
    """Questions put to a server in virtual time, several at once."""

    def __init__(self, folder: Path, server: Server, *, at_once: int, patience_s: float = 600.0) -> None:
        self.server = server
        self.events: list[Event] = []
        self.failed: dict[str, ModelError] = {}
        self.answered: list[str] = []
        self.ended_s = 0.0
        self._folder = folder
        self._at_once = at_once
        self._patience_s = patience_s

    async def _go(self, questions: list[str]) -> None:
        with Memory(self._folder / "replies.sqlite") as memory:
            limits = Limits(
                in_flight=AdaptiveLimit(self._at_once, clock=anyio.current_time),
                backoff=Backoff(rng=np.random.default_rng(0)),
                budget=Budget(),
                attempts=6,
                timeout_s=100.0,
                patience_s=self._patience_s,
            )
            asker = Asker(self.server, memory=memory, limits=limits, on_event=self.events.append)
            left = iter(questions)

            async def work() -> None:
                for words in left:
                    prompt = Prompt(parts=(TextPart(text=words),))
                    try:
                        await asker.ask(Request(item_id="q", prompt=prompt, sampling=Sampling()))
                    except (TransientModelError, RejectedRequestError) as error:
                        self.failed[words] = error
                    else:
                        self.answered.append(words)

            try:
                async with anyio.create_task_group() as tasks:
                    for _ in range(self._at_once):
                        tasks.start_soon(work)
            except ExceptionGroup as group:
                raise group.exceptions[0] from group
            finally:
                self.ended_s = anyio.current_time()

    def ask(self, n: int, *, more: tuple[str, ...] = ()) -> "Run":
        questions = [str(number) for number in range(n)]
        virtual_time.run(lambda: self._go([*questions[: n // 2], *more, *questions[n // 2 :]]))
        return self


@pytest.mark.parametrize("name", sorted(ERRORS))
@pytest.mark.parametrize("at_once", [1, 16])
def test_an_outage_of_five_minutes_loses_no_question(tmp_path, name, at_once):
    server = Server(lambda words, now_s: ERRORS[name]() if 2 < now_s < 300 else None)
    run = Run(tmp_path, server, at_once=at_once).ask(100)
    assert (len(run.answered), run.failed) == (100, {})
    assert run.ended_s < 300 + 31 + 100 * 0.5
    in_vain = [sent_s for sent_s, _ in server.sent if 2 < sent_s < 300]
    if name not in {"429", "503"}:  # these halve what is sent at once, and are waited for in any case
        assert len(in_vain) <= 6 * at_once + 20  # its tries, then one at a time
        late = [sent_s for sent_s in in_vain if sent_s > 40]
        assert all(b - a > 5 for a, b in pairwise(late))
        [back] = [event for event in run.events if isinstance(event, Back)]
        assert 290 < back.after_s < 330


def test_patience_that_is_spent_ends_the_run(tmp_path):
    server = Server(lambda words, now_s: ERRORS["refused"]() if now_s > 2 else None)
    run = Run(tmp_path, server, at_once=4, patience_s=90.0)
    with pytest.raises(ServerDownError, match=r"the server stopped answering, for 9\d s .* refused"):
        run.ask(100)
    assert run.failed == {}
    assert 90 < run.ended_s < 96
    away = [event for event in run.events if isinstance(event, Away)]
    assert away[0].has_answered
    assert all(0 < a.left_s - b.left_s <= 1.01 for a, b in pairwise(away))  # every second
    assert away[-1].left_s <= 1


def test_a_server_that_was_never_there_is_said_to_be_so_at_once(tmp_path):
    run = Run(tmp_path, Server(lambda words, now_s: ERRORS["refused"]()), at_once=4)
    with pytest.raises(ServerDownError, match="no request has succeeded"):
        run.ask(20)
    first = next(event for event in run.events if isinstance(event, Away))
    assert not first.has_answered
    assert first.left_s > 600 - 31
    assert 600 <= run.ended_s < 605


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_without_patience_questions_fail_after_their_tries(tmp_path, name):
    run = Run(tmp_path, Server(lambda words, now_s: ERRORS[name]()), at_once=1, patience_s=0.0).ask(3)
    assert set(run.failed) == {"0", "1", "2"}
    assert len(run.server.sent) == 3 * 6
    with pytest.raises(ServerDownError, match="5 questions in a row got no answer"):
        Run(tmp_path, Server(lambda words, now_s: ERRORS[name]()), at_once=1, patience_s=0.0).ask(30)


@pytest.mark.parametrize("at_once", [1, 2, 16])
@pytest.mark.parametrize("name", sorted(ERRORS))
def test_a_question_that_breaks_the_server_fails_alone(tmp_path, name, at_once):
    server = Server(lambda words, now_s: ERRORS[name]() if words.startswith("bad") else None)
    run = Run(tmp_path, server, at_once=at_once).ask(40, more=("bad", "bad too"))
    assert set(run.failed) == {"bad", "bad too"}
    assert len(run.answered) == 40
    assert run.ended_s < (1500 if name in {"429", "503"} else 90)  # an overload is waited for, as a quota is
    assert sum(words.startswith("bad") for _, words in server.sent) < 150


def test_an_outage_while_a_question_breaks_the_server(tmp_path):
    def broken(words: str, now_s: float) -> Exception | None:
        return ERRORS["500"]() if words == "bad" or 5 < now_s < 200 else None

    run = Run(tmp_path, Server(broken), at_once=4).ask(60, more=("bad",))
    assert set(run.failed) == {"bad"}
    assert len(run.answered) == 60


def test_an_error_that_waiting_cannot_mend_is_not_waited_for(tmp_path):
    def broken(words: str, now_s: float) -> Exception | None:
        return None if now_s < 2 else ERRORS["refused"]() if now_s < 60 else AccessError("401")

    run = Run(tmp_path, Server(broken), at_once=4)
    with pytest.raises(AccessError):
        run.ask(100)
    assert run.ended_s < 95


def test_a_request_that_is_rejected_shows_that_the_server_is_back(tmp_path):
    def broken(words: str, now_s: float) -> Exception | None:
        if 2 < now_s < 100:
            return ERRORS["refused"]()
        return RejectedRequestError("no") if now_s < 110 and now_s > 2 else None

    run = Run(tmp_path, Server(broken), at_once=1).ask(30)
    assert run.failed
    assert all(isinstance(error, RejectedRequestError) for error in run.failed.values())
    assert len(run.answered) + len(run.failed) == 30
