"""One style sheet for all pages: contrast in both modes, colours in one place, a colour for each state."""

import re
from pathlib import Path

import pytest

import vidence
from vidence.report.results import STATUSES
from vidence.tables.rendering import style_sheet

PACKAGE = Path(vidence.__file__).parent
LIGHT, _, DARK = (
    style_sheet().partition("@media print")[0].partition("@media screen and (prefers-color-scheme: dark)")
)
GROUNDS = ("ground", "card", "raised")
WORDS = ("ink", "quiet", "accent", "alert", "good", "focus")
STATES = ("right", "wrong", "partly", "unreadable", "refused", "failed", "unmarked", "warning")
DRAWN = ("bar", "mark", "fifth")
AA_TEXT, AA_GRAPHICS = 4.5, 3.0
PAIRS = [
    *((word, ground, AA_TEXT) for word in (*WORDS, *STATES) for ground in GROUNDS),
    *((part, ground, AA_GRAPHICS) for part in DRAWN for ground in GROUNDS),
    *((word, "highlight", AA_TEXT) for word in ("ink", "quiet")),
    ("on-accent", "accent", AA_TEXT),
    ("on-film", "film", AA_TEXT),
    ("box", "film", AA_GRAPHICS),
]


def colours(text):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]+);", text))


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * one for one in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    """WCAG 2.2, contrast ratio."""
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_is_that_of_wcag():
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("mode", [LIGHT, DARK], ids=["light", "dark"])
def test_words_and_figures_stand_out_from_their_grounds(mode):
    there = colours(LIGHT) | colours(mode)
    ratios = {
        f"{front} on {ground}": contrast(there[front], there[ground]) / wanted
        for front, ground, wanted in PAIRS
    }
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < 1} == {}


def test_no_other_style_sheet_has_colours_or_sizes_of_its_own():
    sheets = [*PACKAGE.glob("tables/templates/*.css"), *PACKAGE.glob("studio/static/*.css")]
    assert len(sheets) > 5
    for sheet in sheets:
        if sheet.name != "looks.css":
            text = sheet.read_text("utf-8")
            assert not re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", text), sheet.name
            assert not re.findall(r"font-size: ?[\d.]+rem", text), sheet.name
            used = set(re.findall(r"var\(--([\w-]+)", text)) - {"under", "state"}
            assert used <= set(re.findall(r"--([\w-]+):", LIGHT)), sheet.name


def test_every_state_of_a_trial_has_one_colour():
    rules = re.findall(r"^(\..*) \{ --state: var\(--([\w-]+)\); \}$", style_sheet(), re.MULTILINE)
    colour_of = {name: colour for names, colour in rules for name in re.findall(r"\.([\w-]+)", names)}
    for status in STATUSES:
        assert colour_of[status] == colour_of[f"part-{status}"]
