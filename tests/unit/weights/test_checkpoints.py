"""Where weights lie."""

import logging
from pathlib import Path

import httpx2
import pytest

from vidence.errors import AccessError, UsageError
from vidence.weights import checkpoints
from vidence.weights.checkpoints import fetch_config, folder_of, library


def test_a_folder_is_found_and_what_is_none_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_of(str(tmp_path / "weights")) == folder_of("~/weights") == tmp_path / "weights"
    assert folder_of(str(tmp_path / "file")) is None
    assert folder_of("owner/name") is None
    with pytest.raises(UsageError, match=r"cannot look for the weights .*: File name too long"):
        folder_of("x" * 300)


def test_the_hub_is_asked_without_a_line_for_each_try(monkeypatch, caplog):
    library = logging.getLogger("huggingface_hub")
    library.addHandler(caplog.handler)
    tries: list[str] = []

    def away(name: str, *_: object, **__: object) -> str:
        tries.append(name)
        logging.getLogger("huggingface_hub.utils._http").warning("Retrying in 1s [Retry 1/5].")
        raise OSError("cannot find the files; check the connection.")

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", away)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", away)
    before = library.level
    with pytest.raises(AccessError, match=r"check the connection\. Check the name"):
        fetch_config("owner/name", revision="", local_only="", example="o/n")
    library.removeHandler(caplog.handler)
    assert tries[1:] == ["owner/name"]
    assert caplog.text == ""
    assert library.level == before


def test_a_hub_that_cannot_be_reached_is_tried_once(monkeypatch):
    def refuse(url: str, *, timeout: float) -> None:
        raise httpx2.ConnectError("refused")

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", refuse)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_, **__: pytest.fail("asked with retries"))
    with pytest.raises(AccessError, match=r"owner/name is no folder, and the hub cannot be reached"):
        fetch_config("owner/name", revision="", local_only="", example="o/n")


def test_large_files_enter_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "WHOLE_BYTES", 1 << 20)
    monkeypatch.setattr(checkpoints, "HEAD_BYTES", 1 << 10)
    (tmp_path / "config.json").write_text("{}")
    seen: set[str] = set()
    content = bytearray(20 << 20)
    for at in (None, 5, 1 << 20, len(content) - 1):
        if at is not None:
            content[at : at + (1 << 16)] = b"x" * len(content[at : at + (1 << 16)])
        (tmp_path / "large.safetensors").write_bytes(content)
        seen.add(checkpoints.digest_of_model(tmp_path))
    (tmp_path / "large.safetensors").write_bytes(content + b"more")
    assert len(seen | {checkpoints.digest_of_model(tmp_path)}) == 5


def test_a_library_that_is_absent_names_the_extra_that_brings_it():
    assert library("json.decoder", owner="x", extra="build").JSONDecoder
    with pytest.raises(UsageError, match=r"tracking: needs absent_library; run: .*install"):
        library("absent_library.part", owner="tracking", extra="build")
