"""A user's own questions in JSON: what is read, and what is said of bad lines."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest

from vidence.ask.benchmarks import table
from vidence.contracts import Loaded
from vidence.errors import DataError
from vidence.records import Evidence, Item, Media

GOOD = {
    "item_id": "g",
    "media": [{"path": "a.mp4"}],
    "question": "Which?",
    "choices": ["x", "y"],
    "answer": "A",
}


def line(**changes: object) -> str:
    return json.dumps(GOOD | changes, ensure_ascii=False)


def load(path: Path, *, strict: bool = False) -> Loaded:
    return table.create().load(path, split="all", strict=strict)


def load_lines(folder: Path, *lines: str | bytes, strict: bool = False) -> Loaded:
    path = folder / "q.jsonl"
    path.write_bytes(b"\n".join(text.encode() if isinstance(text, str) else text for text in lines))
    return load(path, strict=strict)


def problem_of(folder: Path, bad: str | bytes) -> str:
    """What is said of a bad line between two good ones, which both stay."""
    found = load_lines(folder, line(item_id="first"), bad, line(item_id="last"))
    assert [item.item_id for item in found.items] == ["first", "last"]
    (problem,) = found.problems
    assert problem.startswith("q.jsonl:2: ")
    return problem.removeprefix("q.jsonl:2: ")


def test_every_field_is_kept(tmp_path: Path) -> None:
    whole = Item(
        item_id="all",
        benchmark="mine",
        media=(Media(path="a.mp4", start_s=1.0, end_s=4.5, sha256="0" * 64), Media(path="b", kind="frames")),
        question="Wer grüßt zuerst, und warum?",
        choices=("A", "B", "C"),
        answer="C",
        tags={"task": "order"},
        evidence=(Evidence(kind="proactive", start_s=1.5, end_s=2.0, frames=(3, 4), note="here"),),
        rationale="because",
        hints=("look left",),
        knowledge=("https://example.org",),
    )
    found = load_lines(tmp_path, msgspec.json.encode(whole))
    assert found.items == (whole,)
    assert found.problems == found.notes == ()
    assert found.media_root == tmp_path


@pytest.mark.parametrize("name", ["q.jsonl", "q.json", "q.jsonl.gz", "q.json.gz", "q.txt"])
@pytest.mark.parametrize("shape", ["lines", "pretty list", "list on one line"])
def test_json_is_read_in_every_shape(tmp_path: Path, name: str, shape: str) -> None:
    entries = [GOOD | {"item_id": str(i)} for i in range(3)]
    text = {
        "lines": "\r\n".join(json.dumps(entry) for entry in entries),
        "pretty list": json.dumps(entries, indent=2),
        "list on one line": json.dumps(entries),
    }[shape]
    content = ("\ufeff" + text + "\n\n").encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert [item.item_id for item in load(path).items] == ["0", "1", "2"]


def test_the_hash_is_of_the_questions_not_of_their_packing(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_text(line())
    packed.write_bytes(gzip.compress(line().encode()))
    assert load(plain).content_hash == load(packed).content_hash
    plain.write_text(line(question="Another?"))
    assert load(plain).content_hash != load(packed).content_hash


@pytest.mark.parametrize(
    ("answer", "letter"),
    [("B", "B"), ("b", "B"), (" B ", "B"), ("a cup", "B"), (" a cup\n", "B"), ("the cat", "A")],
)
def test_an_answer_is_a_letter_or_the_text_of_a_choice(tmp_path: Path, answer: str, letter: str) -> None:
    (item,) = load_lines(tmp_path, line(choices=["the cat", "a cup", "C"], answer=answer)).items
    assert item.answer == letter


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ('{"item_id": "x"', ["JSON: ", "truncated"]),
        ('{"item_id": "x" "question": "?"}', ["JSON: ", "byte 16"]),
        ("[1, 2]", ["JSON: ", "object", "array"]),
        (line(question="caf\u00e9").encode("latin-1"), ["encoding: not UTF-8", "save"]),
        (line(qestion="?"), ["qestion: unknown field", "did you mean 'question'?", "item_id"]),
        (
            line(media=[{"url": "http://../a.mp4"}]),
            ["media[0].url: the url", "leads out of the media folder"],
        ),
        (line(provenance={"license": "MIT"}), ["provenance.license: ", "did you mean 'licence'?"]),
        ('{"item_id": "x", "answer": "?"}', ["question: absent"]),
        (line(item_id=True), ["item_id: ", "`str`", "`bool`", "put it in quotes"]),
        (line(media=[{"path": "a", "start_s": "1"}]), ["media[0].start_s: ", "float"]),
        (line(tags={"level": True}), ["tags: ", "quotes"]),
        (line(answer_kind="letter"), ["answer_kind: ", "'letter'", "expected choice or text"]),
        (line(media=[{"path": "a", "kind": "gif"}]), ["media[0].kind: ", "expected video or image"]),
        (line(item_id=" "), ["item_id: empty"]),
        (line(question=" "), ["question: empty"]),
        (line(answer="  "), ["answer: blank; expected a text, or nothing at all where"]),
        (line(choices=[]), ["choices: 0 found", "answer_kind 'text'"]),
        (line(choices=["x"]), ["choices: 1 found"]),
        (line(choices=[str(i) for i in range(27)]), ["choices: 27 found"]),
        (line(choices=["x", " "]), ["choices[1]: empty"]),
        (line(answer_kind="text"), ["answer_kind: 'text' for a question with choices"]),
        (line(answer="C"), ["answer: 'C' is not among the choices (A: x; B: y)"]),
        (line(answer="z"), ["answer: 'z' is not among", "A: x; B: y"]),
        (line(choices=["x", "y", "x"], answer="x"), ["answer: 'x' may mean A, C"]),
        (line(choices=["B", "y"], answer="B"), ["answer: 'B' may mean A, B"]),
        (line(media=[{}]), ["media[0]: neither path nor url"]),
        (line(media=[{"path": "a\0b"}]), ["media[0].path: ", "zero byte"]),
        (line(media=[{"path": "a", "start_s": -1}]), ["media[0].start_s: -1.0 found", "0 or more"]),
        (line(media=[{"path": "a", "start_s": 5, "end_s": 4}]), ["media[0].end_s: 4.0 is not after"]),
        (line(media=[{"path": "a", "end_s": 0}]), ["media[0].end_s: 0.0 is not after"]),
        (line(evidence=[{"start_s": 5, "end_s": 5}]), ["evidence[0].end_s: 5.0 is not after"]),
        (line(evidence=[{"start_s": 5, "end_s": 2}]), ["evidence[0].end_s: 2.0 is not after"]),
        (line(evidence=[{}, {"frames": [3, -1]}]), ["evidence[1].frames: -1 found"]),
        (line(evidence=[{"step": 0}]), ["evidence[0].step: 0 found, and there are 0 steps"]),
        (line(steps=["One.", "Two."], evidence=[{"step": 2}]), ["evidence[0].step: 2 found"]),
        (line(steps=["One.", " "]), ["steps[1]: empty"]),
        (line(item_id="first"), ["item_id: 'first' was used on line 1 before"]),
    ],
)
def test_a_bad_line_is_left_out_and_named(tmp_path: Path, bad: str | bytes, expected: list[str]) -> None:
    problem = problem_of(tmp_path, bad)
    for part in expected:
        assert part in problem


def test_strict_reading_stops_and_problems_have_their_line_or_entry(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"q\.jsonl:2: answer: 'C' is not among .*strict"):
        load_lines(tmp_path, line(), line(item_id="h", answer="C"), "nonsense", strict=True)
    with pytest.raises(DataError, match=r"no usable question; the first of 2: q\.jsonl:1: answer: 'C'"):
        load_lines(tmp_path, line(answer="C"), "nonsense")
    path = tmp_path / "q.json"
    path.write_text(f"[\n{line()},\n\n{line(item_id='h', answer='C')},\n{line(item_id='i')}]")
    (problem,) = load(path).problems
    assert problem.startswith("q.json:4: answer: ")
    path.write_text(json.dumps([GOOD, GOOD]))
    (problem,) = load(path).problems
    assert problem.startswith("q.json:1 (entry 2): item_id: 'g' was used on line 1 (entry 1) before")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.json", b'[\n{"item_id": "a"},\n{"item_id" "b"}\n]', r"q\.json:3: .*expected one JSON list"),
        ("q.json", b'[{"item_id": "a"}', r"q\.json:1: .*truncated"),
        ("q.json", b"[]", "holds no usable question: it has no rows"),
        ("q.jsonl", b" \n\n", "is empty"),
        ("q.jsonl", b"", "is empty"),
        ("q.jsonl", line().encode("utf-16"), "UTF-16.*expected UTF-8"),
        ("q.jsonl.gz", line().encode(), "cannot be unpacked"),
        ("q.jsonl.gz", gzip.compress(line().encode() * 50, mtime=0)[:-20], "cannot be unpacked"),
        ("q.parquet", b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        load(tmp_path / name)


def test_a_folder_with_one_table_stands_for_it(tmp_path: Path) -> None:
    (tmp_path / "only.jsonl").write_text(line())
    (tmp_path / "readme.md").write_text("words")
    (tmp_path / "croissant.json").write_text("{}")  # a release has one beside its questions
    (tmp_path / "video").mkdir()
    assert load(tmp_path).media_root == tmp_path
    (tmp_path / "other.csv").write_text("item_id\n")
    with pytest.raises(DataError, match=r"2 such files \(only\.jsonl, other\.csv\)"):
        load(tmp_path)


def test_oddities_are_kept_and_noted(tmp_path: Path) -> None:
    found = load_lines(
        tmp_path,
        line(item_id="same", choices=["x", "x", "y"], answer="C"),
        line(item_id="letters", choices=["A. x", "B. y"], answer="A"),
        line(item_id="blind", media=[]),
        line(
            item_id="outside",
            media=[{"path": "a.mp4", "start_s": 10, "end_s": 20}],
            evidence=[{"start_s": 25, "end_s": 30}],
        ),
        line(item_id="one"),
        line(item_id="two"),
    )
    assert len(found.items) == 6
    assert found.problems == ()
    said = dict(zip(("same text", "letters of", "no media", "outside", "repeat"), found.notes, strict=True))
    for part, item_id in zip(said, ("same", "letters", "blind", "outside", "two"), strict=True):
        assert part in said[part]
        assert said[part].endswith(f": {item_id}")


@pytest.mark.parametrize(
    ("evidence", "is_inside"),
    [
        ({"start_s": 10, "end_s": 20}, True), ({"start_s": 9, "end_s": 12}, False),
        ({"start_s": 19.9}, True), ({"start_s": 20}, False), ({"end_s": 10}, False),
        ({"end_s": 20.5}, False), ({"frames": [4]}, True),
    ],
)  # fmt: skip
def test_evidence_belongs_into_the_span_that_is_shown(tmp_path, evidence, is_inside):
    media = [{"path": "a.mp4", "start_s": 10, "end_s": 20}]
    found = load_lines(tmp_path, line(media=media, evidence=[evidence]))
    assert (found.notes == ()) is is_inside


def test_evidence_of_several_media_or_an_open_span_is_not_doubted_and_long_lists_of_ids_are_cut(tmp_path):
    late = [{"start_s": 500, "end_s": 600}]
    assert load_lines(tmp_path, line(evidence=late)).notes == ()
    media = [{"path": "a.mp4", "end_s": 20}, {"path": "b.mp4"}]
    assert load_lines(tmp_path, line(media=media, evidence=late)).notes == ()
    found = load_lines(tmp_path, *(line(item_id=f"q{i}", media=[], question=f"{i}?") for i in range(13)))
    (note,) = found.notes
    assert note.endswith("q8, q9 and 3 more")


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "q.jsonl").write_text(line())

    def refuse(path: Path, mode: str) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=r"q\.jsonl cannot be read \(Permission denied\)"):
        load(tmp_path / "q.jsonl")


def test_questions_name_the_film_that_their_clips_are_of(tmp_path: Path) -> None:
    found = load_lines(tmp_path, line(source_id="film"), line(item_id="h", media=[{"path": "b.mp4"}]))
    assert [item.source_id for item in found.items] == ["film", "b.mp4"]
    assert problem_of(tmp_path, line(source_id="  ")).startswith("source_id: blank; expected the name")
    assert "did you mean 'source_id'?" in problem_of(tmp_path, line(sourceid="film"))
    rows = (line(source_id="film"), line(item_id="h", source_id="other"), line(item_id="i", source_id="film"))
    said = [note for note in load_lines(tmp_path, *rows).notes if "source_id" in note]
    assert said == ["1 question(s) are about media that other questions give to another source_id: h"]


def test_a_file_of_a_benchmark_is_named_with_it_and_no_preset_that_drops_questions(tmp_path: Path) -> None:
    """A preset fits MMVU's first line, which has choices, and would leave out the open questions."""
    rows = json.loads((Path(__file__).parents[3] / "golden" / "mmvu" / "validation.json").read_text())
    (tmp_path / "mine.json").write_text(json.dumps(rows))
    with pytest.raises(DataError, match=r"a file of the benchmark mmvu: `vidence run mmvu --data") as raised:
        load(tmp_path / "mine.json")
    assert "--map" not in str(raised.value)
    (tmp_path / "mine.json").write_text(json.dumps([*rows, {"id": "no question of it"}]))
    with pytest.raises(DataError, match="--map") as raised:
        load(tmp_path / "mine.json")
    assert "of the benchmark mmvu" not in str(raised.value)


def test_who_wrote_a_question_is_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text("\n".join([line(author="ann", minutes=4.5), line(item_id="h", author="ann", minuts=1)]))
    found = load(path)
    assert [type(item) for item in found.items] == [Item]
    assert found.items[0].item_id == "g"
    (problem,) = found.problems
    assert "minuts" in problem
