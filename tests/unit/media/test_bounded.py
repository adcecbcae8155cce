"""A link to a device that never ends, in a folder of others, is refused and fills no memory."""

import os
from pathlib import Path

import pytest

from vidence.ask.files import read_json
from vidence.ask.prompting.templates import own_files
from vidence.engine.config_file import read_config
from vidence.engine.plan import Plan, read_plan_file
from vidence.errors import VidenceError
from vidence.explain.errors.taxonomies import load_taxonomy
from vidence.media import bounded

READERS = {
    "a.toml": read_plan_file,
    "b.toml": lambda path: read_config(path, Plan),
    "d.toml": lambda path: load_taxonomy(str(path)),
    "e.json": lambda path: read_json(path, dict, advice="copy it again"),
    "f.txt": lambda path: own_files(path.parent, {"f": {}}),
}


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no /dev/zero")
@pytest.mark.parametrize("name", READERS)
def test_a_link_to_a_device_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setattr(bounded, "MOST_BYTES", 1 << 20)
    path = tmp_path / name
    path.symlink_to("/dev/zero")
    with pytest.raises(VidenceError, match=r"holds more than 1 MB"):
        READERS[name](path)


def test_a_file_at_the_bound_is_read_with_the_ends_of_lines_of_texts(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(bounded, "MOST_BYTES", 6)
    (tmp_path / "a").write_bytes(b"a\r\nb\r\n")
    assert bounded.read_bounded(tmp_path / "a") == b"a\r\nb\r\n"
    assert bounded.text_bounded(tmp_path / "a") == "a\nb\n"
