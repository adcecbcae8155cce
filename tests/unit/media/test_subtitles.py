"""Subtitles in the formats of the releases."""

import pytest

from vidence.errors import MediaError
from vidence.media.subtitles import Line, read_subtitles, shown_lines

SRT = """\ufeff1\r
00:00:01,000 --> 00:00:03,500\r
<font color="white" size=".72c">First the</font>\r
<i>milk</i>.\r
\r
2
01:00:00,000 --> 01:00:02,000
{\\an8}An hour later.
"""
VTT = """WEBVTT

NOTE made

cue-1
00:01.000 --> 00:03.500 align:start
First the milk.

3600.000 is no time
01:00:00.000 --> 01:00:02.000
An hour later.
"""
FIRST, LATER = (1.0, 3.5, "First the milk."), (3600.0, 3602.0, "An hour later.")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.srt", SRT, [FIRST, LATER]),
        ("a.vtt", VTT, [FIRST, LATER]),
        ("a.json", '[{"start":"01:00:00.0","end":"01:00:02","line":"An hour later."},'
                   '{"start":"00:00:01","end":"00:00:03.5","line":" First the  milk."}]', [FIRST, LATER]),
        ("a.json", '[{"timestamp":[1,3.5],"text":"First the milk."},{"timestamp":[9,null],"text":"Then."}]',
         [FIRST, (9.0, 10.0, "Then.")]),
        ("a.jsonl", '{"text":"First","start_time":1,"end_time":2}\n\n'
                    '{"text":"then","start_time":2,"end_time":3}\n',
         [(1.0, 2.0, "First"), (2.0, 3.0, "then")]),
        ("a.srt", "", []),
    ],
)  # fmt: skip
def test_lines_have_their_times_and_no_marks(name, text, expected, tmp_path):
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert [(one.start_s, one.end_s, one.text) for one in read_subtitles(path)] == expected


def test_a_cut_medium_begins_in_the_middle(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"timestamp":[1,3],"text":"before"},{"timestamp":[59,62],"text":"on the cut"}]')
    (line,) = read_subtitles(path, from_s=60.0)
    assert (line.start_s, line.end_s, line.text) == (-1.0, 2.0, "on the cut")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b"[1, 2]"),
        ("a.json", b'[{"start":"soon","end":"later","line":"x"}]'),
        ("a.json", b'{"a"'),
        ("a.srt", b"\xff\xfe"),
        ("a.jsonl", b'[' * 5000),
    ],
)  # fmt: skip
def test_what_is_no_subtitles_says_which_file(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MediaError, match=rf"the subtitles .*{name} cannot be read"):
        read_subtitles(path)


def test_lines_at_the_times_of_frames_are_shown_once():
    lines = [
        Line(start_s=0, end_s=2, text="a"),
        Line(start_s=2, end_s=2.2, text="b"),
        Line(start_s=4, end_s=6, text="c"),
        Line(start_s=6, end_s=8, text="c"),
        Line(start_s=20, end_s=30, text="d"),
    ]
    assert [line.text for line in shown_lines(lines, [1.0, 2.5, 5.0, 7.0])] == ["a", "b", "c"]
    assert shown_lines(lines, []) == []
