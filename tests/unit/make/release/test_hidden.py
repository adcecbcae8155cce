"""Hidden answers: what is left out, the folder outside, and the hashes that bind a release to them."""

import hashlib
import json
import stat

import msgspec
import pytest

from subjects.released import MATERIAL, half_hidden, question, questions_of, released, rules_of
from vidence.catalog import create
from vidence.errors import UsageError
from vidence.make.release.hidden import hide, is_telling, secret_in
from vidence.make.release.sets import release_set
from vidence.records import Item

HIDDEN_NAMES = (
    "n_evidence",
    "option_of",
    "optionOf",
    "proof",
    "Rationale-words",
    "k_verified",
    "hint.1",
    "n steps",
)
PUBLIC_NAMES = ("discipline", "subject", "has_extra_option", "split", "kind", "difficulty", "media_type")


@pytest.mark.parametrize(
    ("name", "tells"), [*((n, True) for n in HIDDEN_NAMES), *((n, False) for n in PUBLIC_NAMES)]
)
def test_names_that_tell_of_an_answer(name, tells):
    assert is_telling(name) is tells


def test_nothing_that_tells_is_left_in_the_public_items():
    whole = question(1, {"task": "any", "n_steps": "3", "proof": "p"}, steps=("one step",), hints=("look",))
    public = hide([whole]).public[0]
    assert (public.answer, public.rationale, public.steps, public.hints) == ("", "", (), ())
    assert (public.evidence, public.knowledge) == ((), ())
    assert (public.question, public.choices, public.media) == (whole.question, whole.choices, whole.media)
    assert public.tags == {"task": "any", "split": "test"}


def test_a_tag_whose_values_are_answers_is_one_of_them_by_whatever_name():
    letters = [question(i, {"group": "ABCDE"[i % 5].lower()}) for i in range(20)]
    assert hide(letters).tags == ("group",)
    words = [question(i, {"group": question(i, {}).choices[i % 5]}) for i in range(20)]
    assert hide(words).tags == ("group",)
    numbers = ("1", "2", "3", "4", "5")
    by_chance = [
        question(i, {"level": numbers[i % 3]}, choices=numbers, answer="ABCDE"[i % 5]) for i in range(30)
    ]
    assert hide(by_chance).tags == ()
    assert hide(letters, keep={"group"}).tags == ()
    assert hide(by_chance, left_out={"level"}).tags == ("level",)


def test_answers_lie_outside_for_nobody_else_and_open_the_hashes(tmp_path):
    found = released(tmp_path)
    outside = tmp_path / "table-1.0.0.hidden"
    assert found.folder == tmp_path / "table-1.0.0"
    assert {path.parent for path in found.hidden_files} == {outside}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in outside.iterdir()} == {0o600}
    mark, *said = map(json.loads, (found.folder / "about" / "hidden.jsonl").read_text().splitlines())
    assert set(mark) == {"canary"}
    answers = [json.loads(line) for line in (outside / "answers.jsonl").read_text().splitlines()]
    assert [one["item_id"] for one in said] == [one["item_id"] for one in answers]
    right = {item.item_id: item.answer for item in half_hidden() if item.tags["split"] == "test"}
    assert {one["item_id"]: one["answer"] for one in answers} == right
    for one, answer in zip(said, answers, strict=True):
        text = json.dumps([answer["salt"], one["item_id"], answer["answer"]], ensure_ascii=False)
        assert hashlib.sha256(text.replace('", "', '","').encode()).hexdigest() == one["sha256"]
    assert len({one["salt"] for one in answers}) == len(answers)


def test_public_rows_and_the_folder_outside_make_the_questions_again(tmp_path):
    found = released(tmp_path)
    lines = (tmp_path / "table-1.0.0.hidden" / "test.jsonl").read_bytes().splitlines()
    whole = [msgspec.json.decode(line, type=Item) for line in lines]
    assert whole == [item for item in half_hidden() if item.tags["split"] == "test"]
    rows = [json.loads(line) for line in (found.folder / "questions-test.jsonl").read_text().splitlines()]
    for row, item in zip(rows, whole, strict=True):
        assert (row["item_id"], row["question"], tuple(row.get("choices", ()))) == (
            item.item_id,
            item.question,
            item.choices,
        )
        assert not {"answer", "rationale", "steps", "evidence", "knowledge", "hints"} & set(row)


def test_the_secret_stays(tmp_path):
    assert secret_in(tmp_path / "h", fresh=b"one") == b"one"
    assert secret_in(tmp_path / "h", fresh=b"other") == b"one"
    (tmp_path / "h" / "secret").write_text("no hexadecimal")
    with pytest.raises(UsageError, match="not the secret of a release"):
        secret_in(tmp_path / "h", fresh=b"x")


def test_answers_of_another_release_are_never_written_over(tmp_path):
    released(tmp_path)
    (tmp_path / "table-1.0.0").rename(tmp_path / "published")
    other = [msgspec.structs.replace(item, answer="E") if item.choices else item for item in half_hidden()]
    before = (tmp_path / "table-1.0.0.hidden" / "answers.jsonl").read_bytes()
    with pytest.raises(UsageError, match="holds the answers of another release"):
        released(tmp_path, other)
    assert (tmp_path / "table-1.0.0.hidden" / "answers.jsonl").read_bytes() == before
    assert not (tmp_path / "table-1.0.0").exists()


@pytest.mark.parametrize(
    ("name", "benchmark", "split"),
    [
        ("items", "table", "all"),
        ("huggingface", "table", "all"),
        ("mmvu", "mmvu", "test"),
        ("herbench", "herbench", "all"),
        ("humanpcr", "humanpcr", "all"),
        ("perceptioncomp", "perceptioncomp", "all"),
    ],
)
def test_the_hidden_questions_of_a_format_can_be_asked_by_its_loader(tmp_path, name, benchmark, split):
    everything = [
        msgspec.structs.replace(one, tags=one.tags | {"split": ("validation", "test")[i % 2]})
        for i, one in enumerate(questions_of(name, 12))
    ]
    items = everything[1::2]
    rules = rules_of(name, hidden=frozenset({"test"}))
    folder = release_set(everything, rules, MATERIAL, into=tmp_path).folder
    files = [path for path in folder.rglob("*") if "questions-test" in path.name or "test-0" in path.name]
    assert len(files) == 1, sorted(folder.rglob("*"))
    loaded = create("benchmark", benchmark).load(files[0], split=split, strict=True)
    assert [item.item_id for item in loaded.items] == [item.item_id for item in items]
    assert all(item.is_hidden for item in loaded.items)
    assert [item.choices for item in loaded.items] == [item.choices for item in items]
    assert any("have a hidden answer" in note for note in loaded.notes)
