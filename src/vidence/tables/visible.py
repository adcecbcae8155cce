"""Make every character of a foreign text harmless to look at."""

import re

# C0 except tab and newline, DEL, C1, surrogates, noncharacters, and the marks that reorder text.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def visible(text: str) -> str:
    r"""The text with control characters and reordering marks written out.

    A model may say anything: a null byte, terminal commands, marks that turn the direction of the
    following text. They are shown, not obeyed. Tabs and line ends stay.

    >>> visible("a\x00b\x1b[2J")
    'a␀b␛[2J'
    """
    return _HIDDEN.sub(_name, text.replace("\r\n", "\n"))


def _name(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩"
