"""The memory of a team in Postgres keeps the laws of the one in a file."""

import subprocess
import sys
from datetime import UTC, datetime
from itertools import count

import anyio
import pytest

from servers import postgres
from vidence.engine import evaluate
from vidence.engine.environment import environment
from vidence.engine.store import Memory
from vidence.engine.team_memory import TeamMemory
from vidence.errors import StoreError, UsageError
from vidence.records import Reply, Usage

KEY, OTHER = b"k" * 32, b"o" * 32
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def server():
    if reason := postgres.why_not():
        pytest.skip(reason)
    with postgres.postgres() as running:
        yield running


_NUMBERS = count()


@pytest.fixture
def address(server):
    return server.database(f"memory{next(_NUMBERS)}")


@pytest.fixture(params=["file", "team"])
def opened(request, tmp_path):
    """Opens one memory, as often as it is called: a file, or a database."""
    if request.param == "file":
        return lambda: Memory(tmp_path / "replies.sqlite")
    address = request.getfixturevalue("address")
    return lambda: TeamMemory(address)


def test_a_reply_is_there_for_all_and_the_first_one_stays(opened):
    with opened() as one, opened() as two:
        assert one.get(KEY) is None
        reply = Reply(text="A", usage=Usage(input_tokens=3, output_tokens=1))
        one.put(KEY, reply)
        two.put(KEY, Reply(text="B"))
        assert one.get(KEY) == two.get(KEY) == reply
        assert anyio.run(lambda: two.find(KEY, claims=True)) == reply
    with opened() as again:
        assert again.get(KEY) == reply


def test_one_of_two_has_the_lease_until_the_reply_is_there(opened):
    with opened() as one, opened() as two:
        assert one.claim(KEY)
        assert not one.claim(KEY)  # a second worker of the same driver
        assert not two.claim(KEY)
        assert two.claim(OTHER)
        two.release(OTHER)
        two.release(OTHER)
        assert one.claim(OTHER)
        one.put(KEY, Reply(text="A"))
        assert not two.claim(KEY)
        assert not one.claim(KEY)


def test_what_is_not_ours_is_not_let_go_of(opened):
    with opened() as one, opened() as two:
        assert one.claim(KEY)
        two.release(KEY)
        two.put(OTHER, Reply(text="A"))
        assert not two.claim(KEY)


def test_leases_end_with_their_memory(opened):
    with opened() as one:
        one.claim(KEY)
    with opened() as two:
        assert two.claim(KEY)


def test_what_is_kept_together_is_there_afterwards(opened):
    with opened() as one, one.together():
        assert one.claim(KEY)
        one.put(KEY, Reply(text="A"))
        one.claim(OTHER)
    with opened() as two:
        assert two.get(KEY) == Reply(text="A")


def test_the_leases_of_a_process_that_is_killed_end_by_themselves(address):
    script = (
        "import os, sys; from vidence.engine.team_memory import TeamMemory\n"
        "memory = TeamMemory(sys.argv[1], lease_s=0.5); assert memory.claim(b'k' * 32)\n"
        "import time; time.sleep(1.0); print('held', flush=True); os._exit(9)"
    )
    with TeamMemory(address, lease_s=0.5) as memory:
        with subprocess.Popen([sys.executable, "-c", script, address], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"held\n"  # for longer than a lease lasts
            assert not memory.claim(KEY)

        async def until_it_is_ours():
            with anyio.fail_after(20):
                while not memory.claim(KEY):
                    await anyio.sleep(0.05)

        anyio.run(until_it_is_ours)


def test_a_database_that_is_away_says_what_to_look_at(tmp_path):
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match=r"the reply memory of the team .* can be reached") as caught:
        TeamMemory("postgresql://somebody:secret-word@127.0.0.1:1/nothing")
    assert "secret-word" not in str(caught.value)


def test_another_format_is_refused(address):
    import psycopg

    TeamMemory(address).close()
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("UPDATE vidence_meta SET value = 'vidence-memory/9'")
    with pytest.raises(StoreError, match="has format 'vidence-memory/9'"):
        TeamMemory(address)


def test_without_its_driver_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"needs its driver, which is not installed: .*install"):
        TeamMemory("postgresql://host/db")


def test_the_variable_names_the_database_and_a_plan_still_its_file(monkeypatch, tmp_path):
    monkeypatch.setenv("VIDENCE_MEMORY", "postgresql://host/replies")
    here = environment(tmp_path)
    assert here.replies() == "postgresql://host/replies"
    assert here.replies(str(tmp_path / "own.sqlite")) == tmp_path / "own.sqlite"
    monkeypatch.setenv("VIDENCE_MEMORY", "mysql://user:secret-word@host/replies")
    with pytest.raises(UsageError, match="VIDENCE_MEMORY is no address of a database") as caught:
        environment(tmp_path)
    assert "secret-word" not in str(caught.value)


def test_a_second_run_of_the_team_asks_nothing(address, bench, fake_model, monkeypatch):
    from vidence.engine import engine as engine_module
    from vidence.engine.prepare import make_plan

    bench.write(12)
    asked = []
    for out in ("one", "two"):
        model = fake_model()
        monkeypatch.setattr(engine_module, "create", lambda kind, spec, model=model: model)
        plan = make_plan("table", data=bench.folder / "questions.jsonl", model="scripted:A", overrides={})
        monkeypatch.setenv("VIDENCE_MEMORY", address)

        async def go(out=out, plan=plan):
            here = environment(bench.folder / "cache")
            return await evaluate.run(
                plan, bench.folder / out, environment=here, now=NOW, on_event=lambda event: None
            )

        asked.append((anyio.run(go).n_remembered, len(model.asked)))
    assert asked == [(0, 12), (12, 0)]
    assert not (bench.folder / "cache" / "replies.sqlite").exists()
