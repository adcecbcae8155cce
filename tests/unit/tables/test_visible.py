import pytest

from vidence.tables.visible import visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain\ttext\nwith lines", "plain\ttext\nwith lines"),
        ("a\r\nb", "a\nb"),
        ("\x00\x1b[31m\x7f", "␀␛[31m␡"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("abc\u202edcb\u2066", "abc⟨U+202E⟩dcb⟨U+2066⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("سلام 漢字 🎥", "سلام 漢字 🎥"),
    ],
)
def test_hidden_characters_are_written_out(text, seen):
    assert visible(text) == seen
