"""The printed address and the first page, in a browser."""

from playwright.sync_api import expect


def test_the_printed_address_opens_the_first_page_once(page, browser, studio_server):
    served = studio_server()
    page.goto(served.door)
    expect(page.get_by_role("heading", level=1)).to_have_text("Studio")
    assert page.url == f"{served.url}/"
    another = browser.new_context().new_page()
    another.goto(served.door)
    expect(another.get_by_role("heading", level=1)).to_have_text("Closed")
    another.context.close()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Closed")
