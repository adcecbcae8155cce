"""``vidence replies judges``: recorded runs, a table of people, judges that are asked once and remembered."""

import json
from collections import Counter

import pytest

from vidence.engine.plan import read_plan
from vidence.records import outcome_name

N = 16
ROWS = [(f"q{i}", i % 2 == 1) for i in range(N)]
JUDGE = 'scripted:{"extracted_answer":"A","correct":true}'


@pytest.fixture
def runs(vidence, begun):
    """Two recorded runs over choices and free answers."""
    begun("judges", lambda: record(vidence))
    return ("one", "two")


def record(vidence):
    items = [
        {
            "item_id": item_id,
            "source_id": f"v{i // 2}",
            "question": f"Question {i}?",
            "answer": "a pan" if is_text else "A",
            **({"answer_kind": "text"} if is_text else {"choices": ["x", "y", "z"]}),
        }
        for i, (item_id, is_text) in enumerate(ROWS)
    ]
    (vidence.folder / "q.jsonl").write_text("\n".join(map(json.dumps, items)))
    for shift, name in enumerate(("one", "two")):
        said = [
            {
                "item_id": item_id,
                "text": ("a pan", "a pot")[(i + shift) % 4 == 1] if is_text else "AB"[i % 4 // 2],
            }
            for i, (item_id, is_text) in enumerate(ROWS)
        ]
        (vidence.folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, said)))
        asked = ("--model", f"replay:{name}.jsonl", "--selector", "none", "--name", name, "--out", name)
        done = vidence("run", "table", "--data", "q.jsonl", *asked, "--no-page")
        assert done.code == 0, done.err
    rows = [
        f"{item_id},{run},{rater},{int(i % 3 > 0)}"
        for i, (item_id, _) in enumerate(ROWS)
        for run in ("one", "two")
        for rater in ("al", "bo")
    ]
    (vidence.folder / "labels.csv").write_text("item_id,model,rater,correct\n" + "\n".join(rows))


def test_judges_are_set_beside_people_and_asked_once(vidence, runs):
    words = (
        "replies",
        "judges",
        *runs,
        "--human",
        "labels.csv",
        "--judge-model",
        JUDGE,
        "--judge",
        "mmvu-official",
    )
    done = vidence(*words, "--json", "j.json", "--html", "j.html", "--lines", "l.jsonl")
    assert done.code == 0, done.err
    assert "32 replies: 32 verdicts at most" in done.err
    assert "Judges against people" in done.out
    lines = [json.loads(line) for line in (vidence.folder / "l.jsonl").read_text().splitlines()]
    assert len(lines) == 32
    assert {line["value"] for line in lines} == {1.0}
    found = json.loads((vidence.folder / "j.json").read_text())["judges"]
    assert found["agreement"][0]["n"] == 32
    assert found["agreement"][0]["same"]["value"] == pytest.approx(20 / 32)
    # The run folders stay as they are, and the lines give the same figures again.
    assert vidence.trials("one")["q1"].score.verdicts == ()
    again = vidence(
        "replies", "judges", *runs, "--human", "labels.csv", "--recorded", "l.jsonl", "--json", "k.json"
    )
    assert again.code == 0, again.err
    assert json.loads((vidence.folder / "k.json").read_text())["judges"] == found
    vidence(*words, "--lines", "m.jsonl")
    kept = [json.loads(line) for line in (vidence.folder / "m.jsonl").read_text().splitlines()]
    assert {line["is_remembered"] for line in kept} == {True}


def test_each_model_judges_as_each_protocol_and_a_rule_is_not_asked(vidence, runs):
    words = (
        "replies",
        "judges",
        "one",
        "--judge-model",
        JUDGE,
        "--judge",
        "mmvu-official",
        "--judge",
        "humanpcr",
    )
    done = vidence(*words, "--lines", "l.jsonl")
    assert done.code == 3, done.err
    assert "8 of 32 verdicts could not be used" in done.err
    assert "no verdict in the judge's reply" in done.err
    lines = [json.loads(line) for line in (vidence.folder / "l.jsonl").read_text().splitlines()]
    by = {name: [line for line in lines if line["judge"] == name] for name in ("mmvu-official", "humanpcr")}
    assert [len(some) for some in by.values()] == [16, 16]
    assert sum(line["is_asked"] for line in by["humanpcr"]) == 8
    assert {line["value"] for line in by["humanpcr"]} == {None}  # left to rules, or no verdict of this form
    assert "leaves 8 replies to rules" in done.out


