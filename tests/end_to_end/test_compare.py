"""``vidence compare``, as a user runs it on replies that were recorded elsewhere."""

import csv
import json

import pytest

from vidence.engine.store import RunStore
from vidence.records import Trial

RIGHT = "A"


@pytest.fixture
def recorded(vidence, begun):
    """Write questions and, for each model, a reply to each of them; run them."""

    def make(replies, **more):
        begun(
            f"{sorted(path.name for path in vidence.folder.iterdir())} {replies} {more}",
            lambda: record(replies, **more),
        )

    def record(replies, *, per_video=2, data="items.jsonl", more=()):
        n = len(next(iter(replies.values())))
        lines = [
            {
                "item_id": f"q{i}",
                "media": [{"path": f"v{i // per_video}.mp4"}],
                "question": f"Question {i}?",
                "choices": ["yes", "no"],
                "answer": RIGHT,
                "tags": {"task": "even" if i % 2 == 0 else "odd"},
            }
            for i in range(n)
        ]
        (vidence.folder / data).write_text("\n".join(map(json.dumps, lines)))
        for name, letters in replies.items():
            said = [{"id": f"q{i}", "text": letter} for i, letter in enumerate(letters)]
            (vidence.folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, said)))
            command = ["run", "table", "--data", data, "--model", f"replay:{name}.jsonl?id=id&text=text"]
            done = vidence(*command, "--out", name, "--no-page", *more)
            assert done.code == 0, done.err

    return make


def test_two_runs_are_compared_on_paper_and_in_files(vidence, recorded):
    recorded({"small": "AB" * 40, "large": "AA" * 30 + "AB" * 10})
    done = vidence("compare", "small", "large", "--html", "c.html", "--csv", "c.csv", "--json", "c.json")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    # 40 of 80 against 70 of 80.
    assert "replay:large is 37.5 points above replay:small (87.5 % against 50.0 %; 95 % interval" in text
    assert "paired, clustered by 40 videos" in text
    assert "on 80 questions, 30 better and 0 worse" in text
    assert "Difference by task" in text
    assert max(map(len, done.out.splitlines())) <= 100
    whole = json.loads((vidence.folder / "c.json").read_text())
    assert whole["compared"]["headline"]["difference"]["value"] == 0.375
    assert whole["compared"]["over_items"]["mcnemar"]["n_only_first"] == 30
    rows = list(csv.DictReader((vidence.folder / "c.csv").read_text().splitlines()))
    assert len(rows) == 80
    assert sum(float(row["score:replay:large"]) for row in rows) == 70
    assert "Compared question by question" in (vidence.folder / "c.html").read_text()
    # The other way round the sign turns, and nothing else.
    turned = " ".join(vidence("compare", "large", "small").out.split())
    assert "replay:small is 37.5 points below replay:large" in turned


