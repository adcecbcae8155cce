"""What the trials of a run measured, where replies were marked as something else than their questions say."""

from dataclasses import replace

import msgspec

from vidence.catalog import create, names
from vidence.contracts import TagsAsRead
from vidence.report.results import Row, Run


def as_measured(run: Run) -> Run:
    """The run with the tags of its questions as the benchmark has them for whoever marked the replies.

    ActPLD's `thought-log` marks the description in the reply to a question with choices: such a trial is one
    of the task ``description``, and no choice. A benchmark that says nothing of it is left as it is.
    """
    if run.plan.benchmark not in names("benchmark"):
        return run
    benchmark = create("benchmark", run.plan.benchmark)
    if not isinstance(benchmark, TagsAsRead):
        return run
    return replace(run, rows=tuple(_measured(row, benchmark, parser=run.parser) for row in run.rows))


def _measured(row: Row, benchmark: TagsAsRead, *, parser: str) -> Row:
    tags = dict(benchmark.tags_as_read(row.item, parser=parser))
    if tags == row.item.tags:
        return row
    return replace(row, item=msgspec.structs.replace(row.item, tags=tags))
