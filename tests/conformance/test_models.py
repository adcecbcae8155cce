"""What every model in the catalog must do. A new one that needs something to be made has it in `EXAMPLES`.

Models of other packages have their argument in a table of their own (see `samples`).
"""

import inspect
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import anyio
import msgspec
import pytest
from PIL import Image

from servers.anthropic_stub import AnthropicStub
from servers.gemini_stub import GeminiStub
from servers.model_asks import ask
from servers.openai_stub import Canned, OpenAIStub
from subjects.samples import argument_of
from vidence import catalog
from vidence.contracts import Model, Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import ImagePart, Prompt, Reply, Sampling, TextPart

SECRET = "sk-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere
Example = tuple[str, dict[str, str]]

# Models that ask a server, and the stub that speaks its protocol.
STUBS: dict[str, type[OpenAIStub]] = {"anthropic": AnthropicStub, "gemini": GeminiStub, "openai": OpenAIStub}
WITH_SERVER = tuple(STUBS)


# How to make each model: its argument and options.
def _served(_: Path, server: OpenAIStub) -> Example:
    return "tiny", {"base_url": server.base_url, "timeout_s": "10"}


def _replay(folder: Path, _: OpenAIStub) -> Example:
    path = folder / "recorded.jsonl"
    path.write_text("".join(f'{{"item_id": "q{n}", "text": "B"}}\n' for n in range(9)))
    return str(path), {}


def _person(folder: Path, server: OpenAIStub) -> Example:
    return "P03", {"answers": _replay(folder, server)[0]}


def _transformers(folder: Path, _: OpenAIStub) -> Example:
    for library in ("torch", "transformers"):
        pytest.importorskip(library, reason=f"{library} is not installed (extra 'transformers')")
    from servers.tiny_vlm import build

    return str(build(folder / "weights")), {"device": "cpu"}


def _vllm(folder: Path, _: OpenAIStub) -> Example:
    pytest.importorskip("vllm", reason="vllm is not installed (extra 'vllm', needs a GPU)")
    from servers.tiny_vllm import build

    options = {"dtype": "float32", "max_model_len": "2048", "engine": '{"enforce_eager": true}'}
    return str(build(folder / "weights")), options


FUNCTIONS = Path(__file__).parents[1] / "subjects" / "functions.py"

EXAMPLES: dict[str, Callable[[Path, OpenAIStub], Example]] = {
    "anthropic": _served,
    "baseline": lambda *_: ("random", {}),
    "gemini": _served,
    "openai": _served,
    "person": _person,
    "phantom": lambda *_: ("fuser", {}),
    "python": lambda *_: (f"{FUNCTIONS}:answer", {}),
    "replay": _replay,
    "scripted": lambda *_: ("The answer is B", {}),
    "transformers": _transformers,
    "vllm": _vllm,
}


@pytest.fixture(scope="module", params=catalog.names("model"))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def server(name: str) -> Iterator[OpenAIStub]:
    with STUBS.get(name, OpenAIStub)(answer="The answer is B") as server:
        yield server


@pytest.fixture(scope="module")
def example(name: str, server: OpenAIStub, tmp_path_factory: pytest.TempPathFactory) -> Example:
    if name not in EXAMPLES:
        return argument_of("model", name), {}
    return EXAMPLES[name](tmp_path_factory.mktemp(name), server)


@pytest.fixture
def make(name: str, example: Example, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Model]:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(variable, SECRET)
    argument, options = example
    return lambda: catalog.create("model", catalog.Spec(name=name, argument=argument, options=options))


def jpeg(shade: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (32, 24), (shade, shade, shade)).save(file, "JPEG")
    return file.getvalue()


def asking(n: int = 0, *, images: Sequence[bytes] = (), **sampling: object) -> Request:
    digests = [f"{n}-{i}" for i in range(len(images))]
    parts = [ImagePart(digest=digest, width_px=32, height_px=24) for digest in digests]
    prompt = Prompt(
        parts=(*parts, TextPart(text="Which colour? A. red B. green C. blue D. grey")),
        choices=("red", "green", "blue", "grey"),
    )
    return Request(
        item_id=f"q{n}",
        prompt=prompt,
        sampling=Sampling(**{"max_tokens": 4, **sampling}),
        images=dict(zip(digests, images, strict=True)),
    )


