"""Taxonomies: ours, a user's, and what is wrong with some."""

import pytest

from vidence.ask.benchmarks.humanpcr import DIMENSIONS
from vidence.errors import UsageError
from vidence.make.writing.taxonomy import OURS, TaxonomyTask, load_taxonomy

OWN = """
[[levels]]
name = "low"
[[levels.dimensions]]
name = "Place"
[[levels.dimensions.tasks]]
name = "left"
aspect = "who is further left"
"""


def test_ours_has_the_dimensions_and_counts_of_the_benchmark(tmp_path):
    read = load_taxonomy(OURS, tmp_path)
    found = {level.name: {one.name: one.n_tasks for one in level.dimensions} for level in read.levels}
    assert found == {name: dict(dims) for name, dims in DIMENSIONS.items() if dims}
    more = read.with_tasks({"held": ("Contact", TaxonomyTask(name="held"))})
    assert (more.homes["held"].level, more.homes["held"].dimension) == ("perception", "Contact")
    assert more.words().startswith("tasks by level: perception 1, comprehension 0; not as declared: ")
    with pytest.raises(UsageError, match="expected one of Spatiality"):
        read.with_tasks({"held": ("Hands", TaxonomyTask(name="held"))})


def test_a_file_replaces_it(tmp_path):
    (tmp_path / "own.toml").write_text(OWN)
    read = load_taxonomy("own.toml", tmp_path)
    assert read.homes["left"].task.aspect == "who is further left"
    assert read.words() == "tasks by level: low 1"


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ('[[levels.dimensions]]\nname = "Time"\n', "'Time' has no task"),
        ('[[levels.dimensions]]\nname = "Place"\nn_tasks = 1\n', "two dimensions are called 'Place'"),
        ('[[levels.dimensions.tasks]]\nname = "left"\n', "two tasks are called 'left'"),
        ('[[levels]]\nname = "low"\ndimensions = []\n', "two levels are called 'low'"),
        ('[[levels.dimensions.tasks]]\nname = "up"\ncolour = 1\n', "colour"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, more, match):
    (tmp_path / "own.toml").write_text(OWN + more)
    with pytest.raises(UsageError, match=match):
        load_taxonomy("own.toml", tmp_path)


def test_an_unknown_name_is_refused(tmp_path):
    with pytest.raises(UsageError, match="expected 'humanpcr' or a file"):
        load_taxonomy("mine", tmp_path)
