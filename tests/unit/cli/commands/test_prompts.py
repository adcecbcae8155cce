"""``vidence prompts`` and ``vidence list prompts``: sets with origin and hash, prompts taken from a copy."""

import pytest
from click.testing import CliRunner

from vidence.ask.prompting.templates import KNOWN, Templates, digest_of, own_files, sets
from vidence.cli.main import app
from vidence.errors import UsageError


@pytest.fixture
def said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def say(*arguments):
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    return say


def test_the_list_has_label_origin_and_hash(said):
    lines = said("list", "prompts").splitlines()
    for name in sets():
        assert any(line.split() == [name, "own", "wording", Templates.load(name).digest] for line in lines)
    last = "vidence prompts import herbench --from CLONE  (github.com/anonsubmission1/HERBench)"
    assert any(line.startswith("(herbench) ") and line.endswith(last) for line in lines)


def test_an_unchecked_text_is_called_so_wherever_it_is_listed(said, tmp_path):
    (tmp_path / "words.txt").write_text("Question: $question\n$optionized_str\n")
    flags = ("prompts", "import", "mmvu", "--from", "words.txt", "--as", "choice-cot")
    with pytest.raises(UsageError, match="or accept this one with --unchecked"):
        said(*flags)
    assert not (tmp_path / "prompts").exists()
    assert "NOT CHECKED" in said(*flags, "--unchecked")
    [line] = [line for line in said("list", "prompts").splitlines() if line.startswith("prompts/mmvu")]
    assert "imported as mmvu, not checked" in line
    files = own_files(tmp_path / "prompts" / "mmvu", KNOWN)
    assert line.endswith(digest_of(files.values()))
    (tmp_path / "prompts" / "mmvu" / "choice-cot.txt").write_text("{{ question }} {{ choices }}")
    assert "changed since it was imported as mmvu" in said("list", "prompts")


def test_the_prompts_of_a_judge_are_listed_too(said, tmp_path):
    (tmp_path / "words.txt").write_text("Say whether it is right.")
    out = said("prompts", "import", "mmvu-judge", "--from", "words.txt", "--as", "system-open", "--unchecked")
    assert "NOT CHECKED" in out
    assert "use them with --judge-prompts-dir prompts/mmvu-judge" in out
    [line] = [line for line in said("list", "prompts").splitlines() if line.startswith("prompts/mmvu-judge")]
    assert "imported as mmvu-judge, not checked" in line


def test_a_folder_beside_them_is_ones_own(said, tmp_path):
    (tmp_path / "prompts" / "mine").mkdir(parents=True)
    (tmp_path / "prompts" / "mine" / "choice-cot.txt").write_text("{{ question }} {{ choices }}")
    assert "a folder of your own" in said("list", "prompts")
