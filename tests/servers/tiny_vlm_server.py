"""An OpenAI-compatible server on loopback for any image-text-to-text checkpoint.

    python tests/servers/tiny_vlm_server.py FOLDER [PORT]

It answers one request at a time in the plainest way (`processor`, `generate`, log-softmax), so that it
can serve as the reference for the product's own batched model. It knows text and ``image_url`` (data
URLs), ``n``, ``seed``, ``stop``, ``temperature``, ``top_p``, ``max_tokens`` and ``logprobs``.
"""

import base64
import io
import json
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Self

from PIL import Image

if TYPE_CHECKING:
    import torch

DEFAULT_MAX_TOKENS = 16


class BadRequestError(Exception):
    """The request is not one that this server can answer."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong instead of, or before, an answer.

    `status` 0 is a connection that breaks; 200 sends `body` as if it were an answer. `delay_s` alone
    makes an answer slow.
    """

    status: int | None = None
    retry_after_s: float | None = None
    delay_s: float = 0.0
    body: bytes = b'{"error": {"message": "planned by the test"}}'


@dataclass
class _Settings:
    max_tokens: int
    temperature: float
    top_p: float
    n: int
    seed: int | None
    stop: list[str]
    n_logprobs: int | None


@dataclass
class _Generated:
    """`token_ids` and `logits` include the token that ends the turn, if `is_finished`."""

    token_ids: list[int]
    logits: list["torch.Tensor"]
    is_finished: bool


def _settings(body: dict) -> _Settings:
    stop = body.get("stop") or []
    return _Settings(
        max_tokens=int(body.get("max_completion_tokens") or body.get("max_tokens") or DEFAULT_MAX_TOKENS),
        temperature=float(body["temperature"]) if body.get("temperature") is not None else 1.0,
        top_p=float(body.get("top_p") or 1.0),
        n=int(body.get("n") or 1),
        seed=body.get("seed"),
        stop=[stop] if isinstance(stop, str) else list(stop),
        n_logprobs=int(body.get("top_logprobs") or 0) if body.get("logprobs") else None,
    )


def _image(url: str) -> Image.Image:
    if not url.startswith("data:"):
        raise BadRequestError("only data: URLs are served")
    try:
        return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")
    except (OSError, ValueError) as error:
        raise BadRequestError(f"not an image: {error}") from error


def _conversation(messages: list[dict]) -> list[dict]:
    turns = []
    for message in messages:
        parts = message["content"]
        if isinstance(parts, str):
            parts = [{"type": "text", "text": parts}]
        content = []
        for part in parts:
            if part["type"] == "text":
                content.append({"type": "text", "text": part["text"]})
            elif part["type"] == "image_url":
                content.append({"type": "image", "image": _image(part["image_url"]["url"])})
            else:
                raise BadRequestError(f"content of type {part['type']!r} is not served")
        turns.append({"role": message["role"], "content": content})
    return turns


