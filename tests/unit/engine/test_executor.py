"""Where work is done: here, or where an executor does it that is found by its name."""

from functools import partial

import anyio
import pytest

from vidence import catalog
from vidence.engine.environment import Environment
from vidence.engine.executor import LOCAL, LocalExecutor, Parallelism, executor_of
from vidence.errors import UsageError


def unheard(message):
    raise AssertionError(message)


def test_this_machine_does_work_in_its_processes_and_opens_models_itself():
    executor = executor_of(LOCAL)
    assert isinstance(executor, LocalExecutor)
    assert executor.opener(["vllm:weights"]) is None

    async def go():
        async with executor.processes(Parallelism(n_workers=3), on_trouble=unheard) as processes:
            return processes.n_places, await processes.run("a.mp4", partial(pow, 7, 2), deadline_s=60)

    assert anyio.run(go) == (3, 49)


@pytest.mark.parametrize("on", ["dask", "dask://head:1", "Local"])
def test_a_place_that_is_none_is_refused_with_those_that_there_are(on):
    with pytest.raises(UsageError, match=rf"--on '{on}' is unknown; expected local, ray"):
        executor_of(on)


def test_without_the_files_of_a_cluster_this_machine_is_the_place(monkeypatch, tmp_path):
    monkeypatch.setitem(catalog.FOLDERS, "executor", "vidence.engine.nowhere")
    catalog._files.cache_clear()
    try:
        with pytest.raises(UsageError, match=r"expected local \(no cluster is installed: engine/cluster\)"):
            Parallelism.of(Environment(cache_root=tmp_path, on="ray"))
        assert isinstance(executor_of(LOCAL), LocalExecutor)
    finally:
        catalog._files.cache_clear()


def test_work_is_done_as_an_environment_says(tmp_path):
    here = Environment(cache_root=tmp_path, n_workers=3, worker_max_bytes=10**9)
    made = Parallelism.of(here)
    assert (made.n_workers, made.most_bytes, made.on, made.most_each) == (3, 10**9, LOCAL, None)
    assert (made.is_away, made.has_others) == (False, True)
    alone = Parallelism.of(here, jobs=1)
    assert (alone.n_workers, alone.most_each, alone.has_others) == (1, 1, False)
    assert Parallelism(n_workers=2).has_others
    away = Parallelism(on="ray://head:10001")
    assert away.is_away
    assert away.has_others
