"""Ask video models questions, explain their scores, make new questions.

The public verbs, for use from Python; the command line does the same and more. Importing this
package imports nothing else of it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vidence.report.results import Run

__version__ = "0.1.0"
__all__ = ["__version__", "evaluate"]


def evaluate(
    benchmark: str,
    *,
    data: Path | str,
    model: str,
    out: Path | str,
    cache: Path | str,
    wishes: Mapping[str, object] | None = None,
) -> "Run":
    """Put a benchmark to a model and return the run; also inside a notebook.

    The same call again goes on with the same run: nothing is asked twice.

    Args:
        benchmark: a name from ``vidence list benchmarks``.
        data: the file or folder of questions.
        model: a model spec, for example ``openai:gpt-4.1``.
        out: the run folder.
        cache: the folder for decoded frames and remembered replies.
        wishes: what the benchmark's own protocol does not decide, by the names of the plan's fields,
            for example ``{"n_frames": 32, "style": "cot", "limit": 20}``.

    Raises:
        VidenceError: the run cannot go on; what was answered is kept.
    """
    from datetime import UTC, datetime
    from functools import partial

    from anyio.from_thread import start_blocking_portal

    from vidence.engine.engine import Environment
    from vidence.engine.evaluate import run
    from vidence.engine.prepare import make_plan
    from vidence.report.results import load_run

    plan = make_plan(benchmark, data=Path(data), model=model, wishes=wishes or {})

    place = Environment(cache_root=Path(cache))
    go = partial(run, plan, Path(out), environment=place, now=datetime.now(tz=UTC), on_event=_ignore)
    with start_blocking_portal() as portal:  # a thread of its own: a notebook has a loop already
        portal.call(go)
    return load_run(Path(out))


def _ignore(event: object) -> None:
    """Nobody watches."""
