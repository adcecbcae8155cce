"""Lists of trials: what filters keep, in which order, and that the address holds all of it."""

import re
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import wait
from contextlib import closing
from html import unescape
from pathlib import Path

import msgspec
import pytest

from subjects.viewed import OTHERS, PWN, TRIALS, state, write_run
from vidence.records import Failed
from vidence.studio.bridge.places import place_id

TESTS = Path(__file__).parents[3]


@pytest.fixture
def two(look, tmp_path):
    """A browser, and the addresses of two runs."""
    first, second = write_run(tmp_path / "runs" / "a"), write_run(tmp_path / "runs" / "b", trials=OTHERS)
    return look(tmp_path / "runs"), place_id(first), place_id(second)


def listed(client, query):
    """The questions of a list, in their order."""
    answer = client.get(f"/items?{query}")
    assert answer.status_code == 200, answer.content
    found = re.findall(r"""<a href="/item\?[^"]+"><bdi>(.*?)</bdi>""", answer.content.decode())
    return [unescape(one)[:5] for one in found]


def test_filters_keep_what_they_say_and_pages_and_runs_that_are_not_there(two, monkeypatch):
    for query, expected in [
        ("", ["q1", "q2", "q/3?&", "q4<sc"]),
        ("fate=wrong", ["q2"]),
        ("fate=wrong&fate=unreadable", ["q2", "q4<sc"]),
        ("tag=task%3Dorder", ["q1", "q2"]),
        ("tag=task%3Dorder&fate=right", ["q1"]),
        ("tag=mark%3Dx", []),
        ("tag=task%3DORDER", []),
        ("cut=1", ["q2"]),
        ("judges=1", ["q/3?&"]),
        ("words=OF+Q2", ["q2"]),
        ("words=100%25", []),
        ("words=window.pwned", ["q4<sc"]),
        ("words=i+cannot+say", []),
        ("sort=-tokens", ["q/3?&", "q1", "q2", "q4<sc"]),
        ("sort=latency", ["q4<sc", "q2", "q1", "q/3?&"]),
        ("sort=margin", ["q1", "q2", "q/3?&", "q4<sc"]),
        ("fate=nonsense&sort=nonsense&page=nonsense", ["q1", "q2", "q/3?&", "q4<sc"]),
        ("page=99", ["q1", "q2", "q/3?&", "q4<sc"]),
    ]:
        client, first, _ = two
        assert listed(client, f"run={first}&{query}") == expected
    for query, expected in [
        ("flip=any", ["q1", "q2"]),
        ("flip=lost", ["q1"]),
        ("flip=won", ["q2"]),
        ("words=i+cannot+say", ["q4<sc"]),
    ]:
        client, first, second = two
        assert listed(client, f"run={first}&run={second}&{query}") == expected
    for query in ["", "run=", "run=0000000000000000", "run=../..", "run=a&run=b&run=c&run=d"]:
        client, *_ = two
        assert client.get(f"/items?{query}").status_code == 404
    from vidence.studio.viewer import items

    monkeypatch.setattr(items, "PAGE", 2)
    client, first, _ = two
    assert listed(client, f"run={first}&page=99") == ["q/3?&", "q4<sc"]
    page = client.get(f"/items?run={first}&page=99").content.decode()
    assert "3 to 4 of 4, page 2 of 2" in page
    assert (
        re.findall(r'rel="(\w+)" href="([^"]+)"', page.partition('<nav class="pages"')[2])
        == [("prev", f"?run={first}&amp;page=1")] * 2
    )


def test_readers_that_disagree_can_be_asked_for(look, tmp_path):
    from subjects.viewed import ITEMS, trial

    said = trial(ITEMS[0], None, text="This cannot be told from what is shown.")
    run = write_run(tmp_path / "a", trials=[said, *TRIALS[1:3]])
    client = look(run)
    while "not all are compared yet" in client.get(f"/items?run={place_id(run)}").content.decode():
        pass
    assert listed(client, f"run={place_id(run)}&readers=1") == ["q1"]
    shown = client.get("/item", {"run": place_id(run), "item": "q1"}).content.decode()
    assert "Parsers disagree" in shown
    agreed = client.get("/item", {"run": place_id(run), "item": "q2"}).content.decode()
    assert "All parsers agree" in agreed


