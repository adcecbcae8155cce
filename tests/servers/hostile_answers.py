"""What a hostile server says in its answers, and with which status; see `hostile_modes`."""

import itertools
import json
import zlib
from collections.abc import Callable

from servers.hostile_modes import MB, MODES, Act, Call, Mode, bomb

DONE = b"data: [DONE]\n\n"
HTML = b"<html><body>starting up</body></html>"
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r"
Make = Callable[[Call], tuple[object, ...]]
"""The body of an answer, and perhaps its status and more headers, as `Call.answer` takes them."""


def chat(*choices: object) -> bytes:
    return json.dumps({"choices": choices}).encode()


def packed(body: bytes) -> bytes:
    return zlib.compress(body, wbits=31)


def within(call: Call, more: bytes) -> bytes:
    """A good answer with something behind its last field."""
    return call.good()[:-1] + more + b"}"


GZIP, DEFLATE = "content-encoding: gzip", "content-encoding: deflate"
TOO_LARGE = "more than [0-9.]+ MB"
DEEP = b'{"a":' * 200_000 + b"1" + b"}" * 200_000
CALLS = [{"type": "function", "function": {"name": "f" * 1000, "arguments": "x" * 1000}}] * 1000
TEXTS = {2: "Answer: D", 0: "Answer: A", 1: "Answer: C"}
FILTERED = b'{"error": {"message": "the prompt was filtered", "code": "content_filter"}}'
# About the body of an answer, so that they are tried in every protocol.
IN_ALL: dict[str, tuple[str, Make]] = {
    "fine": ("answer", lambda call: (call.good(),)),
    "html": ("not JSON", lambda call: (HTML,)),
    "nothing": ("not JSON", lambda call: (b"",)),
    "event_stream": (
        "not JSON",
        lambda call: ((b"data: " + call.good() + b"\n\n") * 3 + b"data: [DONE]\n\n",),
    ),
    "bad_utf8": ("not UTF-8", lambda call: (call.good("Answer: @").replace(b"@", b"\xff\xfe"),)),
    "deep_json": ("nested too deeply|that is no", lambda call: (b"[" * 500_000 + b"]" * 500_000,)),
    "deep_field": ("nested too deeply|not JSON", lambda call: (within(call, b', "deep": ' + DEEP),)),
    "not_a_number": ("not JSON", lambda call: (within(call, b', "x": NaN'),)),
    "huge_number": ("answer|not JSON|that is no", lambda call: (within(call, b', "x": 1' + b"0" * 100_000),)),
    "same_key_twice": ("answer", lambda call: (call.good("Answer: D")[:-1] + b", " + call.good()[1:],)),
    "null": ("that is no", lambda call: (b"null",)),
    "a_list": ("that is no", lambda call: (b"[" + call.good() + b"]",)),
    "an_empty_object": ("without (choices|output|content|candidates)", lambda call: (b"{}",)),
    "tokens_below_zero": ("answer", lambda call: (call.good(usage=-60_000_000),)),
    "tokens_beyond_belief": ("answer", lambda call: (call.good(usage=10**30),)),
    "tokens_as_words": ("answer", lambda call: (call.good(usage="many"),)),
    "key_in_the_reply": (
        "answer",
        lambda call: (call.good(f"Answer: A {call.key}", more={"model": call.key}),),
    ),
    "gzip_bomb": (TOO_LARGE, lambda call: (bomb(31), "200 OK", GZIP)),
    "deflate_bomb": (TOO_LARGE, lambda call: (bomb(15), "200 OK", DEFLATE)),
    "packed_twice": (
        "packed several times",
        lambda call: (
            packed(packed(call.good())),
            "200 OK",
            f"{GZIP}, gzip",
        ),
    ),
    "packed_once": ("answer", lambda call: (packed(call.good()), "200 OK", GZIP)),
    "packed_badly": ("broke|not JSON", lambda call: (b"\x1f\x8b\x08\x00garbage", "200 OK", GZIP)),
    "two_megabytes": ("answer", lambda call: (call.good(more={"padding": "x" * 2 * MB}),)),
}
IN_CHAT: dict[str, tuple[str, Make]] = {
    "status_206": ("answer", lambda call: (call.good(), "206 Partial Content")),
    "two_objects": ("not JSON", lambda call: (call.good() + b"\n" + call.good(),)),
    "utf_16": ("not UTF-8|not JSON", lambda call: (call.good().decode().encode("utf-16"),)),
    "byte_order_mark": ("not JSON|answer", lambda call: (b"\xef\xbb\xbf" + call.good(),)),
    "deep_error": (
        "answered 500.*|nothing was ever answered",
        lambda call: (DEEP.replace(b'"a"', b'"error"'), "500 No"),
    ),
    "huge_exponent": ("that is no|not JSON", lambda call: (b"1e99999999",)),
    "huge_key": ("answer", lambda call: (call.good(more={"k" * MB: 1}),)),
    "a_text": ("that is no", lambda call: (b'"Answer: A"',)),
    "no_choices": ("without choices", lambda call: (chat(),)),
    "choice_without_message": ("that is no", lambda call: (chat({"index": 0}),)),
    "choices_of_another_kind": ("that is no", lambda call: (b'{"choices": {"0": "Answer: A"}}',)),
    "no_content": ("empty", lambda call: (chat({"message": {"content": None}, "finish_reason": "length"}),)),
    "huge_tool_calls": (
        "empty",
        lambda call: (
            chat({"message": {"content": None, "tool_calls": CALLS}, "finish_reason": "tool_calls"}),
        ),
    ),
    "choices_out_of_order": (
        "answer",
        lambda call: (chat(*({"index": i, "message": {"content": t}} for i, t in TEXTS.items())),),
    ),
    "breaks_off": (
        "finish_reason 'error'",
        lambda call: (chat({"message": {"content": "Answer"}, "finish_reason": "error"}),),
    ),
    "lone_surrogate": (
        "answer|not JSON|not UTF-8|that is no",
        lambda call: (call.good().replace(b"Answer: A", b"Answer: A\\ud800"),),
    ),
    "escapes": ("answer", lambda call: (call.good(f"Answer: A {ESCAPES}\x00"),)),
    "long_text": ("answer", lambda call: (call.good("Answer: A " + "answer is " * 300_000),)),
    "raw_deflate_bomb": (
        "more than [0-9.]+ MB",
        lambda call: (bomb(-15), "200 OK", DEFLATE),
    ),
    "bomb_as_error": (TOO_LARGE, lambda call: (bomb(31), "500 No", GZIP)),
    "packed_in_two_headers": (
        "packed several times",
        lambda call: (packed(bomb(31)), "200 OK", GZIP, GZIP),
    ),
    "not_packed_at_all": ("broke", lambda call: (call.good(), "200 OK", GZIP)),
    "packed_and_cut": (
        "not JSON|broke",
        lambda call: (packed(call.good())[:40], "200 OK", GZIP),
    ),
    "packed_in_an_unknown_way": ("answer", lambda call: (call.good(), "200 OK", "content-encoding: x-own")),
    "bad_status": ("broke", lambda call: (call.good(), "abc OK")),
    "header_without_colon": ("broke", lambda call: (call.good(), "200 OK", "what is this")),
    "header_with_nul": ("broke", lambda call: (call.good(), "200 OK", "x: a\x00b")),
    "many_cookies": (
        "answer",
        lambda call: (
            *(call.good(), "200 OK"),
            *(f"set-cookie: c{i}={'v' * 40}; Domain=.example" for i in range(900)),
        ),
    ),
    "filtered": ("empty", lambda call: (FILTERED, "400 Bad Request")),
    "error_without_words": ("answered 400: ", lambda call: (b"", "400 Bad Request")),
}
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
MOVED = itertools.cycle(("301", "302", "303", "307", "308"))
DOWN = (500, 502, 503, 504, 529, 429, 599, 999)
CLOSED = (401, 402, 403, 404, 405, 304, 400, 406, 408, 409, 411, 413, 414, 415, 418, 422, 425, 431, 451)
BAD = "400 Bad Request"
# Errors as the protocols write them: the status, the message, more headers.
ERRORS: dict[str, tuple[str, Make]] = {
    **{f"down_{n}": ("nothing was ever answered.*answered", lambda _, n=n: (f"{n} No",)) for n in DOWN},
    **{f"closed_{n}": ("answered", lambda _, n=n: (f"{n} No",)) for n in CLOSED},
    "long_error": ("answered 400", lambda call: (BAD, "no " * (MB // 3))),
    "key_in_the_error": (
        "answered 400: .*\\[key\\]",
        lambda call: (BAD, f"you sent {call.key}, " + "x" * 460 + call.key * 3),
    ),
    "escapes_in_the_error": ("answered 400", lambda call: (BAD, f"no {ESCAPES}")),
    "error_that_is_none": ("answered 400", lambda call: (BAD, {"message": ["no"]})),
    **{
        f"wait_{name}": (
            "asks to wait|nothing was ever answered.*answered 429",
            lambda _, at=at: ("429 Too Many", "slowly", f"retry-after: {at}"),
        )
        for name, at in WAITS.items()
    },
    "wait_told_twice": (
        "asks to wait|nothing was ever answered.*answered 503",
        lambda call: ("503 No", "slowly", "retry-after: 0", "retry-after: 99999999"),
    ),
    **{
        f"redirect_{name}": (
            "answered 30[0-9]",
            lambda call, to=to: (
                *(f"{next(MOVED)} Moved", "elsewhere"),
                f"location: {to.format(port=call.server.port)}",
            ),
        )
        for name, to in ELSEWHERE.items()
    },
}


def _answer(make: Make) -> Act:
    async def act(call: Call) -> None:
        await call.answer(*make(call))

    return act


def _error(make: Make) -> Act:
    async def act(call: Call) -> None:
        await call.error(*make(call))

    return act


def _every_other_time(*error: str) -> Act:
    async def act(call: Call) -> None:
        if call.n_before % 2 == 0:
            await call.error(*error)
        else:
            await call.answer(call.good())

    return act


async def _status_204(call: Call) -> None:
    await call.raw(b"HTTP/1.1 204 No Content\r\n\r\n")


async def _upgrade(call: Call) -> None:
    await call.raw(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\ngarbage")
    call.end()


MODES |= {name: Mode(name, expects, _answer(make), True) for name, (expects, make) in IN_ALL.items()}
MODES |= {name: Mode(name, expects, _answer(make), False) for name, (expects, make) in IN_CHAT.items()}
MODES |= {name: Mode(name, expects, _error(make), False) for name, (expects, make) in ERRORS.items()}
BUSY = ("429 Too Many", "slowly", "retry-after-ms: 20")
for name, expects, act in (
    ("status_204", "not JSON", _status_204),
    ("upgrade", "answered 101|broke", _upgrade),
    ("error_every_other_time", "answer", _every_other_time("500 No")),
    ("busy_every_other_time", "answer", _every_other_time(*BUSY)),
):
    MODES[name] = Mode(name, expects, act, False)
