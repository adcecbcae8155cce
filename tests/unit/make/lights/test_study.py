"""Sheets for a human study: every form, and the key to it."""

import base64
import csv
import io

import pytest
from jinja2.utils import htmlsafe_json_dumps

from vidence.ask.benchmarks.actpld import LabelRow
from vidence.ask.scoring.label_words import LabelWords
from vidence.errors import UsageError
from vidence.make.lights.clips import ClipMade
from vidence.make.lights.study import StudyRules, write_study
from vidence.make.lights.tables import Choice
from vidence.tables.export import FORMULA, NUMBER

NAMES = ("hand_shake", "high five", "hug & kiss")


def studied(folder, **rules):
    """The files of a study, and the rows of its key; the second choice is right."""
    clips, choices = {}, {}
    for i in range(4):
        name = f"clip{i}"
        (folder / f"{name}.mp4").write_bytes(name.encode())
        clips[name] = ClipMade(clip_id=name, path=f"{name}.mp4", sha256="", n_frames=8, fps=8.0, sources=())
        rows = tuple(
            LabelRow(target="label", name=text, group="g", words=LabelWords(text=text)) for text in NAMES
        )
        choices[name] = [Choice(clip_id=name, target="label", choices=rows, right=1)]
    files = write_study(choices, clips, folder, rules=StudyRules(**rules))
    return files, list(csv.DictReader(io.StringIO(files[-1].read_text()))) if files else []


def test_every_form_has_clips_of_its_own_while_there_are_enough(tmp_path):
    files, key = studied(tmp_path, n_forms=2, n_clips=2)
    assert [path.relative_to(tmp_path).as_posix() for path in files] == [
        "study/form-1.html",
        "study/form-2.html",
        "study/key.csv",
    ]
    assert [(row["form"], row["place"]) for row in key] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    assert {row["item_id"] for row in key} == {f"clip{i}/label" for i in range(4)}


def test_clips_come_again_when_there_are_no_more_and_never_twice_in_a_form(tmp_path):
    _, key = studied(tmp_path, n_clips=4, n_forms=3)
    assert len(key) == 12
    for form in "123":
        assert len({row["item_id"] for row in key if row["form"] == form}) == 4


def test_the_key_says_which_choice_is_right(tmp_path):
    _, key = studied(tmp_path, n_forms=4)
    assert {row["right"] for row in key} == {"1", "2", "3"}  # the order is drawn
    for row in key:
        assert row[f"choice_{row['right']}"] == "high five"
        assert {row[f"choice_{i}"] for i in (1, 2, 3)} == {"hand shake", "high five", "hug & kiss"}


def test_a_page_holds_its_films_and_foreign_words_as_data(tmp_path):
    (page, *_), _ = studied(tmp_path, n_forms=1)
    text = page.read_text()
    for i in range(4):
        assert base64.b64encode(f"clip{i}".encode()).decode() in text
    assert "hug & kiss" not in text.replace("&amp;", "&amp").replace("\\u0026", "")
    assert "https://" not in text


def test_the_same_seed_draws_the_same_study(tmp_path):
    keys = []
    for number, seed in enumerate((0, 0, 1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        keys.append(studied(folder, n_forms=2, seed=seed)[1])
    assert keys[0] == keys[1] != keys[2]


def test_no_forms_are_no_files(tmp_path):
    assert studied(tmp_path, n_forms=0) == ((), [])
    assert write_study({}, {}, tmp_path, rules=StudyRules(n_forms=2)) == ()


@pytest.mark.parametrize("rules", [{"n_forms": -1}, {"n_clips": 0}, {"target": "group"}])
def test_rules_that_make_no_study_are_refused(rules):
    with pytest.raises(UsageError, match="a study has 0 or more forms"):
        StudyRules(**rules)


def test_a_page_saves_words_as_every_other_table_does(tmp_path):
    (page, *_), _ = studied(tmp_path, n_forms=1)
    text = page.read_text()
    for pattern in (FORMULA, NUMBER):
        assert f"new RegExp({htmlsafe_json_dumps(pattern)})" in text
    assert "safe(String(text))" in text
