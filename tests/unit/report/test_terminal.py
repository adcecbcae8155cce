import io
import re

from rich.cells import cell_len
from rich.console import Console

from vidence.records import Answered, FrameRef, Prompt, Selection, TextPart, Unreadable, VideoPart
from vidence.report.tables import all_tables, asked
from vidence.report.terminal import draw_head, draw_tables
from vidence.tables.terminal import Sheet


def drawn(run, tables, width=80, most_lines=None):
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=False, color_system=None)
    sheet = Sheet(console, most_lines=most_lines)
    draw_head(run, tables, sheet)
    draw_tables(tables, sheet)
    sheet.end("--all prints it.")
    return out.getvalue()


def test_the_terminal_says_score_interval_counts_and_parsers(runs, rng):
    run = runs.load()
    text = drawn(run, all_tables(run, rng=rng), width=100)
    flat = " ".join(text.split())
    assert "Accuracy 33.3 % (95 % interval 6.0 to 79.6, clustered by video; 6 questions on 3 videos)." in flat
    assert (
        "Caution: only 3 videos, so a single one can shift the score far; the interval is wide for that "
        "reason. "
        "Without looking: chance 24.2 %, always A 50.0 %, longest 0.0 %." in flat
    )
    assert "1 unreadable, 1 refused, 1 failed: these count as wrong; without them 66.7 %." in flat
    assert "Waiting for a judge, and in no mean: 1 more question." in flat
    assert "1 unreadable: no letter 1 refused: policy 1 failed: MediaError (media); for example: v3" in flat
    assert "accuracy, % 25.0 1.9 to 84.9 50.0" in flat
    assert "few: fewer than 10 videos or sources, so a single one can shift the score far." in flat


def test_only_the_most_frequent_reasons_are_printed(runs, rng):
    items = [runs.question(f"i{n}", "v", "A") for n in range(9)]
    trials = [runs.marked(item, Unreadable(reason=f"way {n // 2}")) for n, item in enumerate(items)]
    run = runs.load(items=items, trials=trials)
    text = drawn(run, all_tables(run, rng=rng))
    assert "2 unreadable: way 0\n2 unreadable: way 1\nand 3 more reasons for unreadable\n" in text


def test_it_fits_80_columns_whatever_the_names(runs, rng):
    long = "a tag value with many many words in it that goes on and on and on " * 3
    items = [
        runs.question(f"i{n}", f"v{n}", "A", tags={"task": f"{long}{n}", "令": "漢字" * 40 + str(n)})
        for n in range(4)
    ]
    trials = [runs.marked(item, Answered(answer="A")) for item in items]
    run = runs.load(items=items, trials=trials)
    text = drawn(run, all_tables(run, rng=rng))
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    assert "100.0" in text


def test_terminal_commands_and_markup_in_the_data_are_written_out(runs, rng):
    item = runs.question("x", "v", "A", tags={"task": "[bold]\x1b[2Jgone[/bold]"})
    other = runs.question("y", "w", "A", tags={"task": "plain"})
    trials = [runs.marked(i, Answered(answer="A")) for i in (item, other)]
    run = runs.load(items=[item, other], trials=trials, model="replay:\x1b]0;title\x07")
    text = drawn(run, all_tables(run, rng=rng), width=120)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]␛[2Jgone[/bold]" in text


def test_it_says_what_was_shown_and_not_what_was_allowed(runs):
    item = runs.question("x", "v", "A")

    def words(name, **fields):
        return asked(
            runs.load(name, items=[item], trials=[runs.marked(item, Answered(answer="A"), **fields)])
        )

    one = Selection(
        selector="central", version=1, frames=(FrameRef(frame_index=3, time_s=0.1),), n_candidates=9
    )
    video = Prompt(parts=(VideoPart(path="v.mp4", digest="0" * 64), TextPart(text="Q")), choices=())
    assert ", midpoints, up to 4 frames, " in words("a", **runs.shown())
    assert ", midpoints, 1 frame, " in words("b", selection=one)
    assert ", videos sent whole, " in words("c", prompt=video)
    assert ", no frames shown, " in words("d")


def test_what_has_no_room_is_named_and_a_table_is_cut_before_it_is_left_out(runs, rng):
    items = [runs.question(f"i{n}", f"v{n}", "A", tags={"task": f"t{n:02}"}) for n in range(30)]
    run = runs.load(items=items, trials=[runs.marked(item, Answered(answer="A")) for item in items])
    tables = all_tables(run, rng=rng)
    text = drawn(run, tables, most_lines=24)
    assert len(text.splitlines()) <= 24
    assert "t03" in text
    assert "t29" not in text
    assert re.search(r"and \d+ more rows\n", text)
    assert "Not printed: the rest of 1 table, Score, Outcomes" in " ".join(text.split())
    whole = drawn(run, tables)
    assert "t29" in whole
    assert "Not printed" not in whole
    assert whole.count("Letters\n") == 1
