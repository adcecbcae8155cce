"""A team's studio whose every text wants to be more than text: ``serve_hostile.py FOLDER``."""

import sys
from pathlib import Path

from vidence.studio.app import configure
from vidence.studio.serving import Bind, address, listen, serve
from vidence.studio.settings import StudioSettings, now
from vidence.studio.upkeep import migrate

sys.path.append(str(Path(__file__).parents[1]))
from subjects.hostile_texts import fill


def main(data: Path) -> None:
    """Serve until it is told to stop."""
    data.mkdir(parents=True, exist_ok=True)
    application = configure(StudioSettings(mode="team", data=data), secret=b"s" * 32)
    migrate()
    fill(data, now=now())
    bind = Bind()
    listening = listen(bind)
    print(f"team: {address(bind, listening)}/", flush=True)  # noqa: T201
    serve(application, listening)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
