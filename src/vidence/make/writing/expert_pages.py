"""Knowledge pages of drafts: parse links, and check with Wikipedia that pages exist.

Every look is kept with its date; what the server cannot say is ``unknown``, and never passes for a page.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec

from vidence.make.gates.licence_youtube import Unread, ask_patiently
from vidence.make.gates.licences import read_looks, write_checks
from vidence.records import Record, by_key

if TYPE_CHECKING:
    import httpx2


_HOST: Final = re.compile(r"(?!www\.)(?P<language>[a-z]{2,3}(?:-[a-z]+)*|simple)\.wikipedia\.org")
_FORM: Final = "https://LANG.wikipedia.org/wiki/Title"
_PATH: Final = "/wiki/"


class Page(Record, omit_defaults=True):
    """A page by language and decoded title; `fragment` is a section.

    >>> page_of("https://en.wikipedia.org/wiki/Lens#Types_of_simple_lenses")
    Page(language='en', title='Lens', fragment='Types of simple lenses')
    """

    language: str
    title: str
    fragment: str = ""

    @property
    def name(self) -> str:
        """Return language and title as one text."""
        return f"{self.language}:{self.title}"


def page_of(url: str) -> Page | tuple[str, str]:
    """Return the page that a link names, or the kind of fault and a message.

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
    match = _HOST.fullmatch(host)
    bad = (parts.scheme != "https", match is None, not parts.path.startswith(_PATH), bool(parts.query))
    if match is None or any(bad) or parts.netloc.casefold() != host:
        return "link-form", f"{url!r} found; expected {_FORM}"
    title = _words(parts.path.removeprefix(_PATH))
    if not title or "\ufffd" in title or re.search(r"[\[\]{}|<>\n]", title):
        return "link-form", f"{url!r} names no page; expected {_FORM}"
    return Page(language=match["language"], title=title, fragment=_words(parts.fragment))


def _words(text: str) -> str:
    return unquote(text).replace("_", " ").strip()


ADDRESS: Final = "https://{language}.wikipedia.org"
ADDRESS_VARIABLE: Final = "VIDENCE_WIKIPEDIA"
PER_CALL: Final = 50
_AGENT: Final = "vidence (looks up whether the pages that questions name are there)"
_TIMEOUT_S: Final = 30.0
PageOutcome: TypeAlias = Literal["page", "redirect", "disambiguation", "missing", "unknown"]


class PageLook(Record, omit_defaults=True):
    """One check of a page, by language and title; `to` is a redirect's target."""

    page: str
    outcome: PageOutcome
    at: datetime
    to: str = ""
    why: str = ""


class _Moved(msgspec.Struct, frozen=True, rename={"source": "from"}):
    source: str
    to: str


class _Properties(msgspec.Struct, frozen=True):
    disambiguation: str | None = None


class _Page(msgspec.Struct, frozen=True):
    title: str
    missing: bool = False
    invalid: bool = False
    pageprops: _Properties = _Properties()


class _Query(msgspec.Struct, frozen=True):
    pages: list[_Page] = []
    normalized: list[_Moved] = []
    redirects: list[_Moved] = []


class _Answer(msgspec.Struct, frozen=True, rename={"more": "continue"}):
    query: _Query
    more: dict[str, object] = {}


class Wikipedia:
    """The API at an address with the placeholder ``{language}``."""

    def __init__(
        self,
        *,
        address: str = ADDRESS,
        now: Callable[[], datetime],
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address, self._now, self._wait = address.rstrip("/"), now, wait

    def look(self, pages: Iterable[Page]) -> Iterator[list[PageLook]]:
        """Yield a check of each page, by language, 50 at a time."""
        import httpx2

        by_language = by_key((page.language, page.title) for page in pages)
        with httpx2.Client(timeout=_TIMEOUT_S, headers={"user-agent": _AGENT}) as client:
            for language, titles in by_language.items():
                asked = list(dict.fromkeys(titles))
                for start in range(0, len(asked), PER_CALL):
                    yield self._of_call(client, language, asked[start : start + PER_CALL])

    def _of_call(self, client: "httpx2.Client", language: str, titles: Sequence[str]) -> list[PageLook]:
        parameters = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "prop": "pageprops",
            "ppprop": "disambiguation",
            "redirects": "1",
            "titles": "|".join(titles),
        }
        address = f"{self._address.replace('{language}', language)}/w/api.php"
        result = ask_patiently(client, address, parameters, read=_answer, wait=self._wait)
        if isinstance(result, Unread):
            return [self._said(language, title, "unknown", why=result.why) for title in titles]
        return [self._one(language, title, result) for title in titles]

    def _one(self, language: str, title: str, query: _Query) -> PageLook:
        normal = {entry.source: entry.to for entry in query.normalized}.get(title, title)
        moved = {redirect.source: redirect.to for redirect in query.redirects}
        end, steps = normal, 0
        while end in moved and steps < len(moved):
            end, steps = moved[end], steps + 1
        page = next((entry for entry in query.pages if entry.title == end), None)
        if page is None:
            return self._said(language, title, "unknown", why="the server's answer does not name this page")
        if page.missing or page.invalid:
            return self._said(language, title, "missing")
        if page.pageprops.disambiguation is not None:
            return self._said(language, title, "disambiguation", to=end if steps else "")
        return self._said(language, title, "redirect" if steps else "page", to=end if steps else "")

    def _said(
        self, language: str, title: str, outcome: PageOutcome, *, to: str = "", why: str = ""
    ) -> PageLook:
        return PageLook(page=f"{language}:{title}", outcome=outcome, at=self._now(), to=to, why=why)


def _answer(status: int, body: bytes) -> _Query | Unread:
    """Return the pages in an answer."""
    if status != 200:
        return Unread(why=f"the server answered {status}", is_passing=status >= 500 or status == 429)
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Unread(why="the server's answer is no list of pages", is_passing=True)
    return Unread(why="the server's answer is only a part") if answer.more else answer.query


def look_up(
    pages: Sequence[Page], *, kept: Path, now: datetime, days: float, api: Callable[[], Wikipedia]
) -> dict[str, PageLook]:
    """Return each page's last check: a stored one if recent enough, else a new one.

    What was found stands in `kept` before the next 50 are asked for.

    Raises:
        DataError: the file cannot be used.
    """
    history = read_looks(kept, PageLook, what="looks")
    known = {
        look.page: look
        for look in sorted(history, key=lambda look: look.at)
        if look.outcome != "unknown" and timedelta() <= now - look.at <= timedelta(days=days)
    }
    wanted = {page.name: page for page in pages}
    asked = [page for name, page in wanted.items() if name not in known]
    for looks in api().look(asked) if asked else ():
        history += looks
        write_checks(kept, history)
        known |= {look.page: look for look in looks}
    return {name: known[name] for name in wanted}


def outcomes(looks: Mapping[str, PageLook]) -> dict[str, int]:
    """Return the number of pages by outcome."""
    return dict(sorted(Counter(look.outcome for look in looks.values()).items()))
