"""Links of pages: found as a browser finds them, and put to other places without another change."""

from vidence.studio.viewer.links import LinkParser, rewritten

PAGE = """<!doctype html><p data-note="&lt;a href=&quot;/x&quot;&gt;">&lt;a href="/y"&gt; &amp; &#x27;</p>
<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>
<a class="b" href="/z?a=1&amp;b=2#c">z</a> <img src="/p" alt="a &quot;b&quot;"></p>"""


def test_words_that_look_like_links_are_none():
    found = LinkParser(PAGE)
    assert found.links == [("a", "/z?a=1&b=2#c"), ("img", "/p")]
    assert found.is_finished
    assert not LinkParser("<p><span data-unfinished>…</span></p>").is_finished
    assert LinkParser("<pre>data-unfinished</pre>").is_finished


def test_only_links_change():
    same = rewritten(PAGE, {"/z?a=1&b=2#c": "z.html#c", "/p": "p.jpg"})
    assert (
        same.replace('href="z.html#c"', 'href="/z?a=1&amp;b=2#c"').replace(
            '<img alt="a &quot;b&quot;" src="p.jpg">', '<img src="/p" alt="a &quot;b&quot;">'
        )
        == PAGE
    )


def test_what_has_no_place_becomes_words():
    page = rewritten(PAGE, {})
    assert '<a class="b" title="not part of this export">z</a>' in page
    assert '<span class="bad">a &quot;b&quot; cannot be shown</span>' in page
    assert rewritten('<a href="#main">x</a>', {}) == '<a href="#main">x</a>'