def test_several_runs_are_ranked(vidence, recorded):
    recorded({"low": "BBBB" * 20, "mid": "ABBA" * 20, "high": "AAAA" * 20}, per_video=1)
    done = vidence("compare", "low", "mid", "high", "--json", "c.json", "--html", "c.html")
    text = " ".join(done.out.split())
    assert "3 of 3 pairs differ clearly at 95 %" in text
    assert "replay:high is first, clearly above all others." in text
    ranking = json.loads((vidence.folder / "c.json").read_text())["compared"]["ranking"]
    assert ranking["names"] == ["replay:high", "replay:mid", "replay:low"]
    assert [p["p_holm"] <= 0.05 for p in ranking["pairs"]] == [True, True, True]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("a",), "1 run folder given; expected at least two"),
        (("a", "a"), "named twice; a run cannot be compared with itself"),
        (("a", "nowhere"), "nowhere is not a run folder: no such folder; give the folder that"),
        (("a", "b", "--parser", "robus"), "Did you mean 'robust'?"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_message(vidence, recorded, words, says):
    recorded({"a": "AB" * 4, "b": "AA" * 4})
    done = vidence("compare", *words)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err


def test_runs_on_other_questions_are_refused_unless_the_shared_ones_are_wanted(vidence, recorded):
    recorded({"a": "AB" * 10})
    recorded({"b": "AA" * 10}, more=("--limit", "12"))
    done = vidence("compare", "a", "b")
    assert done.code == 2
    assert "12 questions are in all runs" in done.err
    assert "replay:a: 8 of its 20 not in all (q12, q13, q14, q15, q16, and 3 more)" in done.err
    shared = vidence("compare", "a", "b", "--shared")
    assert shared.code == 0
    assert "Only the 12 questions that replay:a and replay:b share are compared, of 20" in " ".join(
        shared.out.split()
    )


def test_a_question_whose_answer_was_changed_is_named(vidence, recorded):
    recorded({"a": "AB" * 4, "b": "AA" * 4})
    with RunStore(vidence.folder / "b") as store:
        items, trials = list(store.items()), list(store.trials())
    import msgspec

    changed = [msgspec.structs.replace(items[0], answer="B"), *items[1:]]
    for left in (vidence.folder / "b").glob("run.sqlite*"):
        left.unlink()
    with RunStore(vidence.folder / "b", is_writer=True) as store:
        store.put_items(changed)
        for trial in trials:
            assert isinstance(trial, Trial)
            store.add(trial)
    done = vidence("compare", "a", "b", "--shared")
    assert done.code == 2
    assert "another answer under the same id: 1 (q0)" in done.err


def test_asking_ends_when_the_comparison_is_decided_and_every_command_says_so(vidence, recorded):
    recorded({"weak": "B" * 300, "strong": "A" * 300}, per_video=3)
    ask = ["run", "table", "--data", "items.jsonl", "--model", "replay:strong.jsonl?id=id&text=text"]
    until = ["--until", "clear", "--against", "weak", "--out", "early", "--no-page"]
    done = vidence(*ask, *until)
    assert done.code == 0, done.err
    printed = " ".join((done.out + done.err).split())
    said = printed[printed.index("The comparison is decided after ") :].partition(" (less ")[0]
    assert printed.count("The comparison is decided after ") == 1
    assert " of 300 questions (" in said
    assert "videos): better; " in said
    assert "questions not asked" in said
    again = vidence("resume", "early", "--no-page")
    assert again.code == 0
    assert said.removeprefix("The comparison is ") in again.err
    report = " ".join(vidence("report", "early").out.split())
    assert f"{said} (less " in report
    assert "its interval does not allow for the early end" in report
    assert "not needed (decided after " in report
    assert "not asked yet" not in report
    assert " decided " in vidence("runs", ".").out
    refused = vidence("compare", "weak", "early")
    assert "early: decided after" in refused.err
    assert "--shared" in refused.err
    looked = " ".join(vidence("compare", "weak", "early", "--shared", "--anytime").out.split())
    assert "Looked at after every video: decided after " in looked
    assert "stopped once its comparison was decided" in looked
    # One that is never decided asks all, says so, and is looked at again in its own order.
    until = ["--until", "equivalent", "--margin", "1", "--seed", "5", "--against", "weak", "--out", "whole"]
    recorded({"mixed": ("A" + "B" * 99) * 3}, per_video=3)
    mixed = [*ask[:-1], "replay:mixed.jsonl?id=id&text=text"]
    done = vidence(*mixed, *until, "--no-page")
    assert "The comparison is not decided after 300 of 300 questions (100 of 100 videos)" in " ".join(
        done.out.split()
    )
    ends = json.loads(vidence("report", "whole", "--json", "-").out)["facts"]["ended"]["difference"]
    looked = json.loads(vidence("compare", "weak", "whole", "--anytime", "--json", "-").out)
    assert looked["compared"]["look"]["difference"] == ends
    assert vidence(*ask, "--until", "clear", "--out", "x").code == 2
