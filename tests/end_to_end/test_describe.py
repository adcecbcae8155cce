"""``vidence items describe`` as a user runs it: statistics of a file, and what is wrong with it."""

import json

from end_to_end.conftest import write_clip


def test_a_file_of_questions_is_described_with_the_videos_that_are_here(vidence):
    write_clip(vidence.folder / "a.mp4", n_frames=40)
    lines = [
        {"item_id": "1", "media": [{"path": "a.mp4"}], "question": "What is it?", "choices": ["x", "y"]},
        {
            "item_id": "2",
            "media": [{"path": "b.mp4"}],
            "question": "And what is this?",
            "choices": ["x", "y"],
        },
    ]
    text = "\n".join(
        json.dumps(one | {"answer": "A", "tags": {"task": "t" + one["item_id"]}}) for one in lines
    )
    (vidence.folder / "q.jsonl").write_text(f"{text}\nno question\n")
    done = vidence("items", "describe", "q.jsonl", "--csv", "q.csv", "--html", "q.html", "--latex", "q.tex")
    assert done.code == 0, done.err
    assert "2 questions about 2 videos" in done.out
    assert "(1 of 2 measured)" in done.out
    assert "left out: q.jsonl:3" in done.err
    assert all((vidence.folder / name).stat().st_size for name in ("q.csv", "q.html", "q.tex"))
    said = vidence(
        "items", "describe", "q.jsonl", "--no-measure", "--json", "-", "--cross", "task,answer_kind"
    )
    whole = json.loads(said.out)
    assert {"words", "videos", "letters", "crossed-task-answer_kind"} <= {
        one["name"] for one in whole["tables"]
    }
    assert "How long the videos are was not measured." in whole["sentences"]


def test_what_makes_no_sense_is_one_message(vidence):
    (vidence.folder / "q.jsonl").write_text("no question\n")
    for arguments, said in {
        ("no-such",): "there is no benchmark named",
        ("q.jsonl",): "q.jsonl",
        ("q.jsonl", "--cross", "task"): "expected two tags",
    }.items():
        done = vidence("items", "describe", *arguments)
        assert done.code == 2
        assert said in done.err
