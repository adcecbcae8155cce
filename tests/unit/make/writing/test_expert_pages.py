"""Pages are looked up at a server that answers in the form of Wikipedia's API, and fails on demand."""

from datetime import UTC, datetime, timedelta

import pytest

from servers.wikipedia import WikipediaServer
from vidence.errors import DataError
from vidence.make.gates.licences import read_looks
from vidence.make.writing.expert_pages import Page, PageLook, Wikipedia, look_up, outcomes, page_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PAGES = {"Lens": None, "Lenses": "Lens", "Optics glass": "Lenses", "Spin": "?", "Spinning": "Spin"}


@pytest.fixture
def server():
    with WikipediaServer(pages=PAGES) as running:
        yield running


def looked(server, folder, *titles, now=NOW, language="en", waits=None):
    client = Wikipedia(address=server.url, now=lambda: now, wait=(waits if waits is not None else []).append)
    pages = [Page(language=language, title=title) for title in titles]
    return look_up(pages, kept=folder / "pages.jsonl", now=now, days=30, api=lambda: client)


def test_page_redirect_disambiguation_and_missing_are_told_apart(server, tmp_path):
    found = looked(server, tmp_path, "Lens", "lens", "Lenses", "Optics glass", "Spin", "Spinning", "Nowhere")
    assert {one.page: (one.outcome, one.to) for one in found.values()} == {
        "en:Lens": ("page", ""),
        "en:lens": ("page", ""),
        "en:Lenses": ("redirect", "Lens"),
        "en:Optics glass": ("redirect", "Lens"),
        "en:Spin": ("disambiguation", ""),
        "en:Spinning": ("disambiguation", "Spin"),
        "en:Nowhere": ("missing", ""),
    }
    assert outcomes(found) == {"disambiguation": 2, "missing": 1, "page": 2, "redirect": 2}


def test_what_was_found_is_kept_with_its_date_and_grows_old(server, tmp_path):
    looked(server, tmp_path, "Lens", "Nowhere")
    again = looked(server, tmp_path, "Lens", "Nowhere", "Spin", now=NOW + timedelta(days=29))
    assert server.asked == [("en", ["Lens", "Nowhere"]), ("en", ["Spin"])]
    assert again["en:Lens"].at == NOW
    looked(server, tmp_path, "Lens", now=NOW + timedelta(days=31))
    assert server.asked[-1] == ("en", ["Lens"])
    assert [one.page for one in read_looks(tmp_path / "pages.jsonl", PageLook)] == [
        "en:Lens",
        "en:Nowhere",
        "en:Spin",
        "en:Lens",
    ]


def test_fifty_titles_a_call_and_each_language_at_its_own(server, tmp_path):
    titles = [f"Title {i}" for i in range(101)]
    looked(server, tmp_path, *titles)
    looked(server, tmp_path, "Linse", language="de")
    assert [(language, len(mine)) for language, mine in server.asked] == [
        ("en", 50),
        ("en", 50),
        ("en", 1),
        ("de", 1),
    ]


def test_a_server_in_trouble_is_asked_again_and_then_unknown(server, tmp_path):
    waits = []
    server.faults = [503, "cut", 429]
    assert looked(server, tmp_path, "Lens", waits=waits)["en:Lens"].outcome == "page"
    assert waits == [1, 2, 4]
    server.faults = [500, 500, 500, 500]
    (one,) = looked(server, tmp_path, "Spin").values()
    assert (one.outcome, one.why) == ("unknown", "the server answered 500")
    assert looked(server, tmp_path, "Spin")["en:Spin"].outcome == "disambiguation"  # asked for again
    server.faults = [403]
    assert looked(server, tmp_path, "Nowhere")["en:Nowhere"].why == "the server answered 403"


def test_no_server_is_unknown_and_a_bad_file_is_named(tmp_path):
    class Nowhere:
        url = "http://127.0.0.1:9/{language}"

    (one,) = looked(Nowhere, tmp_path, "Lens").values()
    assert one.outcome == "unknown"
    assert one.why.startswith("the server did not answer")
    (tmp_path / "pages.jsonl").write_text('{"page": "en:Lens"}\n')
    with pytest.raises(DataError, match=r"pages\.jsonl:1"):
        read_looks(tmp_path / "pages.jsonl", PageLook)


def test_a_look_that_was_stopped_goes_on_where_it_was(server, tmp_path):
    class Stopped(Wikipedia):
        def look(self, pages):
            yield from (looks for _, looks in zip(range(2), super().look(pages), strict=False))
            raise KeyboardInterrupt

    pages, kept = [Page(language="en", title=f"Title {i}") for i in range(101)], tmp_path / "pages.jsonl"
    client = Stopped(address=server.url, now=lambda: NOW)
    with pytest.raises(KeyboardInterrupt):
        look_up(pages, kept=kept, now=NOW, days=30, api=lambda: client)
    assert len(read_looks(kept, PageLook)) == 100
    server.asked.clear()
    assert len(looked(server, tmp_path, *(one.title for one in pages))) == 101
    assert server.asked == [("en", ["Title 100"])]


def test_a_part_of_an_answer_is_no_answer(tmp_path):
    with WikipediaServer(pages=PAGES, faults=["part"]) as server:
        (one,) = looked(server, tmp_path, "Spin").values()
    assert (one.outcome, one.why) == ("unknown", "the server's answer is only a part")


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://en.wikipedia.org/wiki/Dolly_zoom", Page(language="en", title="Dolly zoom")),
        ("https://de.wikipedia.org/wiki/K%C3%BCche", Page(language="de", title="K\u00fcche")),
        ("https://zh-yue.wikipedia.org/wiki/A", Page(language="zh-yue", title="A")),
        ("https://simple.wikipedia.org/wiki/AC/DC", Page(language="simple", title="AC/DC")),
        (
            "https://en.wikipedia.org/wiki/Polarizer#Malus'_law",
            Page(language="en", title="Polarizer", fragment="Malus' law"),
        ),
    ],
)
def test_a_page_by_its_link(url, page):
    assert page_of(url) == page


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://en.wikipedia.org/wiki/Lens", "link-form"),
        ("https://en.m.wikipedia.org/wiki/Lens", "link-form"),
        ("https://wikipedia.org/wiki/Lens", "link-form"),
        ("https://www.wikipedia.org/wiki/Lens", "link-form"),
        ("https://en.wikipedia.org/w/index.php?title=Lens", "link-form"),
        ("https://en.wikipedia.org/wiki/", "link-form"),
        ("https://en.wikipedia.org/wiki/Lens?action=edit", "link-form"),
        ("https://en.wikipedia.org:8080/wiki/Lens", "link-form"),
        ("https://ann@en.wikipedia.org/wiki/Lens", "link-form"),
        ("https://en.wikipedia.org/wiki/%FF", "link-form"),
        ("https://en.wikipedia.org/wiki/A%7CB", "link-form"),
        ("https://en.wikipedia.org.example.com/wiki/Lens", "not-wikipedia"),
        ("https://notwikipedia.org/wiki/Lens", "not-wikipedia"),
        ("https://en.wiktionary.org/wiki/lens", "not-wikipedia"),
        ("Lens", "not-wikipedia"),
        ("", "not-wikipedia"),
        ("https://[en.wikipedia.org/wiki/Lens", "not-wikipedia"),
    ],
)
def test_what_is_no_link_to_a_page(url, kind):
    found = page_of(url)
    assert not isinstance(found, Page)
    assert found[0] == kind
    assert repr(url)[1:-1] in found[1]
