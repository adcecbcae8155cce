"""Benchmarks that are files of data, each against a made release in the real one's layout."""

from fnmatch import fnmatchcase

import pytest

from subjects.samples import release, sample_folder
from vidence import catalog
from vidence.ask.mapping.mapping import NAMED

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
            assert getattr(item, name_of) == value
        for field, value in row.get("span", {}).items():
            assert getattr(item.media[0], field) == value


@pytest.mark.parametrize("name", NAMES)
def test_questions_of_the_saidare_what_get_takes(name: str) -> None:
    facts = catalog.create("benchmark", name)
    files = list(release(name)["files"])
    if facts.release.absent or facts.release.github:
        return
    for pattern in facts.release.questions[:1]:
        assert any(fnmatchcase(file, pattern) for file in files), (pattern, files)


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
