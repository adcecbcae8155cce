"""`openai:` against a server that speaks the protocol: what is sent, what is read, what is raised."""

import base64
import json
from pathlib import Path

import anyio
import pytest

from servers.openai_stub import Canned, OpenAIStub, completion
from vidence.catalog import parse_spec
from vidence.contracts import Request
from vidence.errors import (
    AccessError,
    ModelError,
    RejectedRequestError,
    TransientModelError,
    UsageError,
)
from vidence.models.openai import OpenAIModel, create
from vidence.records import ImagePart, Prompt, Reply, Sampling, TextPart, Usage, VideoPart

SECRET = "sk-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def text_request(**sampling: object) -> Request:
    prompt = Prompt(parts=(TextPart(text="Which?"),), choices=("red", "green", "blue"))
    return Request(item_id="q1", prompt=prompt, sampling=Sampling(**sampling))


def image_part(digest: str) -> ImagePart:
    return ImagePart(digest=digest, width_px=8, height_px=8)


def model_for(server: OpenAIStub, options: str = "") -> OpenAIModel:
    spec = parse_spec(f"openai:tiny?base_url={server.base_url}&timeout_s=10&{options}")
    return create(spec.argument, spec.options)


def ask(model: OpenAIModel, *requests: Request) -> list[Reply]:
    async def all_of_them() -> list[Reply]:
        try:
            return [await model.reply(request) for request in requests]
        finally:
            await model.close()

    return anyio.run(all_of_them)


def ask_stub(canned: Canned, request: Request | None = None) -> Reply:
    with OpenAIStub() as server:
        server.canned.append(canned)
        return ask(model_for(server), request or text_request())[0]


# ------------------------------------------------------------------------------------ what is sent


def test_a_prompt_of_words_is_sent_as_a_plain_string():
    with OpenAIStub(answer="B") as server:
        [reply] = ask(model_for(server), text_request())
    assert reply.text == "B"
    assert reply.finish == "stop"
    assert reply.model == "tiny"
    assert reply.usage == Usage(input_tokens=7, output_tokens=1)
    assert reply.latency_s > 0
    assert server.requests[0].body == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Which?"}],
        "temperature": 0.0,
        "max_tokens": 1024,
    }


def test_parts_keep_their_order_and_images_their_bytes():
    parts = (
        TextPart(text="first"),
        image_part("d1"),
        TextPart(text="then"),
        image_part("d2"),
    )
    images = {"d1": b"\xff\xd8one", "d2": bytes(range(256))}
    prompt = Prompt(parts=parts, system="Be brief.")
    request = Request(item_id="q1", prompt=prompt, sampling=Sampling(), images=images)
    with OpenAIStub() as server:
        ask(model_for(server, "image_detail=low"), request)
    system, user = server.requests[0].body["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert [part["type"] for part in user["content"]] == ["text", "image_url", "text", "image_url"]
    assert user["content"][2]["text"] == "then"
    for part, expected in zip(user["content"][1::2], images.values(), strict=True):
        start, _, data = part["image_url"]["url"].partition(",")
        assert start == "data:image/jpeg;base64"
        assert base64.b64decode(data) == expected
        assert part["image_url"]["detail"] == "low"


def test_a_whole_video_is_sent_as_video_url(tmp_path: Path):
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"a whole video")
    prompt = Prompt(parts=(VideoPart(path=str(path), digest="v1"), TextPart(text="Which?")))
    request = Request(item_id="q1", prompt=prompt, sampling=Sampling())
    with OpenAIStub() as server:
        ask(model_for(server), request, request)
    for seen in server.requests:
        url = seen.body["messages"][0]["content"][0]["video_url"]["url"]
        assert url == "data:video/mp4;base64," + base64.b64encode(b"a whole video").decode()


def test_a_video_that_is_not_there_is_a_rejected_request(tmp_path: Path):
    prompt = Prompt(parts=(VideoPart(path=str(tmp_path / "gone.mp4"), digest="v1"),))
    request = Request(item_id="q1", prompt=prompt, sampling=Sampling())
    with OpenAIStub() as server, pytest.raises(RejectedRequestError, match=r"gone\.mp4 cannot be read"):
        ask(model_for(server), request)
    assert server.n_requests == 0


def test_an_image_without_bytes_is_a_mistake_of_the_caller():
    request = Request(item_id="q1", prompt=Prompt(parts=(image_part("d9"),)), sampling=Sampling())
    with OpenAIStub() as server, pytest.raises(UsageError, match="image d9"):
        ask(model_for(server), request)


