"""Where weights lie."""

from pathlib import Path

import pytest

from vidence.ask.checkpoints import folder_of
from vidence.errors import UsageError


def test_a_folder_is_found_and_what_is_none_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_of(str(tmp_path / "weights")) == folder_of("~/weights") == tmp_path / "weights"
    assert folder_of(str(tmp_path / "file")) is None
    assert folder_of("owner/name") is None


def test_a_name_that_no_file_can_have_is_a_clear_error() -> None:
    with pytest.raises(UsageError, match="cannot be looked for: File name too long"):
        folder_of("x" * 300)
