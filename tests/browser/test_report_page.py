"""The page of a run: reply and frames in one window, the reply first on a phone, 1,000 questions, paper."""

import json
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from videos.pans import pan, write

N_QUESTIONS = 1000


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The page of a run of 1,000 questions about one film, and that of two runs."""
    folder = tmp_path_factory.mktemp("report")
    write(folder / "film.mp4", pan(2.0, n_frames=60))
    shared = {"media": [{"path": "film.mp4"}], "choices": ["left", "right"], "answer": "A"}
    lines = [
        {"item_id": f"q{n}", "question": f"Which way does shape {n} go?", **shared}
        for n in range(N_QUESTIONS)
    ]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ask = ("run", "table", "--data", "items.jsonl", "--selector", "midpoints", "--frames", "16")
    for words in (
        (*ask, "--model", "scripted:A", "--out", "a"),
        (*ask, "--model", "scripted:B", "--out", "b", "--no-page"),
        ("report", "a", "b", "--html", "two.html", "--items", "20"),
    ):
        subprocess.run([sys.executable, "-m", "vidence", *words], cwd=folder, check=True)
    return (folder / "a" / "report.html").as_uri(), (folder / "two.html").as_uri()


def opened(page, name="q1"):
    """Open a question, at the top of the window."""
    page.locator(f"#{name} > summary").click()
    page.locator(f"#{name}").evaluate("one => one.scrollIntoView()")
    return page.locator(f"#{name}")


@pytest.mark.parametrize(("which", "n_replies"), [(0, 1), (1, 2)])
def test_reply_and_frames_are_in_one_window_and_the_reply_is_first_on_a_phone(page, pages, which, n_replies):
    page.goto(pages[which])
    question = opened(page)
    replies = question.locator("pre:visible")
    frames = question.locator("svg.sheet")
    expect(replies).to_have_count(n_replies)
    expect(frames).to_have_count(1)
    for part in (*replies.all(), frames, question.locator(".choices")):
        box = part.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
    page.set_viewport_size({"width": 400, "height": 800})
    reply, choices, sheet = (
        one.bounding_box() for one in (replies.first, question.locator(".choices"), frames)
    )
    assert reply["y"] + reply["height"] <= choices["y"]
    assert choices["y"] + choices["height"] <= sheet["y"]


def test_a_thousand_questions_are_paged_searched_and_printed(page, pages):
    page.goto(pages[0])
    questions = page.locator("details.item:visible")
    expect(page.locator("details.item")).to_have_count(N_QUESTIONS)
    expect(questions).to_have_count(20)
    expect(page.get_by_text("page 1 of 50")).to_be_visible()
    page.get_by_label("Words in question").fill("shape 77")  # 77, 177 to 977, and 770 to 779
    expect(questions).to_have_count(19)
    page.get_by_role("button", name="Show all").click()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(questions).to_have_count(N_QUESTIONS)
    expect(page.get_by_role("button", name="After")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(questions).to_have_count(20)


def test_the_figure_of_several_runs_stands_before_their_tables(page, pages):
    page.goto(pages[1])
    bars = page.get_by_role("img", name="Bars: Accuracy of each run").bounding_box()
    assert bars["y"] + bars["height"] < page.locator("table:visible").first.bounding_box()["y"]
    assert bars["y"] < 900
