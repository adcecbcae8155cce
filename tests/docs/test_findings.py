"""Every finding in docs/design/findings.md is struck through and names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "design" / "findings.md"
PARTS = {"Numbers": 13, "Papers": 14, "Trust": 7, "Studio": 2}


def items(part: str) -> list[str]:
    """The numbered items of a section, each with its lines."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {part}\n")[1].split("\n## ")[0]
    return re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]


def test_each_finding_is_there_once_and_names_its_tests():
    found = {part: items(part) for part in PARTS}
    assert {part: len(some) for part, some in found.items()} == PARTS
    for item in (item for some in found.values() for item in some):
        assert re.match(r"~~[^~]+~~\s+`", item), item
        assert re.findall(r"`([^`]*test_[^`]*)`", item), item


def test_the_tests_that_hold_a_finding_exist():
    for item in (item for part in PARTS for item in items(part)):
        file = ""
        for named in re.findall(r"`([^`]*test_[^`]*)`", item.split("~~")[2]):
            path, _, name = named.rpartition("::")
            file = path or file  # a test without a file is in that of the test before it
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), named
