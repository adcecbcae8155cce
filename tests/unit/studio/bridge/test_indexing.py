"""The index follows the runs: only rows that came in are read."""

import threading
from concurrent.futures import wait

import pytest

from servers.studio import studio
from subjects.viewed import TRIALS, write_run
from vidence.studio.bridge.places import find_places


@pytest.fixture
def index(tmp_path):
    """The tables; threads write them, so that no transaction is held around the test."""
    with studio("view", tmp_path / "data"):  # the tables of the database
        pass
    from vidence.studio.records import index as made

    made.make_tables()
    yield made
    for table in made.TABLES.values():
        table.objects.all().delete()


@pytest.fixture
def freshen():
    """Bring a run up to date."""
    from vidence.studio.bridge.indexing import Indexer

    indexer = Indexer(wait_s=20)
    return lambda run: indexer.freshen(find_places([run]))


def test_a_row_that_was_read_is_not_read_again_before_another_edition(index, freshen, tmp_path, monkeypatch):
    from vidence.engine.store import RunStore
    from vidence.studio.bridge.runs import Reader

    run = write_run(tmp_path / "a", trials=TRIALS[:2])
    freshen(run)
    assert index.IndexTrialRow.objects.count() == 2
    with RunStore(run, is_writer=True) as store:
        store.add(TRIALS[2])
    asked = []
    after = Reader.after
    monkeypatch.setattr(Reader, "after", lambda self, seq, n: asked.append(seq) or after(self, seq, n))
    freshen(run)
    assert asked == [2, 3]
    assert index.IndexTrialRow.objects.count() == 3
    freshen(run)
    assert asked == [2, 3]
    index.IndexRunRow.objects.update(edition=0)
    index.make_tables()
    assert not index.IndexRunRow.objects.exists()


def test_a_page_waits_once_for_rows_and_a_late_fault_reaches_the_next(index, tmp_path, monkeypatch):
    from vidence.studio.bridge import indexing

    goes_on, waits = threading.Event(), []

    def fail(self, seq, n):
        assert goes_on.wait(timeout=60)
        raise ZeroDivisionError

    def waited(asked, timeout):
        waits.append(len(asked))
        return wait(asked, timeout)

    monkeypatch.setattr(indexing.Reader, "after", fail)
    monkeypatch.setattr(indexing, "wait", waited)
    places = find_places([write_run(tmp_path / "a")])
    indexer = indexing.Indexer(wait_s=0.0)
    indexer.freshen(places)
    indexer.freshen(places)
    assert waits == [1, 0]
    goes_on.set()
    wait(indexer._asked.values(), timeout=60)
    with pytest.raises(ZeroDivisionError):
        indexer.freshen(places)
    wait(indexer._asked.values(), timeout=60)


def test_several_viewers_of_one_cache_folder_read_a_run_together(index, tmp_path, monkeypatch):
    import msgspec

    from subjects.viewed import ITEMS, trial
    from vidence.studio.bridge import indexing

    monkeypatch.setattr(indexing, "BATCH", 20)
    items = [msgspec.structs.replace(ITEMS[i % 4], item_id=f"i{i:03d}") for i in range(300)]
    run = write_run(tmp_path / "a", items=items, trials=[trial(item, "A") for item in items])
    places = find_places([run])
    together = threading.Barrier(3)
    key, reader = indexing.content_key, indexing.Reader

    def meet(found):
        if threading.current_thread().name == "viewer-index":
            together.wait(timeout=60)
        return found

    monkeypatch.setattr(indexing, "content_key", lambda folder: meet(key(folder)))
    monkeypatch.setattr(indexing, "Reader", lambda folder: meet(reader(folder)))
    viewers = [indexing.Indexer(wait_s=0.0) for _ in range(3)]  # each with threads of its own, as processes
    for viewer in viewers:
        viewer.freshen(places)
    for viewer in viewers:
        wait(viewer._asked.values(), timeout=60)
        assert [done.exception() for done in viewer._asked.values()] == [None]
    assert index.IndexTrialRow.objects.count() == 300
    assert index.IndexTagRow.objects.count() == 4
    assert index.IndexRunRow.objects.get().last_seq == 300
