"""`transformers:` on a tiny LLaVA: what is said, in batches and alone, and what is refused."""

import io
import logging
import math
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import msgspec
import pytest
from PIL import Image

from servers.model_asks import maker
from servers.tiny_requests import GREEDY, ask, ask_together, make_request
from servers.tiny_vlm import build, make_tokenizer
from vidence.ask.models.transformers import FirstLogps
from vidence.ask.models.weights import BatchingModel, letter_tokens
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UsageError
from vidence.records import ImagePart, Prompt, Reply, Sampling

create = maker("model", "transformers")

torch = pytest.importorskip("torch", reason="needs the extra 'transformers'")
pytest.importorskip("transformers", reason="needs the extra 'transformers'")
pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tiny") / "vlm")


@pytest.fixture(scope="module")
def reference(folder: Path) -> Callable[[Request, int], tuple[str, "torch.Tensor"]]:
    """Greedy text and the logits of the first position, by the shortest way through the library."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder).eval()

    def answer(request: Request, max_tokens: int = 12) -> tuple[str, "torch.Tensor"]:
        content = []
        for part in request.prompt.parts:
            if isinstance(part, ImagePart):
                image = Image.open(io.BytesIO(request.images[part.digest]))
                content.append({"type": "image", "image": image.convert("RGB")})
            else:
                content.append({"type": "text", "text": part.text})
        system = [{"role": "system", "content": request.prompt.system}] if request.prompt.system else []
        inputs = processor.apply_chat_template(
            [*system, {"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        with torch.inference_mode():
            logits = model(**inputs).logits[0, -1]
            tokens = model.generate(**inputs, do_sample=False, max_new_tokens=max_tokens)
        said = tokens[0, inputs["input_ids"].shape[1] :]
        return processor.tokenizer.decode(said, skip_special_tokens=True), logits

    return answer


def make_model(folder: Path, **options: str) -> BatchingModel:
    return create(str(folder), {"device": "cpu", "threads": "1", **options})


@pytest.fixture(scope="module")
def model(folder: Path) -> BatchingModel:
    """One model for the tests that leave it as it is."""
    return make_model(folder)


@pytest.fixture
def generated(model: BatchingModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the batches that `model` generates."""
    return _spy_sizes(model, monkeypatch)


MIXED = [
    make_request(),
    make_request([1], text="Short?"),
    make_request([1, 2, 3]),
    make_request(range(8)),
    make_request([4], text="A much longer question than the others, so that padding is needed: who?"),
    make_request([5, 6]),
    make_request(text="?"),
]


class TestWhatIsSaid:
    @pytest.mark.parametrize("seeds", [[], [10], [3, 3], [10, 11, 12], range(8)])
    def test_equals_the_plain_way(self, model, reference, seeds):
        request = make_request(seeds)
        assert ask(model, request).text == reference(request)[0]

    def test_images_words_and_the_system_prompt_are_honoured(self, model, reference):
        forward, backward = make_request([1, 2]), make_request([2, 1])
        words_first = msgspec.structs.replace(forward.prompt, parts=forward.prompt.parts[::-1])
        inverted = Request(item_id="i", prompt=words_first, sampling=GREEDY, images=forward.images)
        replies = ask_together(model, [forward, backward, inverted])
        texts = [reply.text for reply in replies]
        assert texts == [reference(r)[0] for r in (forward, backward, inverted)]
        assert len(set(texts)) > 1
        request = make_request([1], system="You are brief.")
        assert ask(model, request).text == reference(request)[0]
        assert ask(model, request).usage.input_tokens > ask(model, make_request([1])).usage.input_tokens

    def test_png_with_transparency_is_read(self, model):
        encoded = io.BytesIO()
        Image.new("RGBA", (30, 40), (10, 200, 30, 128)).save(encoded, "PNG")
        part = ImagePart(digest="d", width_px=30, height_px=40, media_type="image/png")
        request = Request(
            item_id="i", prompt=Prompt(parts=(part,)), sampling=GREEDY, images={"d": encoded.getvalue()}
        )
        assert ask(model, request).usage.input_tokens > 16

    def test_facts_of_the_reply(self, model, reference, monkeypatch):
        request = make_request([1], Sampling(max_tokens=5))
        reply = ask(model, request)
        assert reply.finish == "length"
        assert reply.usage.output_tokens == 5
        assert reply.model == "vlm"
        assert reply.latency_s > 0
        assert reply.choice_logps is None
        assert reply.text == reference(request, 5)[0]
        monkeypatch.setattr("vidence.ask.models.weights.DEFAULT_MAX_TOKENS", 3)
        assert ask(model, make_request([1], Sampling(max_tokens=None))).usage.output_tokens <= 3

    def test_a_reply_that_ends_by_itself(self, model):
        replies = ask_together(model, [make_request([seed]) for seed in range(20)])
        ended = [r for r in replies if r.finish == "stop"]
        assert ended
        assert len(ended) < 20
        assert all(r.usage.output_tokens <= 12 and "<|" not in r.text for r in replies)


