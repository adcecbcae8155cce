"""``vidence`` in a process that has RF-DETR, which is installed in a folder of its own, and weights for it.

    PYTHONPATH=.venv/beside:tests python -m servers.beside WORDS...

Weights that WORDS name (rfdetr:PATH) are written first: a network of the smallest size that was never
trained and is sure that everything is a person.
"""

import sys
import warnings
from pathlib import Path

from servers import torchvision_on_cpu
from vidence.cli.main import main

N_PEOPLE = 4


def write(path: Path) -> None:
    """Write the weights."""
    import rfdetr
    import torch

    network = rfdetr.RFDETRNano(
        pretrain_weights=None, device="cpu", num_queries=N_PEOPLE, num_select=N_PEOPLE
    )
    weights = network.model.model.state_dict()
    weights["class_embed.bias"][1] = 2.0
    path.parent.mkdir(exist_ok=True)
    model = {"model_name": "RFDETRNano", "model_config": network.model_config.model_dump()}
    torch.save(model | {"model": weights, "args": network.model.args}, path)


if __name__ == "__main__":
    library = torchvision_on_cpu.load()
    warnings.simplefilter("ignore")  # untrained weights find little
    for word in sys.argv[1:]:
        if word.startswith("rfdetr:"):
            write(Path(word.removeprefix("rfdetr:")))
    main(sys.argv[1:])
