"""``vidence items review`` as a team uses it: items in, sheets out and in, copies merged, rates."""

import csv
import json

import pytest

GOOD = {name: "yes" for name in ("language", "answer", "distractors", "visual")}


def write_items(path, n: int = 4) -> None:
    lines = [
        {
            "item_id": f"q{i}",
            "question": "What is it?",
            "choices": ["x", "y"],
            "answer": "A",
            "tags": {"task": "ab"[i % 2]},
        }
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))


def fill(path, **verdicts: dict[str, str]) -> None:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | verdicts.get(row["item_id"], {}) for row in rows)


@pytest.fixture
def begun(vidence):
    write_items(vidence.folder / "items.jsonl")
    done = vidence(
        *("items", "review", "open", "items.jsonl", "--out", "r", "--protocol", "humanpcr-pc", "--by", "ann"),
        *("--at", "2026-11-22T08:00:00Z"),
    )
    assert done.code == 0, done.err
    assert "4 wordings put in, 0 as they were" in done.err
    return vidence


def _ids(sheet):
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return [row["item_id"] for row in csv.DictReader(file)]


def test_a_team_works_with_files(begun):
    vidence, folder = begun, begun.folder
    assert (
        "0 wordings put in, 4 as they were"
        in vidence("items", "review", "open", "items.jsonl", "--out", "r", "--by", "ann").err
    )
    drawn = ("items", "review", "draw", "r", "--by", "bob", "--share", "0.5", "--stratum", "task")
    assert "2 items to look at" in vidence(*drawn).err
    sheet = folder / "r" / "sheets" / "bob-reviewer.csv"
    before = sheet.read_bytes()
    assert vidence(*drawn).code == 0
    assert sheet.read_bytes() == before
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        first, second = (row["item_id"] for row in csv.DictReader(file))
    accept = GOOD | {"verdict": "accept", "minutes": "4:12"}
    back = {"answer": "no", "verdict": "return", "note": "Choice B is right as well."}
    fill(sheet, **{first: accept, second: back})
    assert "has been filled in" in vidence(*drawn).err
    read = ("items", "review", "read", "r", "r/sheets/bob-reviewer.csv", "--by", "bob")
    assert "2 verdicts taken in" in vidence(*read).err
    events = (folder / "r" / "reviews.jsonl").read_bytes()
    assert "2 lines known already" in vidence(*read).err
    assert (folder / "r" / "reviews.jsonl").read_bytes() == events
    states = json.loads(vidence("items", "review", "state", "r", "--json", "-").out)["tables"][0]
    assert json.dumps(states).count("returned") == 1
    assert "4 items: 1 accepted, 1 returned, 2 submitted." in vidence("items", "review", "state", "r").out
    done = vidence("items", "review", "export", "r", "--events", "events.jsonl", "--accepted", "kept.jsonl")
    assert done.code == 0, done.err
    (kept,) = map(json.loads, (folder / "kept.jsonl").read_text().splitlines())
    assert kept["item_id"] == first
    assert not {"author", "minutes"} & kept.keys()
    assert vidence("items", "describe", "kept.jsonl").code == 0
    # The sheet that was read is kept under another name, and the next one drawn.
    assert "kept the sheet that was read as r/sheets/bob-reviewer.1.csv" in vidence(*drawn).err
    fill(sheet, **dict.fromkeys(_ids(sheet), GOOD | {"verdict": "accept"}))
    assert "read it first: vidence items review read" in vidence(*drawn).err
    assert "0 events and 0 revisions added" in vidence("items", "review", "read", "r", "events.jsonl").err


def test_copies_are_merged_and_two_verdicts_need_a_third(begun):
    vidence, folder = begun, begun.folder
    (folder / "s").mkdir()
    for path in (folder / "r").iterdir():
        (folder / "s" / path.name).write_bytes(path.read_bytes())
    for place, by, said in (
        ("r", "bob", GOOD | {"verdict": "accept"}),
        ("s", "cid", {"verdict": "reject", "visual": "no"}),
    ):
        assert vidence("items", "review", "draw", place, "--by", by).code == 0
        fill(folder / place / "sheets" / f"{by}-reviewer.csv", q0=said)
        assert (
            vidence("items", "review", "read", place, f"{place}/sheets/{by}-reviewer.csv", "--by", by).code
            == 0
        )
    merged = vidence("items", "review", "read", "r", "s")
    assert "5 events and 0 revisions added, 0 without effect" in merged.err
    table = vidence("items", "review", "state", "r", "--where", "in-review")
    assert "disputed" in table.out
    assert (
        vidence("items", "review", "act", "r", "q0", "claim", "--by", "dan", "--role", "reviewer").code == 0
    )
    assert "0 events and 0 revisions added" in vidence("items", "review", "read", "r", "s").err


