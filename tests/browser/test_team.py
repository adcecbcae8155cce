"""A team's studio in a browser: signing in by keyboard, and what axe says of each page."""

import os
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PASSWORD = "correct horse battery"  # noqa: S105 - of tests


@pytest.fixture
def team_server(serve, tmp_path):
    """A server with a project and an account, and the folder that it keeps."""
    folder = str(tmp_path / "team")
    for words, said in (
        (("project", folder, "films", "--protocol", "mmvu", "--title", "<b>Films</b> & {{7*7}}"), ""),
        (("user", "add", folder, "Ada", "--roles", "operator,author", "--password-stdin"), PASSWORD),
    ):
        command = [sys.executable, "-m", "vidence", "studio", *words]
        subprocess.run(command, input=said, text=True, check=True, stdout=subprocess.DEVNULL)
    return serve("studio", "serve", folder, "--port", "0")


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1400, "light")])
def test_the_pages_of_a_team_by_keyboard(page, team_server, width, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    heading = page.get_by_role("heading", level=1)

    def looked(name):
        assert [one["id"] for one in Axe().run(page).response["violations"]] == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        if folder := os.environ.get("VIDENCE_PICTURES"):
            page.screenshot(path=f"{folder}/{name}-{width}.png")

    page.goto(f"{team_server.url}/health")
    expect(heading).to_have_text("Sign in")
    looked("sign-in")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.get_by_label("Name").focus()
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is wrong")
    looked("refused")
    page.get_by_label("Password").focus()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(heading).to_have_text("State of the server")
    looked("health")
    page.get_by_role("link", name="vidence").press("Enter")
    expect(heading).to_have_text("Studio")
    looked("start")
    page.get_by_role("link", name="<b>Films</b> & {{7*7}}").press("Enter")
    expect(heading).to_have_text("<b>Films</b> & {{7*7}}")
    looked("project")
    page.goto(f"{team_server.url}/projects/no-such/")
    expect(heading).to_have_text("Nothing here")
    looked("fault")
    page.get_by_role("button", name="Sign out").press("Enter")
    expect(heading).to_have_text("Sign in")
    page.go_back()
    page.goto(f"{team_server.url}/health")
    expect(heading).to_have_text("Sign in")
