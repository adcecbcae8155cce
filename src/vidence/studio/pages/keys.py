"""The keys of one's own account: what each does, another one for it, none, or none at all."""

from typing import Final

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from vidence.records import Record
from vidence.studio.access import BOTH, EVERY_ROLE, Person, route
from vidence.studio.accounts import account_of, known_account
from vidence.studio.pages.faults import fault
from vidence.studio.rules.keys import GROUPS, SHORTCUTS, Keys, Shortcut, read_keys
from vidence.studio.settings import current

_KEPT: Final = "keys"
"""Where they are among the settings of an account."""


class Row(Record):
    """One line of the page: what a key does, the key that holds, and why what was typed is none."""

    name: str
    words: str
    usual: str
    key: str
    fault: str = ""


def keys_of(person: Person | None) -> Keys:
    """What somebody has made of their keys."""
    user = None if person is None or current().settings.mode == "view" else known_account(person)
    return Keys() if user is None else msgspec.convert(user.settings.get(_KEPT, {}), Keys)


def keys(request: HttpRequest) -> HttpResponse:
    """The list, and what becomes of another one."""
    if current().settings.mode == "view":
        return fault(request, 404) if request.method == "POST" else _page(request, keys_of(request.person))
    if request.method != "POST":
        return _page(request, keys_of(request.person))
    said = {name.removeprefix("key:"): str(request.POST[name]) for name in request.POST}
    if reset := request.POST.get("reset", ""):
        said = {} if reset == "all" else {name: key for name, key in said.items() if name != reset}
    read, faults = read_keys(said, is_off=reset != "all" and "off" in request.POST)
    if faults:
        return _page(request, read, faults=faults, status=400)
    user = account_of(request.person)
    user.settings = {**user.settings, _KEPT: msgspec.to_builtins(read)}
    user.save(update_fields=["settings"])
    return HttpResponseRedirect(f"{reverse('keys')}?kept=1")


def key_list(request: HttpRequest) -> HttpResponse:
    """The keys as they are, for the panel that `?` opens on any page."""
    told = _told(keys_of(request.person), faults={}, is_shown=True)
    return render(request, "keys/list.html", told)


def _page(
    request: HttpRequest, read: Keys, *, faults: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    told = _told(read, faults=faults or {}, is_shown=False)
    return render(request, "keys/keys.html", {**told, "is_kept": "kept" in request.GET}, status=status)


def _told(read: Keys, *, faults: dict[str, str], is_shown: bool) -> dict[str, object]:
    def row(one: Shortcut) -> Row:
        key = read.of(one) if is_shown else read.own.get(one.name, one.usual)
        return Row(name=one.name, words=one.words, usual=one.usual, key=key, fault=faults.get(one.name, ""))

    return {
        "groups": [(group, [row(one) for one in SHORTCUTS if one.group == group]) for group in GROUPS],
        "is_off": read.is_off,
        "faults": [one for one in SHORTCUTS if one.name in faults],
    }


urls = [
    route("keys", keys, name="keys", roles=EVERY_ROLE, to=BOTH),
    route("keys/list", key_list, name="key-list", roles=EVERY_ROLE),
]
