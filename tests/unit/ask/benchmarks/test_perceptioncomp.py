"""PerceptionComp in the shape of its release, on a sample written by hand."""

import gzip
import json
from pathlib import Path

import pytest

from vidence.ask.benchmarks import perceptioncomp
from vidence.contracts import Loaded
from vidence.errors import DataError

SAMPLE = Path(__file__).parents[3] / "golden" / "perceptioncomp" / "1-1114.json"


def entries() -> list[dict[str, object]]:
    found = json.loads(SAMPLE.read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


def load(data: Path, *, split: str = "all", strict: bool = False) -> Loaded:
    return perceptioncomp.create().load(data, split=split, strict=strict)


def load_changed(folder: Path, **changes: object) -> Loaded:
    """The sample with its second entry changed."""
    rows = entries()
    rows[1] = {name: value for name, value in (rows[1] | changes).items() if value is not None}
    path = folder / "annotations.json"
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return load(path)


def test_items_carry_the_released_words_and_our_tags() -> None:
    walk, court, attic, again = load(SAMPLE).items
    assert (walk.item_id, walk.answer, walk.media[0].path) == ("1", "C", "Harbour Walk 2.mp4")
    assert walk.choices == ("red", "green", "blue", "black", "white")
    assert walk.tags == {
        "category": "outdoor tour",
        "difficulty": "1",
        "n_conditions": "2",
        "split": "seed500",
    }
    assert court.choices == ("1", "2", "3", "4", "5")
    assert court.tags["category"] == "sport"
    assert court.tags["has_extra_option"] == "yes"
    assert court.tags["n_conditions"] == "0"
    assert attic.answer == "B"
    assert attic.tags["n_conditions"] == "3"
    assert attic.tags["split"] == "added"
    assert again.tags["duplicate_of"] == "501"


def test_old_category_names_become_the_released_ones_and_clips_of_one_film_are_one_source(tmp_path):
    for old, new in (("show", "variety show"), ("sports", "sport"), ("movie", "movie")):
        assert load_changed(tmp_path, category=old).items[1].tags["category"] == new
    found = load_changed(tmp_path, video_id="Harbour Walk 2_0m-4m").items
    assert found[1].source_id == found[0].source_id == "Harbour Walk 2"
    assert found[1].video_id != found[0].video_id


def test_the_papers_split_is_the_first_500_keys(tmp_path: Path) -> None:
    assert [item.item_id for item in load(SAMPLE, split="seed500").items] == ["1", "500"]
    path = tmp_path / "later.json"
    path.write_text(json.dumps(entries()[2:]), encoding="utf-8")
    with pytest.raises(DataError, match="no usable question"):
        load(path, split="seed500")


def test_quirks_are_noted_and_a_clean_file_has_no_notes(tmp_path: Path) -> None:
    different, sixth, repeated = load(SAMPLE).notes
    assert "an answer text other than the choice of answer_id" in different
    assert different.endswith(": 1")
    assert "sixth choice" in sixth
    assert sixth.endswith(": 500")
    assert repeated.endswith(": 502")
    path = tmp_path / "clean.json"
    path.write_text(json.dumps(entries()[2:3]), encoding="utf-8")
    assert load(path).notes == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer_id": 5}, "answer_id: 5 found; expected 0 to 4"),
        ({"answer_id": -1}, "answer_id: -1 found"),
        ({"answer_id": "2"}, "answer_id: Expected `int | null`, got `str`"),
        ({"difficulty": 0}, "difficulty: 0 found; expected 1, 2 or 3"),
        ({"answer_choice_4": None}, "answer_choice_4: absent"),
        ({"key": "1"}, "item_id: '1' was used on line 2 before"),
    ],
)
def test_a_bad_entry_is_left_out_and_named(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    found = load_changed(tmp_path, **changes)
    assert [item.item_id for item in found.items] == ["1", "501", "502"]
    (problem,) = found.problems
    assert problem.startswith(f"annotations.json:16: {said}")
    with pytest.raises(DataError, match=r"annotations\.json:16.*strict"):
        load(tmp_path / "annotations.json", strict=True)


@pytest.mark.parametrize(
    ("place", "videos"),
    [
        ("1-1114.json", "videos"),
        ("annotations_1-1114.json", "."),
        ("annotations/1-1114.json", "data"),
        ("benchmark/annotations/1-1114.json", "benchmark/videos"),
        ("annotations/official/1-1114.json", "videos"),
        ("benchmark/annotations/official/1-1114.json", "data"),
    ],
)
def test_annotations_and_videos_are_found_in_a_folder(tmp_path: Path, place: str, videos: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_bytes(SAMPLE.read_bytes())
    (tmp_path / videos).mkdir(parents=True, exist_ok=True)
    (tmp_path / videos / "Harbour Walk 2.mp4").write_bytes(b"x")
    assert load(tmp_path).media_root.resolve() == (tmp_path / videos).resolve()


def test_videos_are_found_beside_the_annotation_file(tmp_path: Path) -> None:
    file = tmp_path / "benchmark" / "annotations" / "1-1114.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(SAMPLE.read_bytes())
    assert load(file).media_root == file.parent / "videos"
    videos = tmp_path / "benchmark" / "videos"
    videos.mkdir()
    (videos / "attic.mp4").write_bytes(b"x")
    assert load(file).media_root == videos


@pytest.mark.parametrize(
    ("question", "n"),
    [
        ("\u2460 one \u2461 two \u2462 three?", 3),
        ("\u2460 one \u2461 like \u2460 \u2460?", 2),
        ("1. one\n2. two\nHow many?", 2),
        ("Find:\n(1) one,\n (2) two,\n(3) three.\nWhich?", 3),
        ("\u2460 one\n(1) not counted beside circles\n(2) nor this?", 1),
        ("When the clock shows 1.5 or 2.0?\n1.5 is not a mark", 0),
        ("The man (1) in line 2. sits?", 0),
    ],
)
def test_conditions_are_counted_by_their_marks(question: str, n: int) -> None:
    assert len(perceptioncomp.conditions(question)) == n


LABELS = [
    {"key": "1", "video_id": "Harbour Walk 2", "step_abilities": []},
    {
        "key": "1",
        "video_id": "Harbour Walk 2",
        "question": "...",
        "step_abilities": [
            {"step_index": 1, "abilities": ["Semantic understanding", "Visual knowledge"]},
            {"step_index": "answer_step", "abilities": ["World modeling", "Semantic understanding"]},
        ],
    },
    {"key": "500", "video_id": "another video", "step_abilities": [{"abilities": ["Correspondence"]}]},
    {"key": "501", "video_id": "attic", "step_abilities": [{"abilities": ["Telepathy"]}]},
    {"video_id": "attic"},
]
LABEL_FILE = "step_ability_results.json"


def skills_of(found: Loaded) -> dict[str, list[str]]:
    return {item.item_id: [tag for tag in item.tags if tag.startswith("skill:")] for item in found.items}


@pytest.mark.parametrize(
    "place", [LABEL_FILE, f"evaluate/results/archive/step_analysis/{LABEL_FILE}", f"{LABEL_FILE}.gz"]
)
def test_skills_are_tags_where_their_labels_are_there(tmp_path: Path, place: str) -> None:
    annotations = tmp_path / "benchmark" / "annotations" / "1-1114.json"
    annotations.parent.mkdir(parents=True)
    annotations.write_bytes(SAMPLE.read_bytes())
    content = json.dumps(LABELS).encode()
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_bytes(gzip.compress(content) if place.endswith(".gz") else content)
    expected = ["skill:semantic", "skill:visual-knowledge", "skill:world-modeling"]
    for data in (tmp_path, annotations):
        found = load(data)
        assert skills_of(found) == {"1": expected, "500": [], "501": [], "502": []}
        assert {found.items[0].tags[tag] for tag in expected} == {"yes"}
        notes = "\n".join(found.notes)
        assert f"skills of 1 of 4 question(s) come from {Path(place).name}" in notes
        assert "1 entries" in notes
        assert "skills that are not known and not used: Telepathy" in notes


def test_without_good_labels_there_are_no_skills(tmp_path: Path) -> None:
    (tmp_path / "1-1114.json").write_bytes(SAMPLE.read_bytes())
    (tmp_path / LABEL_FILE).write_text(json.dumps(LABELS[1:2]), encoding="utf-8")
    assert len([note for note in load(tmp_path).notes if LABEL_FILE in note]) == 1
    assert not any(skills_of(load(SAMPLE)).values())
    (tmp_path / "1-1114.json").write_bytes(SAMPLE.read_bytes())
    (tmp_path / LABEL_FILE).write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match=LABEL_FILE):
        load(tmp_path)


def test_the_protocols_are_those_of_the_paper_and_of_the_released_runners() -> None:
    protocols = perceptioncomp.create().protocols
    assert next(iter(protocols)) == "paper"
    paper = protocols["paper"]
    assert (paper.style, paper.frames, paper.layout, paper.parser) == ("cot", 64, "images", "robust")
    assert (paper.sampling.temperature, paper.sampling.max_tokens) == (1.0, None)
    assert protocols["direct"].style == "direct"
    thinking = protocols["thinking"]
    assert (thinking.sampling.temperature, thinking.sampling.max_tokens) == (0.7, 16_384)
    assert protocols["frames-50"].frames == 50
    assert (protocols["video"].layout, protocols["video"].parser) == ("video", "robust")
    assert protocols["official-api"].parser == "perceptioncomp-api"
    gemini = protocols["official-gemini"]
    assert (gemini.layout, gemini.parser) == ("video", "perceptioncomp-gemini")
    custom = protocols["official-custom"]
    assert (custom.frames, custom.sampling.max_tokens) == (8, 128)
    assert (custom.parser, custom.prompts) == ("perceptioncomp-custom", "perceptioncomp-custom")
    assert {rules.headline for rules in protocols.values()} == {"micro"}


@pytest.mark.parametrize(
    ("name", "film"),
    [
        ("Chicago_1h14m-1h18m", "Chicago"), ("Parkour_0m35s-1m35s", "Parkour"),
        ("Poland_3h14m30s-3h21m30s", "Poland"),
        ("RacedAcrossTheWorld _1h07m-1h14m", "RacedAcrossTheWorld"),
        ("luxury_home1_10-11", "luxury_home1"), ("2077-1", "2077-1"), ("paris1", "paris1"),
        ("480p_1", "480p_1"), ("Street Parkour 1", "Street Parkour 1"), ("a_-", "a_-"),
    ],
)  # fmt: skip
def test_a_span_at_the_end_of_a_name_tells_the_film(name: str, film: str) -> None:
    assert perceptioncomp.film_of(name) == film
