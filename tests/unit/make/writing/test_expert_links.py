"""The form of links: language, title, fragment; what leads elsewhere."""

import pytest

from vidence.make.writing.expert_links import Page, page_of


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
