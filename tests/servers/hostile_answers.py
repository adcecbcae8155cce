"""What a hostile server says in its answers, and with which status; see `hostile_modes`."""

import itertools
import json

from servers.hostile_modes import MB, Act, Call, mode, several

HTML = b"<html><body>starting up</body></html>"
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r"


@mode("not JSON", is_body=True)
async def html(call: Call) -> None:
    await call.answer(HTML)


@mode("not JSON", is_body=True)
async def nothing(call: Call) -> None:
    await call.answer(b"")


@mode("not JSON")
async def status_204(call: Call) -> None:
    await call.raw(b"HTTP/1.1 204 No Content\r\n\r\n")


@mode("answer")
async def status_206(call: Call) -> None:
    await call.answer(call.good(), "206 Partial Content")


@mode("not JSON", is_body=True)
async def event_stream(call: Call) -> None:
    await call.answer(b"".join(b"data: " + call.good() + b"\n\n" for _ in range(3)) + b"data: [DONE]\n\n")


@mode("not JSON")
async def two_objects(call: Call) -> None:
    await call.answer(call.good() + b"\n" + call.good())


@mode("not UTF-8", is_body=True)
async def bad_utf8(call: Call) -> None:
    await call.answer(call.good("Answer: @").replace(b"@", b"\xff\xfe"))


@mode("not UTF-8|not JSON")
async def utf_16(call: Call) -> None:
    await call.answer(call.good().decode().encode("utf-16"))


@mode("not JSON|answer")
async def byte_order_mark(call: Call) -> None:
    await call.answer(b"\xef\xbb\xbf" + call.good())


@mode("nested too deeply|that is no", is_body=True)
async def deep_json(call: Call) -> None:
    await call.answer(b"[" * 500_000 + b"]" * 500_000)


@mode("nested too deeply|not JSON", is_body=True)
async def deep_field(call: Call) -> None:
    deep = b'{"a":' * 200_000 + b"1" + b"}" * 200_000
    await call.answer(call.good()[:-1] + b', "deep": ' + deep + b"}")


@mode("answered 500.*|nothing was ever answered")
async def deep_error(call: Call) -> None:
    await call.answer(b'{"error":' * 200_000 + b"1" + b"}" * 200_000, "500 No")


@mode("not JSON", is_body=True)
async def not_a_number(call: Call) -> None:
    await call.answer(call.good()[:-1] + b', "x": NaN}')


@mode("answer|not JSON|that is no", is_body=True)
async def huge_number(call: Call) -> None:
    await call.answer(call.good()[:-1] + b', "x": 1' + b"0" * 100_000 + b"}")


@mode("that is no|not JSON")
async def huge_exponent(call: Call) -> None:
    await call.answer(b"1e99999999")


@mode("answer", is_body=True)
async def same_key_twice(call: Call) -> None:
    await call.answer(call.good("Answer: D")[:-1] + b", " + call.good()[1:])


@mode("answer")
async def huge_key(call: Call) -> None:
    await call.answer(call.good(more={"k" * MB: 1}))


@mode("that is no", is_body=True)
async def null(call: Call) -> None:
    await call.answer(b"null")


@mode("that is no", is_body=True)
async def a_list(call: Call) -> None:
    await call.answer(b"[" + call.good() + b"]")


@mode("that is no")
async def a_text(call: Call) -> None:
    await call.answer(b'"Answer: A"')


@mode("without (choices|output|content|candidates)", is_body=True)
async def an_empty_object(call: Call) -> None:
    await call.answer(b"{}")


@mode("without choices")
async def no_choices(call: Call) -> None:
    await call.answer(b'{"choices": []}')


@mode("that is no")
async def choice_without_message(call: Call) -> None:
    await call.answer(b'{"choices": [{"index": 0}]}')


@mode("that is no")
async def choices_of_another_kind(call: Call) -> None:
    await call.answer(b'{"choices": {"0": "Answer: A"}}')


@mode("empty")
async def no_content(call: Call) -> None:
    await call.answer(b'{"choices": [{"message": {"content": null}, "finish_reason": "length"}]}')


