"""Seeded damage to files, and what reads them in a worker as a run would."""

import random
from collections.abc import Sequence
from pathlib import Path

from vidence.media.encode import Encoding, Size
from vidence.media.files import Job, deliver, read_facts
from vidence.pointlight.checks import inspect
from vidence.pointlight.reading import read_motion

# What counts and sizes in headers are set to.
_NUMBERS = (
    b"\0\0\0\0",
    b"\0\0\0\1",
    b"\0\0\0\7",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"\0\xff\xff\xff",
)
_WORDS = (
    "nan",
    "inf",
    "-1",
    "0",
    "1e309",
    "-1e-309",
    "99999999999999999999",
    "",
    "{",
    "}",
    "x",
    "\0",
    "ü",
    '"',
)


def damaged(data: bytes, rng: random.Random, *, others: Sequence[bytes]) -> bytes:
    """The file cut off, with flipped bits, with other numbers in its header, or with parts of others."""
    part = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        size = max(len(part), 1)
        at, length = rng.randrange(size), rng.randrange(1, 1 + min(size, 4096))
        match rng.randrange(8):
            case 0:
                del part[at:]
            case 1:
                for _ in range(rng.choice((1, 8, 64))):
                    place = rng.randrange(size)
                    part[place : place + 1] = bytes([rng.randrange(256)])
            case 2:  # in the first or the last kilobytes, where headers are
                place = rng.choice((rng.randrange(min(size, 1024)), max(size - 1 - rng.randrange(2048), 0)))
                part[place : place + 4] = rng.choice(_NUMBERS)
            case 3:
                part[at : at + length] = bytes(length)
            case 4:
                del part[at : at + length]
            case 5:
                part[at:at] = part[at : at + length] * rng.choice((1, 2, 8))
            case 6:
                part[at : at + length] = rng.randbytes(length)
            case 7:
                other = rng.choice(others)
                start = rng.randrange(max(len(other), 1))
                part[at : at + length] = other[start : start + length]
    return bytes(part)


def misspelt(text: str, rng: random.Random) -> str:
    """A text with words put for others, and lines that are lost, doubled, joined or exchanged."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(7):
            case 0 | 1 | 2:
                words = lines[at].split(" ")
                words[rng.randrange(len(words))] = rng.choice(_WORDS)
                lines[at] = " ".join(words)
            case 3:
                lines[at] = ""
            case 4:
                lines[at], lines[to] = lines[to], lines[at]
            case 5:
                lines[at:at] = lines[at : at + rng.randrange(1, 40)] * rng.choice((1, 2, 50))
            case 6:
                lines[at] += lines[to]
    return "\n".join(lines)


def look_at(path: Path, kind: str) -> int:
    """Read a medium and some of its frames; how many of them came out."""
    facts = read_facts(path, kind=kind, cache_root=None)
    n_frames = len(facts.times_s)
    job = Job(
        path=str(path),
        kind=kind,
        frame_indices=tuple(sorted({0, n_frames // 2, n_frames - 1})),
        encoding=Encoding(size=Size.parse("short:64")),
        cache_root=None,
        cache_max_bytes=0,
    )
    return len(deliver(job).frames)


def walk_through(path: Path, options: dict[str, str]) -> int:
    """Read a file of motion and check it; how many frames it has."""
    motion = read_motion(path, options=options)
    inspect(motion)
    return motion.n_frames