def test_settings_left_to_the_server_are_not_sent_and_extra_ones_are():
    request = text_request(temperature=None, max_tokens=None, top_p=0.5, seed=7)
    later = Request(item_id="q1", prompt=request.prompt, sampling=request.sampling, sample=2)
    with OpenAIStub() as server:
        ask(model_for(server, 'extra={"top_k": 5}'), request, later)
    first, second = (seen.body for seen in server.requests)
    assert first.keys() == {"model", "messages", "top_p", "seed", "top_k"}
    assert (first["top_p"], first["seed"], first["top_k"]) == (0.5, 7, 5)
    assert second["seed"] == 9


def test_the_reply_is_cut_at_max_tokens_under_either_name():
    with OpenAIStub(answer="one two three") as server:
        for field in ("max_tokens", "max_completion_tokens"):
            [reply] = ask(model_for(server, f"max_tokens_field={field}"), text_request(max_tokens=2))
            assert (reply.text, reply.finish) == ("one two", "length")
    assert [("max_tokens" in s.body) for s in server.requests] == [True, False]


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", SECRET + "\n")
    with OpenAIStub(key=SECRET) as server:
        assert ask(model_for(server, "api_key_env=MY_KEY"), text_request())[0].text == "A"


def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    with OpenAIStub() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url + "/")
        assert ask(create("tiny", {}), text_request())[0].text == "A"


# --------------------------------------------------------------------------- log-probabilities


def test_choice_logps_are_read_where_they_are_reported():
    with OpenAIStub(letter_logps={"B": -0.1, "A": -2.5, "Z": -3.0}) as server:
        [reply] = ask(model_for(server, "top_logprobs=5"), text_request(want_choice_logps=True))
    assert reply.choice_logps == {"B": -0.1, "A": -2.5}
    assert server.requests[0].body["logprobs"] is True
    assert server.requests[0].body["top_logprobs"] == 5


def test_choice_logps_are_none_where_the_server_ignores_the_wish():
    with OpenAIStub(letter_logps=None) as server:
        [reply] = ask(model_for(server), text_request(want_choice_logps=True))
    assert reply.choice_logps is None
    assert server.requests[0].body["logprobs"] is True


def test_choice_logps_are_neither_asked_for_nor_read_unasked():
    with OpenAIStub(letter_logps={"A": -0.1}) as server:
        [reply] = ask(model_for(server), text_request())
    assert reply.choice_logps is None
    assert "logprobs" not in server.requests[0].body


def test_the_likeliest_way_to_write_a_letter_counts_at_the_first_token_that_is_not_blank():
    def position(token: str, **others: float) -> dict[str, object]:
        top = [{"token": t, "logprob": v} for t, v in others.items()]
        return {"token": token, "logprob": -0.9, "top_logprobs": top}

    first = position(" ", A=-0.01)
    second = position("C", **{" A": -1.5, "A": -4.0, "\u0120B": -2.0, "b": -0.2, "AB": -0.3})
    third = position("x", A=-0.02)
    body = completion({"content": " C"}, logprobs={"content": [first, second, third]})
    reply = ask_stub(Canned(status=200, body=body), text_request(want_choice_logps=True))
    assert reply.choice_logps == {"A": -1.5, "B": -2.0, "C": -0.9}


# ------------------------------------------------------------------------------------ what is read


@pytest.mark.parametrize(
    ("message", "choice", "expected"),
    [
        ({"content": None}, {"finish_reason": "stop"}, Reply(text="")),
        ({}, {"finish_reason": "length"}, Reply(text="", finish="length")),
        ({"content": "B", "tool_calls": []}, {}, Reply(text="B", finish="other")),
        ({"content": "B"}, {"finish_reason": "content_filter"}, Reply(text="B", finish="refusal")),
        ({"content": "B"}, {"finish_reason": "strange"}, Reply(text="B", finish="other")),
        (
            {"content": None, "refusal": "I can't."},
            {"finish_reason": "stop"},
            Reply(text="", finish="refusal", refusal="I can't."),
        ),
        (
            {"content": [{"type": "text", "text": "Answer: "}, {"type": "text", "text": "B"}]},
            {"finish_reason": "stop"},
            Reply(text="Answer: B"),
        ),
        (
            {"content": [{"type": "refusal", "refusal": "No."}]},
            {"finish_reason": "stop"},
            Reply(text="", finish="refusal", refusal="No."),
        ),
        (
            {"content": [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "B"}]},
            {"finish_reason": "stop"},
            Reply(text="B"),
        ),
        (
            {"content": "B", "reasoning_content": "because"},
            {"finish_reason": "stop"},
            Reply(text="B", reasoning="because"),
        ),
        (
            {"content": "B", "reasoning": "because"},
            {"finish_reason": "stop"},
            Reply(text="B", reasoning="because"),
        ),
    ],
)
def test_replies_of_every_shape_are_read(message: object, choice: dict[str, object], expected: Reply):
    reply = ask_stub(Canned(status=200, body=completion(message, **choice)))
    assert (reply.text, reply.finish, reply.refusal, reply.reasoning) == (
        expected.text,
        expected.finish,
        expected.refusal,
        expected.reasoning,
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>welcome</html>", "not JSON.*welcome.*is .* the address"),
        (b"", "not JSON"),
        (completion({"content": "caf"}).replace(b"caf", b"caf\xe9"), "not UTF-8"),
        (b'{"choices": []}', "without choices"),
        (b"{}", "without choices"),
        (b'{"error": "out of memory"}', "without choices.*out of memory"),
        (b'{"error": {"message": "m", "code": 7}}', "without choices.*: m"),
        (b"[1]", "no chat completion"),
        (completion({"content": 5}), r"no chat completion.*content"),
        (completion({"content": "B"}, finish_reason="error"), "broke off"),
        (b'{"error": {"message": "slow down", "code": 429}}', "answered 429: slow down"),
    ],
)
def test_an_answer_that_is_no_reply_is_worth_another_try(body: bytes, words: str):
    with pytest.raises(TransientModelError, match=f"(?s){words}"):
        ask_stub(Canned(status=200, body=body))


