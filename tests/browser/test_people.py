"""People's pages in a browser: time that the server counts, guidelines, trial items, roles."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

HERE = Path(__file__).parent
PASSWORD = "correct horse battery"  # noqa: S105 - of tests


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """The address of a team's studio with quick beats."""
    folder = tmp_path_factory.mktemp("people") / "team"
    process = subprocess.Popen(
        [sys.executable, HERE / "serve_team.py", folder, PASSWORD], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    found = re.search(r"http\S+(?=/)", process.stdout.readline())
    assert found is not None
    yield found[0]
    process.terminate()
    process.wait(timeout=20)
    process.stdout.close()


def enter(page, team, name, where):
    page.goto(f"{team}/projects/films/{where}")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Sign in")


def first_row(page):
    return page.get_by_role("table", name="Spans of today").locator("tbody tr").first


def length_s(page):
    page.reload()
    hours, minutes, seconds = page.get_by_role("heading", name="Today:").inner_text().split()[1].split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


def test_time_grows_while_somebody_works_and_once_for_three_tabs(page, team):
    enter(page, team, "Ann", "time")
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


def test_a_page_that_nobody_touches_tells_nothing(page, team):
    enter(page, team, "Ben", "")
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


def test_the_pages_of_somebody_who_works(page, team):
    enter(page, team, "Ann", "time")
    page.get_by_label("From (UTC)").fill("2026-01-01T10:00")
    page.get_by_label("To (UTC)").fill("2026-01-01T09:00")
    page.get_by_label("Why").fill("watched on paper")
    page.get_by_role("button", name="File it").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("ends before it begins")
    expect(page.get_by_label("Why")).to_have_value("watched on paper")
    page.goto(f"{team}/projects/films/guidelines")
    expect(page.get_by_text("What you submit is tied to it")).to_be_visible()


def test_a_role_opens_by_keyboard(page, team):
    enter(page, team, "Rob", "qualification")
    assert "The video does not show it." not in page.content()
    for wanted in ("reject", "accept"):
        for i in (1, 2):
            group = page.get_by_role("group", name=f"Trial item {i}")
            group.get_by_label(wanted).focus()
            page.keyboard.press("Space")
        page.get_by_role("button", name="Hand in").press("Enter")
        if wanted == "reject":
            expect(page.get_by_text("0 of 2 were right; try 2 of 2 is the next.")).to_be_visible()
    expect(page.get_by_text("Passed: 1 of 2 right. The role is open.")).to_be_visible()
    expect(page.get_by_text("The video does not show it.")).to_be_visible()


def test_the_pages_of_an_operator(page, team):
    enter(page, team, "Olga", "people")
    expect(page.get_by_role("row", name=re.compile("physics"))).to_contain_text("fewer than 2")
    ben = page.get_by_role("region", name="Ben")
    ben.get_by_label("Domains").fill("law, physics")
    ben.get_by_role("button", name="Save").press("Enter")
    expect(ben.get_by_label("Domains")).to_have_value("law, physics")
    page.goto(f"{team}/projects/films/time")
    page.get_by_role("button", name="Approve").press("Enter")
    expect(page.get_by_text("None is filed.")).to_be_visible()


def test_a_project_is_begun_and_somebody_signs_in_for_the_first_time(page, team):
    enter(page, team, "Gina", "")
    page.goto(f"{team}/")
    page.get_by_role("link", name="Begin a project").click()
    page.get_by_label("Title").fill("Street scenes")
    page.get_by_label("Name in addresses").fill("streets")
    page.get_by_label("Languages").fill("en, de")
    page.get_by_label("Protocol").select_option("perceptioncomp")
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_text("It can be read")).to_be_visible()
    expect(page.get_by_label("Text (TOML)")).to_have_value(re.compile(r"\[\[stages"))
    page.get_by_role("button", name="Begin the project").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Street scenes")

    page.goto(f"{team}/accounts")
    made = page.get_by_role("region", name="Make an account")
    made.get_by_label("Name to sign in").fill("Nora")
    made.get_by_label("Project").select_option("streets")
    made.get_by_label("author").check()
    made.get_by_role("button", name="Make the account").press("Enter")
    password = page.get_by_label("First password", exact=True).locator("code").inner_text()
    page.locator("summary", has_text="Ben").press("Enter")
    expect(page.get_by_role("button", name="Close the account of Ben")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()

    page.get_by_label("Name").fill("Nora")
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your password")
    page.get_by_label("Password until now").fill(password)
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Studio")  # who sets a password stays signed in
    page.goto(f"{team}/projects/streets/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Street scenes")
