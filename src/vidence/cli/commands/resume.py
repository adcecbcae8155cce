"""Take a run up where it stopped; nothing is asked twice."""

from pathlib import Path

import click

from vidence.cli.asking import Ending, ending_options, go
from vidence.cli.plan_flags import patience_option
from vidence.console.options import PATH, trust_option
from vidence.engine.environment import environment
from vidence.engine.trust import taken_up

SECTION = "Ask"


@click.command()
@click.argument("folder", type=PATH)
@click.option("--max-cost", type=float, help="A new limit, in US dollars for this session.")
@click.option("--concurrency", type=int, help="Requests in flight at most.")
@patience_option()
@click.option("--name", help="What tables and figures call the run from now on.")
@trust_option
@ending_options
def resume(*, folder: Path, trust: bool, ending: Ending, **changes: object) -> int:
    """Take the run in FOLDER up where it stopped; failed questions are asked again."""
    import msgspec

    plan = taken_up(folder, environment=environment(), is_trusted=trust)
    plan = msgspec.structs.replace(plan, **{k: v for k, v in changes.items() if v is not None})
    return go(plan, folder, ending)
