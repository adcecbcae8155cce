"""Cache folder, its size, and the number of cores."""

import os
import platform
from pathlib import Path

import platformdirs
import pytest

from vidence.engine.environment import (
    CACHE_SIZE_VARIABLE,
    CACHE_VARIABLE,
    WORKER_SIZE_VARIABLE,
    cache_root,
    environment,
    machine,
)
from vidence.errors import UsageError


def test_the_cache_is_where_the_user_says_or_where_caches_are(monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert cache_root() == environment().cache_root == tmp_path
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert cache_root() == Path(platformdirs.user_cache_dir("vidence"))


@pytest.mark.parametrize(("text", "n_bytes"), [(None, 20 * 2**30), ("0.5", 2**29), ("0", 0)])
def test_the_size_of_the_cache_is_in_gigabytes(monkeypatch, text, n_bytes):
    monkeypatch.delenv(CACHE_SIZE_VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(CACHE_SIZE_VARIABLE, text)
    assert environment().cache_max_bytes == n_bytes


@pytest.mark.parametrize("text", ["20 GB", "", "nan", "inf", "-1", "1e300"])
def test_a_size_that_is_no_number_is_refused(monkeypatch, text):
    monkeypatch.setenv(CACHE_SIZE_VARIABLE, text)
    with pytest.raises(UsageError, match=rf"VIDENCE_CACHE_GB is '{text}'; expected 0 to"):
        environment()


def test_the_memory_of_a_worker_is_in_gigabytes_and_enough_to_begin(monkeypatch):
    monkeypatch.delenv(WORKER_SIZE_VARIABLE, raising=False)
    assert environment().worker_max_bytes == 4 * 2**30
    monkeypatch.setenv(WORKER_SIZE_VARIABLE, "0.5")
    assert environment().worker_max_bytes == 2**29
    for text in ("0.4", "0", "nan"):
        monkeypatch.setenv(WORKER_SIZE_VARIABLE, text)
        with pytest.raises(UsageError, match=rf"VIDENCE_WORKER_GB is '{text}'; expected 0\.5 to"):
            environment()


def test_there_is_a_worker_for_each_core_that_may_be_used(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert environment().n_workers == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert environment().n_workers == 1


def test_a_machine_is_named_with_its_container_where_that_is_known(monkeypatch):
    assert machine().startswith(platform.node())

    def unknown(path):
        raise OSError

    monkeypatch.setattr(os, "readlink", unknown)
    assert machine() == platform.node()