class Answerer:
    """A checkpoint that answers bodies of ``/chat/completions``."""

    def __init__(self, folder: Path, name: str) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.name = name
        self.processor = AutoProcessor.from_pretrained(folder, local_files_only=True)
        self.model = AutoModelForImageTextToText.from_pretrained(folder, local_files_only=True).eval()
        ends = self.model.generation_config.eos_token_id
        self.ends = set(ends if isinstance(ends, list) else [ends])
        self._one_at_a_time = threading.Lock()
        self._n_generated = 0

    def answer(self, body: dict) -> dict:
        """The completion for a body."""
        settings = _settings(body)
        inputs = self.processor.apply_chat_template(
            [_conversation(body["messages"])],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        n_input = inputs["input_ids"].shape[1]
        with self._one_at_a_time:
            said = self._generate(inputs, settings)
        n_output = sum(len(s.token_ids) for s in said)
        return {
            "id": f"chatcmpl-{time.monotonic_ns():x}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.name,
            "choices": [self._choice(i, s, settings) for i, s in enumerate(said)],
            "usage": {
                "prompt_tokens": n_input,
                "completion_tokens": n_output,
                "total_tokens": n_input + n_output,
            },
        }

    def _generate(self, inputs: dict, settings: _Settings) -> list[_Generated]:
        import torch

        drawn = settings.temperature > 0
        how = {"temperature": settings.temperature, "top_p": settings.top_p, "top_k": 0} if drawn else {}
        n_rows = settings.n if drawn else 1
        with torch.random.fork_rng(), torch.inference_mode():
            self._n_generated += 1  # who sends no seed wants another draw each time
            torch.manual_seed(self._n_generated if settings.seed is None else settings.seed)
            made = self.model.generate(
                **inputs,
                do_sample=drawn,
                max_new_tokens=settings.max_tokens,
                num_return_sequences=n_rows,
                output_logits=True,
                return_dict_in_generate=True,
                **how,
            )
        rows = made.sequences[:, inputs["input_ids"].shape[1] :].tolist()
        said = []
        for i, row in enumerate(rows):
            end = next((k for k, token in enumerate(row) if token in self.ends), None)
            n = len(row) if end is None else end + 1
            logits = [step[i] for step in made.logits[:n]]
            said.append(_Generated(token_ids=row[:n], logits=logits, is_finished=end is not None))
        return said if drawn else said * settings.n

    def _choice(self, index: int, said: _Generated, settings: _Settings) -> dict:
        text = self.processor.tokenizer.decode(said.token_ids, skip_special_tokens=True)
        starts = [text.index(stop) for stop in settings.stop if stop in text]
        logprobs = None
        if settings.n_logprobs is not None:
            positions = zip(said.token_ids, said.logits, strict=True)
            logprobs = {"content": [self._position(t, at, settings.n_logprobs) for t, at in positions]}
        return {
            "index": index,
            "message": {"role": "assistant", "content": text[: min(starts)] if starts else text},
            "finish_reason": "stop" if said.is_finished or starts else "length",
            "logprobs": logprobs,
        }

    def _position(self, token_id: int, logits: "torch.Tensor", n_best: int) -> dict:
        logps = logits.float().log_softmax(-1)
        best = logps.topk(n_best)

        def entry(i: int) -> dict:
            text = self.processor.tokenizer.decode([i])
            return {"token": text, "logprob": float(logps[i]), "bytes": list(text.encode())}

        return {**entry(token_id), "top_logprobs": [entry(i) for i in best.indices.tolist()]}


@dataclass
class _State:
    answerer: Answerer
    key: str
    faults: deque[Fault] = field(default_factory=deque)
    bodies: list[dict] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: _State

    def do_GET(self) -> None:
        if self.path == "/health":
            self._send(200, {"status": "ok"})
        elif self.path == "/v1/models":
            name = self.state.answerer.name
            self._send(200, {"object": "list", "data": [{"id": name, "object": "model"}]})
        else:
            self._refuse(404, f"there is no {self.path}")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/v1/chat/completions":
            return self._refuse(404, f"there is no {self.path}")
        if self.state.key and self.headers.get("Authorization") != f"Bearer {self.state.key}":
            return self._refuse(401, "wrong key")
        fault = self.state.faults.popleft() if self.state.faults else Fault()
        time.sleep(fault.delay_s)
        if fault.status is not None:
            return self._fail(fault)
        try:
            body = json.loads(raw)
            self.state.bodies.append(body)
            return self._send(200, self.state.answerer.answer(body))
        except (BadRequestError, KeyError, TypeError, ValueError) as error:
            return self._refuse(400, f"{type(error).__name__}: {error}")

    def _fail(self, fault: Fault) -> None:
        if fault.status == 0:
            self.close_connection = True
            return
        wait = {} if fault.retry_after_s is None else {"Retry-After": f"{fault.retry_after_s:g}"}
        self._send_bytes(fault.status, fault.body, wait)

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "invalid_request_error", "code": status}})

    def _send(self, status: int, body: dict) -> None:
        self._send_bytes(status, json.dumps(body).encode(), {})

    def _send_bytes(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Tests read `bodies`; nothing goes to the terminal."""


class TinyVlmServer:
    """The server on a free port of loopback, for a ``with`` block.

    `faults` is a queue: each request takes one. `bodies` are the requests that were answered.
    """

    def __init__(self, folder: Path, *, name: str = "tiny", key: str = "", port: int = 0) -> None:
        self._state = _State(answerer=Answerer(folder, name), key=key)
        handler = type("Handler", (_Handler,), {"state": self._state})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def base_url(self) -> str:
        """What to give as ``base_url``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def answerer(self) -> Answerer:
        """What answers, without HTTP."""
        return self._state.answerer

    @property
    def faults(self) -> deque[Fault]:
        """What goes wrong with the next requests."""
        return self._state.faults

    @property
    def bodies(self) -> list[dict]:
        """The bodies of the requests that were answered, in order."""
        return self._state.bodies

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve_forever(self) -> None:
        """Serve until interrupted."""
        self._server.serve_forever()


def main(arguments: Sequence[str]) -> None:
    """Serve the folder given on the command line."""
    server = TinyVlmServer(Path(arguments[0]), port=int(arguments[1]) if len(arguments) > 1 else 0)
    sys.stdout.write(f"{server.base_url}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