# ---------------------------------------------------------------------------------- what is raised


@pytest.mark.parametrize(
    ("canned", "wait_s", "is_overload"),
    [
        (Canned(status=429, headers={"retry-after": "2.5"}), 2.5, True),
        (Canned(status=429, headers={"retry-after-ms": "250", "retry-after": "9"}), 0.25, True),
        (Canned(status=429, headers={"retry-after": "-3"}), 0.0, True),
        (Canned(status=429, headers={"retry-after": "soon"}), None, True),
        (Canned(status=429, headers={"retry-after": "inf"}), None, True),
        (Canned(status=429, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}), 0.0, True),
        (Canned(status=503), None, True),
        (Canned(status=500), None, False),
        (Canned(status=502, body=b"<html>Bad gateway</html>"), None, False),
        (Canned(status=408), None, False),
        (Canned(status=409), None, False),
    ],
)
def test_troubles_that_pass(canned: Canned, wait_s: float | None, is_overload: bool):
    with pytest.raises(TransientModelError, match=str(canned.status)) as caught:
        ask_stub(canned)
    assert caught.value.retry_after_s == wait_s
    assert caught.value.is_overload is is_overload


def _says(**error: object) -> bytes:
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("canned", "kind", "words"),
    [
        (Canned(status=401), AccessError, "401.*OPENAI_API_KEY is not set"),
        (Canned(status=402), AccessError, "402"),
        (Canned(status=403), AccessError, "403"),
        (
            Canned(status=404, body=_says(message="no model tiny")),
            AccessError,
            "no model tiny.*name right",
        ),
        (Canned(status=307, headers={"location": "/v2"}), AccessError, "address moved"),
        (Canned(status=429, body=_says(message="m", code="insufficient_quota")), AccessError, "429: m"),
        (Canned(status=429, body=_says(message="m", type="insufficient_quota")), AccessError, "429: m"),
        (Canned(status=400, body=_says(message="m", code="model_not_found")), AccessError, "400: m"),
        (Canned(status=400, body=_says(message="too many images")), RejectedRequestError, "too many"),
        (Canned(status=422, body=b'{"detail": "bad field"}'), RejectedRequestError, "422: bad field"),
        (Canned(status=400, body=b'{"message": "old style"}'), RejectedRequestError, "400: old style"),
        (Canned(status=413, body=b"too large \xff"), RejectedRequestError, "413: too large"),
        (Canned(status=400, body=b""), RejectedRequestError, "no message"),
    ],
)
def test_troubles_that_stay(canned: Canned, kind: type[ModelError], words: str):
    with pytest.raises(kind, match=f"(?s){words}"):
        ask_stub(canned)


def test_a_long_message_of_the_server_is_trimmed():
    with pytest.raises(RejectedRequestError) as caught:
        ask_stub(Canned(status=400, body=_says(message="word " * 5000)))
    assert len(str(caught.value)) < 600


def test_nobody_listening_is_said_with_the_address():
    with OpenAIStub() as server:
        model = model_for(server)
    with pytest.raises(TransientModelError, match=f"{server.base_url}.*is the server running"):
        ask(model, text_request())


def test_a_connection_that_breaks_off_is_worth_another_try():
    with pytest.raises(TransientModelError, match=r"connection to .* broke"):
        ask_stub(Canned(status=200, body=completion({"content": "B"}), drop=True))


def test_a_server_that_takes_too_long_is_given_up():
    with OpenAIStub(latency_s=5) as server:
        model = create("tiny", {"base_url": server.base_url, "timeout_s": "0.2"})
        with pytest.raises(TransientModelError, match=r"did not answer within 0\.2 s"):
            ask(model, text_request())


