"""Tiny checkpoints, made once, and frames that differ."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from servers import tiny_embedders

BUILDERS = {
    "blip": tiny_embedders.build_blip,
    "clip": tiny_embedders.build_clip,
    "siglip": tiny_embedders.build_siglip,
    "siglip2": tiny_embedders.build_siglip2,
}


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny checkpoint of that type, made when it is first asked for."""
    pytest.importorskip("torch", reason="needs the extra 'select'")
    pytest.importorskip("transformers", reason="needs the extra 'select'")
    made: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind == "siglip":
            pytest.importorskip("sentencepiece", reason="needs the extra 'select'")
        if kind not in made:
            made[kind] = BUILDERS[kind](tmp_path_factory.mktemp("tiny") / kind)
        return made[kind]

    return folder


@pytest.fixture(scope="session")
def frames() -> list[NDArray[np.uint8]]:
    """Seven pictures of two sizes: stripes of other colours and widths."""
    made = []
    for i in range(7):
        height_px, width_px = (90, 160) if i % 2 else (64, 48)
        picture = np.zeros((height_px, width_px, 3), np.uint8)
        picture[:, :: i + 2] = (40 * i, 255 - 30 * i, 90)
        picture[:: 2 * i + 1] = (200 - 20 * i, 25 * i, 17 * i)
        made.append(picture)
    return made
