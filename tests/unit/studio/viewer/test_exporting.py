"""The pages of the viewer as a folder: links lead to files, no forms, no scripts, bounded in words."""

import re
from html import unescape

import msgspec
import pytest

from subjects.viewed import ITEMS, OTHERS, PWN, TRIALS, state, trial, write_run
from vidence.errors import UsageError
from vidence.studio.bridge.places import place_id
from vidence.studio.settings import Export
from vidence.studio.viewer.filters import Filter
from vidence.studio.viewer.page_client import Asker
from videos.pans import pan, write

LINK = re.compile(r'(?:href|src)="([^"]*)"')


@pytest.fixture
def exported(look, tmp_path):
    """Export some paths; what was told, and the pages by name."""

    def run(*paths, listed=None, to=tmp_path / "out", **more):
        from django.core.handlers.asgi import ASGIHandler

        from vidence.studio.media import with_pieces
        from vidence.studio.viewer.desk import desk
        from vidence.studio.viewer.exporting import export

        client = look(*paths, export=Export(**{"most": 200, **more}), cache_root=tmp_path / "cache")
        (cookie,) = client.cookies.values()
        application = with_pieces(ASGIHandler())  # that of this studio, not the one of the process
        asker = Asker(application, cookie=f"{cookie.key}={cookie.value}")
        told = export(asker, desk().places(), to, listed=listed)
        return told, {path.name: path.read_text() for path in to.glob("*.html")}

    return run


def leads_astray(folder, pages):
    """Links that lead to no file of the folder."""
    return [
        (name, link)
        for name, text in pages.items()
        for link in map(unescape, LINK.findall(text))
        if not link.startswith("#") and not (folder / link.split("#")[0]).is_file()
    ]


@pytest.fixture
def runs(tmp_path):
    """Two runs about one film."""
    (tmp_path / "media").mkdir()
    write(tmp_path / "media" / "film.mp4", pan(2.0, n_frames=60))
    facts = {"media_root": str(tmp_path / "media")}
    write_run(tmp_path / "runs" / "a", facts=facts, plan={"name": "Ours"})
    write_run(tmp_path / "runs" / "b", trials=OTHERS, facts=facts, plan={"name": "Theirs"})
    return tmp_path / "runs"


def test_every_page_of_two_runs_stands_on_its_own(exported, runs, tmp_path):
    before = state(runs)
    told, pages = exported(runs)
    assert (told.n_questions, told.n_pictures, told.problems) == (8, 2, ())
    assert told.n_pages == len(pages)
    assert leads_astray(tmp_path / "out", pages) == []
    for name, text in pages.items():
        assert not re.search("<script|<form|<button|hx-get|127.0.0.1|://", text), name
        assert PWN not in text, name
        if not name.startswith("run-"):  # the tables of a run name their folder of media, as in the report
            assert str(tmp_path) not in text, name
    items = [text for name, text in pages.items() if name.startswith("item-")]
    assert sum("frame 45, 1.50 s" in text for text in items) == 8
    assert sum("Because it is red." in text for text in items) == 8
    assert state(runs) == before


def test_one_list_has_its_runs_side_by_side_and_nothing_else(exported, runs, tmp_path):
    write_run(runs / "c", plan={"name": "Another"})
    ours, theirs = (place_id(runs / name) for name in "ab")
    told, pages = exported(runs, listed=Filter(runs=(ours, theirs), flip="any"))
    assert (told.n_questions, told.problems) == (2, ())
    assert sorted(pages) == [
        *("compare-1.html", "index.html", "item-1.html", "item-2.html", "items-1.html"),
        *("run-1.html", "run-2.html"),
    ]
    assert "scored differently; as in the run" in re.sub(r"</?bdi>", "", pages["items-1.html"])
    assert pages["item-1.html"].count('<section class="told"') == 2
    assert 'title="not part of this export"' in pages["index.html"]
    assert leads_astray(tmp_path / "out", pages) == []


def test_what_is_cut_is_said_in_words(exported, tmp_path, monkeypatch):
    from vidence.studio.viewer import exporting
    from vidence.studio.viewer import items as listing

    for module in (exporting, listing):
        monkeypatch.setattr(module, "PAGE", 5)
    items = [msgspec.structs.replace(ITEMS[0], item_id=f"i{i:03d}", media=()) for i in range(12)]
    run = write_run(tmp_path / "a", items=items, trials=[trial(item, "A") for item in items])
    told, pages = exported(run, most=6)
    assert told.n_questions == 6
    assert "Of these 12 questions, 6 have pages here." in pages["items-1.html"]
    assert {name for name in pages if name.startswith("item-")} == {f"item-{i}.html" for i in range(1, 7)}
    assert "i005" in pages["item-6.html"]
    assert leads_astray(tmp_path / "out", pages) == []


def test_media_are_copied_and_a_folder_that_holds_something_is_not_written_over(exported, runs, tmp_path):
    _, pages = exported(runs / "a", has_media=True)
    (film,) = (tmp_path / "out" / "media").iterdir()
    assert film.read_bytes() == (tmp_path / "media" / "film.mp4").read_bytes()
    assert f'src="media/{film.name}"' in pages["item-1.html"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"is not empty: it holds mine\.txt"):
        exported(runs, to=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["mine.txt"]


def test_a_picture_that_cannot_be_made_is_named_on_the_page_and_told(exported, tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "film.mp4").write_bytes(b"no film")
    run = write_run(tmp_path / "a", trials=TRIALS[:1], facts={"media_root": str(tmp_path / "media")})
    told, pages = exported(run)
    assert "frame 3, 0.10 s cannot be shown" in pages["item-1.html"]
    assert len(told.problems) == 2
    assert leads_astray(tmp_path / "out", pages) == []


def test_questions_of_a_file_have_pages_too(exported, tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(item) + b"\n" for item in ITEMS))
    told, pages = exported(path, most=2)
    assert told.n_questions == 2
    assert "Of these 4 questions, 2 have pages here." in pages["questions-1.html"]
    assert leads_astray(tmp_path / "out", pages) == []
