"""What was chosen is said as flags, and sizes as people say them."""

from vidence.ask.fetching.hub import HubFile
from vidence.cli.commands import get


def test_what_was_chosen_is_said_as_flags():
    assert (
        get._as_flags({"where": {"subject": "Fine Art"}, "limit": 3})
        == " --where 'subject=Fine Art' --limit 3"
    )


def test_every_file_moves_the_bar():
    sizes = (0, 999_999, 2_500_000)
    assert [get._megabytes(HubFile(path="a", n_bytes=n, git_sha1="")) for n in sizes] == [1, 1, 2]
