"""The models that a maker asks, by the names of its configuration."""

from pathlib import Path

from vidence.make.pipeline.models import AskLimits, Models, NamedModel


def test_a_model_is_known_by_its_spec_however_it_is_named(tmp_path: Path):
    named = {"plain": "baseline:longest", "priced": NamedModel(spec="scripted:A", price_in=1.0)}
    models = Models(named, memory=tmp_path / "replies.sqlite", limits=AskLimits())
    assert models.spec("plain") == "baseline:longest"
    assert models.spec("priced") == "scripted:A"
    assert models.spec("nobody") == ""
    assert set(models.named) == {"plain", "priced"}
