"""Builds the tiny LLaVA of `tiny_vlm` in a form that vLLM loads, too; nothing is downloaded.

    python tests/servers/tiny_vllm.py FOLDER

Two things differ. Attention heads are 32 wide, the least that vLLM's kernels take. And the tensors of
the vision tower have the names of published LLaVA checkpoints, which newer releases of transformers
read and no longer write.
"""

import sys
from pathlib import Path

from servers import tiny_vlm

HIDDEN_SIZE = 128  # four heads of 32
SEED = 7  # of the first forty the one whose replies differ most at this width


def build(folder: Path) -> Path:
    """Write the checkpoint into `folder` and return it."""
    from safetensors.torch import load_file, save_file

    tiny_vlm.build(folder, seed=SEED, text_width=HIDDEN_SIZE)
    weights = folder / "model.safetensors"
    renamed = {_published(name): tensor for name, tensor in load_file(weights).items()}
    save_file(renamed, weights, metadata={"format": "pt"})
    return folder


def _published(name: str) -> str:
    here, there = "vision_tower.", "vision_tower.vision_model."
    return name if there in name else name.replace(here, there)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