@mode("empty")
async def huge_tool_calls(call: Call) -> None:
    calls = [{"type": "function", "function": {"name": "f" * 1000, "arguments": "x" * 1000}}] * 1000
    choice = {"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}
    await call.answer(json.dumps({"choices": [choice]}).encode())


@mode("answer")
async def choices_out_of_order(call: Call) -> None:
    texts = {2: "Answer: D", 0: "Answer: A", 1: "Answer: C"}
    choices = [{"index": i, "message": {"content": t}} for i, t in texts.items()]
    await call.answer(json.dumps({"choices": choices}).encode())


@mode("finish_reason 'error'")
async def breaks_off(call: Call) -> None:
    choice = {"message": {"content": "Answer"}, "finish_reason": "error"}
    await call.answer(json.dumps({"choices": [choice]}).encode())


@mode("answer|not JSON|not UTF-8|that is no")
async def lone_surrogate(call: Call) -> None:
    await call.answer(call.good("Answer: A").replace(b"Answer: A", b"Answer: A\\ud800"))


@mode("answer")
async def escapes(call: Call) -> None:
    await call.answer(call.good(f"Answer: A {ESCAPES}\x00"))


@mode("answer")
async def long_text(call: Call) -> None:
    await call.answer(call.good("Answer: A " + "answer is " * 300_000))


@mode("answer", is_body=True)
async def tokens_below_zero(call: Call) -> None:
    await call.answer(call.good(usage=-60_000_000))


@mode("answer", is_body=True)
async def tokens_beyond_belief(call: Call) -> None:
    await call.answer(call.good(usage=10**30))


@mode("answer", is_body=True)
async def tokens_as_words(call: Call) -> None:
    await call.answer(call.good(usage="many"))


@mode("answer", is_body=True)
async def key_in_the_reply(call: Call) -> None:
    await call.answer(call.good(f"Answer: A {call.key}", more={"model": call.key}))


# ---------------------------------------------------------------------------------------- statuses


@several("nothing was ever answered.*answered")
def down(status: str) -> Act:
    async def act(call: Call) -> None:
        await call.error(f"{status} No")

    return act


down("500 502 503 504 529 429 599 999")


@several("answered")
def no_access(status: str) -> Act:
    async def act(call: Call) -> None:
        await call.error(f"{status} No")

    return act


no_access("401 402 403 404 405 304")


@several("answered")
def rejected(status: str) -> Act:
    async def act(call: Call) -> None:
        await call.error(f"{status} No")

    return act


rejected("400 406 408 409 411 413 414 415 418 422 425 431 451")


@mode("answered 101|broke")
async def upgrade(call: Call) -> None:
    await call.raw(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\ngarbage")
    call.end()


@mode("empty")
async def filtered(call: Call) -> None:
    body = {"error": {"message": "the prompt was filtered", "code": "content_filter"}}
    await call.answer(json.dumps(body).encode(), "400 Bad Request")


@mode("answered 400")
async def long_error(call: Call) -> None:
    await call.error("400 Bad Request", "no " * (MB // 3))


@mode("answered 400: .*\\[key\\]")
async def key_in_the_error(call: Call) -> None:
    await call.error("400 Bad Request", f"you sent {call.key}, " + "x" * 460 + call.key * 3)


@mode("answered 400")
async def escapes_in_the_error(call: Call) -> None:
    await call.error("400 Bad Request", f"no {ESCAPES}")


@mode("answered 400")
async def error_that_is_none(call: Call) -> None:
    await call.error("400 Bad Request", {"message": ["no"]})


@mode("answered 400: ")
async def error_without_words(call: Call) -> None:
    await call.answer(b"", "400 Bad Request")


@mode("answer")
async def error_every_other_time(call: Call) -> None:
    if call.n_before % 2 == 0:
        await call.error("500 No")
    else:
        await call.answer(call.good())


@mode("answer")
async def busy_every_other_time(call: Call) -> None:
    if call.n_before % 2 == 0:
        await call.error("429 Too Many", "slowly", "retry-after-ms: 20")
    else:
        await call.answer(call.good())


WAITS = {
    "for_ever": "1e9",
    "infinite": "1e308",
    "year_9999": "Fri, 31 Dec 9999 23:59:59 GMT",
    "negative": "-5",
    "nan": "nan",
    "inf": "inf",
    "garbage": "soon, perhaps",
    "past": "Fri, 31 Dec 1999 23:59:59 GMT",
    "bad_date": "Fri, 99 Dec 1999 99:59:59 GMT",
    "huge": "9" * 5000,
    "empty": "",
}


@several("asks to wait|nothing was ever answered.*answered 429")
def wait(name: str) -> Act:
    async def act(call: Call) -> None:
        await call.error("429 Too Many", "slowly", f"retry-after: {WAITS[name]}")

    return act


wait(" ".join(WAITS))


@mode("asks to wait|nothing was ever answered.*answered 503")
async def wait_told_twice(call: Call) -> None:
    await call.error("503 No", "slowly", "retry-after: 0", "retry-after: 99999999")


ELSEWHERE = {
    "other_host": "http://localhost:{port}/canary",
    "same_host": "/canary",
    "https": "https://127.0.0.1:{port}/canary",
    "file": "file:///etc/passwd",
    "script": "javascript:alert(1)",
    "no_scheme": "//localhost:{port}/canary",
    "with_key": "http://user:pass@localhost:{port}/canary?key=x",
    "garbage": "http://[::1/canary",
}


@several("answered 30[0-9]")
def redirect(name: str) -> Act:
    statuses = itertools.cycle(("301", "302", "303", "307", "308"))

    async def act(call: Call) -> None:
        target = ELSEWHERE[name].format(port=call.server.port)
        await call.error(f"{next(statuses)} Moved", "elsewhere", f"location: {target}")

    return act


redirect(" ".join(ELSEWHERE))
