"""The keys of pages: what each does, what somebody has made of it, and what can be no key."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from vidence.records import Record


class Shortcut(Record):
    """One thing that a key does. `usual` also names it to the scripts of pages."""

    name: str
    group: str
    words: str
    usual: str


class Keys(Record):
    """What somebody has made of their keys: whether all are off, and other ones by name; empty: none."""

    is_off: bool = False
    own: dict[str, str] = msgspec.field(default_factory=dict)

    def of(self, one: Shortcut) -> str:
        """The key of a shortcut; empty where it has none."""
        return "" if self.is_off else self.own.get(one.name, one.usual)

    def told(self) -> str:
        """What scripts are told: the keys that are not the usual ones; empty where all are."""
        if not self.own and not self.is_off:
            return ""
        other = {one.usual: self.own[one.name] for one in SHORTCUTS if one.name in self.own}
        return msgspec.json.encode({"off": self.is_off, "own": other}).decode()


_PLAYER, _ROWS, _BOARDS, _FORMS = "Player", "Review and lists", "Boards", "Forms"
SHORTCUTS: Final = tuple(
    Shortcut(group=group, name=name, usual=usual, words=words)
    for group, name, usual, words in (
        (_PLAYER, "play", "k", "play, pause (Space, too)"),
        (_PLAYER, "jump-back", "j", "five seconds back"),
        (_PLAYER, "jump-on", "l", "five seconds on"),
        (_PLAYER, "frame-back", ",", "one frame back; ten with Shift"),
        (_PLAYER, "frame-on", ".", "one frame on; ten with Shift"),
        (_PLAYER, "slower", "[", "slower"),
        (_PLAYER, "faster", "]", "faster"),
        (_PLAYER, "go-to", "g", "go to a frame or a time"),
        (_PLAYER, "replay", "r", "replay the marked range"),
        (_PLAYER, "mark-start", "i", "mark the start"),
        (_PLAYER, "mark-end", "o", "mark the end"),
        (_PLAYER, "evidence", "e", "new evidence from the marked range"),
        (_PLAYER, "evidence-kind", "p", "referred or proactive evidence"),
        (
            _PLAYER,
            "oracle-frame",
            "f",
            "take the shown frame as evidence; on boards, show the film at the crop",
        ),
        (_ROWS, "next", "n", "next row"),
        (_ROWS, "previous", "b", "previous row"),
        (_ROWS, "right", "v", "right, yes, one person"),
        (_ROWS, "wrong", "x", "wrong, no, nobody, no cut"),
        (_ROWS, "message", "m", "the words to the author; on boards, a gradual change"),
        (_ROWS, "search", "/", "to the search of the page"),
        (_ROWS, "keys", "?", "this list"),
        (_BOARDS, "split", "s", "split here; a shot begins here"),
        (_BOARDS, "mark", "t", "mark a track"),
        (_BOARDS, "join", "+", "join with the marked track"),
        (_BOARDS, "same", "=", "the same person as the marked track"),
        (_BOARDS, "drop", "d", "drop the range"),
        (_BOARDS, "count", "c", "count a person; cannot say"),
        (_BOARDS, "count-back", "shift+c", "take the last person back"),
        (_BOARDS, "count-unsure", "q", "one more may be there"),
        (_BOARDS, "boxes", "h", "boxes over the film"),
        (_BOARDS, "take-back", "u", "take back what was done last"),
        (_FORMS, "save", "ctrl+s", "save now"),
        (_FORMS, "send", "ctrl+enter", "hand in; accept"),
        (_FORMS, "send-next", "ctrl+shift+enter", "accept and take the next"),
    )
)
GROUPS: Final = (_PLAYER, _ROWS, _BOARDS, _FORMS)
_BARE: Final = re.compile(r"shift\+[a-z]|[^\W_A-Z1-9]|[!-/:-@\[-`{-~]")
_WITH_CTRL: Final = re.compile(r"ctrl\+(shift\+)?([a-z]|enter)")
_OF_BROWSERS: Final = frozenset(f"ctrl+{one}" for one in ("n", "t", "w", "shift+n", "shift+t", "shift+w"))


def read_keys(said: Mapping[str, str], *, is_off: bool) -> tuple[Keys, dict[str, str]]:
    """The keys that a form says, by name, and for each that cannot be one why.

    Args:
        said: what was typed, by the name of the shortcut; empty: no key. One that is not there is the usual.
        is_off: whether all are switched off.

    >>> keys, faults = read_keys({"play": "Z", "next": ""}, is_off=False)
    >>> keys.own, faults
    ({'play': 'z', 'next': ''}, {})
    """
    typed = {one.name: said.get(one.name, one.usual).strip().casefold().replace(" ", "") for one in SHORTCUTS}
    faults = {}
    taken: dict[str, Shortcut] = {}
    for one in sorted(SHORTCUTS, key=lambda one: typed[one.name] != one.usual):
        key = typed[one.name]
        if not key:
            continue
        if fault := _fault(one, key):
            faults[one.name] = fault
        elif key in taken:
            faults[one.name] = f"{key} is the key of: {taken[key].words}"
        taken.setdefault(key, one)
    own = {one.name: typed[one.name] for one in SHORTCUTS if typed[one.name] != one.usual}
    return Keys(is_off=is_off, own=own), faults


def _fault(one: Shortcut, key: str) -> str:
    """Why something can be no key of a shortcut; empty where it can."""
    if one.usual.startswith("ctrl+"):
        if key in _OF_BROWSERS:
            return f"browsers keep {key} for themselves"
        is_one = _WITH_CTRL.fullmatch(key) is not None
        return "" if is_one else "expected Ctrl with a letter or Enter, such as ctrl+s or ctrl+shift+enter"
    is_one = _BARE.fullmatch(key) is not None
    return "" if is_one else "expected one letter or sign, or Shift with a letter; 1 to 9 pick values"
