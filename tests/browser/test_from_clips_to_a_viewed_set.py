"""Three clips become ten questions that are written, reviewed, released, asked and looked at."""

import re
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.world import render

PASSWORD = "correct horse battery"  # noqa: S105 - of tests
CLIPS = (
    "pets09_s2l1_view1_480x360.mp4",
    "intel_one_by_one_person_detection_768x432.mp4",
    "sintel_trailer_480x204.mp4",
)
PEOPLE = """
import sys
from pathlib import Path
from vidence.studio.app import configure
from vidence.studio.settings import StudioSettings
from vidence.studio.upkeep import migrate, secret_of
folder, clips, password = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
folder.mkdir()
configure(StudioSettings(mode="team", data=folder), secret=secret_of(folder))
migrate()
from vidence.studio.accounts import add_user
from vidence.studio.projects import add_project
add_project("clips", "humanpcr-pc", title="Clips", media_root=clips)
for name, role in (("Ada", "author"), ("Bob", "reviewer"), ("Olga", "operator")):
    add_user(name, password, roles=[role], project="clips")
"""
ASKED = (
    *("walks along the path first", "crosses the picture last", "stands still for the longest time"),
    *("carries something", "is seen next to somebody else", "leaves the picture on the left"),
    *("comes nearest to the camera", "turns round", "wears the brightest clothes", "is seen at the end"),
)
OPTIONS = ("the person on the left", "the person on the right", "nobody", "the person in the middle")


@pytest.fixture
def clips(data_dir, tmp_path):
    """A folder of three clips: real ones where they are there, else planted ones."""
    folder = tmp_path / "clips"
    folder.mkdir()
    real = [data_dir / "video" / name for name in CLIPS]
    if not all(one.is_file() for one in real):
        spec = WorldSpec(n_videos=3, items_per_video=1, min_s=20, max_s=20, sizes=((320, 180),), n_variable=0)
        render(tmp_path / "world", spec, seed=3)
        real = sorted((tmp_path / "world" / "videos").iterdir())
    for one in real:
        shutil.copy(one, folder)
    return folder


@pytest.fixture
def team(serve, clips, tmp_path):
    """A studio with an author, a reviewer and an operator."""
    folder = tmp_path / "team"
    subprocess.run([sys.executable, "-c", PEOPLE, folder, clips, PASSWORD], check=True)
    return serve("studio", "serve", folder, "--port", "0")


def vidence(*words, cwd):
    """A command; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "vidence", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(page, project, number):
    """Begin a question, write it, and hand it in."""
    page.goto(f"{project}/new/")
    page.locator("input[name=medium]").nth(number % 3).check()
    page.get_by_role("button", name="Begin").click()
    for name, words in {
        "question": f"Which person {ASKED[number]}?",
        "category": "person",
        "right-text": OPTIONS[number % 4],
        **{f"wrong-{n}-text": OPTIONS[(number + 1 + n) % 4] for n in range(3)},
        "language": "en",
    }.items():
        page.locator(f"[name={name}]").fill(words)
    page.get_by_role("button", name="Hand in").click()
    expect(page).to_have_url(re.compile(r"/items/[0-9a-f-]+/$"))


def accept(page):
    """Say that every field is right and every check holds, accept the item, and wait for the next one."""
    heading = page.get_by_role("heading", level=1)
    before = heading.inner_text()
    for one in page.locator("form[data-look] fieldset[data-row]").all():
        one.get_by_role("radio").first.check()
    page.get_by_label("and take the next one").check()
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(heading).not_to_have_text(before)


def test_ten_questions_of_three_clips(page, serve, team, clips, tmp_path, sign_in):
    project = f"{team.url}/projects/clips"
    sign_in(page, team.url, "Ada")
    page.goto(f"{project}/media/")
    for one in page.locator("input[name=path]").all():
        one.check()
    page.get_by_role("button", name="Register the selected media").click()
    expect(page.locator("input[name=path]")).to_have_count(0)
    for number in range(10):
        write(page, project, number)
    sign_in(page, team.url, "Bob")
    page.goto(f"{team.url}/work")
    page.get_by_role("button", name="Take the next").click()
    for _ in range(10):
        accept(page)
    expect(page.get_by_text("nothing waiting")).to_be_visible()
    sign_in(page, team.url, "Olga")
    page.goto(f"{project}/")
    page.get_by_role("link", name="Releases").click()
    expect(page.get_by_text("10 of 10 questions are accepted")).to_be_visible()
    page.get_by_label("Sources that need no licence").fill("all")
    page.get_by_role("button", name="Release").click()
    expect(page.get_by_role("heading", name="clips-1.0.0")).to_be_visible()
    release = tmp_path / "team" / "releases" / "clips" / "clips-1.0.0"
    run = ("run", "table", "--data", release, "--media", clips, "--model", "baseline:random")
    assert "Accuracy" in vidence(*run, "--out", "runs/clips", cwd=tmp_path)
    shown = serve("view", tmp_path / "runs" / "clips", "--no-open")
    page.goto(shown.door)
    page.get_by_role("link", name="baseline:random").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("baseline:random")
    page.get_by_role("link", name=re.compile("[Qq]uestions")).first.click()
    page.get_by_role("link", name=re.compile("clips")).first.click()
    expect(page.locator("[data-player]")).to_be_visible()
    expect(page.get_by_text("Which person").first).to_be_visible()
