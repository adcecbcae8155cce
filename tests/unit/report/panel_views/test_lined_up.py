"""Models lined up in settings: small values of a tag are left out, and said."""

from vidence.report.panel_views.lined_up import lined_up


def test_values_with_few_questions_are_left_out(cell, grid):
    tags = lambda i: {"task": "rare" if i < 3 else "order" if i % 2 else "count"}  # noqa: E731
    [one] = lined_up(grid(cell("a", tags=tags), cell("b", seed=1, tags=tags)), "task")
    assert list(one.settings) == ["count", "order"]
    assert one.models == ("a", "b")
    assert one.notes == ("Left out, with fewer than 5 questions: rare.",)
