"""The embedders with weights from their names to their numbers, and what happens when something breaks."""

import importlib.util
import json
import logging
import shutil
import threading

import numpy as np
import pytest

from servers import tiny_embedders
from subjects.matching import match
from vidence import catalog
from vidence.ask.embedding import local
from vidence.ask.embedding.weights import WeightSettings
from vidence.errors import AccessError, UsageError
from vidence.weights.checkpoints import find_weights

torch = pytest.importorskip("torch", reason="needs the extra 'select'")
pytest.importorskip("transformers", reason="needs the extra 'select'")
pytestmark = pytest.mark.torch

NAMES = ("blip-itc", "blip-itm", "clip", "siglip")
KINDS = {"blip-itc": "blip", "blip-itm": "blip", "clip": "clip", "siglip": "siglip2"}


def make(name, folder, **options):
    spec = catalog.Spec(name=name, argument=str(folder), options={"device": "cpu", **options})
    return catalog.create("embedder", spec)


@pytest.fixture
def copy(weights, tmp_path):
    """A checkpoint of CLIP to spoil."""
    return shutil.copytree(weights("clip"), tmp_path / "clip")


@pytest.mark.parametrize("name", NAMES)
class TestName:
    def test_no_name(self, name):
        with pytest.raises(UsageError, match=f"{name} needs a folder or a name on the hub"):
            make(name, "")

    @pytest.mark.parametrize("missing", ["torch", "transformers"])
    def test_a_missing_library_names_the_extra(self, weights, monkeypatch, name, missing):
        folder, find = weights(KINDS[name]), importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == missing else find(n))
        with pytest.raises(
            UsageError, match=rf"{name}: needs {missing}; run: .*pip install .*sentencepiece.*transformers"
        ):
            find_weights(name, WeightSettings(weights=str(folder)), types={}, example="o/n")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"batch": "0"}, "1 or above"),
            ({"device": "gpu"}, "cuda:NUMBER"),
            ({"dtype": "int8"}, "bfloat16"),
            ({"max_tokens": "-1"}, "0 or above"),
            ({"size": "huge"}, "short:PIXELS"),
            ({"local_only": "perhaps"}, "true or false"),
            ({"revision": "main"}, "has no revisions"),
        ],
    )
    def test_bad_options(self, weights, name, options, message):
        with pytest.raises(UsageError, match=message):
            make(name, weights(KINDS[name]), **options)

    def test_frames_are_wanted_as_large_as_the_model_sees_them_or_as_usual(self, weights, tmp_path, name):
        assert make(name, weights(KINDS[name])).size == {"siglip": "short:256"}.get(name, "short:32")
        assert make(name, weights(KINDS[name]), size="long:448").size == "long:448"
        folder = shutil.copytree(weights(KINDS[name]), tmp_path / "copy")
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "vision_config": None}))
        usual = {"blip-itc": 384, "blip-itm": 384, "clip": 224, "siglip": 256}[name]
        assert make(name, folder).size == f"short:{usual}"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("clip", {"logit_scale": "perhaps"}),
        ("siglip", {"score": "softmax"}),
        ("blip-itm", {"text": "avis"}),
        ("blip-itc", {"text": "avis"}),
    ],
)
def test_bad_options_of_one_embedder(weights, name, options):
    with pytest.raises(UsageError, match="expected"):
        make(name, weights(KINDS[name]), **options)


@pytest.mark.parametrize("missing", ["sentencepiece", "google", "google.protobuf"])
def test_siglip_needs_a_tokenizer_of_its_own(weights, monkeypatch, missing):
    folder, find = weights("siglip"), importlib.util.find_spec

    def without(name):
        if name.startswith(f"{missing}."):
            raise ModuleNotFoundError(f"No module named {missing!r}")  # as for a package that is not there
        return None if name == missing else find(name)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(UsageError, match=r"siglip: needs .*; run: .*pip install .*sentencepiece"):
        make("siglip", folder)
    make("siglip", weights("siglip2"))


