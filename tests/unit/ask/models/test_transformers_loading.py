"""`transformers:` from its name to a loaded checkpoint, and what happens when something breaks."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from servers.model_asks import maker
from servers.tiny_requests import ask, ask_together, make_request
from servers.tiny_vlm import build
from vidence.ask.models.transformers import check_kind
from vidence.ask.models.weights import BatchingModel
from vidence.errors import AccessError, RejectedRequestError, UsageError
from vidence.records import Reply
from vidence.weights import checkpoints

create = maker("model", "transformers")

torch = pytest.importorskip("torch", reason="needs the extra 'transformers'")
pytest.importorskip("transformers", reason="needs the extra 'transformers'")
pytestmark = pytest.mark.torch

CPU = {"device": "cpu", "threads": "1"}
WHOLE = SimpleNamespace(tokenizer=object(), image_processor=object(), chat_template="{{ messages }}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tiny") / "vlm")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A checkpoint to spoil."""
    return Path(shutil.copytree(folder, tmp_path / "vlm"))


@pytest.fixture
def model(folder: Path) -> BatchingModel:
    return create(str(folder), CPU)


class TestName:
    def test_nothing_heavy_is_imported_before_the_first_request(self, folder):
        code = (
            "import sys; from vidence import catalog\n"
            f"assert catalog.create('model', {f'transformers:{folder}'!r}).max_in_flight == 24\n"
            "assert not {'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)

    @pytest.mark.parametrize("missing", ["torch", "transformers"])
    def test_a_missing_library_names_the_extra(self, folder, monkeypatch, missing):
        find = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find(name))
        with pytest.raises(UsageError, match=rf"needs {missing}; run: .*pip install .*transformers"):
            create(str(folder), {})

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"batchsize": "4"}, "Did you mean 'batch_size'"),
            ({"batch_size": "0"}, "1 or above"),
            ({"device": "gpu"}, "cuda:NUMBER"),
            ({"dtype": "int8"}, "bfloat16"),
            ({"trust_remote_code": "maybe"}, "true or false"),
            ({"revision": "main"}, "has no revisions"),
        ],
    )
    def test_bad_options(self, folder, options, message):
        with pytest.raises(UsageError, match=message):
            create(str(folder), options)

    @pytest.mark.parametrize(
        ("name", "options", "error", "message"),
        [
            ("/no/such/place", {}, UsageError, "there is no folder"),
            ("~/nowhere-at-all", {}, UsageError, "there is no folder"),
            ("a/b/c", {}, UsageError, "there is no folder"),
            ("a\\b", {}, UsageError, "there is no folder"),
            (
                "what is this",
                {"local_only": "true"},
                UsageError,
                "neither a folder nor a valid repository name",
            ),
            ("vidence/none", {"local_only": "true", "revision": "v1"}, AccessError, r"\(revision v1\) in"),
        ],
    )
    def test_names_without_a_checkpoint(self, name, options, error, message):
        with pytest.raises(error, match=message):
            create(name, options)

    def test_a_repository_in_the_cache_is_pinned_to_its_commit(self, folder, tmp_path, monkeypatch):
        commit = "0123456789abcdef0123456789abcdef01234567"
        repository = tmp_path / "models--vidence--tiny"
        shutil.copytree(folder, repository / "snapshots" / commit)
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text(commit)
        for place in ("huggingface_hub.constants.HF_HUB_CACHE", "huggingface_hub.file_download.HF_HUB_CACHE"):
            monkeypatch.setattr(place, str(tmp_path), raising=False)
        model = create("vidence/tiny", {**CPU, "local_only": "true"})
        assert model.identity == f"transformers:vidence/tiny@{commit}?dtype=auto"


