"""Benchmarks that are files of data, each against a made release in the real one's layout."""

import json
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import pytest

from subjects.samples import release, sample_folder
from vidence import catalog
from vidence.ask.mapping.mapping import NAMED
from vidence.explain.published.published import beside

NAMES = sorted(path.stem for path in NAMED.glob("*.toml"))
SPLITS = [(name, split) for name in NAMES for split in catalog.create("benchmark", name).splits]


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_a_split_of_the_saidis_read_as_it_is(name: str, split: str) -> None:
    found = catalog.create("benchmark", name).load(sample_folder(name), split=split, strict=True)
    expected = release(name)["splits"][split]
    assert expected
    assert [item.item_id for item in found.items] == [row["item_id"] for row in expected]
    for item, row in zip(found.items, expected, strict=True):
        assert list(item.choices) == row.get("choices", [])
        assert item.answer == row["answer"]
        assert [medium.path or medium.url for medium in item.media] == row["media"]
        assert row.get("tags", {}).items() <= item.tags.items()
        for name_of, value in row.get("fields", {}).items():
            assert json.loads(msgspec.json.encode(getattr(item, name_of))) == value
        for field, value in row.get("span", {}).items():
            assert getattr(item.media[0], field) == value
        for field, parts in (("spans", item.media), ("evidence", item.evidence)):
            found = [[one.start_s, one.end_s] for one in parts]
            assert found == row.get(field, found)


@pytest.mark.parametrize("place", ["questions", ""])
def test_captions_of_the_repository_of_tempcompass_are_joined_with_their_question(
    place: str, tmp_path: Path
) -> None:
    row = {
        "question": "Write a caption.\nInformation A: {}\nGenerated Caption:",
        "answer": "A. stirring soup",
    }
    choice = {"question": "What does the cook do?\nA. peel\nB. stir", "answer": "B. stir"}
    later = {"question": "What is done?\nA. stir\nB. peel", "answer": "A. stir"}
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    for name, rows in {"captioning": [row, row], "multi-choice": [choice, later]}.items():
        (folder / f"{name}.json").write_text(json.dumps({"20010001": {"action": rows}}))
    found = catalog.create("benchmark", "tempcompass").load(tmp_path, split="captioning", strict=True)
    assert [item.item_id for item in found.items] == ["20010001/action/0", "20010001/action/1"]
    for item in found.items:
        assert (item.rationale, item.answer, item.answer_kind) == (choice["question"], "B. stir", "text")


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_published_rows_stand_beside_runs_of_every_split(name: str, split: str) -> None:
    rows = catalog.create("benchmark", name).published
    found = {table.name: table for table in beside(name, split)}
    assert (f"{name}-published" in found) == bool(rows)
    if rows:
        assert [row.cells[0].text for row in found[f"{name}-published"].rows] == [row.model for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_averages_of_tables_and_headlines_are_over_tags_that_questions_have(name: str) -> None:
    facts = catalog.create("benchmark", name)
    items = [
        item
        for split in facts.splits
        for item in facts.load(sample_folder(name), split=split, strict=True).items
    ]
    columns = [column for some in facts.paper_tables.values() for column in some]
    averages = {column.average for column in columns} | {one.headline for one in facts.protocols.values()}
    for kind, _, tag in (one.partition(":") for one in averages):
        assert kind not in ("macro", "all", "graded") or any(item.group(tag) for item in items), tag


@pytest.mark.parametrize("name", NAMES)
def test_questions_of_the_saidare_what_get_takes(name: str) -> None:
    facts = catalog.create("benchmark", name)
    files = list(release(name)["files"])
    assert facts.releases.keys() < set(facts.splits)
    for found in (facts.release, *facts.releases.values()):
        for place in found.github:
            assert any(place.endswith(f"/{file}") for file in files), (place, files)
        for pattern in () if found.absent or found.github else found.questions[:1]:
            assert any(fnmatchcase(file, pattern) for file in files), (pattern, files)
        assert all(pattern in found.media for pattern in found.joined)  # or no piece would be fetched


ARCHIVES = {  # GB of archives, as lists of releases and authors give them
    "activitynet-qa": [5.3] * 27 + [0.132],
    "egoschema": [21.4] * 4 + [20.1],
    "longvideobench": [5.24] * 30,
    "lvbench": [61.8],
    "next-qa": [6.49],
    "perception-test": [70.2],
    "video-mme": [5.0] * 20,
    "vsi-bench": [1.81, 2.89, 1.03],
}


@pytest.mark.parametrize("name", NAMES)
def test_where_media_lie_and_how_large_they_are_is_as_it_was_seen(name: str) -> None:
    facts = catalog.create("benchmark", name)
    said = facts.release
    lies = said.media_access
    assert lies
    assert "here" not in lies or said.media or said.by_hand
    if "elsewhere" in lies or len(lies) > 1:
        assert said.by_hand, "which media are not here"
    if lies == ("by request",):
        assert "form" in f"{facts.licence} {facts.terms}"
    size = sum(ARCHIVES[name]) if name in ARCHIVES else None
    assert said.media_gb == (size if size is None else pytest.approx(size, rel=0.02))
