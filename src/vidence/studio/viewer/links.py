"""The links of a page of our own: which there are, and the page with other ones in their place."""

from collections.abc import Mapping
from html import escape
from html.parser import HTMLParser
from typing import Final

_LINKS: Final[Mapping[str, str]] = {"a": "href", "link": "href", "img": "src", "video": "src"}
UNFINISHED: Final = "data-unfinished"
"""An attribute of what a page does not know yet."""
NOT_HERE: Final = "not part of this export"


class LinkParser(HTMLParser):
    """The addresses on a page in order, with the elements that name them, and whether it is finished.

    >>> found = LinkParser('<p data-unfinished><a href="/x?a=1&amp;b=2">x</a> &lt;a href="/y"&gt;</p>')
    >>> found.links, found.is_finished
    ([('a', '/x?a=1&b=2')], False)
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.is_finished = True
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        values = dict(attrs)
        self.is_finished = self.is_finished and UNFINISHED not in values
        if (address := values.get(_LINKS.get(tag, ""))) is not None:
            self.links.append((tag, address))


class _Rewriter(HTMLParser):
    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(convert_charrefs=False)
        self.names = names
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        key = _LINKS.get(tag, "")
        address = dict(attrs).get(key)
        if address is None or address.startswith("#"):
            self.parts.append(self.get_starttag_text() or "")
            return
        name = self.names.get(address, "")
        if not name and tag != "a":  # a picture that is not there
            words = dict(attrs).get("alt") or ""
            self.parts.append(
                f'<span class="bad">{escape(words)} cannot be shown</span>' if tag == "img" else ""
            )
            return
        kept = [(k, v) for k, v in attrs if k != key]
        kept += [(key, name)] if name else [("title", NOT_HERE)]
        starttag = "".join(f" {k}" if v is None else f' {k}="{escape(v)}"' for k, v in kept)
        self.parts.append(f"<{tag}{starttag}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_entityref(self, name: str) -> None:
        self.parts.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.parts.append(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self.parts.append(f"<!{decl}>")


def rewritten(page: str, names: Mapping[str, str]) -> str:
    """A page with other addresses; a link that has none becomes plain words, and says so.

    >>> rewritten('<a href="/x?a=1&amp;b=2">x</a> <a href="/y">y</a> &lt;', {"/x?a=1&b=2": "x.html"})
    '<a href="x.html">x</a> <a title="not part of this export">y</a> &lt;'

    Args:
        page: HTML that our templates wrote.
        names: the new address of each old one.
    """
    rewriter = _Rewriter(names)
    rewriter.feed(page)
    rewriter.close()
    return "".join(rewriter.parts)
