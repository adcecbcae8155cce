"""A clip becomes a released set in one sitting: stop by stop, board by board, also after Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar
from urllib.parse import urlencode

import pytest

from subjects.street_set import CONFIG, StreetSet
from vidence.make.review.people.rows import TrackRow, read_rows

CHECK = r'name="track" value="{}"><input type="hidden" name="check" value="(\w+)"'
TRACKS = "next: north: look at 8 tracks, then at Everybody.\n"
REVIEW = "next: Look at the drawn questions, under My work.\n"
MORE = '\n[review]\n\n[release]\n\n[tasks.aglt]\noptions = { reach = "1" }\n'


class Person:
    """A browser without a window, let in at the address that was printed."""

    def __init__(self, door: str) -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self.root, self.at, self.page = door.partition("/enter")[0], "", ""
        self._take(self._opener.open(door))

    def _take(self, answer) -> None:
        with answer:
            self.at, self.page = answer.url, answer.read().decode()

    def post(self, to: str = "", **said: str) -> None:
        """Send a form of the page; empty: to its own address."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.page)[1]
        data = urlencode({"csrfmiddlewaretoken": token, **said}).encode()
        headers = {"Origin": self.root, "Referer": self.at}
        address = f"{self.root}{to}" if to else self.at
        self._take(self._opener.open(urllib.request.Request(address, data=data, headers=headers)))

    def look_at_tracks(self) -> None:
        """Say of every track that it is one person, and that everybody has one."""
        for name in (*sorted(set(re.findall(r'data-track="(\d+)"', self.page))), "everybody"):
            act = "all" if name == "everybody" else "ok"
            self.post(track=name, check=re.search(CHECK.format(name), self.page)[1], act=act)

    def write_cards(self) -> None:
        """Write how each chosen person looks and walks, and a sentence about each shot."""
        colours = ("red", "blue", "green", "white", "black", "brown", "grey", "pink")
        for name in re.findall(r'data-track="(\d+)"', self.page):
            text = f"A person in a {colours[int(name) % 8]} coat."
            check = re.search(CHECK.format(name), self.page)[1]
            self.post(track=name, check=check, act="keep", A=text, B="They walk along the street, and leave.")

    def accept_all(self) -> int:
        """Take question after question, and accept it; how many."""
        self.post("/projects/set/next", role="reviewer")
        n = 0
        while self.at.endswith("/review"):
            assert "data-player" in self.page, "the film is beside the question"
            opened = re.search(r'name="opened" value="([^"]*)"', self.page)[1]
            self.post(opened=opened, act="accept", next="1")
            n += 1
        return n


class Sitting:
    """One call of the command, in a process group of its own as in a terminal."""

    def __init__(self, street: StreetSet) -> None:
        words = ("make", "herbench", street.config.name, "--assist", "--progress", "none")
        env = {**os.environ, "VIDENCE_CACHE": str(street.folder / "cache"), "BROWSER": "true"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "vidence", *words],
            cwd=street.folder,
            env={**env, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.said: list[str] = []

    def next(self) -> tuple[str, Person]:
        """What is to be done next, and the person who is let in for it."""
        for line in self._process.stdout:
            self.said.append(line)
            if found := re.search(r"http://\S+/enter\S+", line):
                [*_, words] = [one for one in self.said if one.startswith("next: ")]
                return words, Person(found[0])
        raise AssertionError("".join(self.said))

    def interrupt(self) -> int:
        """Press Ctrl-C; the exit code."""
        os.killpg(self._process.pid, signal.SIGINT)
        return self.end()

    def end(self) -> int:
        """Wait for its end; the exit code."""
        with self._process.stdout as rest:
            self.said += rest.readlines()
        return self._process.wait(timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal's process group")
def test_a_clip_is_released_stop_by_stop_and_goes_on_after_an_interrupt(tmp_path):
    street = StreetSet(tmp_path).draw()
    licensed = CONFIG.replace('path = "north.mp4"', 'path = "north.mp4"\nlicence = "CC-BY-4.0"')
    street.config.write_text(licensed + MORE)
    first = Sitting(street)
    words, person = first.next()
    assert words == TRACKS
    assert person.at.endswith("/north/tracks")
    assert "Done, go on" in person.page
    person.look_at_tracks()
    assert first.interrupt() == 130
    assert len(read_rows(street.people, TrackRow, videos=None)) == 9

    again = Sitting(street)
    words, person = again.next()
    assert words == "next: north: write 8 cards; note which tracks each A fits.\n", (
        "tracks that people saw are passed"
    )
    assert person.at.endswith("/north/cards")
    person.write_cards()
    person.post("/done")
    assert "The command in the terminal continues" in person.page
    words, person = again.next()
    assert words == REVIEW
    n = person.accept_all()
    assert n > 0
    person.post("/done")
    assert again.end() == 0, "".join(again.said)
    assert f"Review: {n} of {n} questions stay" in "".join(again.said)
    assert list((street.made / "release").rglob("*.jsonl")), "".join(again.said)
