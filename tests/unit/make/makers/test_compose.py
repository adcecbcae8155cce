"""Composed questions from the street: every stage, its files, and what stops or drops."""

import shutil
from pathlib import Path

import pytest

from subjects.making import Making, contents, lines
from vidence.errors import DataError
from vidence.make.compose.program import read_compositions
from vidence.make.makers.compose import create
from vidence.make.pipeline.session import MakeOverrides
from vidence.make.release.sets import scan_again
from vidence.make.sources.scene_files import read_scenes

SAMPLE = Path(__file__).parents[3] / "golden" / "makers" / "compose"


def made(folder: Path, *, more: str = "", out: str = "out", **overrides: object):
    one = Making(folder, "compose")
    one.add(more)
    return one.make(out=folder / out, **overrides)


def test_items_keys_proofs_and_programs_belong_together(tmp_path):
    built = made(tmp_path)
    items, keys = lines(tmp_path / "out" / "items.jsonl"), lines(tmp_path / "out" / "keys.jsonl")
    proofs = lines(tmp_path / "out" / "proofs.jsonl")
    programs = lines(tmp_path / "out" / "compositions.jsonl")
    assert built.account.questions == {"compose": len(items)}
    for item, key, proof, program in zip(items, keys, proofs, programs, strict=True):
        assert item["item_id"] == key["item_id"] == proof["composition"] == program["composition"]
        right = item["choices"]["ABCDE".index(item["answer"])]
        assert right == key["answer"] == str(proof["answer"]["value"])
        assert {*key["option_of"], right} == set(item["choices"])
        assert item["question"] == program["question"]
        assert item["tags"]["n_conditions"] == str(len(proof["conditions"]))
        spans = [tuple(span) for span in proof.get("spans", ())]
        assert sorted((e["start_s"], e["end_s"]) for e in item.get("evidence", ())) == spans
    letters = [item["answer"] for item in items]
    assert max(map(letters.count, letters)) <= len(letters) // 5 + 1
    stages = [stage.stage for stage in built.account.stages]
    assert stages == [one for one in create().stages if one not in ("release", "report", "gates")]


def test_the_bytes_are_the_same_however_often_it_is_made(tmp_path):
    files = [*made(tmp_path).files]
    first = [path.read_bytes() for path in files]
    made(tmp_path)
    again = made(tmp_path, out="other")
    assert [path.read_bytes() for path in files] == first
    assert [path.read_bytes() for path in again.files if path.suffix == ".jsonl"] == [
        content for path, content in zip(files, first, strict=True) if path.suffix == ".jsonl"
    ]


def test_gates_and_a_release(tmp_path):
    more = '\n[gates]\n[release]\nversion = "1"\nunreviewed = true\nwithout_licence = ["all"]\n'
    built = made(tmp_path, more=more)
    folder = tmp_path / "out" / "release" / "lane-1"
    items, made_items = lines(folder / "items.jsonl"), lines(tmp_path / "out" / "items.jsonl")
    assert [one["question"] for one in items] == [one["question"] for one in made_items]
    assert {one["tags"]["split"] for one in items} == {"test"}
    sums = (folder / "SHA256SUMS").read_text()
    for name in ("about/account.jsonl", "DATASHEET.md", "proofs.jsonl", "keys.jsonl", "compositions.jsonl"):
        assert f"  {name}\n" in sums
        assert "canary" in (folder / name).read_text().casefold()
    assert any("Release" in one for one in built.sentences)
    scenes = read_scenes(tmp_path / "set" / "lane.jsonl")
    assert len(read_compositions(folder / "compositions.jsonl", scenes)) == len(items)
    before = contents(folder)
    made(tmp_path, more=more)
    assert contents(folder) == before


def test_proofs_and_keys_of_a_hidden_split_stay_at_home(tmp_path):
    release = 'version = "1"\nunreviewed = true\nhidden = ["test"]\n'
    made(tmp_path, more=f'\n[gates]\n[release]\n{release}without_licence = ["all"]\n')
    folder, home = (tmp_path / "out" / "release" / name for name in ("lane-1", "lane-1.hidden"))
    assert not (folder / "items.jsonl").exists()
    assert "answer" not in (folder / "questions-test.jsonl").read_text()
    for name in ("proofs.jsonl", "keys.jsonl", "compositions.jsonl"):
        assert (folder / name).read_text().count("\n") == 1, "the canary alone"
        assert (home / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    assert scan_again(folder, home) == ()


def test_nothing_is_released_before_people_have_looked(tmp_path):
    built = made(tmp_path, more='\n[review]\nfolder = "review"\n[release]\nversion = "1"\n')
    assert any("vidence items review open" in one for one in built.sentences)
    assert built.account.stages[-1].dropped == {"not-looked-at": built.account.stages[-1].n_in}


def test_a_scene_in_two_files_is_refused(tmp_path):
    made(tmp_path, until="scenes")
    path = tmp_path / "set" / "config.toml"
    path.write_text('name = "x"\nscenes = ["lane.jsonl", "lane.jsonl"]\n')
    with pytest.raises(DataError, match="the scene 'lane' is also in another file"):
        create().foresee(path, overrides=MakeOverrides(), context=None)


def test_the_configuration_of_the_page_works(tmp_path):
    page = (Path(__file__).parents[4] / "docs" / "making" / "compose.md").read_text("utf-8")
    block = page.partition('```toml title="compose.toml"')[2].partition("```")[0]
    shutil.copytree(SAMPLE, tmp_path / "set")
    path = tmp_path / "set" / "config.toml"
    path.write_text(block)
    assert create().foresee(path, overrides=MakeOverrides(), context=None).sentences == (
        "1 scenes; up to 12 compositions are wanted",
    )


def test_questions_without_words_are_dropped_and_named(tmp_path):
    """`holds` is called `hugs`, which may be a verb or a plural, and the vocabulary has no phrase for it."""
    one = Making(tmp_path, "compose")
    street, lane = tmp_path / "set" / "street.toml", tmp_path / "set" / "lane.jsonl"
    head, _, rest = street.read_text().partition("[attributes.holds]\n")
    own = [line for line in rest.splitlines() if not line.startswith(("has", "noun", "asks", "said"))]
    street.write_text(
        head + "[attributes.hugs]\n" + "\n".join(own[:3]) + rest[rest.index("\n\n[attributes.sign]") :]
    )
    lane.write_text(lane.read_text().replace('"holds"', '"hugs"'))
    one.make(out=tmp_path / "out")
    gone = [row for row in lines(tmp_path / "out" / "dropped.jsonl") if row["stage"] == "wording"]
    assert gone
    assert {row["reason"] for row in gone} == {"no-words"}
    assert all("'hugs' may be a verb or a plural" in row["detail"] for row in gone)
    questions = [item["question"] for item in lines(tmp_path / "out" / "items.jsonl")]
    assert questions
    assert not any("hug" in one for one in questions)


def test_a_scene_that_gives_few_says_why(tmp_path):
    one = Making(tmp_path, "compose")
    one.edit("per_video = 12", 'per_video = 40\nshapes = ["known"]')
    built = one.make(out=tmp_path / "out")
    (why,) = built.sentences[1:2]
    assert " of 40 compositions found. Not singled out by all their attributes: 0 of 10 (person), " in why
    assert why.endswith("Add what is unknown, or attributes that tell them apart")
    assert why in built.account.notes
    assert not any(" compositions found" in text for text in made(tmp_path / "again").sentences)
