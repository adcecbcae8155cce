"""The configuration of an ablation that the documentation shows is read, and has every table and name."""

import msgspec

from vidence.make.lights.ablation_config import (
    ALIASES,
    DEFAULT_FACTORS,
    AblationConfig,
    AskConfig,
    Motions,
    Observing,
    read_ablation,
)

PAGE = "docs/making/ablations.md"


def test_the_configuration_is_read_and_its_defaults_are_true(page, tmp_path):
    (block,) = page[PAGE].blocks("toml")
    path = tmp_path / block.title
    path.write_text(block.body, encoding="utf-8")
    config = read_ablation(path)
    usual = AblationConfig()
    assert config.motions == usual.motions
    assert config.observer == usual.observer
    assert {k: v for k, v in config.vary.items() if k != "contrast"} == DEFAULT_FACTORS


def test_every_setting_and_name_is_there(page):
    text = page[PAGE].text
    for record in (AblationConfig, Motions, AskConfig, Observing):
        for field in msgspec.structs.fields(record):
            if field.name not in {"yaw_spread_deg", "points"}:
                assert field.name in text, field.name
    for name, setting in ALIASES.items():
        assert f"`{name}`" in text
        assert f"`{setting}`" in text
