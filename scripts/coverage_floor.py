"""Fail when branch coverage falls below what CONTRIBUTING.md promises."""

import sys

import coverage

EVERYTHING = "everything"
ROOM, ALL = 100.0, 90.0


def percent(data: coverage.Coverage, room: str) -> float:
    """Branch coverage of one room of the package, or of everything, in percent."""
    include = ["*/vidence/*"] if room == EVERYTHING else [f"*/vidence/{room}/*"]
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        return data.report(include=include, file=nowhere, show_missing=False)


def main(rooms: list[str]) -> int:
    """Compare every room with its floor."""
    data = coverage.Coverage()
    data.load()
    low = []
    for room in rooms:
        found, floor = percent(data, room), ALL if room == EVERYTHING else ROOM
        print(f"coverage of {room}: {found:.2f} %, at least {floor:g} %{'  <-- too low' * (found < floor)}")
        if found < floor:
            low.append("*/vidence/*" if room == EVERYTHING else f"*/vidence/{room}/*")
    if low:
        data.report(include=low, skip_covered=True, show_missing=True)
    return int(bool(low))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
