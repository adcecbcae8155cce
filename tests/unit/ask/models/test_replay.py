"""`replay:` on files good and bad."""

import gzip
import json
from pathlib import Path

import anyio
import pytest

from servers.model_asks import maker
from vidence.ask.models.replay import ReplayModel
from vidence.contracts import Request
from vidence.errors import DataError, RejectedRequestError, UsageError
from vidence.records import Prompt, Reply, Sampling

create = maker("model", "replay")


def say(model: ReplayModel, item_id: str, sample: int = 0) -> Reply:
    request = Request(item_id=item_id, prompt=Prompt(parts=()), sampling=Sampling(), sample=sample)
    return anyio.run(model.reply, request)


def written(path: Path, content: str | bytes) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


ROWS = [{"item_id": "1", "text": "A"}, {"item_id": 2, "text": "Ä, \nB"}, {"item_id": "x y", "text": None}]
LINES = "\n".join(json.dumps(row) for row in ROWS)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", LINES.encode()),
        ("a.jsonl", b"\xef\xbb\xbf" + LINES.encode().replace(b"\n{", b"\r\n\r\n{") + b"\n"),
        ("a.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)),
        ("a.json", json.dumps(ROWS, indent=1).encode()),
        ("a.json.gz", gzip.compress(json.dumps(ROWS).encode(), mtime=0)),
        ("a.csv", 'item_id,text\n1,A\n2,"Ä, \nB"\nx y,\n'.encode()),
        ("a.csv.gz", gzip.compress('text,item_id\r\nA,1\r\n"Ä, \nB",2\r\n,x y\r\n'.encode(), mtime=0)),
        ("a.txt", LINES.encode()),
    ],
)
def test_every_format_says_the_same(tmp_path: Path, name: str, content: bytes):
    model = create(written(tmp_path / name, content), {})
    assert [say(model, item_id).text for item_id in ("1", "2", "x y")] == ["A", "Ä, \nB", ""]
    assert model.recorded_ids() == {"1", "2", "x y"}
    assert (model.looks, model.by_item) == (False, True)


def test_columns_are_named_by_options(tmp_path: Path):
    row = {"key": 7, "raw": "B", "why": "because", "no": None, "end": "length", "item_id": "other"}
    path = written(tmp_path / "a.jsonl", json.dumps(row))
    options = {"id": "key", "text": "raw", "reasoning": "why", "refusal": "no", "finish": "end"}
    reply = say(create(path, options), "7")
    assert (reply.text, reply.reasoning, reply.refusal, reply.finish) == ("B", "because", "", "length")
    path = written(tmp_path / "b.jsonl", '{"item_id": "1", "text": "", "refusal": "no"}')
    assert (say(create(path, {}), "1").refusal, say(create(path, {}), "1").finish) == ("no", "refusal")


def test_samples_in_csv_are_whole_numbers(tmp_path: Path):
    long = "word " * 40_000
    model = create(written(tmp_path / "a.csv", f"item_id,text,try\n1,{long},1\n1,B,0\n"), {"sample": "try"})
    assert [say(model, "1", n).text for n in (0, 1)] == ["B", long]
    with pytest.raises(DataError, match="field 'sample': expected a whole number from 0, found 'x'"):
        create(written(tmp_path / "b.csv", "item_id,text,sample\n1,A,x\n"), {})


