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