class TestBatches:
    def test_replies_do_not_depend_on_the_batch(self, model, reference, generated):
        greedy = msgspec.structs.replace(GREEDY, want_choice_logps=True)
        requests = [Request(**{**_fields(r), "sampling": greedy}) for r in MIXED]
        together = ask_together(model, requests)
        assert generated == [4, 3]
        for request, reply in zip(requests, together, strict=True):
            text, logits = reference(request)
            assert reply.text == text
            assert reply.choice_logps == pytest.approx(_letter_logps(logits), abs=1e-4)

    def test_batch_size_is_the_most_and_limits_are_not_mixed(self, model, generated, folder, monkeypatch):
        requests = [make_request([i], Sampling(max_tokens=2 + i % 2)) for i in range(4)]
        replies = ask_together(model, requests)
        assert generated == [2, 2]
        assert [r.usage.output_tokens for r in replies] == [2, 3, 2, 3]
        model = make_model(folder, batch_size="2")
        assert model.max_in_flight == 6
        sizes = _spy_sizes(model, monkeypatch)
        ask_together(model, MIXED[:5])
        assert sizes == [2, 2, 1]

    def test_the_next_batch_is_encoded_while_one_is_generated(self, folder, reference, monkeypatch):
        model = make_model(folder)
        ask(model, make_request())
        checkpoint, meeting = model._checkpoint, threading.Barrier(2, timeout=30)
        first_generates, second_encodes = iter([True]), iter([False, True])

        def meet(plain: Callable[..., object], turns: Iterator[bool]) -> Callable[..., object]:
            def call(*arguments: object, **named: object) -> object:
                if next(turns, False):
                    meeting.wait()  # each of the two waits until the other has begun
                return plain(*arguments, **named)

            return call

        network = checkpoint._model
        monkeypatch.setattr(checkpoint, "_processed", meet(checkpoint._processed, second_encodes))
        monkeypatch.setattr(network, "generate", meet(network.generate, first_generates))
        requests = [make_request([i]) for i in range(8)]
        assert [r.text for r in ask_together(model, requests)] == [reference(r)[0] for r in requests]

    def test_a_processor_that_cannot_mix_numbers_of_images(self, folder, reference, monkeypatch):
        model = make_model(folder, batch_size="8")
        sizes = _spy_sizes(model, monkeypatch)
        processor = model._checkpoint._processor
        plain = processor.apply_chat_template

        def strict(conversations: list, **options: object) -> object:
            counts = {sum(c["type"] == "image" for c in turns[-1]["content"]) for turns in conversations}
            if len(counts) > 1:
                raise ValueError("all conversations must show the same number of images")
            return plain(conversations, **options)

        monkeypatch.setattr(processor, "apply_chat_template", strict)
        replies = ask_together(model, MIXED)
        assert [r.text for r in replies] == [reference(r)[0] for r in MIXED]
        assert sorted(sizes) == [1, 1, 1, 2, 2]

    def test_one_that_leaves_does_not_take_the_others_along(self, model):
        async def leave() -> list[Reply]:
            replies: list[Reply] = []

            async def stay(i: int) -> None:
                replies.append(await model.reply(make_request([i])))

            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    with anyio.move_on_after(0.001):
                        await model.reply(make_request([9]))
                    for i in range(3):
                        group.start_soon(stay, i)
            return replies

        assert len(anyio.run(leave)) == 3
        assert model._waiting == []


