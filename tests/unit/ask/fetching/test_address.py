"""Addresses, and the folders of the hub's cache."""

import pytest

from vidence.ask.fetching.address import HubAddress, data_place, fetched, is_address, pinned
from vidence.errors import DataError, UsageError

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "datasets--yale-nlp--MMVU"
    (folder / "snapshots" / COMMIT / "data").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(COMMIT)
    return tmp_path


@pytest.mark.parametrize(
    "text", ["hf:yale-nlp/MMVU@main", f"hf:a.b/C_d@{COMMIT}", "hf:a/b@v1.0/data/tasks", "hf:a/b@x/one two"]
)
def test_an_address_is_written_as_it_was_read(text) -> None:
    assert is_address(text)
    assert str(HubAddress.parse(text)) == text


def test_without_a_revision_it_is_that_of_main_and_other_paths_are_as_they_are(tmp_path) -> None:
    assert str(HubAddress.parse("hf:yale-nlp/MMVU")) == "hf:yale-nlp/MMVU@main"
    assert not is_address("hf/yale-nlp")
    assert data_place(str(tmp_path / "datasets--x"), tmp_path) == tmp_path / "datasets--x"
    assert data_place("questions.jsonl", tmp_path).name == "questions.jsonl"


@pytest.mark.parametrize(
    "text",
    ["hf:", "hf:MMVU", "hf://yale-nlp/MMVU", "hf:a/b@", "hf:a/b/c", "hf:a/b@main/../x", "hf:../b@main"],
)
def test_what_is_no_address_is_refused(text) -> None:
    with pytest.raises(UsageError, match="expected hf:OWNER/NAME@REVISION"):
        HubAddress.parse(text)


def test_a_branch_is_pinned_to_the_commit_that_was_fetched(cache) -> None:
    address = HubAddress.parse("hf:yale-nlp/MMVU@main/data")
    assert str(pinned(address, cache)) == f"hf:yale-nlp/MMVU@{COMMIT}/data"
    assert pinned(address, cache).is_pinned
    assert fetched(address, cache) == cache / "datasets--yale-nlp--MMVU" / "snapshots" / COMMIT / "data"


@pytest.mark.parametrize("text", ["hf:yale-nlp/MMVU@v2", f"hf:yale-nlp/MMVU@{COMMIT[::-1]}", "hf:a/b"])
def test_what_was_not_fetched_is_named_with_the_command(cache, text) -> None:
    with pytest.raises(DataError, match="fetch it with: vidence get 'hf:"):
        data_place(text, cache)


def test_a_cache_folder_stands_for_its_main_revision(cache) -> None:
    folder = cache / "datasets--yale-nlp--MMVU"
    (folder / "snapshots" / "other").mkdir()
    assert data_place(str(folder), cache) == folder / "snapshots" / COMMIT
    (folder / "refs" / "main").unlink()
    with pytest.raises(DataError, match=f"revisions: {COMMIT}, other; name one"):
        data_place(str(folder), cache)
    (folder / "snapshots" / "other").rmdir()
    assert data_place(str(folder), cache) == folder / "snapshots" / COMMIT
