"""What stands beside imported templates."""

import pytest

from vidence.ask.prompting.origin import ImportedSet, ImportedText, read_origin
from vidence.errors import UsageError

TEXTS = tuple(
    ImportedText(template=name, file="f.py", sha256="1" * 64, template_sha256="2" * 64, revision=revision)
    for name, revision in (("choice-cot", "abc"), ("choice-direct", ""))
)
SET = ImportedSet(name="made", paper="Made up", repository="example.org/made", texts=TEXTS)


def test_a_template_counts_to_the_set_that_it_was_imported_with():
    assert SET.label("choice-cot", "2" * 64) == "authors-made"
    assert SET.label("choice-direct", "2" * 64) == "unchecked-made"
    assert SET.label("choice-cot", "3" * 64) == ""
    assert not SET.is_checked


def test_a_folder_without_the_file_says_nothing(tmp_path):
    assert read_origin(tmp_path) is None


@pytest.mark.parametrize("text", ["name = 3", "[", "\xff"])
def test_a_file_that_is_not_ours_is_refused(tmp_path, text):
    (tmp_path / "origin.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match="expected what `vidence prompts import` wrote"):
        read_origin(tmp_path)
