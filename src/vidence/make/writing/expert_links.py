"""The form of a link to a page of Wikipedia."""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from vidence.records import Record

_HOST: Final = re.compile(r"(?!www\.)(?P<language>[a-z]{2,3}(?:-[a-z]+)*|simple)\.wikipedia\.org")
_FORM: Final = "https://LANG.wikipedia.org/wiki/Title"
_PATH: Final = "/wiki/"


class Page(Record, omit_defaults=True):
    """A page by its language and its title, decoded and with blanks; `fragment` is a part of it.

    >>> page_of("https://en.wikipedia.org/wiki/Lens#Types_of_simple_lenses")
    Page(language='en', title='Lens', fragment='Types of simple lenses')
    """

    language: str
    title: str
    fragment: str = ""

    @property
    def name(self) -> str:
        """Language and title in one text."""
        return f"{self.language}:{self.title}"


def page_of(url: str) -> Page | tuple[str, str]:
    """The page that a link names, or the kind of what is wrong with it, and words.

    Kinds are ``not-wikipedia`` and ``link-form``: Wikipedia, in another form than is asked for.

    >>> page_of("https://en.m.wikipedia.org/wiki/Lens")[0], page_of("https://example.org/wiki/Lens")[0]
    ('link-form', 'not-wikipedia')
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").casefold()
    except ValueError as error:
        return "not-wikipedia", f"{url!r} is no address ({error}); expected {_FORM}"
    if host != "wikipedia.org" and not host.endswith(".wikipedia.org"):
        return "not-wikipedia", f"{url!r} leads elsewhere; expected {_FORM}"
    found = _HOST.fullmatch(host)
    bad = (parts.scheme != "https", found is None, not parts.path.startswith(_PATH), bool(parts.query))
    if found is None or any(bad) or parts.netloc.casefold() != host:
        return "link-form", f"{url!r} found; expected {_FORM}"
    title = _words(parts.path.removeprefix(_PATH))
    if not title or "\ufffd" in title or re.search(r"[\[\]{}|<>\n]", title):
        return "link-form", f"{url!r} names no page; expected {_FORM}"
    return Page(language=found["language"], title=title, fragment=_words(parts.fragment))


def _words(text: str) -> str:
    return unquote(text).replace("_", " ").strip()
