"""People's pages in a browser: time that the server counts, guidelines, trial items, roles."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

HERE = Path(__file__).parent
PASSWORD = "correct horse battery"  # noqa: S105 - of tests


@pytest.fixture(scope="module")
def team(serve_script, tmp_path_factory):
    """The address of a team's studio with quick beats."""
    return serve_script("serve_team.py", tmp_path_factory.mktemp("people") / "team", PASSWORD).rstrip("/")


def first_row(page):
    return page.get_by_role("table", name="Spans of today").locator("tbody tr").first


def length_s(page):
    page.reload()
    hours, minutes, seconds = page.get_by_role("heading", name="Today:").inner_text().split()[1].split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


def test_time_grows_while_somebody_works_and_once_for_three_tabs(page, team, sign_in):
    sign_in(page, team, "Ann", "/projects/films/time")
    tabs = [page, *(page.context.new_page() for _ in range(2))]
    for tab in tabs[1:]:
        tab.goto(f"{team}/projects/films/")
    began = page.evaluate("performance.now()")
    for _ in range(10):
        for tab in tabs:
            tab.mouse.move(5, 5)
            tab.mouse.move(9, 9)
        page.wait_for_timeout(200)
    passed_s = (page.evaluate("performance.now()") - began) / 1000
    for tab in tabs[1:]:
        tab.close()
    worked = length_s(page)
    assert 1 <= worked <= passed_s + 2, (worked, passed_s)
    expect(first_row(page)).to_contain_text("active")


def test_a_page_that_nobody_touches_tells_nothing(page, team, sign_in):
    sign_in(page, team, "Ben", "/projects/films/")
    told = []
    page.on("request", lambda one: told.append(one.url) if one.url.endswith("/beat") else None)
    page.mouse.move(5, 5)
    page.wait_for_timeout(500)
    assert told
    page.wait_for_timeout(1000)
    told.clear()
    page.wait_for_timeout(800)
    assert told == []
    page.keyboard.press("ArrowDown")
    with page.expect_request("**/beat") as one:
        pass
    assert "path=%2Fprojects%2Ffilms%2F" in one.value.post_data
    assert not re.search(
        r"time|date|\d{10}", one.value.post_data.replace("csrfmiddlewaretoken", "").split("&")[0]
    )