class TestDrawing:
    def test_settings_of_the_checkpoint_are_ignored(self, folder, reference, tmp_path, caplog):
        from transformers import GenerationConfig

        other = tmp_path / "vlm"
        shutil.copytree(folder, other)
        own = GenerationConfig.from_pretrained(folder)
        own.update(do_sample=True, temperature=0.1, top_k=3, top_p=0.5, repetition_penalty=9.0)
        own.save_pretrained(other)
        with caplog.at_level(logging.WARNING):
            replies = ask_together(make_model(other), MIXED)
        assert [r.text for r in replies] == [reference(r)[0] for r in MIXED]
        assert caplog.records == []

    def test_a_seed_fixes_the_reply_in_any_company_and_others_give_others(self, model):
        sampling = Sampling(temperature=2.0, top_p=0.95, seed=7, max_tokens=12)
        alone = ask(model, make_request([1], sampling)).text
        assert alone != ask(model, make_request([1])).text
        crowd = ask_together(model, [make_request([i], sampling) for i in range(4)])
        assert crowd[1].text == alone
        twice = make_request([1], sampling)
        assert [r.text for r in ask_together(model, [twice, twice])] == [alone, alone]
        assert ask(model, make_request([1], Sampling(temperature=2.0, seed=-7, max_tokens=12))).text != alone

        def said(seed: int | None, sample: int = 0) -> str:
            sampling = Sampling(temperature=2.0, seed=seed, max_tokens=24)
            return ask(model, make_request([1], sampling, sample=sample)).text

        assert len({said(1), said(2), said(1, sample=1), said(None), said(None)}) == 5

    def test_the_generator_of_the_process_is_left_alone_and_the_likeliest_is_greedy(self, model):
        torch.manual_seed(3)
        before = torch.random.get_rng_state()
        ask(model, make_request([1], Sampling(temperature=1.0, seed=1, max_tokens=4)))
        assert torch.equal(before, torch.random.get_rng_state())
        greedy = ask(model, make_request([1])).text
        likeliest = Sampling(temperature=1.0, top_p=1e-6, max_tokens=12)
        for sampling in (likeliest, Sampling(temperature=None, max_tokens=12)):
            assert ask(model, make_request([1], sampling)).text == greedy


class TestLogps:
    def test_equal_a_plain_forward_pass(self, model, reference):
        request = make_request([1, 2], Sampling(max_tokens=4, want_choice_logps=True))
        logps = ask(model, request).choice_logps
        assert logps == pytest.approx(_letter_logps(reference(request)[1]), abs=1e-4)
        assert list(logps) == ["A", "B", "C", "D"]
        assert ask(model, make_request([1], Sampling(max_tokens=1))).choice_logps is not None
        tokenizer = make_tokenizer()
        bare, spaced = tokenizer.encode("A"), tokenizer.encode(" A")
        assert len(bare) == len(spaced) == 1
        assert letter_tokens(tokenizer.get_vocab())["A"] == tuple(sorted(bare + spaced))

    def test_blanks_before_the_answer_are_passed_over(self):
        first = FirstLogps({0, 2}, blanks=frozenset({1}))
        steps = torch.tensor([[[1.0, 2, 3], [1, 2, 3]], [[3.0, 2, 1], [3, 2, 1]], [[0.0, 0, 9], [0, 0, 9]]])
        tokens = torch.tensor([[5, 5], [5, 5]])
        for scores, new in zip(steps, [[1, 0], [2, 2], [1, 1]], strict=True):
            assert first(tokens, scores) is scores
            tokens = torch.cat([tokens, torch.tensor(new)[:, None]], dim=1)
        down, up = math.log(1 + math.exp(-1) + math.exp(-2)), math.log(1 + math.exp(1) + math.exp(2))
        assert first.rows[0] == pytest.approx({0: -down, 2: -up})
        assert first.rows[1] == pytest.approx({0: -up, 2: -down})


