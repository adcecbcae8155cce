"""Parts of the demonstration besides its project: a set with boards, a study, and a leaderboard."""

import secrets
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from vidence.ask.phantom.scene import LOOKS
from vidence.engine.environment import Environment
from vidence.make.gates.rules import ReleaseRules
from vidence.make.makers import herbench
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.release.hidden import HIDDEN_SUFFIX
from vidence.make.release.sets import SetMaterial, SetRules, release_set
from vidence.media.whole import write_whole
from vidence.media.written import write_video
from vidence.records import Item
from vidence.study.drawing import draw, write_drawn
from vidence.study.frames import write_frames
from vidence.study.progress import Begin, Ended, Trial
from vidence.study.study import read_study

if TYPE_CHECKING:
    from vidence.studio.records.people import ProjectRow, UserRow
    from vidence.studio.records.studies import ParticipantRow

STREET, STUDY, HIDDEN = "street", "study", "hidden"
CONFIG: Final = f"{STREET}/config.toml"
TEAMS: Final = {"Noor": ("North Lab", (8,)), "Finn": ("Red Pandas", (6, 7, 9)), "Uli": ("Uniform", (6,))}
"""Submitters: their teams, and the number of right answers of each submission."""
WAITING: Final = ("Finn", 10)
"""A submission that waits for the scorer."""
_MATERIAL: Final = Path(__file__).with_name("demonstrated")
_WIDTH_PX, _HEIGHT_PX, _FPS, _N_FRAMES = 320, 240, 8, 168
_LOOKS: Final = (0, 2, 4, 6, 8, 1, 3, 5)
"""Of the people in the street: one comes every `_APART` frames, and each takes `_CROSSING` to cross it."""
_APART, _CROSSING = 12, 70


# --------------------------------------------------------------------------- without a database


def make_street(folder: Path, *, cache_root: Path) -> None:
    """Render a street with passers-by and a detector's boxes, and make its set without cards."""
    shutil.copytree(_MATERIAL / STREET, folder / STREET, dirs_exist_ok=True)
    videos, boxes = folder / STREET / "videos", list[str]()
    videos.mkdir(exist_ok=True)
    write_video(_pictures(boxes), videos / "north.mp4", fps=_FPS)
    write_whole(videos / "north.txt", "".join(boxes).encode())
    context = BuildContext(
        cache_root=cache_root, memory=folder / STREET / "replies.sqlite", on_event=lambda _event: None
    )
    herbench.create().make(folder / CONFIG, overrides=MakeOverrides(), context=context)


def _pictures(boxes: list[str]) -> Iterator[NDArray[np.uint8]]:
    """Yield the frames of the street, and add their boxes in MOTChallenge format."""
    for frame in range(_N_FRAMES):
        image = np.full((_HEIGHT_PX, _WIDTH_PX, 3), (176, 182, 172), np.uint8)
        image[::48] = 205
        for n, look in enumerate(_LOOKS):
            share = (frame - _APART * n) / _CROSSING
            if 0 <= share <= 1:
                left, top = round((1 - share if n % 2 else share) * (_WIDTH_PX - 30)), 60 + 14 * n
                image[top : top + 14, left + 8 : left + 22] = (228, 188, 158)
                image[top + 14 : top + 40, left : left + 30] = LOOKS[look].colour
                image[top + 40 : top + 60, left + 4 : left + 26] = (70, 74, 80)
                boxes.append(f"{frame + 1},-1,{left},{top},30,60,0.9,-1,-1,-1\n")
        yield image


def draw_study(folder: Path, *, environment: Environment, now: datetime) -> None:
    """Draw a study of the planted questions, with its pictures."""
    shutil.copytree(_MATERIAL / STUDY, folder / STUDY, dirs_exist_ok=True)
    file = read_study(folder / STUDY)
    drawn = draw(file, environment=environment)
    anyio.run(
        partial(write_frames, file, drawn, environment=environment, now=now, on_event=lambda _event: None)
    )
    write_drawn(file, drawn)


def release_hidden(folder: Path, questions: Sequence[Item]) -> None:
    """Release the planted questions, with hidden answers for all videos but the first."""
    first = questions[0].media
    splits = (
        replace(item, source=item.media[0].path, tags={"task": item.tags["task"], "split": split})
        for item in questions
        for split in ("validation" if item.media == first else "test",)
    )
    rules = SetRules(
        name="cards", about=ReleaseRules(licence="Apache-2.0"), formats=("items",), hidden=frozenset({"test"})
    )
    material = SetMaterial(fresh_secret=secrets.token_bytes(32))
    release_set(tuple(splits), rules, material, into=folder / HIDDEN)


# --------------------------------------------------------------------------- in the configured studio


def open_street(folder: Path, project: "ProjectRow") -> None:
    """Open the boards of the street."""
    from vidence.studio.bridge.board_sets import offered
    from vidence.studio.pages.boards import open_set

    open_set(offered([folder / CONFIG])[0], project)


def open_to_three(folder: Path) -> None:
    """Open the study for three people: one finished, one after the first part, one not started."""
    from vidence.studio.studies import invite, open_study

    whole, part, _ = invite(open_study(folder / STUDY), 3)
    take_part(whole, until=Ended)
    take_part(part, until=Begin)


def take_part(row: "ParticipantRow", *, until: type[Begin | Ended]) -> None:
    """Answer for a participant up to a step of this kind, at least the first part."""
    from vidence.studio.studies import Invitation, Seat, Written, act, enter, show, write

    enter(Invitation(study=row.study, recruited="link", participant=row), agrees=True)
    act(row, "begin")
    while not isinstance(step := Seat(row).step(), until):
        if isinstance(step, Trial):
            place = step.planned.place
            show(row, place)
            values = {"answer": "AB"[place % 2], "sure": "3"}
            write(row, Written(act="submit", place=place, values=values, seen=0, request="said"))
        else:
            act(row, "begin" if isinstance(step, Begin) else "finish")


def open_to_teams(folder: Path, *, environment: Environment) -> None:
    """Open the leaderboard of the hidden split, with three teams' scores and a waiting submission."""
    from vidence.studio import leaderboard
    from vidence.studio.accounts import Profile, add_user
    from vidence.studio.scoring import Marker, open_vault, work
    from vidence.studio.settings import current

    (release,) = (entry for entry in (folder / HIDDEN).iterdir() if entry.suffix != HIDDEN_SUFFIX)
    settings = current().settings
    limits = leaderboard.Limits(most_a_day=5, most_in_all=20)
    board = leaderboard.open_board(release, "", limits, title="Sums of cards")
    vault = open_vault(
        release.with_name(f"{release.name}{HIDDEN_SUFFIX}"), board, data=settings.data, is_judged=False
    )
    marker = Marker(overrides={}, environment=environment, clock=settings.clock)
    public, users = leaderboard.items_of(board), dict[str, "UserRow"]()

    def submit(name: str, n_right: int) -> None:
        wrong = [next(letter for letter in "AB" if letter != item.answer) for item in vault.items]
        lines = [
            {"item_id": item.item_id, "answer": item.answer if i < n_right else wrong[i]}
            for i, item in enumerate(vault.items)
        ]
        leaderboard.accept(users[name], leaderboard.read(b"\n".join(map(msgspec.json.encode, lines)), public))

    for name, (team, counts) in TEAMS.items():
        password, profile = secrets.token_urlsafe(16), Profile(team=team)
        users[name] = add_user(name, password, roles=("submitter",), profile=profile)
        for n_right in counts:
            submit(name, n_right)
            work(vault, marker)
    submit(*WAITING)
