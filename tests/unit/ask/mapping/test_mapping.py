"""Mappings: every preset on its layout, what a user writes, and what is refused."""

import importlib.util
from pathlib import Path

import pytest

from subjects.layouts import BOTH, LAYOUTS, Layout, json_file, lines_file
from vidence import catalog
from vidence.ask.mapping import mapping
from vidence.ask.mapping.mapping import ColumnMap, near_presets, presets, read_map, whole_map
from vidence.ask.mapping.rows import find_files, read_rows
from vidence.contracts import Loaded
from vidence.errors import UnknownNameError, UsageError


def written(name: str, folder: Path) -> tuple[Layout, Path]:
    layout = LAYOUTS[name]
    if layout.needs_pyarrow and importlib.util.find_spec("pyarrow") is None:
        pytest.skip("needs pyarrow")
    return layout, layout.write(folder)


def loaded(path: Path, text: str, *, split: str = "all") -> Loaded:
    return catalog.create("benchmark", catalog.Spec(name="table", options={"map": text})).load(
        path, split=split, strict=True
    )


def test_every_preset_has_a_layout_and_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    tools = {path.stem for path in mapping.PRESETS.glob("*.toml")}
    assert tools <= set(LAYOUTS) <= set(presets())
    assert len(BOTH) == 2
    page = (Path(__file__).parents[4] / "docs" / "guides" / "mapping.md").read_text()
    block = page.partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "own.toml").write_text(block)
    assert read_map(str(tmp_path / "own.toml")).constants == {"benchmark": "Kitchens"}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_preset_reads_its_layout_and_says_where_that_is_from(name: str, tmp_path: Path) -> None:
    layout, path = written(name, tmp_path)
    found = loaded(path, name)
    assert found.problems == ()
    assert [item.item_id for item in found.items] == list(layout.ids)
    for item, asked in zip(found.items, layout.questions, strict=True):
        assert (item.question, item.choices, item.answer) == (asked.question, asked.choices, asked.letter)
    assert [medium.path for item in found.items for medium in item.media] == list(layout.media)
    found = read_map(name)
    assert found.about.endswith(".")
    assert found.home.startswith("https://")


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name not in ("inspect", "lmms-eval")])
def test_the_preset_of_a_layout_is_found_by_its_columns(name: str, tmp_path: Path) -> None:
    _, path = written(name, tmp_path)
    found = read_map(name)
    file = find_files(path, found.files, split="all")[0]
    row = read_rows(file, levels=found.levels).first
    assert row is not None
    assert name in near_presets(row, name=file.name, n_levels=len(found.levels))[:3]


def test_spans_kinds_and_tags_come_from_tables_by_task(tmp_path: Path) -> None:
    _, path = written("mvbench", tmp_path)
    first, second = (item.media[0] for item in loaded(path, "mvbench").items)
    assert (first.kind, first.start_s, first.end_s) == ("video", 1.5, 4.0)
    assert (second.kind, second.start_s) == ("frames", None)
    assert loaded(path, "mvbench").items[0].tags == {"task": "action_sequence"}


def test_pairs_make_a_mapping_and_replace_fields_of_a_preset() -> None:
    said = read_map("item_id=id,question=q,choices=a0|a1|a2,answer=answer,media={video}.mp4,tags.task=type")
    assert said == ColumnMap(
        item_id="id",
        question="q",
        choices=("a0", "a1", "a2"),
        answer="answer",
        media="{video}.mp4",
        tags={"task": "type"},
    )
    changed = read_map("nextqa,media=clips/{video}.mkv,constants.choices=yes|no")
    assert changed.media == "clips/{video}.mkv"
    assert changed.constants["choices"] == ("yes", "no")
    assert changed.tags == read_map("nextqa").tags


def test_a_mapping_is_read_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.toml").write_text('item_id = "id"\nquestion = "q"\nanswer = "a"\nchoices = "c"\n')
    monkeypatch.chdir(tmp_path)
    assert read_map("own.toml,answer_is=text").answer_is == "text"
    assert whole_map("own.toml,answer_is=text") == f"{tmp_path / 'own.toml'},answer_is=text"
    assert whole_map("nextqa") == "nextqa"
    (tmp_path / "x.toml").write_text("item_id = ")
    with pytest.raises(UsageError, match="cannot be read as a mapping in TOML"):
        read_map(str(tmp_path / "x.toml"))
    with pytest.raises(UnknownNameError):
        read_map("x")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("video-mm", "no preset of --map named 'video-mm'. Did you mean 'video-mme'"),
        ("no/such.toml", "there is no file no/such.toml"),
        ("item_id=id,question=q", "has no answer; expected answer = a column"),
        ("nextqa,media", "'media' in --map 'nextqa,media' is not FIELD=COLUMN"),
        ("nextqa,chioces=a", "chioces: unknown field; did you mean 'choices'"),
        ("nextqa,answer_is=roman", "answer_is: Invalid enum value 'roman'"),
        ("nextqa,constants.colour=red", "constants.colour is not allowed"),
        ("nextqa,patterns.video=(", "patterns.video is not a regular expression"),
        ("nextqa,patterns.video=a{99999999999}", "patterns.video is not a regular expression"),
        ("nextqa,patterns.video=(a+)+$", "patterns.video repeats a group"),
        ("nextqa,patterns.video=(?x) (a+) *$", "patterns.video repeats a group, or is verbose"),
        ("nextqa,files=../../x.csv", "expected a path inside the folder of the data"),
    ],
)
def test_what_is_no_mapping_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_map(text)
    assert said in str(caught.value)


def test_what_is_read_is_part_of_the_content_hash(tmp_path: Path) -> None:
    path = json_file([{"id": "1", "q": "?", "c": ["a", "b"], "x": "a", "y": "b"}], "q.json")(tmp_path)
    pairs = "item_id=id,question=q,choices=c,answer="
    assert loaded(path, pairs + "x").content_hash != loaded(path, pairs + "y").content_hash
    assert loaded(path, pairs + "x").content_hash == loaded(path, pairs + "x,about=words").content_hash
    plain = read_map("item_id=id,question=q,answer=a")
    assert plain.digest == "24af101b42a0158e7e76a7f7fef272eb6e74b50d2ab1f5568f342380e91887b3"
    one, several = read_map("item_id=id,question=q,answer=a,steps=why"), read_map("vlm4d,steps=a|b")
    assert (one.steps, several.steps) == ("why", ("a", "b"))
    assert one.digest != plain.digest
    assert {"why"} <= one.used
    assert {"a", "b"} <= several.used


def test_shards_of_a_data_set_of_the_hub_are_read_together(tmp_path: Path) -> None:
    rows = [
        {"id": n, "q": "?", "c": ["a", "b"], "a": "b", "v": {"path": f"{n}.mp4", "bytes": None}}
        for n in range(4)
    ]
    for shard, split in enumerate(("test", "test", "train")):
        name = f"data/{split}-{shard:05}-of-00002.jsonl"
        lines_file(rows[shard : shard + 1], "x.jsonl")(tmp_path).rename(made(tmp_path / name))
    found = loaded(tmp_path, "item_id=id,question=q,choices=c,answer=a,media=v", split="test")
    assert [(item.item_id, item.media[0].path) for item in found.items] == [("0", "0.mp4"), ("1", "1.mp4")]


def made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
