"""Benchmarks that are files of data, each against a made release in the real one's layout."""

from fnmatch import fnmatchcase

import pytest

from subjects.samples import release, sample_folder
from vidence import catalog
from vidence.ask.mapping.mapping import NAMED

NAMES = sorted(path.stem for path in NAMED.glob("*.toml"))
SPLITS = [(name, split) for name in NAMES for split in catalog.create("benchmark", name).splits]


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_a_split_of_the_release_is_read_as_it_is(name: str, split: str) -> None:
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
def test_questions_of_the_release_are_what_get_takes(name: str) -> None:
    facts = catalog.create("benchmark", name)
    files = list(release(name)["files"])
    if facts.release.absent or facts.release.github:
        return
    for pattern in facts.release.questions[:1]:
        assert any(fnmatchcase(file, pattern) for file in files), (pattern, files)
