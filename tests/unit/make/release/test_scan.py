"""The scan of a release: an answer is found in whatever public file it was planted."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from subjects.released import half_hidden, released
from vidence.errors import DataError
from vidence.make.release.hidden import hide
from vidence.make.release.scan import Scan, scan_folder, shared_texts

ITEMS = half_hidden()
WHOLE = [item for item in ITEMS if item.tags["split"] == "test"]
OPEN = [item for item in ITEMS if item.tags["split"] != "test"]
CHOICE = WHOLE[0]
TEXT = next(item for item in WHOLE if item.answer_kind == "text")
HIDDEN = hide(WHOLE, keep={"split"})
WANTED = Scan(
    hidden=HIDDEN,
    open_ids=frozenset(item.item_id for item in OPEN),
    shared=shared_texts(HIDDEN, OPEN),
    salts={"5a17": CHOICE.item_id},
)


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    return released(tmp_path_factory.mktemp("into")).folder


def planted_in(release: Path, name: str, tmp_path: Path) -> Path:
    """A folder that holds one file of the release, to be changed."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((release / name).read_bytes())
    return path


def names_of(folder: Path, *endings: str) -> list[str]:
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name.endswith(endings))


def test_a_release_as_it_is_written_tells_nothing(release):
    assert scan_folder(release, WANTED) == ()


def test_the_answer_is_found_in_every_public_file(release, tmp_path):
    files = names_of(release, "")
    assert len(files) >= 15
    for name in files:
        path = planted_in(release, name, tmp_path / name.replace("/", "-"))
        plant(path)
        leaks = scan_folder(tmp_path / name.replace("/", "-"), WANTED)
        assert CHOICE.item_id in {one.item_id for one in leaks}, name
        assert {one.file for one in leaks} == {name}


def plant(path: Path) -> None:
    """Put the answer of a question into a file, in the way of its kind."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        told = [CHOICE.item_id if i == 0 else name for i, name in enumerate(table["item_id"].to_pylist())]
        table = table.set_column(table.column_names.index("item_id"), "item_id", pa.array(told))
        pq.write_table(table.append_column("label", pa.array([CHOICE.answer] * len(told))), path)
    elif path.suffix == ".jsonl":
        row = json.dumps({"item_id": CHOICE.item_id, "said": CHOICE.answer})
        path.write_text(path.read_text() + row + "\n")
    elif path.suffix == ".json":
        rows = json.loads(path.read_text())
        more = {"id": CHOICE.item_id, "answer": CHOICE.answer}
        path.write_text(json.dumps([*rows, more] if isinstance(rows, list) else {**rows, "more": more}))
    else:
        path.write_text(f"{path.read_text()}\n{CHOICE.item_id}: {CHOICE.answer}\n")


@pytest.mark.parametrize(
    "row",
    [
        {"item_id": CHOICE.item_id, "answer": CHOICE.answer},
        {"item_id": CHOICE.item_id, "metadata": {"answer_id": 0}},
        {"question": CHOICE.item_id, "id": CHOICE.item_id, "gold": "x"},
        {"what": CHOICE.item_id, "letter": f"({CHOICE.answer})"},
        {"what": CHOICE.item_id, "note": CHOICE.choices[1]},
        {CHOICE.item_id: CHOICE.answer},
        {CHOICE.item_id: {"label": CHOICE.answer.lower()}},
        [CHOICE.item_id, CHOICE.answer],
        {"ids": [CHOICE.item_id], "answers": [CHOICE.answer]},
        {"item_id": CHOICE.item_id, "evidence": [{"start_s": 11.0, "end_s": 13.5}]},
        {"item_id": CHOICE.item_id, "tags": json.dumps({"n_evidence": "3"})},
        {"any": CHOICE.rationale.upper()},
        {"any": f"see {CHOICE.knowledge[0]}."},
        {"any": [TEXT.answer]},
        {"any": TEXT.steps[0]},
        {"any": "5a17"},
    ],
)
def test_an_answer_in_a_row_is_found(row, tmp_path):
    (tmp_path / "more.json").write_text(json.dumps(row))
    assert scan_folder(tmp_path, WANTED)


@pytest.mark.parametrize(
    "text",
    [
        f"{CHOICE.item_id}: {CHOICE.answer}",
        f"| {CHOICE.item_id} | {CHOICE.answer} |",
        f"## {CHOICE.item_id}\n\nIt is {CHOICE.choices[1]}.",
        f"{CHOICE.item_id} between 11 and 13.5 s: 11-13.5",
        f"Some words. {TEXT.answer.replace(' ', '  ')}!",
        f"<p>{CHOICE.rationale}</p>",
    ],
)
@pytest.mark.parametrize("name", ["more.md", "more.txt.gz", "LICENCE", "broken.json"])
def test_an_answer_in_words_is_found(text, name, tmp_path):
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert scan_folder(tmp_path, WANTED)


@pytest.mark.parametrize(
    "text",
    [
        f"{CHOICE.item_id} is a question about {CHOICE.media[0].path}.",
        f"{CHOICE.item_id}: {CHOICE.question} {'; '.join(CHOICE.choices)}",
        f"{CHOICE.item_id} A. {CHOICE.choices[0]} B. {CHOICE.choices[1]} C. {CHOICE.choices[2]} "
        f"D. {CHOICE.choices[3]} E. {CHOICE.choices[4]}",
        f"{OPEN[0].item_id}: {OPEN[0].answer}",
        "Answers are hidden.",
    ],
)
def test_what_is_public_is_no_leak(text, tmp_path):
    (tmp_path / "more.md").write_text(text)
    assert scan_folder(tmp_path, WANTED) == ()


def test_what_cannot_be_looked_at_does_not_pass(tmp_path):
    (tmp_path / "x.gz").write_bytes(b"no archive")
    with pytest.raises(DataError, match="it was not scanned for answers"):
        scan_folder(tmp_path, WANTED)


def test_knowledge_that_open_questions_name_is_no_leak():
    shared = hide([TEXT])
    assert shared_texts(shared, [TEXT])
    assert shared_texts(shared, OPEN) == frozenset()
