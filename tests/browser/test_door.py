"""The printed address and the first page, in a browser."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


def violations(page) -> list[str]:
    """What axe finds on a page."""
    return [f"{one['id']}: {one['help']}" for one in Axe().run(page).response["violations"]]


@pytest.mark.parametrize("width", [400, 1400])
def test_the_printed_address_opens_the_first_page_once(page, browser, studio_server, width):
    served = studio_server()
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(served.door)
    expect(page.get_by_role("heading", level=1)).to_have_text("Studio")
    assert page.url == f"{served.url}/"
    assert violations(page) == []
    another = browser.new_context().new_page()
    another.goto(served.door)
    expect(another.get_by_role("heading", level=1)).to_have_text("Closed")
    another.context.close()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Closed")
