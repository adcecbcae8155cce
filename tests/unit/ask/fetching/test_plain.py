"""One file of the web, bounded, and written whole."""

import pytest

from vidence.ask.fetching.plain import github_base, read_web
from vidence.errors import DataError


def test_a_file_is_read_up_to_its_bound_or_a_way_out_is_said(hub) -> None:
    hub.raw["a/b.json"] = b"[1, 2]"
    assert read_web(f"{hub.url}/raw/a/b.json", most=6) == b"[1, 2]"
    with pytest.raises(DataError, match="has more than 0 MB"):
        read_web(f"{hub.url}/raw/a/b.json", most=5)
    hub.raw["a/b.json"] = b"[]"
    hub.faults["a/b.json"] = [503]
    for url in (f"{hub.url}/raw/a/b.json", f"{hub.url}/raw/none", "http://127.0.0.1:9/x", "nowhere"):
        with pytest.raises(DataError, match="with --questions FILE"):
            read_web(url)


def test_the_address_of_files_on_github_may_be_another() -> None:
    assert github_base({}) == "https://raw.githubusercontent.com"
    assert github_base({"VIDENCE_GITHUB_RAW": "http://127.0.0.1/raw/"}) == "http://127.0.0.1/raw"
