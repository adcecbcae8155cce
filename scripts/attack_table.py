"""Write the table of docs/design/attack.md from what the hostile suite noted.

    python scripts/attack_table.py build/attack.jsonl docs/design/attack.md

`make attack` runs the suite and then this. An area that was noted several times is one row. The suite ends
its notes with a line of its own; without it it was stopped, and the page stays as it was.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

MARK = "<!-- made by make attack -->"
WHOLE = '{"whole": true}'  # the last line of a run that came to its end


def merged(lines: Iterable[str]) -> dict[str, tuple[int, int]]:
    """How much was tried and how much held in each area, in the order of their names."""
    found: dict[str, tuple[int, int]] = {}
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            area, tried, held = str(row["area"]), int(row["tried"]), int(row["held"])
        except (ValueError, KeyError, TypeError):
            sys.exit(f"attack_table: line {number} is {line[:80]!r}; expected area, tried and held")
        if not 0 <= held <= tried:
            sys.exit(f"attack_table: {area}: {held} of {tried} held")
        before = found.get(area, (0, 0))
        found[area] = before[0] + tried, before[1] + held
    return dict(sorted(found.items()))


def table(areas: dict[str, tuple[int, int]]) -> str:
    """The areas as a table, with their sum."""
    rows = ["| area | tried | held |", "| --- | ---: | ---: |"]
    rows += [f"| {area} | {tried:,} | {held:,} |" for area, (tried, held) in areas.items()]
    tried, held = (sum(counts) for counts in zip(*areas.values(), strict=True))
    return "\n".join([*rows, f"| all | {tried:,} | {held:,} |"])


def main(noted: Path, page: Path) -> int:
    """Write the page anew; 1 where something did not hold."""
    if not noted.is_file():
        sys.exit(f"attack_table: {noted} is not there; `make attack` makes it")
    lines = [line for line in noted.read_text(encoding="utf-8").splitlines() if line.strip()]
    if lines and lines[-1] != WHOLE:
        sys.exit(f"attack_table: the run that noted {noted} did not come to its end; {page} stays as it was")
    areas = merged(lines[:-1])
    if not areas:
        sys.exit(f"attack_table: nothing is noted in {noted}")
    words, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        sys.exit(f"attack_table: {page} has no line {MARK}")
    page.write_text(f"{words}{MARK}\n\n{table(areas)}\n", encoding="utf-8")
    fell = [f"{area} ({tried - held} of {tried})" for area, (tried, held) in areas.items() if held < tried]
    print(f"attack_table: {len(areas)} areas in {page}" + (f"; fell: {', '.join(fell)}" if fell else ""))
    return int(bool(fell))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit((__doc__ or "").strip())
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
