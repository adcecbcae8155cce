"""Drawing: who is drawn, in which order, and what labellers do not see."""

from collections import Counter

import msgspec
import pytest

from subjects.planted_errors import item
from vidence.errors import DataError, UsageError
from vidence.explain.errors.packet import (
    KEY_FILE,
    PACKET_FILE,
    Candidate,
    Draw,
    draw_questions,
    read_packet,
    rows_as_jsonl,
)

ODD = {"knowledge": 0.5}


def replies(standings):
    names = {"+": "right", "-": "wrong", "?": "none"}
    return {f"q{i:04}": Candidate(item=item(i), standing=names[sign]) for i, sign in enumerate(standings)}


def test_the_same_questions_are_drawn_for_every_run():
    runs = {"a": replies("+-+-?+-+--"), "b": replies("--++--++?+")}
    drawn = draw_questions(runs, Draw(taxonomy="mmvu", rule="same", n=5, seed=0))
    assert drawn["a"] == drawn["b"]
    assert len(drawn["a"]) == 5
    assert not {"q0004", "q0008"} & set(drawn["a"])
    other = draw_questions(runs, Draw(taxonomy="mmvu", rule="same", n=5, seed=1))
    assert set(other["a"]) != set(drawn["a"])
    more = draw_questions(runs, Draw(taxonomy="mmvu", rule="same", n=6, seed=0))
    assert more["a"][:5] == drawn["a"]


def test_wrong_replies_are_drawn_of_each_run():
    runs = {"a": replies("+-+-?+-+--"), "b": replies("--++--++?+")}
    drawn = draw_questions(runs, Draw(taxonomy="mmvu", rule="wrong", n=4, seed=0))
    assert all(runs[run][i].standing == "wrong" for run, ids in drawn.items() for i in ids)
    assert [len(ids) for ids in drawn.values()] == [4, 4]


@pytest.mark.parametrize(
    ("rule", "n", "says"),
    [
        ("same", 9, "8 questions have a marked reply in every run, 9 are to be drawn; draw 8 at most"),
        ("wrong", 5, "b has 4 wrong replies, 5 are to be drawn of each run; draw 4 at most"),
        ("wrong", 0, "0 replies to draw; expected one or more"),
    ],
)
def test_too_few_to_draw_from_is_refused(rule, n, says):
    runs = {"a": replies("+-+-?+-+--"), "b": replies("--++--++?+")}
    with pytest.raises(UsageError) as refused:
        draw_questions(runs, Draw(taxonomy="mmvu", rule=rule, n=n, seed=0))
    assert says in str(refused.value)


def test_a_packet_hides_the_runs(plant):
    planted = plant({"alpha-run": ODD, "beta-run": ODD})
    packet = planted.packet
    wrong = [one for one in packet.key.drawn if one.is_wrong]
    assert len(packet.rows) == len(wrong)
    assert b"-run" not in rows_as_jsonl(packet.rows)
    reply_of = packet.key.reply_of()
    runs = [reply_of[row.row].run for row in packet.rows]
    first = Counter(runs[: len(runs) // 2])
    assert min(first.values()) > 0.35 * len(runs) / 2
    assert all(row.row.isalpha() for row in packet.rows)


def test_right_replies_have_no_row(plant):
    packet = plant({"a": ODD}).packet
    assert all(bool(one.row) == one.is_wrong for one in packet.key.drawn)
    with pytest.raises(UsageError, match="none of the drawn replies is wrong"):
        plant({"a": {"knowledge": 0.0}})
    packet = plant({"a": ODD}, n=20, question="\u2460 A man waves. \u2461 He of \u2460 sits. Where?").packet
    assert packet.rows[0].conditions == ("\u2460 A man waves.", "\u2461 He of \u2460 sits. Where?")
    assert {one.n_conditions for one in packet.key.drawn} == {2}


def test_a_packet_is_read_as_it_was_written(plant, tmp_path):
    packet = plant({"a": ODD}, n=20).packet
    with pytest.raises(DataError, match=r"holds no drawn replies: it has no key\.json"):
        read_packet(tmp_path)
    (tmp_path / KEY_FILE).write_bytes(rows_as_jsonl([packet.key]))
    (tmp_path / PACKET_FILE).write_bytes(rows_as_jsonl(packet.rows))
    assert read_packet(tmp_path) == packet
    for name in ("../secret.jpg", "/etc/passwd", "frames/../../0.jpg", "frames/a.png"):
        odd = (msgspec.structs.replace(packet.rows[0], picture=name), *packet.rows[1:])
        (tmp_path / PACKET_FILE).write_bytes(rows_as_jsonl(odd))
        with pytest.raises(DataError, match="is no picture in"):
            read_packet(tmp_path)
    (tmp_path / PACKET_FILE).write_bytes(rows_as_jsonl(packet.rows[1:]))
    with pytest.raises(DataError, match="does not have the rows of"):
        read_packet(tmp_path)
    (tmp_path / PACKET_FILE).write_bytes(msgspec.json.encode({"colour": "red"}))
    with pytest.raises(DataError, match="line 1: "):
        read_packet(tmp_path)