class TestPlace:
    def test_a_checkpoint_that_lacks_a_part(self, tmp_path, copy):
        with pytest.raises(UsageError, match=r"is not a checkpoint: expected config.json and weights"):
            make("clip", tmp_path)
        (copy / "model.safetensors").unlink()
        with pytest.raises(UsageError, match=r"is not a checkpoint: .* \(\*.safetensors or \*.bin\), found"):
            make("clip", copy)

    @pytest.mark.parametrize(("text", "message"), [("{", "is not JSON"), ("[]", "holds a list; expected a")])
    def test_a_broken_configuration(self, copy, text, message):
        (copy / "config.json").write_text(text)
        with pytest.raises(UsageError, match=message):
            make("clip", copy)

    def test_names_without_a_checkpoint(self):
        with pytest.raises(UsageError, match="neither a folder nor a valid repository name"):
            make("clip", "what is this", local_only="true")
        with pytest.raises(AccessError, match=r"vidence/none \(revision v1\) in the local cache"):
            make("clip", "vidence/none", local_only="true", revision="v1")


class TestType:
    @pytest.mark.parametrize(
        ("name", "kind", "message"),
        [
            (
                "clip",
                "blip",
                "holds a BlipForImageTextRetrieval of type 'blip'; clip: needs CLIPModel, such as",
            ),
            ("blip-itm", "clip", "type 'clip'; blip-itm: needs BlipForImageTextRetrieval"),
            ("blip-itc", "siglip2", "blip-itc: needs BlipForImageTextRetrieval"),
            ("siglip", "clip", "siglip: needs SiglipModel or Siglip2Model"),
        ],
    )
    def test_weights_of_another_embedder(self, weights, name, kind, message):
        with pytest.raises(UsageError, match=message):
            make(name, weights(kind))

    def test_a_model_that_writes_captions(self, tmp_path):
        folder = tiny_embedders.build_blip(tmp_path / "blip", kind="BlipForConditionalGeneration")
        with pytest.raises(
            UsageError, match=r"BlipForConditionalGeneration of type 'blip'.*needs BlipForImageTextRetrieval"
        ):
            make("blip-itm", folder)

    def test_a_model_of_an_unknown_type_or_without_a_class(self, copy, frames):
        config = json.loads((copy / "config.json").read_text())
        del config["architectures"]
        (copy / "config.json").write_text(json.dumps(config))
        assert match(make("clip", copy), frames, ["dogs"]).shape == (7, 1)
        (copy / "config.json").write_text('{"model_type": "llava"}')
        with pytest.raises(UsageError, match=r"holds a model of type 'llava'; clip: needs CLIPModel"):
            make("clip", copy)
        (copy / "config.json").write_text("{}")
        with pytest.raises(UsageError, match="of type 'no type'"):
            make("clip", copy)


class TestIdentity:
    def test_other_files_are_another_embedder(self, weights, copy):
        before = make("clip", weights("clip")).identity
        assert make("clip", copy).identity == before
        (copy / "tokenizer.json").write_text((copy / "tokenizer.json").read_text() + "\n")
        assert make("clip", copy).identity != before

    def test_what_changes_the_numbers_changes_it_and_nothing_else_does(self, weights):
        plain = make("clip", weights("clip"))
        for option in ({"dtype": "float16"}, {"max_tokens": "8"}, {"logit_scale": "true"}):
            assert make("clip", weights("clip"), **option).identity != plain.identity
        for option in ({"batch": "1"}, {"size": "native"}, {"logit_scale": "false"}, {"max_tokens": "0"}):
            assert make("clip", weights("clip"), **option).identity == plain.identity
        plain = make("clip", weights("clip"))
        for option in ({"max_tokens": "8"}, {"logit_scale": "true"}):
            assert make("clip", weights("clip"), **option).features_identity == plain.features_identity
        assert make("clip", weights("clip"), dtype="float16").features_identity != plain.features_identity
        assert "max_tokens=35&text=lavis" in make("blip-itm", weights("blip"), text="lavis").identity


