"""Pages for a human study: what is in every form, what is not, and the key to it."""

import csv
import io
import json

import pytest
from jinja2.utils import htmlsafe_json_dumps

from vidence.ask.benchmarks.actpld import LabelRow
from vidence.ask.scoring.label_words import LabelWords
from vidence.ask.selection.actpld import start_of
from vidence.errors import DataError, UsageError
from vidence.make.lights.study import StudyClip, StudyRules, read_key, write_study
from vidence.make.lights.tables import ClipChoices
from vidence.pointlight.experiments import dots_of
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.stimulus import make_stimulus
from vidence.tables.export import FORMULA, NUMBER

NAMES = ("hand_shake", "high five", "hug & kiss")
DOTS = dots_of(
    make_stimulus(staged(["walker:walk?duration_s=0.6"]), StimulusSpec(width_px=64, height_px=64, n_noise=2))
)


def shown(number: int, kind: str) -> StudyClip:
    rows = tuple(
        LabelRow(target="label", name=text, group="g", words=LabelWords(text=text)) for text in NAMES
    )
    name = f"secret{number}"
    choice = ClipChoices(clip_id=name, target="label", choices=rows, right=1)
    return StudyClip(clip_id=name, set=kind, source=f"person {number // 2}", choice=choice, dots=lambda: DOTS)


def studied(folder, *, n_single=6, n_social=4, texts=("", ""), **rules):
    """The pages as JSON, the key, and the notes; the second choice of each clip is right."""
    clips = [shown(n, "single") for n in range(n_single)]
    clips += [shown(n, "social") for n in range(n_single, n_single + n_social)]
    files, notes = write_study(clips, folder, rules=StudyRules(**rules), texts=texts)
    texts_of = [path.read_text() for path in files[:-1]]
    pages = [json.loads(t.split('id="items">')[1].split("</script>")[0]) for t in texts_of]
    key = list(csv.DictReader(io.StringIO(files[-1].read_text()))) if files else []
    return pages, key, (texts_of, notes)


def asked(key, form):
    return [row for row in key if row["form"] == str(form) and row["kind"] == "asked"]


def test_a_form_has_clips_of_both_sets_and_practice_apart(tmp_path):
    pages, key, _ = studied(tmp_path, n_forms=2, n_clips=2, n_practice=2, n_catch=1)
    for form, page in enumerate(pages, start=1):
        assert [row["set"] for row in asked(key, form)] == ["single", "single", "social", "social"]
        kinds = [item["kind"] for item in page]
        assert kinds[:2] == ["practice", "practice"]
        assert kinds.count("catch") == 1
        assert kinds[2] == "asked"
    items = [row["item_id"] for form in (1, 2) for row in asked(key, form)]
    assert len(set(items)) == 8  # of its own as long as there are enough
    assert all(not row["item_id"] for row in key if row["kind"] != "asked")
    assert {row["source_id"] for row in key if row["kind"] == "asked"} <= {f"person {n}" for n in range(5)}


def test_clips_come_again_when_there_are_no_more_and_never_twice_in_a_form(tmp_path):
    _, key, (_, notes) = studied(tmp_path, n_clips=5, n_forms=3, n_practice=0)
    for form in (1, 2, 3):
        assert len({row["item_id"] for row in asked(key, form)}) == len(asked(key, form)) == 9
    assert notes == ("study: 4 clips of the set social, so that a form has these instead of 5",)


def test_sets_can_be_mixed(tmp_path):
    _, key, _ = studied(tmp_path, n_clips=4, n_forms=1, order="mixed", n_practice=0, seed=3)
    found = [row["set"] for row in asked(key, 1)]
    assert found != sorted(found)
    assert sorted(found) == ["single"] * 4 + ["social"] * 4


def test_the_key_says_which_choice_is_right_and_the_page_does_not(tmp_path):
    pages, key, (texts, _) = studied(tmp_path, n_forms=4, n_clips=2)
    known = {row["trial_id"]: row for row in key}
    assert {row["right"] for row in key} == {"1", "2", "3"}  # the order is drawn
    for item in (item for page in pages for item in page):
        row = known[item["id"]]
        assert item["choices"] == [row[f"choice_{n}"] for n in (1, 2, 3)]
        assert set(item) == {"id", "kind", "choices", "dots"} | (
            {"told"} if item["kind"] != "asked" else set()
        )
        if item["kind"] != "catch":
            assert row[f"choice_{row['right']}"] == "high five"
            assert row[f"letter_{row['right']}"] == "B"
        if item["kind"] != "asked":
            assert item["told"] == int(row["right"])
    for text in texts:
        assert "secret" not in text
        assert "person " not in text
        assert "<video" not in text
        assert "://" not in text