def test_openai_itself_needs_a_key():
    with pytest.raises(AccessError, match=r"api\.openai\.com.*OPENAI_API_KEY is not set"):
        ask(create("gpt-4.1", {}), text_request())


# -------------------------------------------------------------------------------------- the secret


def test_the_key_is_never_shown(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    caplog.set_level("DEBUG")
    with OpenAIStub(key="another") as server:
        model = model_for(server)
        with pytest.raises(AccessError, match=r"\[key\].*OPENAI_API_KEY; is it the right one") as caught:
            ask(model, text_request())
        server.canned.append(Canned(status=200, body=f"debug page: {SECRET}".encode()))
        with pytest.raises(TransientModelError) as second:
            ask(model, text_request())
    shown = [
        str(caught.value),
        str(second.value),
        model.identity,
        repr(model),
        repr(vars(model)),
        caplog.text,
    ]
    assert not [text for text in shown if SECRET in text]


@pytest.mark.parametrize(
    "options",
    [
        {"api_key_env": SECRET},
        {"api_key": SECRET},
        {"base_url": f"http://me:{SECRET}@localhost:1/v1"},
        {"base_url": f"http://localhost:1/v1?key={SECRET}"},
    ],
)
def test_a_key_in_the_wrong_place_is_refused_without_showing_it(options: dict[str, str]):
    with pytest.raises(UsageError) as caught:
        create("tiny", options)
    assert SECRET not in str(caught.value)


def test_a_key_with_blanks_inside_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk one two")
    with pytest.raises(UsageError, match="OPENAI_API_KEY holds blanks"):
        create("tiny", {"base_url": "http://localhost:1/v1"})


# ------------------------------------------------------------------------------------- the options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nframes": "16"}, "no option 'nframes'.*Known options: .*base_url"),
        ({"timeout_s": "0"}, "timeout_s='0'.*above 0"),
        ({"max_in_flight": "two"}, "max_in_flight='two'"),
        ({"max_in_flight": "0"}, "max_in_flight='0'.*above 0"),
        ({"image_detail": "huge"}, "expected one of low, high, auto"),
        ({"extra": "[1]"}, "expected a JSON object"),
        ({"extra": "{"}, "expected a JSON object"),
        ({"extra": '{"temperature": 1, "model": "x"}'}, "must not set model, temperature"),
        ({"base_url": "localhost:8000"}, "is not an address"),
        ({"base_url": "http://"}, "is not an address"),
        ({"base_url": "http://h:99999/v1"}, "99999"),
        ({"base_url": "http://h/v1/chat/completions"}, "stop before"),
    ],
)
def test_bad_options_are_refused(options: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words):
        create("tiny", options)


def test_a_name_is_needed():
    with pytest.raises(UsageError, match="name of a model"):
        create("", {})


def test_identity_holds_what_changes_the_reply_and_nothing_else():
    def identity(**options: str) -> str:
        return create("tiny", {"base_url": "http://h/v1", **options}).identity

    same = identity()
    assert same == identity(timeout_s="3") == identity(max_in_flight="2") == identity(base_url="http://h/v1/")
    others = [
        identity(base_url="http://h2/v1"),
        identity(extra='{"top_k": 5}'),
        identity(image_detail="low"),
        identity(top_logprobs="5"),
        create("tiny2", {"base_url": "http://h/v1"}).identity,
    ]
    assert len({same, *others}) == 6
    assert identity(extra='{"a": 1, "b": 2}') == identity(extra='{"b": 2, "a": 1}')


def test_requests_share_connections_and_run_together():
    async def many(model: OpenAIModel) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(model.reply, text_request())
        await model.reply(text_request())
        await model.close()
        await model.close()

    with OpenAIStub(latency_s=0.3) as server:
        anyio.run(many, model_for(server))
    assert server.most_in_flight == 6
    assert server.n_requests == 7
    assert server.n_connections == 6


def test_a_model_can_be_asked_again_after_it_was_closed():
    with OpenAIStub() as server:
        model = model_for(server)
        assert [ask(model, text_request())[0].text for _ in range(2)] == ["A", "A"]


def test_replies_are_independent_of_what_was_asked_before():
    with OpenAIStub(answer=lambda body: body["messages"][0]["content"][-1]) as server:
        requests = [
            Request(item_id=str(n), prompt=Prompt(parts=(TextPart(text=f"say {n}"),)), sampling=Sampling())
            for n in range(3)
        ]
        assert [r.text for r in ask(model_for(server), *requests)] == ["0", "1", "2"]


def test_an_address_that_no_machine_can_have_is_no_access():
    with pytest.raises(AccessError, match=r"\u0378.*correct base_url"):
        ask(create("tiny", {"base_url": "http://\u0378.x/v1"}), text_request())


def test_a_reply_with_another_good_status_is_a_reply():
    assert ask_stub(Canned(status=201, body=completion({"content": "B"}))).text == "B"