class TestLoading:
    def test_a_device_that_is_not_there_and_the_cpu(self, weights, frames, monkeypatch, caplog):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        with pytest.raises(UsageError, match=r"device=cuda:1: torch .* sees no such device"):
            make("clip", weights("clip"), device="cuda:1").features(frames)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        with caplog.at_level(logging.INFO, logger="vidence.ask.embedding"):
            make("clip", weights("clip"), device="auto").features(frames)
        assert "on cpu as torch.float32" in caplog.text

    def test_more_tokens_than_the_model_takes_and_features_of_another_embedder(self, weights, frames):
        with pytest.raises(UsageError, match=r"max_tokens=78, but .* takes 77 at most"):
            match(make("clip", weights("clip"), max_tokens="78"), frames, ["dogs"])
        clip, siglip = make("clip", weights("clip")), make("siglip", weights("siglip2"))
        with pytest.raises(UsageError, match=r"shape \(7, 16\) do not belong to siglip; expected \(n_fr"):
            siglip.compare(clip.features(frames), ["dogs"])
        with pytest.raises(UsageError, match=r"shape \(16,\)"):
            clip.compare(clip.features(frames)[0], ["dogs"])

    def test_files_that_cannot_be_loaded_or_lack_a_tower(self, copy, frames):
        from safetensors.torch import load_file, save_file

        stored = load_file(copy / "model.safetensors")
        kept = {k: v for k, v in stored.items() if not k.startswith("text_model")}
        save_file(kept, copy / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(AccessError, match=r"lack .* of the model's tensors"):
            make("clip", copy).features(frames)
        (copy / "model.safetensors").write_bytes(b"nothing of the kind")
        with pytest.raises(AccessError, match="cannot be loaded as a CLIPModel: SafetensorError"):
            make("clip", copy).features(frames)

    def test_a_tokenizer_that_cannot_pad(self, weights, frames, monkeypatch):
        from transformers import AutoTokenizer

        embedder = make("clip", weights("clip"))
        tokenizer = AutoTokenizer.from_pretrained(weights("clip"))
        tokenizer.pad_token = None
        monkeypatch.setattr(AutoTokenizer, "from_pretrained", lambda *_, **__: tokenizer)
        with pytest.raises(AccessError, match="no token to pad with"):
            embedder.features(frames)

    def test_a_vocabulary_without_the_token_of_lavis(self, weights, frames, tmp_path):
        folder = shutil.copytree(weights("blip"), tmp_path / "blip")
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        for i in range(2):
            tokenizer["model"]["vocab"][f"more{i}"] = len(tokenizer["model"]["vocab"])
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        with pytest.raises(UsageError, match=r"text=lavis needs a vocabulary that ends with \[ENC\]"):
            match(make("blip-itm", folder, text="lavis"), frames, ["dogs"])

    def test_memory_that_is_too_small_says_what_to_do(self, weights, frames, monkeypatch):
        embedder = make("clip", weights("clip"), batch="5")
        embedder.features(frames[:1])

        def too_much(**_):
            raise torch.OutOfMemoryError("CUDA out of memory")

        monkeypatch.setattr(embedder._weights.model, "get_image_features", too_much)
        with pytest.raises(UsageError, match=r"a batch of 5 does not fit .* set batch=2"):
            embedder.features(frames)

    def test_progress_bars_stay_as_they_were(self, weights, frames, capfd):
        from transformers.utils import logging as library_logging

        was_on = library_logging.is_progress_bar_enabled()
        try:
            for switch in (library_logging.enable_progress_bar, library_logging.disable_progress_bar):
                switch()
                before = library_logging.is_progress_bar_enabled()
                make("clip", weights("clip")).features(frames[:1])
                assert library_logging.is_progress_bar_enabled() is before
        finally:
            (library_logging.enable_progress_bar if was_on else library_logging.disable_progress_bar)()
        assert "%" not in capfd.readouterr().err

    def test_several_threads_load_it_once(self, weights, frames, monkeypatch):
        loaded = []

        class Counted(local.Weights):
            def __init__(self, *arguments, **options):
                loaded.append(1)
                super().__init__(*arguments, **options)

        monkeypatch.setattr(local, "Weights", Counted)
        embedder = make("clip", weights("clip"))
        found = {}

        def work(number):
            found[number] = match(embedder, frames, ["dogs", "red card"])

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert loaded == [1]
        assert len(found) == 4
        for scores in found.values():
            np.testing.assert_array_equal(scores, found[0])


class TestWhatIsAsked:
    def test_texts_read_lately_are_not_read_again(self, weights, frames, monkeypatch):
        monkeypatch.setattr(local, "_REMEMBERED_TEXTS", 2)
        embedder = make("clip", weights("clip"))
        asked = []
        understand = embedder._understand
        monkeypatch.setattr(embedder, "_understand", lambda w, t: asked.append(list(t)) or understand(w, t))
        first = match(embedder, frames, ["red", "blue", "red"])
        np.testing.assert_array_equal(first[:, 0], first[:, 2])
        np.testing.assert_array_equal(match(embedder, frames, ["blue", "red"]), first[:, [1, 0]])
        match(embedder, frames, ["blue", "green"])
        match(embedder, frames, ["red"])
        assert asked == [["red", "blue"], ["green"], ["red"]]
