"""Track by masks: SAM 2 propagates each thing's mask, which selects its next box.

sam2:/path/to/weights
sam2:facebook/sam2.1-hiera-tiny?device=cuda
"""

from collections.abc import Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.media.pixels import resize
from vidence.media.video import FrameProblem, Video
from vidence.seeing.association import by_class, named_classes, tracks_of
from vidence.seeing.boxes import iou
from vidence.seeing.tracks import PERSON, Detections, Track, frames_in
from vidence.weights.checkpoints import WeightSettings, find_weights, library, load_model

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Sam2VideoInferenceSession

_VERSION: Final = 1
_BLOCK: Final = 32
_MEMORY: Final = 16  # frames that the network looks back on, at most
_MEAN: Final = (0.485, 0.456, 0.406)  # of the pictures that it was trained on
_DEVIATION: Final = (0.229, 0.224, 0.225)
_Frame: TypeAlias = tuple[int, NDArray[np.int64]]


class Settings(WeightSettings):
    """Options of the tracker."""

    device: Annotated[str, Meta(description="device of torch, such as cpu, cuda or auto")] = "cpu"
    start: Annotated[float, Meta(ge=0, le=1, description="minimum confidence of a track's first box")] = 0.5
    least_iou: Annotated[
        float, Meta(gt=0, le=1, description="minimum IoU of a box and the box of a mask")
    ] = 0.3
    n_init: Annotated[int, Meta(ge=1, description="boxes that a valid track needs")] = 3
    max_age_s: Annotated[float, Meta(gt=0, description="seconds that a track may be without a box")] = 1.0
    classes: Annotated[tuple[str, ...], Meta(description="names of the classes to track, or all")] = (PERSON,)


class Sam2:
    """One mask per thing, started by a box that no mask fills, and matched with later boxes by IoU.

    Source: Ravi et al. 2024 (arXiv:2408.00714), as in transformers.
    Departs: the boxes of a track are those that were detected; masks only say whose they are. Frames are
        scaled by our pinned filter, and each thing is prompted once, by its first box.
    """

    describer = ""

    def __init__(self, settings: Settings) -> None:
        self._settings, self.classes = settings, named_classes(settings.classes)
        types = {"sam2_video": "Sam2VideoModel"}
        source = find_weights("sam2", settings, types=types, example="facebook/sam2.1-hiera-tiny")
        named = msgspec.structs.replace(settings, weights="", revision="", device="cpu")
        self.identity = f"sam2/{_VERSION} {source.content} {named!r}"
        (self._network,) = load_model(source, "Sam2VideoModel", device=settings.device)
        self.video: Video | None = None
        self.size_px = (0, 0)

    def seeing(self, video: Video) -> "Sam2":
        """The tracker with access to the frames of a video."""
        bound = copy(self)
        bound.video, bound.size_px = video, (video.probe.width_px, video.probe.height_px)
        return bound

    def track(
        self,
        detections: Detections,
        *,
        frame_indices: Sequence[int],
        fps: float,
        vectors: NDArray[np.float32] | None = None,
    ) -> tuple[Track, ...]:
        """The tracks, in the order of their first box."""
        histories: list[tuple[str, list[int]]] = []
        for name, frames in by_class(detections, self.classes, frame_indices=frame_indices):
            histories += [(name, rows) for rows in self._histories(detections, frames, fps=fps)]
        return tracks_of(detections, histories)

    def _histories(self, detections: Detections, frames: Sequence[_Frame], *, fps: float) -> list[list[int]]:
        optimize = library("scipy.optimize", owner="tracker sam2", extra="select")
        age, settings = frames_in(self._settings.max_age_s, fps), self._settings
        living: list[tuple[Sam2VideoInferenceSession, list[int]]] = []
        histories: list[list[int]] = []
        for number, frame, rows, pixels in self._shown(frames):
            masks = np.array([self._mask(session, number, pixels) for session, _ in living]).reshape(-1, 4)
            fits = iou(masks[:, None], detections.boxes_px[rows][None])
            left = set(rows.tolist())
            for i, j in zip(*optimize.linear_sum_assignment(-fits), strict=True):
                if fits[i, j] >= settings.least_iou:
                    living[i][1].append(int(rows[j]))
                    left.remove(int(rows[j]))
            for row in sorted(row for row in left if detections.confidences[row] >= settings.start):
                session = self._session(living[0][0] if living else None)
                self._mask(session, number, pixels, begin=detections.boxes_px[row])
                histories.append([row])
                living.append((session, histories[-1]))
            living = [pair for pair in living if frame - detections.frame_indices[pair[1][-1]] <= age]
        return [rows for rows in histories if len(rows) >= settings.n_init]

    def _shown(self, frames: Sequence[_Frame]) -> "Iterator[tuple[int, int, NDArray[np.int64], Tensor]]":
        """Return frame number, boxes and pixels as the network expects them; damaged frames are left out."""
        import torch

        if self.video is None:
            raise ValueError("sam2 looks at frames: give it those of a video with seeing()")
        side, device = self._network.config.image_size, self._network.device
        mean, deviation = torch.tensor([_MEAN, _DEVIATION], device=device)[..., None, None]
        for start in range(0, len(frames), _BLOCK):
            block = frames[start : start + _BLOCK]
            text = self.video.read([f for f, _ in block], lambda _, image: resize(image, size=(side, side)))
            for number, (frame, rows) in enumerate(block, start=start):
                if not isinstance(picture := text[frame], FrameProblem):
                    pixels = torch.from_numpy(picture.copy()).to(device).permute(2, 0, 1)
                    yield number, frame, rows, ((pixels / 255 - mean) / deviation)[None]

    def _session(self, other: "Sam2VideoInferenceSession | None") -> "Sam2VideoInferenceSession":
        """The memory of one thing; all share the network's features of a frame."""
        from transformers.models.sam2_video.modeling_sam2_video import Sam2VideoInferenceSession

        device = self._network.device
        session = Sam2VideoInferenceSession(None, None, None, device, device, device, self._network.dtype)
        session.cache = session.cache if other is None else other.cache
        return session

    def _mask(
        self,
        session: "Sam2VideoInferenceSession",
        number: int,
        pixels: "Tensor",
        *,
        begin: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """The box around a thing's mask in that frame; zeros if it is not seen."""
        import torch

        if begin is not None:
            corners = pixels.new_tensor(begin / (self.size_px * 2) * pixels.shape[-1]).reshape(1, 1, 2, 2)
            labels = torch.tensor([[[2, 3]]], dtype=torch.int32)  # the corners of a box
            prompt = {"point_coords": corners, "point_labels": labels}
            session.add_point_inputs(session.obj_id_to_idx(1), number, prompt)
            session.obj_with_new_inputs = [1]
        with torch.inference_mode():
            seen = self._network(session, frame_idx=number, frame=pixels).pred_masks.float()
            mask = torch.nn.functional.interpolate(seen, self.size_px[::-1], mode="bilinear")[0, 0] > 0
        session.processed_frames.clear()
        session.output_dict_per_obj[0]["non_cond_frame_outputs"].pop(number - _MEMORY, None)
        rows, columns = (mask.any(axis).nonzero()[:, 0].tolist() for axis in (1, 0))
        return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1] if rows else [0] * 4, np.float64)


def create(settings: Settings) -> Sam2:
    """The tracker with the weights that are named.

    Raises:
        UsageError: no weights are named or there, or torch or transformers are not installed.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    return Sam2(settings)
