"""The configuration of a threshold that the documentation shows is read, and has every table and name."""

from typing import get_args

import msgspec

from vidence.make.lights.threshold_config import (
    EASIER,
    HARDER,
    AskConfig,
    Method,
    Observer,
    Task,
    ThresholdConfig,
    Varied,
    read_threshold,
)
from vidence.statistics.psychometrics import Shape

PAGE = "docs/making/thresholds.md"


def test_the_configuration_is_read_and_its_defaults_are_true(page, tmp_path):
    (block,) = page[PAGE].blocks("toml")
    path = tmp_path / block.title
    path.write_text(block.body, encoding="utf-8")
    config, usual = read_threshold(path), ThresholdConfig()
    assert config.motions == usual.motions
    assert config.vary == usual.vary
    assert config.task == usual.task
    assert config.method == msgspec.structs.replace(usual.method, proportion=0.75)


def test_every_setting_and_name_is_there(page):
    text = page[PAGE].text
    for record in (ThresholdConfig, Varied, Method, AskConfig, Observer):
        for field in msgspec.structs.fields(record):
            assert field.name in text, field.name
    for name in (*get_args(Task), *get_args(Shape)):
        assert f"`{name}`" in text, name
    for name in (*HARDER, *EASIER):
        assert f"`{name}`" in text, name
