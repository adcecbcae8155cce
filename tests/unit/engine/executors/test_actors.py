"""What workers say first, and what actors are called; how they begin and end is tested with their work."""

import pytest

from vidence.engine.executors import actors
from vidence.errors import UsageError


def test_another_version_is_refused_with_both():
    ours = actors.Hello(vidence="1.2", git_revision="abc")
    actors.check_same_version(ours, ours, machine="here")
    actors.check_same_version(actors.Hello(vidence="1.2", git_revision=""), ours, machine="here")
    for theirs in (
        actors.Hello(vidence="1.1", git_revision="abc"),
        actors.Hello(vidence="1.2", git_revision="abd+"),
    ):
        with pytest.raises(UsageError, match=r"node-7 has vidence 1\.[12] \(ab.*begins with 1.2 \(abc\)"):
            actors.check_same_version(theirs, ours, machine="node-7")


def test_an_actor_that_begins_again_has_another_name():
    place = ("f" * 56, 0)
    first, again = (actors.actor_name("node-7", place, n_begun=n) for n in (0, 1))
    assert first != again
    assert first.startswith("vidence node-7 ")
    assert actors.actor_name("node-7", ("f" * 56, 1), n_begun=0) != first
