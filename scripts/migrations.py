"""Write the next migration of the studio from its models, or say that there is nothing to write.

python scripts/migrations.py NAME    # NAME says what changes, such as runs
python scripts/migrations.py --check
"""

import sys
import tempfile
from pathlib import Path

from vidence.studio.app import configure
from vidence.studio.settings import StudioSettings


def main(arguments: list[str]) -> int:
    """Write, or look."""
    if len(arguments) != 1:
        sys.exit(f"migrations: {__doc__}")
    with tempfile.TemporaryDirectory() as folder:
        configure(StudioSettings(mode="view", data=Path(folder)))
        from django.core.management import call_command

        if arguments[0] == "--check":
            call_command("makemigrations", "studio", check_changes=True, dry_run=True)
        else:
            call_command("makemigrations", "studio", name=arguments[0], include_header=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