def test_pay_follows_from_the_protocol(vidence):
    items = [{"item_id": "q", "author": "ann", "minutes": 20 + 17 / 60}]
    (vidence.folder / "d.jsonl").write_text("".join(json.dumps(one) + "\n" for one in items))
    assert vidence("items", "review", "open", "d.jsonl", "--out", "r", "--protocol", "mmvu").code == 0
    assert "4.03 USD" in vidence("items", "review", "pay", "r", "--csv", "pay.csv").out
    assert (vidence.folder / "pay.csv").read_text().count("\n") == 3


def test_what_makes_no_sense_is_one_message(begun):
    vidence = begun
    for arguments, said in {
        ("open", "items.jsonl", "--out", "new"): "add --protocol NAME to start one",
        ("open", "items.jsonl", "--out", "new", "--protocol", "nobody"): "nobody",
        ("open", "items.jsonl", "--out", "r", "--by", "a/b"): "4 as they were",
        ("draw", "r", "--by", "ann"): "nothing waits for ann as reviewer",
        ("draw", "r", "--by", "../x"): "expected a pseudonym",
        ("draw", "r", "--by", "bob", "--at", "noon"): "expected a time such as",
        ("draw", "nowhere", "--by", "bob"): "`vidence items review open` begins one",
        ("read", "r", "none.csv", "--by", "bob"): "none.csv cannot be read",
        ("act", "r", "q9", "claim", "--by", "bob", "--role", "reviewer"): "has no item 'q9'",
        (
            "act",
            "r",
            "q0",
            "claim",
            "--by",
            "ann",
            "--role",
            "reviewer",
        ): "authors do not review their own items",
        ("state", "r", "--where", "done"): "there is no state 'done'",
        ("pay", "r"): "has no [pay]",
        ("export", "r"): "nothing to write",
        ("read", "r", "items.jsonl"): "items.jsonl:1",
        ("read", "r", "sheet.csv"): "add --by NAME",
    }.items():
        done = vidence("items", "review", *arguments)
        assert said in done.err, (arguments, done.err)
        assert done.code == (0 if said == "4 as they were" else 2)
    assert not (vidence.folder / "new").exists()


def test_one_act_with_its_minutes_a_message_and_rates_of_groups(begun):
    vidence, folder = begun, begun.folder
    as_bob = ("--by", "bob", "--role", "reviewer")
    assert vidence("items", "review", "act", "r", "q0", "claim", *as_bob).code == 0
    done = vidence(
        "items", "review", "act", "r", "q0", "say", *as_bob, "--message", "which one?", "--minutes", "4:12"
    )
    assert done.code == 0, done.err
    assert json.loads((folder / "r" / "reviews.jsonl").read_text().splitlines()[-1])["minutes"] == 4.2
    said = vidence("items", "review", "act", "r", "q0", "say", *as_bob, "--message", "x", "--minutes", "long")
    assert "--minutes 'long'; expected minutes such as 4.2, or 4:12" in said.err
    as_olga = ("--by", "olga", "--role", "operator")
    assert vidence("items", "review", "act", "r", "q0", "expire", *as_olga, "--whose", "bob").code == 0
    assert "4 submitted" in vidence("items", "review", "state", "r").out
    for name in ("q0", "q1", "q2"):
        assert (
            vidence("items", "review", "act", "r", name, "withdraw", "--by", "ann", "--role", "author").code
            == 0
        )
    peers = vidence("items", "review", "state", "r", "--by", "author", "--by", "tag:task", "--json", "-")
    tables = {one["name"]: one for one in json.loads(peers.out)["tables"]}
    assert "shares of fewer than 5 items are not shown" in tables["rates-by-author"]["note"]
    assert [row["key"] for row in tables["rates-by-task"]["lines"]] == ["a", "b"]
    mine = vidence("items", "review", "state", "r", "--by", "author", "--operator", "--json", "-")
    assert (
        "not shown"
        not in {one["name"]: one for one in json.loads(mine.out)["tables"]}["rates-by-author"]["note"]
    )
    assert (
        "expected one of author, reviewer, week, tag:NAME"
        in vidence("items", "review", "state", "r", "--by", "day").err
    )