def test_one_protocol_in_other_words_is_another_judge(vidence, runs):
    words = (
        "replies",
        "judges",
        *runs,
        "--human",
        "labels.csv",
        "--judge-model",
        JUDGE,
        "--judge",
        "mmvu-official",
    )
    assert vidence(*words, "--lines", "ours.jsonl").code == 0
    (vidence.folder / "own").mkdir()
    for name in ("choice", "open"):
        (vidence.folder / "own" / f"system-{name}.txt").write_text('Is it right? Say "id", and the rest.')
    done = vidence(*words, "--judge-prompts-dir", "own", "--lines", "theirs.jsonl")
    assert done.code == 0, done.err
    ours, lines = (
        [json.loads(line) for line in (vidence.folder / name).read_text().splitlines()]
        for name in ("ours.jsonl", "theirs.jsonl")
    )
    assert not all(line["is_remembered"] for line in lines)
    assert {line["words"] for line in ours} == {""}
    ((digest, n),) = Counter(line["words"] for line in lines).items()
    assert (len(digest), n) == (8, 32)
    both = ("--recorded", "ours.jsonl", "--recorded", "theirs.jsonl", "--json", "both.json")
    done = vidence(*words[:6], *both)
    assert done.code == 0, done.err
    found = json.loads((vidence.folder / "both.json").read_text())["judges"]
    first, second = "mmvu-official", f"mmvu-official, words {digest}"
    assert [name.partition(" as ")[2] for name in found["judges"]] == [first, second]
    (arm,) = found["arms"]
    assert (arm["first"], arm["second"], arm["difference"]["value"]) == (first, second, 0)


def test_a_run_judged_in_other_words_is_said(vidence, runs):
    (vidence.folder / "own").mkdir()
    (vidence.folder / "own" / "system-open.txt").write_text('Is it right? Say "id", and the rest.')
    asked = ("--judge-model", JUDGE, "--judge", "mmvu-official")
    assert vidence("replies", "judge", "one", *asked, "--judge-prompts-dir", "own", "--no-page").code == 0
    done = vidence("replies", "judges", *runs, *asked)
    assert done.code == 0, done.err
    said = " ".join(done.err.split())
    assert said.count("note: one was judged with the templates of") == 1
    assert "note: two" not in said


def test_prices_are_those_of_the_judge_that_is_named(vidence, runs):
    asked = ("replies", "judge", "one", "--judge", "mmvu-official", "--no-page")
    priced = ("--set", "judge_price_in=1", "--set", "judge_price_out=2")
    assert vidence(*asked, "--judge-model", JUDGE, *priced).code == 0
    assert (read_plan(vidence.folder / "one")[0].judge_price_in) == 1
    assert vidence(*asked, "--judge-model", JUDGE).code == 0
    assert (read_plan(vidence.folder / "one")[0].judge_price_out) == 2
    other = vidence(*asked, "--judge-model", "scripted:no verdict")
    assert other.code == 3
    plan, _ = read_plan(vidence.folder / "one")
    assert (plan.judge_price_in, plan.judge_price_out) == (0, 0)
    assert "vidence resume" not in other.err


def test_two_sets_of_imported_words_are_two_judges(vidence, runs):
    """They differ in the question alone, so that both have the same imported system messages."""
    asked = ("--judge-model", JUDGE, "--judge", "mmvu-official")
    (vidence.folder / "words.txt").write_text("Mark the response.")
    for name, before in (("one-set", ""), ("other-set", "Look closely.\n")):
        imports = ("--from", "words.txt", "--as", "system-choice", "--unchecked", "--out", name)
        assert vidence("prompts", "import", "mmvu-judge", *imports).code == 0
        (vidence.folder / name / "question.txt").write_text(f"{before}{{{{ question }}}}\n{{{{ reply }}}}\n")
        done = vidence(
            "replies", "judges", *runs, *asked, "--judge-prompts-dir", name, "--lines", f"{name}.jsonl"
        )
        assert done.code == 0, done.err
    done = vidence("replies", "judges", *runs, "--recorded", "one-set.jsonl", "--recorded", "other-set.jsonl")
    assert done.code == 0, done.err
    words = {
        json.loads(line)["words"]
        for name in ("one-set", "other-set")
        for line in (vidence.folder / f"{name}.jsonl").read_text().splitlines()
    }
    assert len(words) == 2
    assert all(word.startswith("unchecked ") for word in words)
    assert "imported words" in done.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("replies", "judge", "--set", "judge_panel=mean"), "judge_panel decides between several judges"),
        (
            ("replies", "judge", "--max-cost", "1"),
            "or not the same for all of them; give --set judge_price_in=N",
        ),
        (("--human", "labels.csv", "--judge-model", JUDGE), "32 labels of replies that are not there"),
        ((), "give either judges with --judge-model"),
        (("--judge-model", JUDGE, "--recorded", "l.jsonl"), "give either judges with --judge-model, or"),
        (("--judge-model", JUDGE, "--judge-model", JUDGE), "--judge-model repeats a name"),
        (("--judge-model", JUDGE, "--family", "one"), "--family 'one' is not NAME=FAMILY"),
        (("--recorded", "empty.jsonl"), "expected verdicts"),
        (
            ("--recorded", "l.jsonl", "--judge", "humanpcr"),
            "--judge: --recorded asks no judge; leave this out",
        ),
        (
            (
                *("--judge-model", JUDGE, "--judge", "humanpcr", "--judge", "mmvu-official"),
                *("--judge-prompts-dir", "."),
            ),
            "the templates of one protocol, and humanpcr, mmvu-official are asked; name one",
        ),
    ],
)
def test_bad_input_is_said(vidence, runs, words, says):
    (vidence.folder / "empty.jsonl").write_text("\n")
    if words[:2] == ("replies", "judge"):
        done = vidence("replies", "judge", "one", "--judge-model", JUDGE, *words[2:])
    else:
        done = vidence("replies", "judges", "one", *words)
    assert done.code == 2
    assert says in done.err
    assert "verdicts at most" not in done.err or "--human" not in words


