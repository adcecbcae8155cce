"""A pytest plugin: torchvision on a torch without CUDA, for packages that only import it.

The wheels of torchvision hold code that is linked against CUDA. Without it the package names two operators
that nobody has defined, and its import ends there. They are defined here without code: whoever calls them
is told so. Where torchvision loads by itself nothing is defined; where it is missing, the tests do not start.

    PYTHONPATH=.venv/beside python -m pytest -p servers.torchvision_on_cpu ...
"""

import sys
import warnings

import pytest
import torch

LIBRARY = pytest.StashKey["torch.library.Library | None"]()
SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)


def load() -> torch.library.Library | None:
    """Import torchvision; returned is the library that keeps its operators defined, None for its own."""
    library = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that its images and operators are not there
        try:
            import torchvision
        except RuntimeError as error:
            if "does not exist" not in str(error):
                raise
            for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
                del sys.modules[name]
            library = torch.library.Library("torchvision", "DEF")
            for schema in SCHEMAS:
                library.define(schema)
            import torchvision  # noqa: F401
    return library


def pytest_configure(config: pytest.Config) -> None:
    """Load it before any test, for as long as the tests run."""
    config.stash[LIBRARY] = load()
