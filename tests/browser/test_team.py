"""A team's studio in a browser: signing in by keyboard."""

import subprocess
import sys

import pytest
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


def test_the_pages_of_a_team_by_keyboard(page, team_server):
    page.set_viewport_size({"width": 400, "height": 800})
    heading = page.get_by_role("heading", level=1)

    page.goto(f"{team_server.url}/health")
    expect(heading).to_have_text("Sign in")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.get_by_label("Name").focus()
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is wrong")
    page.get_by_label("Password").focus()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(heading).to_have_text("State of the server")
    page.get_by_role("link", name="vidence").press("Enter")
    expect(heading).to_have_text("Studio")
    page.get_by_role("link", name="<b>Films</b> & {{7*7}}").press("Enter")
    expect(heading).to_have_text("<b>Films</b> & {{7*7}}")
    page.goto(f"{team_server.url}/projects/no-such/")
    expect(heading).to_have_text("Nothing here")
    page.get_by_role("button", name="Sign out").press("Enter")
    expect(heading).to_have_text("Sign in")
    page.go_back()
    page.goto(f"{team_server.url}/health")
    expect(heading).to_have_text("Sign in")
