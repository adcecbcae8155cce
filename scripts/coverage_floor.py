"""Fail when branch coverage falls below what CONTRIBUTING.md promises."""

import sys

import coverage

FLOORS = {"ask/selection": 100.0, "ask/scoring": 100.0, "statistics": 100.0, "": 90.0}


def percent(data: coverage.Coverage, folder: str) -> float:
    """Branch coverage of one folder of the package, in percent; of all of it for an empty name."""
    include = [f"*/vidence/{folder}/*"] if folder else ["*/vidence/*"]
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        return data.report(include=include, file=nowhere, show_missing=False)


def main() -> int:
    """Compare every folder with its floor."""
    data = coverage.Coverage()
    data.load()
    failed = False
    for folder, floor in FLOORS.items():
        found = percent(data, folder)
        name = folder or "everything"
        failed |= found < floor
        verdict = "  <-- too low" if found < floor else ""
        print(f"coverage of {name}: {found:.2f} %, at least {floor:g} %{verdict}")
    if failed:
        data.report(skip_covered=True, show_missing=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
