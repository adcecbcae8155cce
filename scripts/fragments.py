"""Fail when a changelog fragment has no known kind or says nothing."""

import sys
from pathlib import Path

KINDS = {"added", "changed", "fixed", "removed", "numbers"}
FOLDER = Path(__file__).parents[1] / "changelog.d"


def main() -> int:
    """Check the names and contents of all fragments."""
    found = []
    for path in sorted(FOLDER.glob("*")):
        if path.name == "README.md":
            continue
        parts = path.name.split(".")
        if len(parts) != 3 or parts[1] not in KINDS or parts[2] != "md":
            found.append(f"{path.name}: expected <short-name>.<kind>.md with kind {', '.join(sorted(KINDS))}")
        if not path.read_text(encoding="utf-8").strip():
            found.append(f"{path.name}: is empty")
    print("\n".join(found) if found else "fragments: in order")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
