"""A release on the hub: the same bytes at the same places, one version never twice."""

from dataclasses import replace

import pytest
from huggingface_hub import constants

from servers.hub import TOKEN, Hub
from subjects.making import contents
from subjects.released import MATERIAL, half_hidden, released, rules_of
from vidence.errors import DataError, UsageError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.release.push import push
from vidence.make.release.sets import release_set

pytest.importorskip("pyarrow", reason="needs the extra 'parquet'")
REPO = "lab/table"


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with Hub() as running:
        yield running


def version(number, into):
    rules = rules_of("items", "huggingface", hidden=frozenset({"test"}))
    about = ReleaseRules(version=number, licence="CC-BY-4.0")
    return release_set(half_hidden(), replace(rules, about=about), MATERIAL, into=into)


def test_the_data_set_holds_the_release_its_card_and_its_version(hub, tmp_path):
    found = released(tmp_path)
    assert push(found, REPO, endpoint=hub.url) == f"{hub.url}/datasets/{REPO}"
    assert hub.private == {REPO}
    there = hub.sets[REPO]
    files = dict(there.files[there.names["1.0.0"]])
    assert there.names["1.0.0"] == there.names["main"]
    assert files.pop("eval.yaml") == (found.folder / "about" / "eval.yaml").read_bytes()
    card = files.pop("README.md").decode()
    assert 'path: "huggingface/data/validation-00000-of-00001.parquet"' in card
    del files[".gitattributes"]
    assert files == contents(found.folder)


def test_a_version_is_put_there_once_and_the_next_one_in_its_place(hub, tmp_path):
    push(version("1.0.0", tmp_path), REPO, endpoint=hub.url)
    first = dict(hub.sets[REPO].names)
    with pytest.raises(UsageError, match=r"lab/table has version 1\.0\.0 already"):
        push(version("1.0.0", tmp_path), REPO, endpoint=hub.url)
    hub.add(REPO, {**hub.sets[REPO].files[first["main"]], "old.jsonl": b"gone since"})
    push(version("1.1.0", tmp_path), REPO, endpoint=hub.url)
    now = hub.sets[REPO]
    assert now.names["1.0.0"] == first["1.0.0"]
    assert "old.jsonl" not in now.files[now.names["1.1.0"]]


def test_a_push_that_broke_off_goes_on(hub, tmp_path):
    found = released(tmp_path)
    hub.faults["tag"] = [403]
    with pytest.raises(DataError, match=r"the hub refused it as lab/table .*set HF_TOKEN"):
        push(found, REPO, endpoint=hub.url)
    push(found, REPO, endpoint=hub.url)
    assert "1.0.0" in hub.sets[REPO].names


def test_what_cannot_be_pushed(hub, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="the hub reads the format huggingface"):
        push(release_set(half_hidden(), rules_of("items"), MATERIAL, into=tmp_path), REPO, endpoint=hub.url)
    with pytest.raises(UsageError, match="expected OWNER/NAME"):
        push(version("1.0.0", tmp_path / "a"), "no name at all", endpoint=hub.url)
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(DataError, match="the hub refused it"):
        push(version("1.0.0", tmp_path / "b"), REPO, endpoint=hub.url)
