"""Resume an interrupted run; stored replies are reused."""

from pathlib import Path
from typing import Annotated

import msgspec

from vidence.cli.asking import Ending, go
from vidence.console.flags import TRUST, argument, command
from vidence.engine.environment import environment
from vidence.engine.plan import PlanOverrides, plan_part
from vidence.engine.trust import taken_up
from vidence.records import Record

SECTION = "Start here"
ORDER = 5


class Resume(Record):
    """The run to resume, and changed settings."""

    folder: Annotated[Path, argument()]
    overrides: Annotated[PlanOverrides, plan_part(only=("max_cost", "concurrency", "patience_s", "name"))]
    trust: Annotated[bool, TRUST] = False
    ending: Ending


@command()
def resume(given: Resume) -> int:
    """Resume the run in FOLDER; failed questions are asked again."""
    plan = taken_up(given.folder, environment=environment(), is_trusted=given.trust)
    return go(msgspec.structs.replace(plan, **given.overrides), given.folder, given.ending)