@pytest.fixture
def held(look, monkeypatch):
    """Give a viewer that does not wait, and what lets its index go on after two rows."""
    from vidence.studio.bridge import indexing
    from vidence.studio.viewer import desk as desk_module

    goes_on, after = threading.Event(), indexing.Reader.after

    def hold(self, seq, n):
        assert not seq or goes_on.wait(timeout=60)
        return after(self, seq, n)

    monkeypatch.setattr(indexing, "BATCH", 2)
    monkeypatch.setattr(indexing.Reader, "after", hold)

    def opened(path):
        client = look(path)
        monkeypatch.setattr(desk_module, "WAIT_S", 0.0)
        desk_module.desk.cache_clear()
        return client

    yield opened, goes_on
    goes_on.set()
    wait(desk_module.desk().indexer._asked.values(), timeout=60)


def test_pages_tell_how_much_is_read_until_all_trials_are(held, tmp_path):
    from vidence.engine.store import RunStore

    opened, goes_on = held
    run, other = write_run(tmp_path / "a"), write_run(tmp_path / "b", trials=OTHERS)
    client, query, address = (
        opened(tmp_path),
        f"run={place_id(run)}",
        f"/items?run={place_id(run)}&fate=wrong",
    )

    def page(path):
        answer = client.get(path)
        assert answer.status_code == 200
        return answer.content.decode()

    while '2 of 4 stored rows are read <progress value="2" max="4">' not in page(address):
        pass
    text = page(address)
    assert f'hx-get="{address.replace("&", "&amp;")}" hx-trigger="load delay:1s"' in text
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in text
    assert 'class="filters"' not in text
    assert listed(client, query) == []
    assert "2 of 4 stored rows are read" in page(f"/run/{place_id(run)}")
    text = page(f"/compare?{query}&run={place_id(other)}")
    assert re.findall(r"(\d of \d) stored rows are read", text) == ["2 of 4", "0 of 4"]
    assert re.findall(r"(\d of \d) stored rows read", page("/runs")) == ["2 of 4", "0 of 4"]
    assert 'hx-get="/runs/lines"' in page("/runs")
    with RunStore(run, is_writer=True):  # a run that goes on is listed as far as it is read
        assert listed(client, query) == ["q1", "q2"]
        assert "More trials are being read" in page(f"/items?{query}")
    goes_on.set()
    while "stored rows are read" in page(address):
        pass
    assert listed(client, query) == ["q1", "q2", "q/3?&", "q4<sc"]
    assert "refresh" not in page(address)
    while "stored rows read" in page("/runs"):
        pass


def test_rows_that_come_in_are_there_the_next_time_and_the_last_of_a_question_counts(look, tmp_path):
    from subjects.viewed import ITEMS, trial
    from vidence.engine.store import RunStore

    run = write_run(tmp_path / "a", trials=TRIALS[:2])
    client, query = look(run), f"run={place_id(run)}"
    assert listed(client, query) == ["q1", "q2"]
    with RunStore(run, is_writer=True) as store:
        store.add(trial(ITEMS[1], "A"))
        store.add(TRIALS[2])
    assert listed(client, query) == ["q1", "q2", "q/3?&"]
    assert listed(client, f"{query}&fate=wrong") == []


