"""MMVU in the shape of its release, on a sample written by hand."""

import gzip
import json
from pathlib import Path
from typing import cast

import pytest

from vidence.ask.benchmarks import mmvu
from vidence.contracts import Loaded
from vidence.errors import DataError, UsageError

SAMPLE = Path(__file__).parents[3] / "golden" / "mmvu" / "validation.json"

# The letters before and after the change of five answers, as recorded in the statistics of the release.
OLD = {"319": "E", "542": "E", "738": "A", "744": "A", "840": "C"}
NEW = {"319": "D", "542": "B", "738": "D", "744": "E", "840": "B"}
# ... and one open answer that changed, too.
OLD_OPEN = {"943": "annular solar eclipse or partial solar eclipse"}
NEW_OPEN = {"943": "lunar eclipse"}


def entries() -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", json.loads(SAMPLE.read_text(encoding="utf-8")))


def load(data: Path, *, split: str = "validation", strict: bool = False) -> Loaded:
    return mmvu.create().load(data, split=split, strict=strict)


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return path


def test_a_question_keeps_everything_that_was_released() -> None:
    bridge = load(SAMPLE).items[0]
    assert bridge.item_id == "validation_0"
    assert bridge.answer_kind == "choice"
    assert bridge.choices == ("arch", "beam", "cable-stayed", "cantilever", "suspension")
    assert bridge.answer == "B"
    assert bridge.media[0].path == "videos/Civil_Engineering/0.mp4"
    assert bridge.media[0].url is not None
    assert bridge.media[0].url.endswith("/videos/Civil_Engineering/0.mp4")
    assert bridge.tags == {
        "subject": "Civil Engineering",
        "discipline": "Engineering",
        "textbook": "A Made-up Handbook of Bridges",
        "question_type": "multiple-choice",
    }
    assert bridge.rationale.startswith("The deck rests")
    assert bridge.knowledge == ("https://en.wikipedia.org/wiki/Beam_bridge",)
    assert bridge.provenance.source == "https://www.youtube.com/watch?v=sample"
    art = load(SAMPLE).items[1]
    assert (art.answer_kind, art.answer, art.choices) == ("text", "linocut", ())
    assert art.tags["discipline"] == "Humanities & Social Sciences"
    assert (art.rationale, art.knowledge) == ("", ())
    found = load(SAMPLE)
    assert found.items[2].tags["subject"] == "Dentistry"
    assert found.items[2].tags["discipline"] == "Healthcare"
    (moved,) = [note for note in found.notes if "in the folder of another subject" in note]
    assert moved.endswith(": validation_2")


@pytest.mark.parametrize(
    ("letters", "revision"),
    [
        (OLD, "2025-01-21"), (NEW, "2025-02-27 or later"), (OLD | OLD_OPEN, "2025-01-21"),
        (NEW | NEW_OPEN, "2025-02-27 or later"), (OLD | NEW_OPEN, "unknown"),
        (OLD | {"744": "E"}, "unknown"), ({"319": "D"}, "unknown"),
    ],
)  # fmt: skip
def test_the_release_is_told_by_the_answers_that_changed(tmp_path, letters, revision):
    bridge = entries()[0]
    rows = [bridge | {"id": f"validation_{n}", "answer": letter} for n, letter in letters.items()]
    if "943" in letters:
        rows[-1]["question_type"] = "open-ended"
    found = load(write(tmp_path / "validation.json", rows))
    assert found.revision == revision
    assert {item.provenance.revision for item in found.items if item.provenance} == {revision}
    assert any("neither known release" in note for note in found.notes) is (revision == "unknown")


@pytest.mark.parametrize(
    ("letters", "said"),
    [
        (OLD | OLD_OPEN, "are those of the release 2025-01-21; in the release 2025-02-27 or later those of "),
        (NEW | NEW_OPEN, "are those of the release 2025-02-27 or later; in the release 2025-01-21 those of "),
    ],
)
def test_the_answers_that_moved_are_listed_by_id(tmp_path: Path, letters: dict[str, str], said: str) -> None:
    row = entries()[1]
    rows = [row | {"id": f"validation_{n}", "answer": letter} for n, letter in letters.items()]
    notes = load(write(tmp_path / "validation.json", rows)).notes
    moved = ", ".join(f"validation_{n}" for n in letters)
    assert f"the answers {said}{moved} differ, so that scores on the two do not compare" in notes


def test_a_mixed_file_says_which_answers_are_of_which_release(tmp_path: Path) -> None:
    letters = OLD | {"744": "E", "840": "A"}
    rows = [entries()[1] | {"id": f"validation_{n}", "answer": letter} for n, letter in letters.items()]
    (note,) = [n for n in load(write(tmp_path / "v.json", rows)).notes if "neither" in n]
    assert "3 are those of 2025-01-21: validation_319, validation_542, validation_738;" in note
    assert "1 are those of 2025-02-27 or later: validation_744)" in note