def test_rows_given_twice_and_items_without_a_reply(tmp_path: Path):
    same = '{"item_id": "1", "text": "A"}\n{"item_id": 1, "text": "A", "more": 3}\n'
    assert say(create(written(tmp_path / "a.jsonl", same), {}), "1").text == "A"
    with pytest.raises(DataError, match=r"line 3: a second, different reply for item '1'.*line 1\)"):
        create(written(tmp_path / "b.jsonl", same + '{"item_id": "1", "text": "B"}'), {})
    model = create(written(tmp_path / "a.jsonl", LINES), {})
    with pytest.raises(RejectedRequestError, match="no recorded reply for item '3'"):
        say(model, "3")
    with pytest.raises(RejectedRequestError, match=r"sample 1 in .*recorded samples: 0"):
        say(model, "1", sample=1)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", '{"item_id": "1", "text": "A"}\n{"item_id": ', "line 2: JSON: .*one JSON object per"),
        ("a.jsonl", '{"item_id": "1", "text": "A"}\n[1]', "line 2: JSON: Expected `object`, got `array`"),
        ("a.jsonl", b'{"item_id": "1", "text": "\xff"}', "line 1: encoding: not UTF-8"),
        ("a.jsonl", '{"id": "1", "text": "A"}', "line 1: no field 'item_id'; found 'id', 'text'.*id=FIELD"),
        ("a.jsonl", '{"item_id": "1", "raw": "A"}', "line 1: no field 'text'.*text=FIELD"),
        ("a.jsonl", '{"item_id": "1", "text": 5}', "line 1, field 'text': expected text or null, found 5"),
        ("a.jsonl", '{"item_id": true, "text": "A"}', "field 'item_id': expected the id .* found True"),
        ("a.jsonl", '{"item_id": "1", "text": "A", "sample": -1}', "field 'sample': expected a whole"),
        ("a.jsonl", '{"item_id": "1", "text": "A", "refusal": false}', "field 'refusal'.*refusal=FIELD"),
        ("a.jsonl", "\n\n", "is empty; expected recorded replies"),
        ("a.json", "[1]", "entry 1.: JSON: Expected `object`, got `int`"),
        ("a.json", '[{"item_id": "1"', "expected one JSON list"),
        ("a.csv", "item_id,text\n1\n", "line 2: CSV: 1 cells found; expected 2"),
        ("a.csv", 'item_id,text\n1,"A', "line 2: CSV: .*expected quotes in pairs"),
        ("a.csv", b"item_id,text\n1,A\n2,\xff\n", "line 3: text: not UTF-8"),
        ("a.csv", "item_id,text,text\n1,A,B\n", "the column 'text' is there twice"),
        ("a.csv", "item_id,text\n", "holds no reply"),
        (
            "a.jsonl.gz",
            gzip.compress(LINES.encode(), mtime=0)[:-9],
            "cannot be unpacked .*copy or download it again",
        ),
    ],
)
def test_bad_files_are_refused_with_place_and_field(tmp_path, name, content, words):
    with pytest.raises(DataError, match=f"(?s){name}.*{words}"):
        create(written(tmp_path / name, content), {})


def test_bad_uses_are_refused_and_columns_left_unread(tmp_path: Path):
    path = written(tmp_path / "a.jsonl", LINES)
    with pytest.raises(DataError, match="cannot be read"):
        create(str(tmp_path / "gone.jsonl"), {})
    with pytest.raises(DataError, match="cannot be read"):
        create(str(tmp_path), {})
    with pytest.raises(UsageError, match="needs its file after a colon"):
        create("", {})
    with pytest.raises(UsageError, match=r"no option 'txt'.*Did you mean 'text'"):
        create(path, {"txt": "raw"})
    with pytest.raises(UsageError, match="must each name a field"):
        create(path, {"id": ""})
    path = written(tmp_path / "a.jsonl", '{"item_id": "1", "text": "A", "refusal": false, "sample": "b"}')
    assert say(create(path, {"refusal": "", "sample": ""}), "1").text == "A"


def test_identity_follows_content_and_columns_and_not_the_path(tmp_path: Path):
    (tmp_path / "b").mkdir()
    first = create(written(tmp_path / "a.jsonl", LINES), {}).identity
    assert create(written(tmp_path / "b" / "c.jsonl", LINES), {}).identity == first
    assert create(written(tmp_path / "d.jsonl", LINES + "\n"), {}).identity != first
    both = '{"item_id": "1", "text": "A", "raw": "B"}'
    path = written(tmp_path / "e.jsonl", both)
    assert create(path, {}).identity != create(path, {"text": "raw"}).identity
    # What is declared of the asking changes no reply.
    assert create(path, {}).identity == create(path, {"asked": "64 frames"}).identity


def test_real_responses_align_by_the_question(checks_dir: Path):
    folder = checks_dir / "perceptioncomp" / "responses"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there; set VIDENCE_CHECKS to a folder that has it")
    for path in sorted(folder.glob("*.jsonl.gz")):
        lines = gzip.decompress(path.read_bytes()).splitlines()
        rows = [json.loads(line) for line in lines]
        model = create(str(path), {"id": "question_key", "text": "raw"})
        assert model.recorded_ids() == {str(row["question_key"]) for row in rows}
        assert say(model, str(rows[-1]["question_key"])).text == (rows[-1]["raw"] or "")
