"""A stimulus as a folder that an experiment shows: a PsychoPy script, or a page for jsPsych."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.media.whole import write_whole
from vidence.pointlight.dots import dots_of, write_dots
from vidence.pointlight.stimulus import Stimulus

Player: TypeAlias = Literal["psychopy", "jspsych"]
_FILES: Final[Mapping[Player, Mapping[str, str]]] = {
    "psychopy": {"play.py": "play.py.txt"},
    "jspsych": {"index.html": "page.html", "point-light.js": "point-light.js", "trial.js": "trial.js"},
}
PLAYERS: Final[tuple[Player, ...]] = tuple(_FILES)


def write_player(player: Player, stimulus: Stimulus, folder: Path) -> None:
    """Write a folder that shows the dots of a stimulus by the refreshes of a screen.

    ``psychopy``: ``play.py`` and ``dots.json``; PsychoPy is the user's. ``jspsych``: ``index.html``, which
    plays the film by itself, ``point-light.js`` with the plugin ``jsPsychVidencePointLight`` for jsPsych 7
    and 8, ``trial.js`` with one trial, and ``dots.js`` (a page that is opened as a file can read no JSON);
    the library is the user's. Each dot is drawn in its own colour, its contrast included.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, kept in _FILES[player].items():
        text = resources.files("vidence.pointlight").joinpath("players", kept).read_bytes()
        write_whole(folder / name, text)
    if player == "psychopy":
        write_dots(stimulus, folder / "dots.json")
    else:
        numbers = msgspec.json.encode(dots_of(stimulus))
        write_whole(folder / "dots.js", b"window.videnceDots = " + numbers + b";\n")