KILLED = """
import os, signal, sys
from pathlib import Path
from subjects.viewed import TRIALS
from vidence.engine.store import RunStore
store = RunStore(Path(sys.argv[1]), is_writer=True)
for one in TRIALS[:2]:
    store.add(one)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise here")
def test_a_run_whose_writer_was_killed_goes_on_and_nothing_is_there_twice(look, tmp_path):
    from vidence.engine.store import RunStore

    run = write_run(tmp_path / "a", trials=())
    client, query = look(run), f"run={place_id(run)}"
    assert listed(client, query) == []
    done = subprocess.run([sys.executable, "-c", KILLED, run], cwd=TESTS, check=False)
    assert done.returncode == -signal.SIGKILL
    before = state(run)
    assert listed(client, query) == ["q1", "q2"]
    after = state(run)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} <= {"run.sqlite-shm"}  # locks of readers
    with RunStore(run, is_writer=True) as store:
        for one in TRIALS[1:]:  # the second one once more: nobody knew that it was kept
            store.add(one)
        assert listed(client, query) == ["q1", "q2", "q/3?&", "q4<sc"]
    assert listed(client, query) == ["q1", "q2", "q/3?&", "q4<sc"]


def test_a_damaged_row_is_named_and_another_run_at_the_path_is_read_anew(look, tmp_path):
    run = write_run(tmp_path / "a")
    with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
        db.execute("UPDATE trials SET json = '{\"score\": \"<b>none</b>\"}' WHERE item_id = 'q2'")
    client, query = look(run), f"run={place_id(run)}"
    assert listed(client, query) == ["q1", "q2", "q/3?&", "q4<sc"]
    assert listed(client, f"{query}&fate=damaged") == ["q2"]
    text = client.get(f"/items?{query}").content.decode()
    assert "the row is damaged" in text
    assert "the row is damaged" in client.get(f"/item?{query}&item=q2").content.decode()
    import shutil

    assert len(listed(client, query)) == 4
    shutil.rmtree(run)
    write_run(run, trials=TRIALS[:1], facts={"started_at": "2026-11-22T08:00:00+00:00"})
    assert listed(client, query) == ["q1"]


def test_nothing_is_written_beside_the_runs_and_texts_are_shown_as_they_are(two, tmp_path):
    client, first, second = two
    faulty = msgspec.structs.replace(
        TRIALS[0],
        reply=None,
        score=msgspec.structs.replace(
            TRIALS[0].score, outcome=Failed(stage="model", error=PWN, message=f'Traceback: File "{PWN}"')
        ),
    )
    plan = {"name": PWN[:60], "model": f"scripted:{PWN}", "selector": PWN}
    third = place_id(write_run(tmp_path / "runs" / "c", trials=[faulty], plan=plan))
    before = state(tmp_path / "runs")
    pages = [
        f"/run/{third}",
        f"/items?run={third}",
        f"/item?run={third}&item=q1",
        f"/compare?run={first}&run={third}",
        "/runs",
        "/runs/lines",
        f"/run/{first}",
        f"/run/{first}/report",
        f"/compare?run={first}&run={second}",
        f"/items?run={first}&run={second}",
        *(f"/item?run={first}&run={second}&item=" + one for one in ("q1", "q2", "q%2F3%3F%26")),
    ]
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        assert PWN not in answer.content.decode(), page
        assert "<script>window" not in answer.content.decode(), page
    fault = client.get("/item", {"run": third, "item": "q1"}).content.decode()
    assert "Traceback: File &#34;&lt;script&gt;window.pwned=1" in fault
    assert "scripted:&lt;script&gt;" in client.get(f"/run/{third}").content.decode()
    hostile = client.get("/item", {"run": first, "item": f"q4{PWN}"}).content.decode()
    assert "It is &lt;script&gt;window.pwned=1" in hostile
    assert "{{7*7}}{% debug %}" in hostile
    assert state(tmp_path / "runs") == before


def test_labels_of_errors_are_a_filter_and_stand_beside_the_reply(look, tmp_path):
    from subjects.labelled import write_packet

    run = write_run(tmp_path / "runs" / "a")
    said = [("a", "q2", "ann <b>", "person", "misread"), ("a", "q1", "model:x", "model", "guessed")]
    packet = write_packet(tmp_path / "packet", runs={"a": run}, labels=said)
    client, query = look(run, packet), f"run={place_id(run)}"
    assert "misread, by people (1)" in client.get(f"/items?{query}").content.decode()
    assert listed(client, f"{query}&label=person:misread") == ["q2"]
    assert listed(client, f"{query}&label=model:guessed") == ["q1"]
    assert listed(client, f"{query}&label=person:guessed") == []
    shown = client.get(f"/item?{query}&item=q2").content.decode()
    assert "by <bdi>ann &lt;b&gt;</bdi> (person)" in shown
    assert "<q>Answer</q>" in shown
