"""The table of the hostile suite: areas are merged, and what fell fails the command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "attack.md"
    path.write_text("Words.\n\n<!-- made by make attack -->\n\nold\n")
    return path


def noted(tmp_path, text, *, is_whole=True):
    path = tmp_path / "attack.jsonl"
    path.write_text(f'{text.rstrip()}\n{{"whole": true}}\n' if is_whole else text)
    return path


def test_an_area_that_was_noted_twice_is_one_row_and_the_words_stay(script, tmp_path, page, capsys) -> None:
    rows = (
        '{"area": "kills", "tried": 1000, "held": 1000}\n'
        '{"area": "HTTP", "tried": 2, "held": 2}\n{"area": "kills", "tried": 209, "held": 209}\n'
    )
    assert script("attack_table").main(noted(tmp_path, rows), page) == 0
    assert page.read_text() == (
        "Words.\n\n<!-- made by make attack -->\n\n| area | tried | held |\n| --- | ---: | ---: |\n"
        "| HTTP | 2 | 2 |\n| kills | 1,209 | 1,209 |\n| all | 1,211 | 1,211 |\n"
    )
    assert capsys.readouterr().out == f"attack_table: 2 areas in {page}\n"


def test_what_fell_is_named_and_fails(script, tmp_path, page, capsys) -> None:
    table = noted(tmp_path, '{"area": "judges", "tried": 70, "held": 68}')
    assert script("attack_table").main(table, page) == 1
    assert "fell: judges (2 of 70)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing is noted"),
        ("{", "expected area, tried and held"),
        ("[1]", "expected area, tried and held"),
        ('{"area": "x", "tried": 1}', "expected area, tried and held"),
        ('{"area": "x", "tried": 1, "held": 2}', "2 of 1 held"),
    ],
)
def test_a_file_that_holds_no_rows_is_refused_and_the_page_stays(script, tmp_path, page, text, said) -> None:
    with pytest.raises(SystemExit, match=said):
        script("attack_table").main(noted(tmp_path, text), page)
    assert page.read_text().endswith("old\n")


@pytest.mark.parametrize(("words", "is_whole"), [((), True), (("-k", "holds"), False)])
def test_the_suite_says_when_it_came_to_its_end(tmp_path, words, is_whole) -> None:
    hostile = tmp_path / "tests" / "hostile"
    hostile.mkdir(parents=True)
    (hostile / "conftest.py").write_text((Path(__file__).parents[1] / "hostile" / "conftest.py").read_text())
    (hostile / "test_a.py").write_text("def test_holds(): pass\ndef test_falls(): assert False\n")
    named = words if words and words[0].startswith("tests") else ("tests/hostile", *words)
    told = {"VIDENCE_ATTACK": "long", "VIDENCE_ATTACK_TABLE": str(tmp_path / "notes.jsonl")}
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *named],
        cwd=tmp_path,
        env={**os.environ, **told},
        capture_output=True,
        check=False,
    )
    assert (tmp_path / "notes.jsonl").exists() == is_whole
