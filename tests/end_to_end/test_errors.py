"""``vidence replies errors`` on planted truth: draw, label, report, and what each refuses."""

import json
import re

import pytest

from servers.openai_stub import OpenAIStub
from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.world import render
from vidence.explain.errors.labels import Label
from vidence.explain.errors.packet import KEY_FILE, Key, read_packet
from vidence.report.error_kinds import write_labels

SPEC = WorldSpec(n_videos=2, n_variable=0, min_s=24, max_s=24, sizes=((320, 180),), rates=(10,))
# A reader of codes that sees all cards it is shown, and one that keeps two of them in mind.
RUNS = {"misses": ("phantom:fuser", "midpoints"), "forgets": ("phantom:forgetful?memory=2", "evidence")}
PLANTED = {"misses": "retrieval", "forgets": "fusion"}


@pytest.fixture
def packet(vidence, begun):
    """A packet of two runs whose errors are known."""
    begun("errors", lambda: draw(vidence))
    return vidence


def draw(vidence):
    """Two runs whose errors are known: all of one are losses of retrieval, all of the other of fusion."""
    render(vidence.folder / "world", SPEC, seed=3)
    for name, (model, selector) in RUNS.items():
        done = vidence(
            *("run", "phantom", "--data", "world", "--model", model, "--selector", selector),
            *("--frames", "16", "--out", name, "--no-page"),
        )
        assert done.code == 0, done.err
    done = vidence("replies", "errors", "draw", *RUNS, "--same", "20", "--out", "packet")
    assert done.code == 0, done.err


def test_a_packet_says_nothing_of_the_runs(packet):
    folder = packet.folder / "packet"
    text = (folder / "packet.jsonl").read_text()
    assert not [word for word in ("misses", "forgets", "midpoints", "phantom:") if word in text]
    assert text.count('"picture":"frames/') == len(text.splitlines())
    again = packet("replies", "errors", "draw", *RUNS, "--same", "20", "--out", "packet")
    assert (again.code, "is not empty: it holds frames" in again.err) == (2, True)
    assert (
        packet("replies", "errors", "draw", *RUNS, "--same", "20", "--out", "other", "--no-frames").code == 0
    )
    rows = [[row.row for row in read_packet(packet.folder / where).rows] for where in ("packet", "other")]
    assert rows[0] == rows[1]
    key = json.loads((folder / KEY_FILE).read_text())
    assert set(key) == set(Key.__struct_fields__)
    assert key["draw"] == {"taxonomy": "herbench", "rule": "same", "n": 20, "seed": 0}


def test_labels_of_a_model_stand_beside_those_of_people(packet):
    drawn = read_packet(packet.folder / "packet")
    reply_of = drawn.key.reply_of()
    labels = [
        Label(row=row, item_id=one.item_id, run=one.run, labeller="ann", by="person", kind=PLANTED[one.run])
        for row, one in ((row.row, reply_of[row.row]) for row in drawn.rows[:14])
    ]
    write_labels(packet.folder / "packet", labels, labeller="ann", by="person")
    # The model calls every error one of retrieval: forgotten cards are said to be not seen, too.

    def answer(body):
        text = json.dumps(body["messages"])
        marked = re.search(r'<reply id=\\\\?\\?"([0-9a-f]{16})', text) or re.search(
            r"id ([0-9a-f]{16})", text
        )
        return json.dumps(
            {"id": marked[1], "quote": "is not seen", "reason": "it says so", "kind": "retrieval"}
        )

    with OpenAIStub(answer="It is retrieval.") as server:
        spec = f"openai:gpt-x?base_url={server.base_url}"
        done = packet("replies", "errors", "label", "packet", "--model", spec, "--limit", "2")
        assert server.n_requests == 4  # each is asked once more
    assert (done.code, "0 rows labelled, 2 without a label" in done.err) == (3, True)
    assert "it is not the one JSON object that was asked for" in done.err
    with OpenAIStub(answer=answer) as server:
        model = f"openai:gpt-x?base_url={server.base_url}"
        done = packet("replies", "errors", "label", "packet", "--model", model)
        assert done.code == 0, done.err
        n_rows = len(read_packet(packet.folder / "packet").rows)
        assert server.n_requests == n_rows
        again = packet("replies", "errors", "label", "packet", "--model", model)
        assert server.n_requests == n_rows
        assert f"{n_rows} from memory" in again.err
    done = packet("replies", "errors", "report", "packet", "--html", "r.html", "--json", "r.json")
    assert done.code == 0, done.err
    said = json.loads((packet.folder / "r.json").read_text())
    tables = {table["name"]: table for table in said["tables"]}
    assert tables["kinds:people"]["lines"] != []
    (model,) = (table for name, table in tables.items() if name.startswith("kinds:openai"))
    lines = {line["key"]: line for line in model["lines"]}
    assert lines["retrieval"]["pooled"]["value"] == 1
    assert [line["key"] for line in tables["agreement"]["lines"]][-1].endswith(" and ann")
    assert "by people (ann)" in (packet.folder / "r.html").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("draw", "even", "--out", "p"),
            "give either --same N (the same questions for all runs) or --wrong N",
        ),
        (("draw", "even", "--same", "3", "--out", "p"), "no taxonomy belongs to table; say --taxonomy"),
        (("draw", "even", "--wrong", "99", "--taxonomy", "mmvu", "--out", "p"), "draw 12 at most"),
        (
            ("draw", "even", "even", "--same", "3", "--taxonomy", "mmvu", "--out", "p"),
            "two runs are called 'even'",
        ),
        (("label", "packet"), "Missing option '--model'"),
    ],
)
def test_what_cannot_be_done_is_refused(vidence, leveled_runs, words, says):
    leveled_runs(even="10" * 12)
    done = vidence(
        "replies", "errors", "draw", "even", "--wrong", "5", "--taxonomy", "mmvu", "--out", "packet"
    )
    assert done.code == 0, done.err
    done = vidence("replies", "errors", *words)
    assert (done.code, says in done.err) == (2, True), done.err
    assert "Traceback" not in done.err
