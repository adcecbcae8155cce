"""The page of a study with points of light, as people use it: consent, practice, words, choices, saving."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from vidence.ask.benchmarks.actpld import LabelRow
from vidence.ask.scoring.label_words import LabelWords
from vidence.make.lights.answers import read_answers
from vidence.make.lights.study import StudyClip, StudyRules, write_study
from vidence.make.lights.tables import ClipChoices
from vidence.pointlight.experiments import dots_of
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.stimulus import make_stimulus

RULES = StudyRules(n_forms=1, n_clips=1, n_practice=1, n_catch=1, most_plays=2, frames="actpld", seed=2)
DOTS = dots_of(
    make_stimulus(
        staged(["walker:walk?duration_s=0.4"]), StimulusSpec(width_px=128, height_px=128, dot_radius_px=2)
    )
)


@dataclass(frozen=True)
class Study:
    """A form of three clips, what is in it, and its key."""

    form: Path
    items: list[dict]
    key: Path


@pytest.fixture
def study(tmp_path):
    rows = tuple(
        LabelRow(target="label", name=text, group=text, words=LabelWords(text=text))
        for text in ("walk", "=jump", "wave")
    )
    clips = [
        StudyClip(
            clip_id=f"clip{n}",
            set="single",
            source="",
            choice=ClipChoices(clip_id=f"clip{n}", target="label", choices=rows, right=1),
            dots=lambda: DOTS,
        )
        for n in range(3)
    ]
    (form, key), _ = write_study(
        clips, tmp_path, rules=RULES, texts=("You may stop at any time.", "It was about points.")
    )
    items = json.loads(form.read_text().split('id="items">')[1].split("</script>")[0])
    return Study(form=form, items=items, key=key)


def begin(page, study, who="p 1"):
    page.goto(study.form.as_uri())
    page.get_by_label("I agree").check()
    page.get_by_label("Your code").fill(who)
    page.get_by_role("button", name="Begin", exact=True).click()


def play(page):
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("!document.getElementById('words').disabled && film === null")


def choose(page, number):
    page.locator("#choices input").nth(number - 1).check()
    page.locator("#chosen").click()


def saved(page):
    with page.expect_download() as got:
        page.get_by_role("button", name="Save the answers").click()
    return Path(got.value.path())


@pytest.mark.parametrize("width", [400, 1400])
def test_a_person_goes_through_a_form(page, study, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(study.form.as_uri())
    page.get_by_role("button", name="Begin", exact=True).click()
    page.get_by_text("Please say that you agree").wait_for()
    begin(page, study)
    assert page.get_by_label("Please describe").is_disabled()  # nothing is said before something is seen
    wrong = study.items[0]["told"] % 3 + 1
    for item in study.items:
        play(page)
        page.get_by_label("describe it").fill('=somebody, "walks"')
        page.locator("#described").click()
        if item["kind"] == "catch":
            page.get_by_text(f'please choose "{item["choices"][item["told"] - 1]}"').wait_for()
        choose(page, wrong if item["kind"] == "practice" else item.get("told", 1))
        if item["kind"] == "practice":
            page.get_by_text("The answer is").wait_for()
            page.locator("#onward").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_text("It was about points.").wait_for()
    path = tmp_path / "saved.csv"
    path.write_bytes(saved(page).read_bytes())
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["kind"] for row in rows] == [item["kind"] for item in study.items]
    assert {row["participant"] for row in rows} == {"p 1"}
    assert {row["description"] for row in rows} == {'\'=somebody, "walks"'}  # no formula for a spreadsheet
    assert all(row["plays_describing"] == "1" and float(row["describe_s"]) > 0.2 for row in rows)
    answers = read_answers([path], study.key)
    assert [one.is_right for one in answers if one.key["kind"] == "catch"] == [True]
    if width == 400:
        assert Axe().run(page).response["violations"] == []


def test_a_closed_tab_loses_nothing(page, study):
    begin(page, study)
    play(page)
    page.get_by_label("describe it").fill("somebody wal")
    page.goto("about:blank")
    page.goto(study.form.as_uri())
    assert page.get_by_label("describe it").input_value() == "somebody wal"
    page.get_by_text("1 of 2 left").wait_for()
    play(page)
    assert page.get_by_role("button", name="Play again").is_disabled()  # seen as often as it may be
    page.locator("#described").click()
    page.locator("#choices input").first.wait_for()
    page.reload()
    choose(page, study.items[0]["told"])
    page.get_by_text("That is right.").wait_for()
    page.reload()
    page.locator("#onward").click()
    page.get_by_text("1 of 2", exact=True).wait_for()
    kept = page.evaluate("JSON.parse(localStorage.getItem(store))")
    assert [row[13] for row in kept["rows"]] == [2]
    assert kept["place"] == 1


def test_a_browser_that_keeps_nothing_says_so(page, study):
    page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
    )
    begin(page, study)
    page.get_by_text("This browser keeps no answers").wait_for()


def test_what_is_drawn_are_the_eight_frames_of_the_models(page, study):
    begin(page, study)
    page.evaluate(
        "() => { window.drawn = []; const draw = videncePointLight.play;"
        " videncePointLight.play = (c, d, o) => {"
        " window.drawn.push([d.frames.length, d.fps, c.width]); return draw(c, d, o); }; }"
    )
    play(page)
    assert page.evaluate("window.drawn") == [[8, 30, 128]]
    assert page.locator("video").count() == 0
