"""Which executor a name stands for, and that the one of this machine keeps what its session makes."""

from contextlib import nullcontext

import anyio
import pytest

from vidence.engine.environment import environment
from vidence.engine.executors.executor import Duty, LocalExecutor, executor_of
from vidence.engine.views import DecodeCount
from vidence.errors import UsageError


@pytest.mark.parametrize("on", ["", "dask", "ray:10001", "https://ray"])
def test_an_unknown_place_is_refused(on):
    with pytest.raises(UsageError, match=r"is no place to work; expected local, ray .* or ray://HOST:10001"):
        executor_of(on)


def test_the_place_is_what_is_said_else_the_variable_else_here(monkeypatch):
    monkeypatch.delenv("VIDENCE_ON", raising=False)
    assert environment().on == "local"
    monkeypatch.setenv("VIDENCE_ON", "ray://head:10001")
    assert (environment().on, environment(on="local").on) == ("ray://head:10001", "local")


def test_here_the_session_works_and_every_result_is_kept():
    class Session:
        async def work(self, todo, ask, *, n_consumers, count):
            assert (n_consumers, count) == (3, DecodeCount())
            for one in todo:
                await ask(one)

    async def task(session, subject):
        return 2 * subject

    kept = []
    duty = Duty(
        todo=[1, 2],
        task=task,
        keep=kept.append,
        together=nullcontext,
        n_consumers=3,
        most_each=None,
        count=DecodeCount(),
    )
    anyio.run(LocalExecutor().work, Session(), duty)
    assert kept == [2, 4]
