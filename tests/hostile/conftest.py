"""What the hostile suite shares: how much is tried, and the table of what was tried and what held.

`make test` tries a little of everything; `make attack` tries all of it (``VIDENCE_ATTACK=long``), and writes
one line per area into the file that ``VIDENCE_ATTACK_TABLE`` names; `scripts/attack_table.py` makes the
page of the docs from it.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

IS_LONG = os.environ.get("VIDENCE_ATTACK") == "long"


@pytest.fixture(scope="session")
def effort() -> Callable[[int, int], int]:
    """Cases to try: ``effort(few, many)`` gives few in `make test` and many in `make attack`."""
    return lambda few, many: many if IS_LONG else few


@pytest.fixture(scope="session")
def record_attack() -> Callable[[str, int, int], None]:
    """Note an area's row, ``record_attack(area, n_tried, n_held)``, before the test asserts that all held."""

    def note(area: str, n_tried: int, n_held: int) -> None:
        named = os.environ.get("VIDENCE_ATTACK_TABLE")
        if named:
            with Path(named).open("a", encoding="utf-8") as table:
                table.write(json.dumps({"area": area, "tried": n_tried, "held": n_held}) + "\n")

    return note


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note that the suite came to its end: what was stopped, killed or chosen from is no whole run."""
    named = os.environ.get("VIDENCE_ATTACK_TABLE")
    is_stopped = bool(session.shouldstop or session.shouldfail) or exitstatus not in {0, 1}
    said = session.config.getoption
    chosen = said("keyword", "") or said("lf", False) or not _is_all(session)
    if named and IS_LONG and not is_stopped and not chosen:
        with Path(named).open("a", encoding="utf-8") as table:
            table.write(json.dumps({"whole": True}) + "\n")


def _is_all(session: pytest.Session) -> bool:
    """Whether the folder of this suite was asked for, and not some files or tests of it."""
    here = Path(__file__).parent
    return any(Path(one).resolve() in (here, *here.parents) for one in session.config.args)
