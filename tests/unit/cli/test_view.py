"""``vidence view`` refuses what it cannot show before anything is served."""

import pytest

from vidence.cli.view import view
from vidence.errors import UsageError


def test_a_path_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="there is nothing at"):
        view.main([str(tmp_path / "absent")], standalone_mode=False)


def test_without_runs_and_without_a_path_it_says_what_to_give(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="give the path of a run"):
        view.main([], standalone_mode=False)


def test_a_list_without_an_export_is_refused(tmp_path):
    with pytest.raises(UsageError, match="give --export DIR as well"):
        view.main([str(tmp_path), "--list", "fate=wrong"], standalone_mode=False)