READER = 'scripted:{"reason":"by its words","choice":"%s"}'


@pytest.fixture
def mumbled(vidence):
    """A run on eight choices; of the replies two state none that a rule can read, and two say nothing."""
    items = [
        {"item_id": f"c{i}", "question": f"Which {i}?", "choices": ["x", "y", "z"], "answer": "B"}
        for i in range(8)
    ]
    said = ["B", "B", "C", "B", "the one in the middle, I would say", "neither this nor that", "", "<think>B"]
    (vidence.folder / "c.jsonl").write_text("\n".join(map(json.dumps, items)))
    replies = [{"item_id": f"c{i}", "text": text} for i, text in enumerate(said)]
    (vidence.folder / "r.jsonl").write_text("\n".join(map(json.dumps, replies)))
    return (
        "run",
        "table",
        "--data",
        "c.jsonl",
        "--model",
        "replay:r.jsonl",
        "--selector",
        "none",
        "--no-page",
    )


def test_a_model_reads_the_choice_where_no_rule_can_and_is_a_parser_of_its_own(vidence, mumbled):
    assert vidence(*mumbled, "--out", "plain").code == 0
    done = vidence("replies", "judge", "plain", "--extract-with", READER % "B", "--no-page")
    assert done.code == 0, done.err
    trials = vidence.trials("plain")
    asked = {name for name, trial in trials.items() if trial.score.verdicts}
    assert asked == {"c4", "c5"}  # not where a rule read a letter, nor where there are no words
    assert {trials[name].score.outcome.rule for name in asked} == {"extract"}
    assert {trials[name].score.scorer for name in asked} == {"extract"}
    assert vidence("replies", "judge", "plain", "--extract-with", READER % "none", "--no-page").code == 0
    assert {outcome_name(vidence.trials("plain")[name].score.outcome) for name in asked} == {"unreadable"}

    done = vidence(*mumbled, "--extract-with", READER % "B", "--out", "read")
    assert done.code == 0, done.err
    done = vidence("report", "read", "--parser", "all", "--json", "r.json")
    tables = json.loads((vidence.folder / "r.json").read_text())["tables"]
    (lines,) = (table["lines"] for table in tables if table["name"] == "parsers")
    read = {line["key"]: (line["read"]["value"], line["accuracy"]["value"]) for line in lines}
    assert (read["robust + extract"], read["robust"]) == ((6, 0.625), (4, 0.375))
    assert "Judged by extract" in done.out
    assert "2 trials by verdict" in done.out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--judge-model", "scripted:x"), "give --extract-with SPEC, or --judge-model SPEC with --judge"),
        (("--judge", "mmvu-official"), "give --extract-with SPEC, or --judge-model SPEC with --judge"),
    ],
)
def test_who_reads_choices_is_named_once(vidence, mumbled, more, says):
    done = vidence(*mumbled, "--extract-with", READER % "B", *more)
    assert done.code == 2
    assert says in " ".join(done.err.split())


def test_verdicts_on_free_answers_are_not_lost_to_a_reader_of_choices(vidence, runs):
    assert vidence(
        "replies", "judge", "one", "--judge", "rule-first", "--judge-model", JUDGE, "--no-page"
    ).code in (0, 3)
    before = vidence.trials("one")
    done = vidence("replies", "judge", "one", "--extract-with", READER % "B", "--no-page")
    assert done.code == 2
    assert "holds verdicts on free answers" in done.err
    assert vidence.trials("one") == before
