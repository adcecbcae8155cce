"""The files of the two pages on adding, as packages of their own, pass the checks of their kinds and work."""

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from subjects.command_line import CommandLine
from vidence import catalog
from vidence.ask.prompting.templates import Templates
from vidence.pointlight.reading import read_motion
from vidence.records import Item
from vidence.report.results import load_run
from videos import walkers

ROOT = Path(__file__).parents[2]
PAGES = {"vidence_riddles": "docs/guides/adding.md", "vidence_films": "docs/making/adding.md"}
# The diagnostic stands on a page of its own.
HALVES = ("docs/diagnostics/index.md", "halves.py")
RIDDLES = "a.gif|Which colour is red?|red;blue|B\nb.gif|How many?|one;two;three|A\n"
PHRASES = "I cannot tell\nthe answer is B\nI would say that it must be the second one\n"
VERBS = ("wash", "dry", "fill", "lift", "drop", "paint", "break")
ARGUMENTS = '[model]\nparrot = "phrases.txt"\n[scene-source]\ngreetings = "greetings.txt"\n'
# The fewest checks that each of a kind is held to.
LEAST_CHECKS = {
    "benchmark": 6,
    "model": 6,
    "selector": 7,
    "parser": 24,
    "judge": 20,
    "strategy": 5,
    "diagnostic": 12,
    "embedder": 14,
    "executor": 0,
    "view": 4,
    "detector": 2,
    "describer": 1,
    "tracker": 1,
    "shot-detector": 3,
    "event-log": 5,
    "annotation-format": 3,
    "scene-source": 4,
    "task": 11,
    "maker": 3,
    "exporter": 4,
    "mocap-format": 6,
}


def files_of(page, package: str) -> dict[str, str]:
    """The files on a page, by name."""
    blocks = page[PAGES[package]].blocks()
    return {block.title: block.body for block in blocks if block.title}


def modules_of(page, package: str) -> dict[str, str]:
    """The modules of a package, by file name."""
    found = {name: body for name, body in files_of(page, package).items() if name.endswith(".py")}
    if package == "vidence_riddles":
        where, file = HALVES
        (found[file],) = (block.body for block in page[where].blocks() if block.title == file)
    return found


def points_of(page, package: str) -> dict[str, dict[str, str]]:
    """The entry points of a package: the module of each name, by group."""
    points: dict[str, dict[str, str]] = tomllib.loads(files_of(page, package)["pyproject.toml"])["project"][
        "entry-points"
    ]
    return points


def kinds(page) -> dict[str, str]:
    """The kind of each name on the pages."""
    groups = {f"vidence.{catalog.plural(kind)}": kind for kind in catalog.FOLDERS}
    return {
        name: groups[group]
        for package in PAGES
        for group, points in points_of(page, package).items()
        for name in points
    }


def install(page, package: str, site: Path) -> None:
    """A package as an installer leaves it: its modules, and its entry points."""
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").write_text("")
    for name, body in modules_of(page, package).items():
        (site / package / name).write_text(body, encoding="utf-8")
    project = tomllib.loads(files_of(page, package)["pyproject.toml"])["project"]
    info = site / f"{package}-{project['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head)
    lines = []
    for group, points in points_of(page, package).items():
        lines += [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))


def film(path: Path) -> None:
    first, *others = (Image.fromarray(np.full((48, 64), shade, np.uint8)) for shade in range(0, 250, 20))
    first.save(path, save_all=True, append_images=others, duration=100)


