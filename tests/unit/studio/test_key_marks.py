"""Buttons say the keys that hold for whoever looks."""

import msgspec
import pytest

from vidence.studio.records.people import UserRow
from vidence.studio.rules.keys import Keys


@pytest.mark.parametrize(
    ("own", "said", "unsaid"),
    [
        (Keys(), ["One person <kbd>V</kbd>", "Join <kbd>+</kbd>", "Keys <kbd>?</kbd>"], []),
        (
            Keys(own={"right": "a", "join": "", "drop": "shift+d", "same": "<"}),
            ["One person <kbd>A</kbd>", "these frames <kbd>Shift</kbd> <kbd>D</kbd>", "<kbd>&lt;</kbd>"],
            ["<kbd>V</kbd></button>", "<kbd>+</kbd></button>"],
        ),
        (Keys(is_off=True), ["One person"], ["</kbd></button>", "</kbd></summary>"]),
    ],
)
def test_a_button_says_the_key_of_whoever_looks(boards, own, said, unsaid):
    boards.client.post("/keys", {"off": ""})
    UserRow.objects.update(settings={"keys": msgspec.to_builtins(own)})
    page = boards.page("tracks")
    assert [one for one in said if one not in page] == []
    assert [one for one in unsaid if one in page] == []
