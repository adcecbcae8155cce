"""The demonstration, as a stranger meets it."""

from playwright.sync_api import expect


def test_a_stranger_sees_everything_working(page, serve, tmp_path):
    shown = serve("studio", "demo", tmp_path / "demo", "--no-open")
    heading = page.get_by_role("heading", level=1)
    page.goto(shown.door)
    page.get_by_role("link", name="Demonstration").click()
    expect(heading).to_have_text("Demonstration")
    for state in ("accepted", "in-meta", "rejected", "returned", "reviewed", "submitted", "voided"):
        expect(page.get_by_role("cell", name=state, exact=True).first).to_be_visible()
    page.get_by_role("link", name="My work").click()
    page.get_by_role("button", name="Take the next").first.click()
    expect(page.locator("[data-player]")).to_be_visible()
    expect(
        page.get_by_role("button", name="Accept", exact=True).or_(page.get_by_text("Make your own count"))
    ).to_be_visible()
    page.goto(f"{shown.url}/projects/demonstration/")
    page.get_by_role("link", name="phantom-v002-q04").click()
    page.get_by_role("link", name="Continue writing").click()
    expect(page.get_by_role("button", name="Hand in")).to_be_visible()
    page.goto(f"{shown.url}/runs")
    expect(page.get_by_role("link", name="phantom:fuser")).to_be_visible()
    expect(page.get_by_role("link", name="phantom:blind")).to_be_visible()
    page.get_by_role("link", name="Boards").click()
    page.get_by_role("link", name="street").click()
    page.get_by_role("link", name="Cards of north", exact=True).click()
    expect(page.locator("[data-track]").first).to_be_visible()
    page.get_by_role("link", name="Studies").click()
    page.get_by_role("link", name="What happens in the film").click()
    expect(page.get_by_role("row", name="P01")).to_contain_text("finished")
    page.goto(shown.url)
    page.get_by_role("link", name="Board", exact=True).click()
    expect(page.get_by_role("row", name="North Lab")).to_contain_text("80")
