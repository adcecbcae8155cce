"""The files of docs/guides/adding.md, as a distribution of their own, work in a run."""

import importlib
import importlib.metadata
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import vidence
from vidence import catalog
from vidence.ask.prompting.templates import Templates
from vidence.errors import DataError, UsageError
from vidence.records import Answered, Item, Reply, Unreadable

PACKAGE = "vidence_riddles"
RIDDLES = "a.gif|Which colour?|red;blue|B\nno fields here\nb.gif|How many?|one;two;three|A\n"


@pytest.fixture
def files(page) -> dict[str, str]:
    """The files on the page, by name."""
    return {block.title: block.body for block in page["docs/guides/adding.md"].blocks() if block.title}


@pytest.fixture
def installed(files, tmp_path, monkeypatch) -> Path:
    """The distribution of the page, as an installer leaves it: the package, and its entry points."""
    site = tmp_path / "site"
    package = site / PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for name, body in files.items():
        if name.endswith(".py"):
            (package / name).write_text(body, encoding="utf-8")
    project = tomllib.loads(files["pyproject.toml"])["project"]
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
    info = site / f"{PACKAGE}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(site)
    importlib.invalidate_caches()
    catalog.forget()
    yield site
    for name in [m for m in sys.modules if m.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    catalog.forget()


def test_every_file_of_the_page_is_named_as_an_entry_point(files):
    points = tomllib.loads(files["pyproject.toml"])["project"]["entry-points"]
    named = {module.partition(".")[2] + ".py" for group in points.values() for module in group.values()}
    assert named == {name for name in files if name.endswith(".py")}


def test_the_catalog_finds_them_by_name(installed):
    for kind, name in {
        "benchmark": "riddles",
        "model": "parrot",
        "selector": "opening",
        "parser": "last-word",
        "judge": "second-opinion",
        "strategy": "vote",
    }.items():
        assert name in catalog.names(kind)
        assert catalog.find(kind, name).__file__ == str(installed / PACKAGE / f"{name.replace('-', '_')}.py")


def test_they_work_together_in_a_run(installed, tmp_path):
    for name in ("a.gif", "b.gif"):
        first, *others = (Image.fromarray(np.full((48, 64), shade, np.uint8)) for shade in range(0, 250, 20))
        first.save(tmp_path / name, save_all=True, append_images=others, duration=100)
    (tmp_path / "riddles.txt").write_text(RIDDLES, encoding="utf-8")
    run = vidence.evaluate(
        "riddles",
        data=tmp_path / "riddles.txt",
        model="parrot:2",
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        selector="opening",
        parser="last-word",
    )
    assert run.facts.problems == ("riddles.txt:2: 1 fields; expected 4, split by |",)
    shown = [[frame.frame_index for frame in row.trial.selection.frames] for row in run.rows]
    assert shown == [list(range(8)), list(range(8))]
    assert [row.trial.reply.text for row in run.rows] == ["Answer: B. blue", "Answer: B. two"]
    # The parser of the page looks at the last word alone, which is no letter here.
    assert [row.outcome for row in run.rows] == ["unreadable", "unreadable"]
    again = vidence.evaluate(
        "riddles",
        data=tmp_path / "riddles.txt",
        model="parrot:2",
        out=tmp_path / "again",
        cache=tmp_path / "cache",
        selector="opening",
        limit=1,
    )
    assert [(row.read, row.correct) for row in again.rows] == [("B", 1.0)]
    voted = vidence.evaluate(
        "riddles",
        data=tmp_path / "riddles.txt",
        model="parrot:2",
        out=tmp_path / "voted",
        cache=tmp_path / "cache",
        selector="opening",
        strategy="vote?times=4",
    )
    assert [row.read for row in voted.rows] == ["B", "B"]
    judged = vidence.evaluate(
        "riddles",
        data=tmp_path / "riddles.txt",
        model="parrot:2",
        out=tmp_path / "judged",
        cache=tmp_path / "cache",
        protocol="step-by-step",
        selector="opening",
        parser="last-word",
        judge="second-opinion",
        judge_models=("scripted:No.",),
    )
    assert judged.plan.style == "cot"
    assert [row.outcome for row in judged.rows] == ["answered", "answered"]
    assert [row.correct for row in judged.rows] == [0.0, 0.0]
    assert [row.score.verdicts[0].said for row in judged.rows] == [("No.",), ("No.",)]


def test_they_refuse_what_they_cannot_use(installed, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    benchmark = catalog.find("benchmark", "riddles").create()
    with pytest.raises(DataError, match="is empty"):
        benchmark.load(empty, split="all")
    with pytest.raises(UsageError, match="no split 'test'"):
        benchmark.load(empty, split="test")
    with pytest.raises(UsageError, match="names no position"):
        catalog.find("model", "parrot").create("first", {})
    with pytest.raises(UsageError, match="no option 'loud'"):
        catalog.find("model", "parrot").create("1", {"loud": "yes"})
    with pytest.raises(UsageError, match="takes no argument"):
        catalog.find("selector", "opening").create("5")
    with pytest.raises(UsageError, match="has no templates"):
        catalog.find("judge", "second-opinion").create(tmp_path)


def test_the_parser_reads_its_last_word(installed):
    parser = catalog.find("parser", "last-word").create()
    item = Item(item_id="q", question="?", choices=("x", "y"), answer="B")
    found = parser.read(item, Reply(text="I say B"))
    assert found == Answered(answer="B", rule="last-word")
    assert parser.mark(item, found).value == 1.0
    assert isinstance(parser.read(item, Reply(text="B, I say")), Unreadable)
    assert isinstance(parser.read(item, Reply(text="I say C")), Unreadable)


def test_the_prompt_of_the_page_can_be_filled(files, tmp_path):
    (tmp_path / "choice-direct.txt").write_text(files["choice-direct.txt"], encoding="utf-8")
    templates = Templates.load("plain", override=tmp_path)
    item = Item(item_id="q", question="What falls?", choices=("cup", "pan"), answer="A")
    said = templates.fill("choice-direct", item, n_frames=4, duration_s=9.0)
    assert said.splitlines()[0] == "Watch the 4 frames. What falls?"
    assert "A) cup" in said
    assert "B) pan" in said