def test_it_is_what_a_model_is_and_its_identity_holds_no_secret(make: Callable[[], Model]):
    model = make()
    assert isinstance(model.identity, str)
    assert isinstance(model.looks, bool)
    assert isinstance(model.by_item, bool)
    assert model.max_in_flight is None or model.max_in_flight >= 1
    assert inspect.iscoroutinefunction(model.reply)
    assert inspect.iscoroutinefunction(model.close)
    first, second = make(), make()
    assert first.identity == second.identity != ""
    assert SECRET not in first.identity + repr(first) + repr(vars(first))

    async def close_often(model: Model) -> int:
        await model.reply(asking(0))
        return sum([await model.close() is None, await model.close() is None])

    async def close_unused(model: Model) -> int:
        return int(await model.close() is None)

    assert anyio.run(close_often, make()) == 2
    assert anyio.run(close_unused, make()) == 1


def test_it_replies_to_words_and_images_and_honours_max_tokens(make: Callable[[], Model]):
    images = [jpeg(40), jpeg(200)]
    for reply in ask(make(), asking(0), asking(1, images=images)):
        assert isinstance(reply, Reply)
        assert msgspec.json.decode(msgspec.json.encode(reply), type=Reply) == reply
        assert reply.latency_s >= 0
    [reply] = ask(make(), asking(0, max_tokens=1))
    assert len(reply.text.split()) <= 1
    assert reply.usage.output_tokens is None or reply.usage.output_tokens <= 1


def test_replies_do_not_depend_on_what_else_is_asked(make: Callable[[], Model]):
    requests = [asking(n, images=[jpeg(60 * n)]) for n in range(4)]
    together: dict[int, Reply] = {}

    async def all_at_once(model: Model) -> None:
        async def one(n: int) -> None:
            together[n] = await model.reply(requests[n])

        async with anyio.create_task_group() as group:
            for n in reversed(range(4)):
                group.start_soon(one, n)
        await model.close()

    anyio.run(all_at_once, make())
    assert [together[n].text for n in range(4)] == [r.text for r in ask(make(), *requests)]


def test_it_depends_on_what_it_says_it_depends_on(make: Callable[[], Model]):
    model = make()
    if not model.looks:
        with_images, without = ask(model, asking(0, images=[jpeg(9)]), asking(0))
        assert with_images.text == without.text
    if not model.by_item:
        request = asking(0)
        other = Request(item_id="other", prompt=request.prompt, sampling=request.sampling)
        first, second = ask(model, request, other)
        assert first.text == second.text


def test_an_unknown_option_is_refused_and_every_model_says_how_it_is_made(name: str, example: Example):
    argument, options = example
    wrong = options | {"nframes": "16"}
    with pytest.raises(UsageError, match=r"no option 'nframes'.*Known options: "):
        catalog.create("model", catalog.Spec(name=name, argument=argument, options=wrong))
    module = catalog.find("model", name)
    assert module.__doc__
    assert f"{name}:" in module.__doc__
    assert list(inspect.signature(module.create).parameters) in ([], ["settings"])
    settings = catalog.settings_type("model", name)
    assert all(option.help for option in catalog.options_of(settings)) if settings else True


def test_a_broken_image_gives_a_reply_or_an_error_of_the_model(make: Callable[[], Model]):
    try:
        [got] = ask(make(), asking(0, images=[b"no image"]))
    except ModelError as error:
        got = error
    assert isinstance(got, Reply) or str(got)


@pytest.mark.parametrize(
    ("canned", "kind"),
    [
        (Canned(status=429, headers={"retry-after": "3"}), TransientModelError),
        (Canned(status=500), TransientModelError),
        (Canned(status=400), RejectedRequestError),
        (Canned(status=401), AccessError),
        (Canned(status=403), AccessError),
        (Canned(status=404), AccessError),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Canned) else "",
)
@pytest.mark.parametrize("name", WITH_SERVER, indirect=True)
def test_faults_of_a_server_become_errors_and_are_not_retried(make, server, canned, kind):
    n_before = len(server.requests)
    server.canned.append(canned)
    with pytest.raises(kind) as caught:
        ask(make(), asking(0))
    asked = [one for one in server.requests[n_before:] if not one.path.endswith("/models")]
    assert len(asked) == 1
    assert SECRET not in str(caught.value)
    if canned.status == 429:
        assert caught.value.is_overload
        assert caught.value.retry_after_s == 3.0


@pytest.mark.parametrize("name", WITH_SERVER, indirect=True)
def test_a_wait_can_be_cancelled(make: Callable[[], Model], server: OpenAIStub):
    n_before = server.n_requests

    async def give_up(model: Model) -> bool:
        async def cancel(scope: anyio.CancelScope) -> None:
            while server.n_requests == n_before:
                await anyio.sleep(0.001)
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as scope:
                tasks.start_soon(cancel, scope)
                await model.reply(asking(0))
        await model.reply(asking(1))
        await model.close()
        return scope.cancelled_caught

    server.canned.append(Canned(status=500, delay_s=5))
    assert anyio.run(give_up, make())
