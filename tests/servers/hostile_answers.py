"""What a hostile server says in its answers, and with which status; see `hostile_modes`."""

import itertools
import json

from servers.hostile_modes import MB, Call, mode, says, sends, several

HTML = b"<html><body>starting up</body></html>"
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r"


def replies(*choices: dict[str, object]) -> bytes:
    """The body of a chat completion with these choices."""
    return json.dumps({"choices": choices}).encode()


def with_field(call: Call, field: bytes) -> bytes:
    """A good answer with one more field."""
    return call.good()[:-1] + b", " + field + b"}"


DEEP = b'{"a":' * 200_000 + b"1" + b"}" * 200_000
several(
    "not JSON",
    is_body=True,
    html=says(lambda _: (HTML,)),
    nothing=says(lambda _: (b"",)),
    event_stream=says(lambda call: (b"data: " + call.good() + b"\n\ndata: [DONE]\n\n",)),
)
several(
    "not JSON",
    status_204=sends(lambda _: b"HTTP/1.1 204 No Content\r\n\r\n"),
    two_objects=says(lambda call: (call.good() + b"\n" + call.good(),)),
)
several(
    "not UTF-8",
    is_body=True,
    bad_utf8=says(lambda call: (call.good("Answer: @").replace(b"@", b"\xff\xfe"),)),
)
several("not UTF-8|not JSON", utf_16=says(lambda call: (call.good().decode().encode("utf-16"),)))
several("not JSON|answer", byte_order_mark=says(lambda call: (b"\xef\xbb\xbf" + call.good(),)))
several(
    "nested too deeply|that is no|not JSON",
    is_body=True,
    deep_json=says(lambda _: (b"[" * 500_000 + b"]" * 500_000,)),
    deep_field=says(lambda call: (with_field(call, b'"deep": ' + DEEP),)),
)
several("answered 500.*|no request has succeeded", deep_error=says(lambda _: (DEEP, "500 No")))
several(
    "answer|not JSON|that is no",
    is_body=True,
    huge_number=says(lambda call: (with_field(call, b'"x": 1' + b"0" * 100_000),)),
)
several(
    "that is no|not JSON",
    huge_exponent=says(lambda _: (b"1e99999999",)),
    a_text=says(lambda _: (b'"Answer: A"',)),
    choice_without_message=says(lambda _: (replies({"index": 0}),)),
    choices_of_another_kind=says(lambda _: (b'{"choices": {"0": "Answer: A"}}',)),
)
several(
    "that is no",
    is_body=True,
    null=says(lambda _: (b"null",)),
    a_list=says(lambda call: (b"[" + call.good() + b"]",)),
)
several("without (choices|output|content|candidates)", is_body=True, an_empty_object=says(lambda _: (b"{}",)))
several("without choices", no_choices=says(lambda _: (replies(),)))
TOOLS = [{"type": "function", "function": {"name": "f" * 1000, "arguments": "x" * 1000}}] * 1000
several(
    "empty",
    no_content=says(lambda _: (replies({"message": {"content": None}, "finish_reason": "length"}),)),
    huge_tool_calls=says(lambda _: (replies({"message": {"content": None, "tool_calls": TOOLS}}),)),
)
several(
    "finish_reason 'error'",
    breaks_off=says(lambda _: (replies({"message": {"content": "Answer"}, "finish_reason": "error"}),)),
)
several(
    "answer|not JSON|not UTF-8|that is no",
    lone_surrogate=says(lambda call: (call.good().replace(b"Answer: A", b"Answer: A\\ud800"),)),
)
several(
    "answer",
    is_body=True,
    not_a_number=says(lambda call: (with_field(call, b'"x": NaN'),)),
    same_key_twice=says(lambda call: (call.good("Answer: D")[:-1] + b", " + call.good()[1:],)),
    tokens_below_zero=says(lambda call: (call.good(usage=-60_000_000),)),
    tokens_beyond_belief=says(lambda call: (call.good(usage=10**30),)),
    tokens_as_words=says(lambda call: (call.good(usage="many"),)),
    key_in_the_reply=says(lambda call: (call.good(f"Answer: A {call.key}", more={"model": call.key}),)),
)
ORDER = [{"index": i, "message": {"content": f"Answer: {x}"}} for i, x in ((2, "D"), (0, "A"), (1, "C"))]
several(
    "answer",
    status_206=says(lambda call: (call.good(), "206 Partial Content")),
    huge_key=says(lambda call: (call.good(more={"k" * MB: 1}),)),
    choices_out_of_order=says(lambda _: (replies(*ORDER),)),
    escapes=says(lambda call: (call.good(f"Answer: A {ESCAPES}\x00"),)),
    long_text=says(lambda call: (call.good("Answer: A " + "answer is " * 300_000),)),
)


def refuses(status: str, message: object = "no", *lines: str):
    """An error as the protocols write it."""
    return says(lambda _: (json.dumps({"error": {"message": message}}).encode(), status, *lines))


DOWN, NO_ACCESS = "500 502 503 504 529 429 599 999", "401 402 403 404 405"
REJECTED = "400 406 408 409 411 413 414 415 418 422 425 431 451"
several("no request has succeeded.*answered", **{f"down_{n}": refuses(f"{n} No") for n in DOWN.split()})
several("answered", **{f"refused_{n}": refuses(f"{n} No") for n in f"{NO_ACCESS} {REJECTED}".split()})
several("broke", refused_304=refuses("304 No"))  # which has no body
UPGRADE = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\ngarbage"
several("answered 101|broke", upgrade=sends(lambda _: UPGRADE, ends=True))
FILTERED = b'{"error": {"message": "the prompt was filtered", "code": "content_filter"}}'
several("empty", filtered=says(lambda _: (FILTERED, "400 Bad Request")))
several(
    "answered 400",
    long_error=refuses("400 Bad Request", "no " * (MB // 3)),
    escapes_in_the_error=refuses("400 Bad Request", f"no {ESCAPES}"),
    error_that_is_none=refuses("400 Bad Request", {"message": ["no"]}),
    error_without_words=says(lambda _: (b"", "400 Bad Request")),
)


@mode("answered 400: .*\\[key\\]")
async def key_in_the_error(call: Call) -> None:
    await refuses("400 Bad Request", f"you sent {call.key}, " + "x" * 460 + call.key * 3)(call)


def every_other_time(error):
    """An error before each good answer."""

    async def act(call: Call) -> None:
        await (says(lambda call: (call.good(),)) if call.n_before % 2 else error)(call)

    return act


several(
    "answer",
    error_every_other_time=every_other_time(refuses("500 No")),
    busy_every_other_time=every_other_time(refuses("429 Too Many", "slowly", "retry-after-ms: 20")),
)
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
BUSY = "429 Too Many", "slowly"
several(
    "asks to wait|no request has succeeded.*answered (429|503)",
    wait_told_twice=refuses("503 No", "slowly", "retry-after: 0", "retry-after: 99999999"),
    **{f"wait_{name}": refuses(*BUSY, f"retry-after: {told}") for name, told in WAITS.items()},
)
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


def redirects(target: str):
    """Another redirect at each question."""
    statuses = itertools.cycle(("301", "302", "303", "307", "308"))

    async def act(call: Call) -> None:
        place = target.format(port=call.server.port)
        await refuses(f"{next(statuses)} Moved", "elsewhere", f"location: {place}")(call)

    return act


several("answered 30[0-9]", **{f"redirect_{name}": redirects(told) for name, told in ELSEWHERE.items()})