@dataclass(frozen=True)
class Site:
    """The folder where the packages are installed, and one with samples of theirs."""

    packages: Path
    samples: Path

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A new process that has the packages."""
        paths = [str(self.packages), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        named = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "VIDENCE_SAMPLES": str(self.samples)}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, **named},
            capture_output=True,
            text=True,
            check=False,
        )

    def vidence(self, folder: Path, *words: str, code: int = 0) -> str:
        """What a command says, in this process."""
        done = CommandLine(folder, dict(os.environ))(*words)
        assert done.code == code, done.out + done.err
        return done.out + done.err


@pytest.fixture(scope="module")
def site(page, tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("adding")
    made = Site(folder / "packages", folder / "samples")
    for package in PAGES:
        install(page, package, made.packages)
    films = files_of(page, "vidence_films")
    for name, text in {
        "riddles/riddles.txt": RIDDLES,
        "phrases.txt": PHRASES,
        "greetings.txt": "1 ann waves at bob\n4.5 bob waves at ann\n",
        "arguments.toml": ARGUMENTS,
        "logs/diary/log.csv": films["log.csv"],
        "annotations/photo-notes/notes.txt": films["notes.txt"],
        "makers/sights/config.toml": films["config.toml"],
    }.items():
        (made.samples / name).parent.mkdir(parents=True, exist_ok=True)
        (made.samples / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture
def installed(site, monkeypatch) -> Site:
    """The packages in this process."""
    monkeypatch.syspath_prepend(site.packages)
    importlib.invalidate_caches()
    catalog.forget()
    yield site
    for name in [m for m in sys.modules if m.partition(".")[0] in PAGES]:
        del sys.modules[name]
    catalog.forget()


@pytest.fixture
def riddles(tmp_path, site) -> Path:
    """A folder of two questions with their videos, of which the second is damaged."""
    folder = tmp_path / "riddles"
    folder.mkdir()
    film(folder / "a.gif")
    (folder / "b.gif").write_bytes(b"GIF89a")
    (folder / "riddles.txt").write_text(RIDDLES, encoding="utf-8")
    (folder / "phrases.txt").write_text(PHRASES, encoding="utf-8")
    return folder


# --------------------------------------------------------------------------- what stands on the pages


def test_the_pages_have_every_kind_and_every_file_is_an_entry_point(page):
    assert set(kinds(page).values()) == set(catalog.FOLDERS)
    for package in PAGES:
        points = points_of(page, package)
        named = {module for group in points.values() for module in group.values()}
        assert named == {f"{package}.{name.removesuffix('.py')}" for name in modules_of(page, package)}


# --------------------------------------------------------------------------- as a package


def test_the_catalog_finds_them_by_name(installed, page):
    for name, kind in kinds(page).items():
        assert name in catalog.names(kind)
        file = Path(catalog.find(kind, name).__file__)
        assert file.is_relative_to(installed.packages)
        assert file.stem == name.replace("-", "_")
        assert catalog.summary(kind, name).endswith(".")
        settings = catalog.settings_type(kind, name)
        assert all(option.help for option in catalog.options_of(settings)) if settings else True


def test_each_passes_the_checks_of_its_kind(site, page):
    found = kinds(page)
    chosen = " or ".join(f"[{name} or -{name}]" for name in found)
    tests = ("-m", "pytest", "-v", "-p", "no:cacheprovider", "-k", chosen, "tests/conformance")
    done = site.python(*tests)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    assert " skipped" not in done.stdout
    passed = re.findall(r"::test_\w+\[(.*)\] PASSED", done.stdout)
    n = {name: sum(id.startswith(name) or id.endswith(f"-{name}") for id in passed) for name in found}
    assert {name: n[name] for name in found if n[name] < LEAST_CHECKS[found[name]]} == {}


def test_the_doctor_lists_them(installed, page, tmp_path):
    said = installed.vidence(tmp_path, "doctor")
    for name, kind in kinds(page).items():
        assert f"plug-in: {kind} {name} (" in said


# --------------------------------------------------------------------------- in use


def test_a_run_with_them_is_resumed_from_another_folder(installed, riddles, tmp_path):
    words = ("--data", "riddles.txt", "--model", "parrot:phrases.txt?line=2", "--selector", "opening:0.25")
    run = tmp_path / "run"
    common = ("--parser", "last-word", "--out", str(run), "--no-page")
    installed.vidence(riddles, "run", "riddles", *words, *common, code=3)  # one video is damaged
    rows = load_run(run).rows
    assert [row.outcome for row in rows] == ["answered", "failed"]
    assert [frame.frame_index for frame in rows[0].trial.selection.frames] == list(range(3, 11))
    film(riddles / "b.gif")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    said = installed.vidence(elsewhere, "resume", "../run", "--no-page")
    assert "1 of 2 were answered before" in said
    again = load_run(run)
    assert again.plan.model == f"parrot:{riddles.resolve() / 'phrases.txt'}?line=2"
    assert [(row.read, row.correct) for row in again.rows] == [("B", 1.0), ("B", 0.0)]


def test_judge_strategy_embedder_and_diagnostic_work(installed, riddles, tmp_path):
    film(riddles / "b.gif")
    words = ("--data", "riddles.txt", "--no-page", "--model")
    asked = ("run", "riddles", *words, "parrot:phrases.txt?line=2")
    installed.vidence(riddles, *asked, "--strategy", "vote?times=4", "--out", str(tmp_path / "voted"))
    assert [row.read for row in load_run(tmp_path / "voted").rows] == ["B", "B"]
    phrase = ("run", "riddles", *words, "parrot:phrases.txt?line=3", "--parser", "last-word")
    judge = ("--judge", "second-opinion", "--judge-model", "scripted:No.", "--protocol", "step-by-step")
    installed.vidence(riddles, *phrase, *judge, "--out", str(tmp_path / "judged"), code=3)
    rows = load_run(tmp_path / "judged").rows
    assert [row.score.verdicts[0].said for row in rows] == [("No.", "No.")] * 2
    scored = ("--selector", "similarity:mean-colour", "--frames", "1", "--out", str(tmp_path / "scored"))
    installed.vidence(riddles, *asked, *scored)
    shown = load_run(tmp_path / "scored").rows[0].trial.selection.frames
    assert [frame.frame_index for frame in shown] == [10]  # the last candidate: it grows brighter
    halves = ("diagnose", "halves", "riddles", *words, "parrot:phrases.txt?line=2")
    said = installed.vidence(riddles, *halves, "--out", str(tmp_path / "halves"))
    assert "Which half counts" in said


def test_a_log_and_a_task_make_questions_and_a_maker_of_its_own_does(installed, page, tmp_path):
    films = files_of(page, "vidence_films")
    for name in ("kitchens.toml", "config.toml"):
        (tmp_path / name).write_text(films[name], encoding="utf-8")
    events = [f"k1,{10 * n},{10 * n + 1 + n * n / 4},{verb},cup" for n, verb in enumerate(VERBS)]
    (tmp_path / "kitchens.csv").write_text("\n".join(["video,from,to,did,what", *events]))
    installed.vidence(tmp_path, "make", "herbench", "kitchens.toml", "--out", "made")
    items = [
        msgspec.json.decode(line, type=Item)
        for line in (tmp_path / "made/items.jsonl").read_bytes().splitlines()
    ]
    assert len(items) == 2
    for item in items:
        lengths = {f"{verb} cup": 1 + n * n / 4 for n, verb in enumerate(VERBS)}
        right = item.choices[ord(item.answer) - ord("A")]
        best = max if "longest" in item.question else min
        assert right == best(item.choices, key=lengths.__getitem__)
    said = installed.vidence(tmp_path, "make", "sights", "config.toml", "--out", "seen")
    assert "2 questions" in said
    assert len((tmp_path / "seen/items.jsonl").read_text().splitlines()) == 2


def test_people_are_tracked_and_a_walker_is_read(installed, tmp_path, rng):
    person = walkers.Walker(left_px=20, top_px=60, speed_px=(4, 0))
    walkers.film(tmp_path / "film.mp4", (person,), n_frames=12)
    specs = (
        *("--detector", "colourful?least=60", "--tracker", "overlap", "--cuts", "leap"),
        *("--refine", "none", "--rate", "0"),
    )
    installed.vidence(tmp_path, "videos", "track", "film.mp4", "--out", "tracks", *specs)
    lines = [line.split(",") for line in (tmp_path / "tracks/tracks.txt").read_text().split()]
    assert [int(line[0]) for line in lines] == list(range(1, 13))
    moved = rng.uniform(0, 2, (20, 13, 3))
    (tmp_path / "one.walker").write_text(
        "walker 13\n" + "\n".join(" ".join(map(str, f.ravel())) for f in moved)
    )
    motion = read_motion(tmp_path / "one.walker", options={"fps": "20"})
    assert motion.source.format == "walker-text"
    np.testing.assert_allclose(motion.positions_m, moved)


def test_the_prompt_of_the_page_can_be_filled(page, tmp_path):
    text = files_of(page, "vidence_riddles")["choice-direct.txt"]
    (tmp_path / "choice-direct.txt").write_text(text, encoding="utf-8")
    templates = Templates.load("plain", override=tmp_path)
    item = Item(item_id="q", question="What falls?", choices=("cup", "pan"), answer="A")
    said = templates.fill("choice-direct", item, n_frames=4, duration_s=9.0)
    assert said.splitlines()[0] == "Watch the 4 frames. What falls?"
    assert "A) cup" in said
    assert "B) pan" in said
