"""Uploading in Chromium: a real clip in pieces, over a line that drops and a page that is left."""

import subprocess
import sys

import pytest
from playwright.sync_api import expect

from conftest import need

PASSWORD = "correct horse battery"  # noqa: S105 - of tests
MEDIA = "/projects/films/media/"


@pytest.fixture
def team(killable, tmp_path):
    """A server of a project without media, and its author."""
    folder, media = tmp_path / "team", tmp_path / "media"
    media.mkdir()
    for words, said in (
        (("project", folder, "films", "--protocol", "mmvu", "--title", "Films"), ""),
        (("user", "add", folder, "Ann", "--roles", "author", "--password-stdin"), PASSWORD),
    ):
        command = [sys.executable, "-m", "vidence", "studio", *map(str, words)]
        subprocess.run(command, input=said, text=True, check=True, stdout=subprocess.DEVNULL)
    return killable(folder, "--media-root", media)


def test_a_clip_arrives_whole_over_a_dropped_line_and_a_page_that_was_left(
    page, team, sign_in, data_dir, tmp_path
):
    clip = need(data_dir / "video" / "big_buck_bunny_60s_640x360.mp4")
    (tmp_path / "notes.mp4").write_text("no film")
    (tmp_path / "page.html").write_text("<p>no film")
    sign_in(page, team.url, "Ann", MEDIA)
    chooser, state = (
        page.get_by_label("Choose videos or pictures"),
        page.locator("[data-files] [role=status]"),
    )
    asked = []

    def drop(route):
        asked.append(route.request.url)
        if route.request.method == "POST" and len(asked) in (3, 5):
            route.abort()
        else:
            route.continue_()

    page.route("**/media/upload?*", drop)
    chooser.set_input_files(clip)
    expect(state).to_have_text("no connection; continues by itself")
    page.wait_for_function("document.querySelector('progress').value > 0")
    while len(asked) < 5:
        page.wait_for_timeout(100)
    page.unroute("**/media/upload?*")
    page.reload()
    sent = []
    page.on("request", lambda one: sent.append(one.url) if "&at=" in one.url else None)
    chooser.set_input_files([clip, tmp_path / "notes.mp4", tmp_path / "page.html"])
    expect(state.nth(0)).to_have_text("registered", timeout=60_000)
    assert not sent[0].endswith("at=0"), "it goes on where the server has it"
    expect(state.nth(1)).to_contain_text("notes.mp4")
    expect(state.nth(2)).to_contain_text("expected a video or a picture")
    row = page.get_by_role("row").filter(has_text=clip.name)
    expect(row).to_contain_text("usable")
    media = tmp_path / "media"
    assert [one.name for one in media.iterdir()] == [clip.name]
    assert (media / clip.name).read_bytes() == clip.read_bytes()
    for width in (400, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_dropped_picture_and_an_upload_that_is_stopped(page, team, sign_in, tmp_path):
    sign_in(page, team.url, "Ann", MEDIA)
    page.route("**/media/upload?*", lambda route: None)
    page.evaluate(
        """() => {
          const carried = new DataTransfer();
          carried.items.add(new File(["no film"], "dropped.mp4"));
          const form = document.querySelector("[data-upload]");
          form.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, cancelable: true }));
        }"""
    )
    page.get_by_role("button", name="Stop").click()
    state = page.locator("[data-files] [role=status]")
    expect(state).to_have_text("stopped; choose the file again to continue")
