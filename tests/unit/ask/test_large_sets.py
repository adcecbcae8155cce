import gc
import tracemalloc
from pathlib import Path

import pytest

from vidence.ask.files import LineFile, read, streamed
from vidence.ask.large_sets import LazySelection, Numbered, Stored, kept_where
from vidence.errors import DataError
from vidence.records import Item


def item(i: int) -> Item:
    return Item(
        item_id=f"q{i}", question="Which?" * (i % 5), choices=("x", "y"), answer="A", tags={"n": str(i)}
    )


def stored(n: int) -> Stored[Item]:
    found = Stored(Item)
    for i in range(n):
        found.append(item(i))
    return found


@pytest.mark.parametrize("n", [0, 1, 256, 257, 20_000])  # the last one does not fit in memory
def test_what_was_stored_is_read_again_in_any_order(n: int) -> None:
    found = stored(n)
    assert len(found) == n
    assert list(found) == [item(i) for i in range(n)]
    assert found == tuple(item(i) for i in range(n))
    if n > 1:
        assert found[-1] == item(n - 1)
        assert found[7] == item(7)
        found.append(item(n))
        assert found[n] == item(n)
        assert found[3] == item(3)
    with pytest.raises(IndexError):
        found[n + 1]


def test_values_can_be_taken_and_added_while_all_are_read() -> None:
    found = stored(300)
    seen: list[Item] = []
    for one in found:
        assert found[len(seen) // 2] == item(len(seen) // 2)
        if len(seen) < 300:
            found.append(item(300 + len(seen)))
        seen.append(one)
    assert seen == [item(i) for i in range(600)]


def test_a_part_is_read_where_the_whole_is() -> None:
    found = stored(20)
    assert found[2:20:3] == [item(i) for i in range(2, 20, 3)]
    assert found[2:20:3][1:3] == [item(5), item(8)]
    assert LazySelection(found, [4, 1])[1] == item(1)
    assert kept_where(found, lambda one: int(one.tags["n"]) % 2 == 1)[2:] == [
        item(i) for i in range(5, 20, 2)
    ]
    assert found != [item(0)]
    assert found[:1] == found[0:1]
    assert found != "q"


def test_questions_on_the_disk_take_little_memory() -> None:
    Stored(Item).append(item(0))
    tracemalloc.start()
    try:
        found = stored(50_000)
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 16 * len(found) + 2**20


def test_no_room_for_the_questions_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = stored(1)

    def full(written: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(found._file, "write", full)
    with pytest.raises(DataError, match=r"cannot be kept in .*No space left on device.*TMPDIR"):
        found.append(item(1))


class Odd(str):
    """Texts of which many have the same hash."""

    def __hash__(self) -> int:
        return len(self) % 3


@pytest.mark.parametrize(("kind", "n"), [(str, 5000), (Odd, 200)])
def test_keys_are_numbered_as_they_come_also_where_hashes_are_equal(kind: type[str], n: int) -> None:
    numbered, known = Numbered(), list[str]()
    expected: dict[str, int] = {}
    for key in (kind(f"k{i % (n // 2)}" * (1 + i % 4)) for i in range(n)):
        number = numbered.number(key, lambda earlier, key=key: known[earlier] == key)  # type: ignore[misc]
        assert number == expected.setdefault(str(key), len(expected))
        if number == len(known):
            known.append(key)
    assert len(numbered) == len(expected) == len(known)


def test_lines_are_read_in_blocks_as_in_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vidence.ask import files

    path = tmp_path / "q.jsonl"
    for content in (b'{"a": 1}\n\n{"b": 2}\r\n{"c": 3}', b'\xef\xbb\xbf{"a": 1}\r{"b": 2}\n', b'{"long": 1}'):
        path.write_bytes(content)
        whole = read(path)
        for size in (1, 2, 5, 100):
            monkeypatch.setattr(files, "_BLOCK_BYTES", size)
            found = LineFile(path)
            assert list(found.lines()) == list(files.lines(whole))
            assert found.content_hash == whole.content_hash


@pytest.mark.parametrize("content", [b" \n", b'[{"a": 1}]', b"\xff\xfe{\0", b"\x1f\x8b{"])
def test_a_file_that_is_no_lines_of_objects_is_not_streamed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "q.jsonl").write_bytes(content)
    assert streamed(tmp_path / "q.jsonl") is None
