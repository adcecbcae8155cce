"""``vidence prompts``: the sets with label, origin and hash, and prompts taken from a copy."""

import pytest
from click.testing import CliRunner

from vidence.ask.prompting.templates import KNOWN, Templates, digest_of, own_files, sets
from vidence.cli.commands.prompts import prompts
from vidence.errors import UsageError


@pytest.fixture
def said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def say(*arguments):
        done = CliRunner().invoke(prompts, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    return say


def test_the_list_has_label_origin_and_hash(said):
    lines = said("list").splitlines()
    assert lines[len(sets())] == ""
    for name in sets():
        assert any(line.split() == [name, "own", "wording", Templates.load(name).digest] for line in lines)
    assert "vidence prompts import herbench --from CLONE  (github.com/anonsubmission1/HERBench)" in lines


def test_an_unchecked_text_is_called_so_wherever_it_is_listed(said, tmp_path):
    (tmp_path / "words.txt").write_text("Question: $question\n$optionized_str\n")
    flags = ("import", "mmvu", "--from", "words.txt", "--as", "choice-cot")
    with pytest.raises(UsageError, match="or accept this one with --unchecked"):
        said(*flags)
    assert not (tmp_path / "prompts").exists()
    assert "NOT CHECKED" in said(*flags, "--unchecked")
    [line] = [line for line in said("list").splitlines() if line.startswith("prompts/mmvu")]
    assert "imported as mmvu, not checked" in line
    files = own_files(tmp_path / "prompts" / "mmvu", KNOWN)
    assert line.endswith(digest_of(files.values()))
    (tmp_path / "prompts" / "mmvu" / "choice-cot.txt").write_text("{{ question }} {{ choices }}")
    assert "changed since it was imported as mmvu" in said("list")


def test_the_prompts_of_a_judge_are_listed_too(said, tmp_path):
    (tmp_path / "words.txt").write_text("Say whether it is right.")
    out = said("import", "mmvu-judge", "--from", "words.txt", "--as", "system-open", "--unchecked")
    assert "NOT CHECKED" in out
    assert "use them with --judge-prompts prompts/mmvu-judge" in out
    [line] = [line for line in said("list").splitlines() if line.startswith("prompts/mmvu-judge")]
    assert "imported as mmvu-judge, not checked" in line


def test_folders_can_be_named(said, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "choice-cot.txt").write_text("{{ question }} {{ choices }}")
    assert "a folder of your own" in said("list", "mine")