class TestFiles:
    def test_other_files_are_another_model_and_a_card_is_none(self, folder, copy):
        before = create(str(folder), {}).identity
        (copy / "README.md").write_text("# Tiny")
        assert create(str(copy), {}).identity == before
        for name in ("config.json", "chat_template.jinja", "processor_config.json"):
            own = (copy / name).read_text()
            (copy / name).write_text(own + "\n")
            assert create(str(copy), {}).identity != before
            (copy / name).write_text(own)
        weights = (copy / "model.safetensors").read_bytes()
        (copy / "model.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
        assert create(str(copy), {}).identity != before

    def test_options_that_change_the_reply_are_part_of_the_identity(self, folder):
        def identity(**options: str) -> str:
            return create(str(folder), options).identity

        plain = identity()
        assert identity(device="cpu") == identity(batch_size="3") == identity(threads="1") == plain
        changed = {
            identity(dtype="bfloat16"),
            identity(attn="eager"),
            identity(trust_remote_code="true"),
            plain,
        }
        assert len(changed) == 4

    def test_a_folder_without_its_main_files(self, copy):
        (copy / "config.json").write_text("{")
        with pytest.raises(UsageError, match="is not JSON"):
            create(str(copy), {})
        for name in ("model.safetensors", "config.json"):
            (copy / name).unlink()
            with pytest.raises(UsageError, match=r"is not a checkpoint: expected config\.json and weights"):
                create(str(copy), {})


def _drop(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _cut_weights(folder: Path) -> None:
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[: len(weights) // 2])


def _lose_a_tensor(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    del tensors[next(name for name in tensors if "mlp.up_proj" in name)]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def _reshape(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["intermediate_size"] = 96
    (folder / "config.json").write_text(json.dumps(config))


def _of_another_kind(folder: Path) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    small = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = LlamaConfig(vocab_size=300, num_hidden_layers=1, **small)
    LlamaForCausalLM(config).save_pretrained(folder)
    (folder / "processor_config.json").unlink()


class TestLoading:
    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (_drop("chat_template.jinja"), "no chat template"),
            (_drop("processor_config.json"), "image-text-to-text|no processor"),
            (_drop("tokenizer.json"), "cannot be loaded"),
            (_cut_weights, "cannot be loaded"),
            (_lose_a_tensor, r"lack 1 of the model's tensors .*up_proj"),
            (_reshape, "cannot be loaded|another shape"),
            (_of_another_kind, "cannot be loaded as an image-text-to-text model|no processor"),
        ],
    )
    def test_a_spoilt_checkpoint(self, copy, spoil, message):
        spoil(copy)
        model = create(str(copy), CPU)
        first, second = ask_together(model, [make_request(), make_request([1])])
        assert isinstance(first, AccessError)
        assert str(first) == str(second)
        with pytest.raises(AccessError, match=message):
            ask(model, make_request())

    def test_without_torchvision_the_command_is_said(self, folder, monkeypatch):
        def lacking(*_, **__):
            raise ImportError("VideoProcessor requires the Torchvision library but it was not found")

        monkeypatch.setattr("transformers.AutoProcessor.from_pretrained", lacking)
        with pytest.raises(AccessError, match=r"Torchvision library .*; run: .*pip install .*transformers"):
            ask(create(str(folder), CPU), make_request())

    @pytest.mark.parametrize(
        ("processor", "is_encoder_decoder", "message"),
        [
            (SimpleNamespace(tokenizer=None, image_processor=object()), False, "has no processor for images"),
            (SimpleNamespace(tokenizer=object()), False, "has no processor for images"),
            (WHOLE, True, "is an encoder-decoder"),
        ],
    )
    def test_models_of_other_kinds(self, processor, is_encoder_decoder, message):
        config = SimpleNamespace(is_encoder_decoder=is_encoder_decoder, model_type="other")
        source = checkpoints.Source(place="here", name="other", revision="", content="")
        with pytest.raises(AccessError, match=message):
            check_kind(source, processor, SimpleNamespace(config=config))

    @pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
    def test_a_device_that_is_not_there(self, folder):
        with pytest.raises(UsageError, match=r"device=cuda: torch .* sees no such device"):
            ask(create(str(folder), {"device": "cuda"}), make_request())

    def test_dtype_and_attention_are_those_asked_for_and_a_tokenizer_may_not_pad(self, folder, copy):
        model = create(str(folder), {"device": "cpu", "dtype": "bfloat16", "attn": "eager"})
        assert ask(model, make_request([1])).text
        assert model._checkpoint._model.dtype == torch.bfloat16
        assert model._checkpoint._model.config._attn_implementation == "eager"
        settings = json.loads((copy / "tokenizer_config.json").read_text())
        del settings["pad_token"]
        (copy / "tokenizer_config.json").write_text(json.dumps(settings))
        requests = [make_request(), make_request([1, 2])]
        padded = ask_together(create(str(copy), CPU), requests)
        assert [r.text for r in padded] == [r.text for r in ask_together(create(str(folder), CPU), requests)]


class TestBreaking:
    @pytest.fixture
    def generate(self, model: BatchingModel, monkeypatch) -> Callable[[Callable], list[int]]:
        """Put a check before `generate`; gives the sizes of the batches that were tried."""

        def put(check: Callable[[int], None]) -> list[int]:
            ask(model, make_request())
            network = model._checkpoint._model
            plain, sizes = network.generate, []

            def broken(**arguments: object) -> object:
                sizes.append(len(arguments["input_ids"]))
                check(sizes[-1])
                return plain(**arguments)

            monkeypatch.setattr(network, "generate", broken)
            return sizes

        return put

    def test_too_little_memory_halves_the_batch(self, model, generate):
        def fail(size: int) -> None:
            if size > 1:
                raise torch.OutOfMemoryError("CUDA out of memory")

        sizes = generate(fail)
        requests = [make_request(range(i)) for i in range(4)]
        assert all(isinstance(o, Reply) for o in ask_together(model, requests))
        assert sizes == [4, 2, 1, 1, 2, 1, 1]

    @pytest.mark.parametrize(
        ("error", "kind", "message"),
        [
            (RuntimeError("cannot be multiplied"), RejectedRequestError, "cannot be multiplied"),
            (torch.OutOfMemoryError("CUDA out of memory"), RejectedRequestError, "memory .* fewer frames"),
            (torch.AcceleratorError("CUDA error: device-side assert triggered"), AccessError, "device-side"),
        ],
    )
    def test_a_model_that_fails_tells_everyone(self, model, generate, error, kind, message):
        def fail(size: int) -> None:
            raise error

        generate(fail)
        outcomes = ask_together(model, [make_request([i]) for i in range(3)])
        assert all(isinstance(o, kind) for o in outcomes)
        assert re.search(message, str(outcomes[0]))

    def test_what_nobody_foresaw_is_raised_and_leaves_nobody_waiting(self, model, generate):
        class UnforeseenError(Exception):
            pass

        def fail(size: int) -> None:
            if len(tried) == 1:
                raise UnforeseenError("?")

        tried = generate(fail)
        raised: list[Exception] = []
        replies: list[Reply] = []

        async def one(i: int) -> None:
            try:
                replies.append(await model.reply(make_request([i])))
            except UnforeseenError as error:
                raised.append(error)

        async def everything() -> None:
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    for i in range(3):
                        group.start_soon(one, i)

        anyio.run(everything)
        assert (len(raised), len(replies)) == (1, 2)


class TestClosing:
    def test_twice_and_before_use(self, folder):
        async def close(model: BatchingModel) -> None:
            await model.close()
            await model.close()

        used, unused = create(str(folder), CPU), create(str(folder), CPU)
        ask(used, make_request())
        for model in (used, unused):
            anyio.run(close, model)
            assert model._checkpoint is None
            with pytest.raises(AccessError, match="is closed"):
                ask(model, make_request())

    def test_whoever_waits_is_told(self, folder):
        model = create(str(folder), {**CPU, "batch_size": "1"})
        outcomes: dict[int, Reply | AccessError] = {}

        async def one(i: int) -> None:
            try:
                outcomes[i] = await model.reply(make_request([i]))
            except AccessError as error:
                outcomes[i] = error

        async def everything() -> None:
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    for i in range(3):
                        group.start_soon(one, i)
                    await anyio.sleep(0.001)
                    await model.close()

        anyio.run(everything)
        assert [type(outcomes[i]) for i in range(3)] == [Reply, AccessError, AccessError]