class TestRefused:
    def test_what_cannot_be_taken_does_not_hurt_the_others(self, model, reference):
        part = ImagePart(digest="d", width_px=8, height_px=8)
        bad = Request(item_id="bad", prompt=Prompt(parts=(part,)), sampling=GREEDY, images={"d": b"no image"})
        good, refused, also_good = ask_together(model, [make_request([1]), bad, make_request([2])])
        assert good.text == reference(make_request([1]))[0]
        assert also_good.text == reference(make_request([2]))[0]
        assert isinstance(refused, RejectedRequestError)
        assert "bad: image d cannot be read" in str(refused)
        good, refused = ask_together(model, [make_request([1]), make_request([1], text="See <image>?")])
        assert good.text == reference(make_request([1]))[0]
        assert isinstance(refused, RejectedRequestError)
        fine, refused = ask_together(model, [make_request([1]), make_request([1], text="x" * 4100)])
        assert isinstance(refused, RejectedRequestError)
        assert "the model takes 4096; show fewer or smaller frames" in str(refused)
        assert fine.text == reference(make_request([1]))[0]
        request = Request(
            item_id="q7",
            prompt=Prompt(parts=(ImagePart(digest="d", width_px=8, height_px=8),)),
            sampling=GREEDY,
        )
        with pytest.raises(UsageError, match="'q7' names image d"):
            ask(model, request)

    def test_a_prompt_that_leaves_little_room(self, model, reference):
        long = make_request([1], text="x" * 4040)
        room = 4096 - ask(model, make_request([1], text="")).usage.input_tokens - 4040
        sampling = Sampling(max_tokens=room + 5)
        long = make_request([1], sampling, text="x" * 4040)
        short = make_request([2], sampling)
        replies = ask_together(model, [short, long])
        assert replies[1].usage.output_tokens <= room
        assert [r.text for r in replies] == [reference(short, room + 5)[0], reference(long, room)[0]]

    @pytest.mark.parametrize("sampling", [Sampling(max_tokens=0), Sampling(temperature=-1.0)])
    def test_settings_that_make_no_sense(self, model, sampling):
        with pytest.raises(RejectedRequestError, match="ValueError"):
            ask(model, make_request([1], sampling))

    def test_a_template_without_system_turns(self, folder, tmp_path):
        other = tmp_path / "vlm"
        shutil.copytree(folder, other)
        template = (other / "chat_template.jinja").read_text()
        refuse = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system turns') }}{% endif %}"
        (other / "chat_template.jinja").write_text(refuse + template)
        outcomes = ask_together(make_model(other), [make_request([1], system="Be brief."), make_request([1])])
        assert isinstance(outcomes[0], RejectedRequestError)
        assert "no system turns" in str(outcomes[0])
        assert isinstance(outcomes[1], Reply)


def _fields(request: Request) -> dict[str, object]:
    return {name: getattr(request, name) for name in ("item_id", "prompt", "sampling", "images", "sample")}


def _letter_logps(logits: "torch.Tensor") -> dict[str, float]:
    tokenizer = make_tokenizer()
    logps = logits.float().log_softmax(-1)
    forms = {x: [tokenizer.encode(x)[0], tokenizer.encode(" " + x)[0]] for x in "ABCD"}
    return {letter: float(logps[ids].max()) for letter, ids in forms.items()}


def _spy_sizes(model: BatchingModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    ask(model, make_request())
    network = model._checkpoint._model
    plain = network.generate
    sizes: list[int] = []

    def spy(**arguments: object) -> object:
        sizes.append(len(arguments["input_ids"]))
        return plain(**arguments)

    monkeypatch.setattr(network, "generate", spy)
    return sizes
