"""What `make audit` makes of what pip-audit says, and of a machine where nothing can be asked."""

import json
import sys

import pytest

SOUND = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "status", "said"),
    [
        ([SOUND], 0, "1 packages looked up\nno known vulnerability"),
        ([SOUND, BAD], 1, "2 packages looked up\nb 2: PYSEC-1, mended in 3"),
        ([SOUND, UNKNOWN], 0, "1 packages looked up, not known there: c\nno known vulnerability"),
        ([UNKNOWN], 0, "skipped: the database that answers knows none of the 1 packages"),
    ],
)
def test_nothing_is_called_sound_that_was_not_looked_up(script, packages, status, said) -> None:
    assert script("vulnerabilities").verdict(json.dumps({"dependencies": packages})) == (status, said)


def test_where_it_cannot_be_installed_the_reason_is_said(script, capsys) -> None:
    failing = [sys.executable, "-c", "import sys; sys.exit('no network')"]
    assert script("vulnerabilities").main(failing) == 0
    assert capsys.readouterr().out == "audit: skipped: pip-audit cannot be installed (no network)\n"
