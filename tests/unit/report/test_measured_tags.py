"""The tags of trials by who marked them."""

from vidence.records import Answered
from vidence.report.measured_tags import as_measured

TAGS = {"set": "single", "task": "3afc", "target": "label", "cell": "single/3afc/label"}


def run_of(runs, name="a", **plan):
    item = runs.question("walk/label", "v1", "A", tags=TAGS)
    return runs.load(name, items=[item], trials=[runs.marked(item, Answered(answer="A"))], **plan)


def test_a_log_that_is_marked_is_a_description(runs):
    run = as_measured(run_of(runs, benchmark="actpld", parser="description-match"))
    assert run.rows[0].item.tags == TAGS | {"task": "description", "cell": "single/description/label"}


def test_letters_and_other_benchmarks_stay_what_they_are(runs):
    letters = run_of(runs, benchmark="actpld", parser="robust")
    assert as_measured(letters).rows[0] is letters.rows[0]
    other = run_of(runs, "b", benchmark="mmvu", parser="description-match")
    assert as_measured(other) is other
    gone = run_of(runs, "c", benchmark="not-installed-here")
    assert as_measured(gone) is gone