def test_the_dots_are_those_of_the_stimulus(tmp_path):
    ((first, *_),), _, _ = studied(tmp_path, n_forms=1, n_clips=1)
    dots = first["dots"]
    assert (len(dots["frames"]), dots["fps"]) == (len(DOTS.frames), DOTS.fps)
    for ours, theirs in zip(dots["frames"], DOTS.frames, strict=True):
        assert ours["visible"] == [int(v) for v in theirs.visible]
        for mine, full in zip(ours["x_px"], theirs.x_px, strict=True):
            assert (mine is None) == (full is None)
            assert mine is None or abs(mine - full) <= 0.0051


@pytest.mark.parametrize(("frames", "stride"), [("actpld", 1), ("actpld:2", 2)])
def test_people_can_see_the_frames_that_models_see(tmp_path, frames, stride):
    ((first, *_),), _, _ = studied(tmp_path, n_forms=1, n_clips=1, frames=frames)
    start = start_of(len(DOTS.frames), 7 * stride + 1, step=8, retry=0)
    wanted = [DOTS.frames[start + stride * n].y_px[0] for n in range(8)]
    found = [frame["y_px"][0] for frame in first["dots"]["frames"]]
    assert [v is None for v in found] == [v is None for v in wanted]
    assert all(v is None or abs(v - w) <= 0.0051 for v, w in zip(found, wanted, strict=True))
    assert first["dots"]["fps"] == DOTS.fps / stride  # the pace of the recording


def test_the_key_to_forms_that_were_made_before_stays(tmp_path):
    before = studied(tmp_path, n_forms=1, n_clips=2)[1]
    after = studied(tmp_path, n_forms=1, n_clips=2, n_single=5)[1]
    assert {row["trial_id"] for row in before} < {row["trial_id"] for row in after}
    assert len({row["trial_id"] for row in after}) == len(after)
    assert studied(tmp_path, n_forms=1, n_clips=2, n_single=5)[1] == after


def test_what_people_agree_to_and_are_told_is_text(tmp_path):
    _, _, ((text,), _) = studied(
        tmp_path, n_forms=1, n_clips=1, texts=("You may stop & go.\n\n<b>", "Thanks")
    )
    assert "You may stop &amp; go.\n\n&lt;b&gt;" in text
    assert "Thanks" in text
    assert 'id="agree"' in text
    (tmp_path / "c.txt").write_text("Yes?")
    assert StudyRules(consent="c.txt").texts(tmp_path) == ("Yes?", "")
    (tmp_path / "c.txt").write_text(" ")
    with pytest.raises(DataError, match="is empty"):
        StudyRules(consent="c.txt").texts(tmp_path)
    with pytest.raises(DataError, match=r"none.txt: the debrief"):
        StudyRules(debrief="none.txt").texts(tmp_path)


def test_no_forms_are_no_files(tmp_path):
    assert write_study([shown(1, "single")], tmp_path, rules=StudyRules()) == ((), ())
    assert write_study([], tmp_path, rules=StudyRules(n_forms=2)) == ((), ())
    assert read_key(tmp_path / "none.csv") == []


def test_practice_leaves_something_to_ask(tmp_path):
    with pytest.raises(UsageError, match="needs more than these 10"):
        studied(tmp_path, n_forms=1, n_practice=10)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"n_forms": -1}, "0 or more forms"),
        ({"n_clips": 0}, "0 or more forms"),
        ({"target": "group"}, "label or intention"),
        ({"repeats": 0}, "repeats of a study is 0"),
        ({"most_plays": -1}, "most_plays"),
        ({"frames": "actpld:0"}, "expected all, actpld or actpld:STRIDE"),
    ],
)
def test_rules_that_make_no_study_are_refused(rules, said):
    with pytest.raises(UsageError, match=said):
        StudyRules(**rules)


def test_a_page_saves_words_as_every_other_table_does(tmp_path):
    _, _, ((text,), _) = studied(tmp_path, n_forms=1, n_clips=1)
    for pattern in (FORMULA, NUMBER):
        assert f"new RegExp({htmlsafe_json_dumps(pattern)})" in text
    assert "safe(String(text))" in text