def test_the_test_split_is_read_without_its_answers():
    found = load(SAMPLE.parent, split="test")
    assert [(item.item_id, item.answer, len(item.choices)) for item in found.items] == [
        *(("test_0", "", 5), ("test_1", "", 0), ("test_2", "", 5))
    ]
    assert [item.answer_kind for item in found.items] == ["choice", "text", "choice"]
    (note,) = [note for note in found.notes if "hidden" in note]
    assert note.startswith("3 question(s) have a hidden answer: they can be asked, and not scored: test_0, ")
    assert not any("neither known release" in note for note in found.notes)
    with pytest.raises(DataError, match=r"holds none of test\.json, data/test\.json"):
        load(SAMPLE.parent / "videos", split="test")


def test_questions_of_the_test_split_are_not_taken_for_others(tmp_path: Path) -> None:
    rows = [entries()[0] | {"id": "test_0"}, {"id": "test_1", "question": "What is it?"}]
    for some in (rows, rows[1:]):
        with pytest.raises(UsageError, match=r"test_\d' found, of the test split; use --split test"):
            load(write(tmp_path / "test.json", some))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": "F"}, "answer: 'F' found; expected one of A, B, C, D, E"),
        ({"question_type": "quiz"}, "question_type: Invalid enum value 'quiz'"),
        ({"metadata": {"subject": "Alchemy"}}, "metadata.subject: 'Alchemy' found; expected one of"),
        ({"metadata": {}}, "metadata.subject: absent"),
        ({"choices": {"A": "x", "B": "y"}}, "choices: the letters A, B found; expected A to E"),
        ({"video": "0.mp4"}, "video: '0.mp4' found"),
    ],
)
def test_a_bad_entry_is_left_out_and_named(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    rows = entries()
    bad = rows[0] | changes
    found = load(write(tmp_path / "validation.json", [*rows[1:], bad]))
    assert [item.item_id for item in found.items] == ["validation_1", "validation_2"]
    (problem,) = found.problems
    assert f": {said}" in problem
    with pytest.raises(DataError, match="strict"):
        load(tmp_path, strict=True)


@pytest.mark.parametrize("place", ["validation.json", "data/validation.json", "validation.json.gz"])
def test_questions_are_found_in_a_folder(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    content = SAMPLE.read_bytes()
    path.write_bytes(gzip.compress(content) if place.endswith(".gz") else content)
    found = load(tmp_path)
    assert len(found.items) == 3
    assert found.content_hash == load(SAMPLE).content_hash
    assert found.media_root == tmp_path


def test_the_folder_of_videos_is_found_beside_the_file_or_above(tmp_path: Path) -> None:
    file = tmp_path / "data" / "validation.json"
    file.parent.mkdir()
    file.write_bytes(SAMPLE.read_bytes())
    assert load(file).media_root == file.parent
    (tmp_path / "videos").mkdir()
    assert load(file).media_root == tmp_path
    assert load(tmp_path).media_root == tmp_path
    (tmp_path / "data" / "videos").mkdir()
    assert load(file).media_root == file.parent
    rows = [entries()[0] | {"video": "videos/Civil_Engineering/0.mp4"}]
    (media,) = load(write(tmp_path / "validation.json", rows)).items[0].media
    assert (media.path, media.url) == ("videos/Civil_Engineering/0.mp4", None)


def test_the_protocols_differ_from_the_papers_in_what_their_names_say() -> None:
    protocols = mmvu.create().protocols
    assert list(protocols) == ["paper", "direct", "rule-first", "vllm", "thinking", "gemini"]
    paper = protocols["paper"]
    assert (paper.selector, paper.frames, paper.judge) == ("mmvu-api", 32, "mmvu-official")
    assert (paper.sampling.temperature, paper.sampling.max_tokens) == (1.0, 1024)
    assert protocols["direct"].style == "direct"
    assert protocols["rule-first"].judge == "rule-first"
    assert (protocols["vllm"].selector, protocols["vllm"].frames) == ("mmvu-vllm", 16)
    assert protocols["thinking"].sampling.max_tokens == 8192
    assert protocols["gemini"].layout == "video"


@pytest.mark.parametrize(
    ("address", "film"),
    [
        ("https://www.youtube.com/watch?v=VkqytRr85ao", "VkqytRr85ao"),
        (" https://www.youtube.com/watch?v=VkqytRr85ao&t=15s", "VkqytRr85ao"),
        ("https://www.youtube.com/watch?list=PL0&v=VkqytRr85ao&index=7", "VkqytRr85ao"),
        ("https://youtu.be/Vkq-tRr85a_?si=abc", "Vkq-tRr85a_"),
        ("https://www.youtube.com/shorts/VkqytRr85ao", "VkqytRr85ao"),
        ("https://www.youtube.com/watch?v=sample", "https://www.youtube.com/watch?v=sample"),
        ("https://example.org/talk.mp4 ", "https://example.org/talk.mp4"),
        ("", ""),
    ],
)
def test_clips_of_one_film_are_known_by_its_id(address: str, film: str) -> None:
    assert mmvu.youtube_id(address) == film


def test_clips_of_one_film_are_one_source(tmp_path: Path) -> None:
    rows = entries()
    for row, end in zip(rows, ("?t=3", ""), strict=False):
        row["youtube_url"] = f"https://youtu.be/VkqytRr85ao{end}"
    first, second, *others = load(write(tmp_path / "validation.json", rows)).items
    assert first.source_id == second.source_id == "VkqytRr85ao"
    assert first.video_id != second.video_id
    assert all(other.source_id != first.source_id for other in others)
