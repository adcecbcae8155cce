"""Batch APIs over loopback, for `OpenAIStub.canned_for`: files, batches, results, and what goes wrong."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from servers.openai_stub import Body, Canned, Seen


@dataclass(kw_only=True)
class BatchApi:
    """Batches are done at the second look, once `is_open` is False.

    Args:
        answer: what the model says to a request.
        has_lost: whether the answer to the next creation is lost.
        n_expired: so many requests of the first batch get no answer before it expires.
        refused: requests with this word in them get status 400.
        reason: where given, batches fail as a whole, and say this.
    """

    answer: Callable[[Body], str] = lambda body: "Answer: A"
    has_lost: bool = False
    n_expired: int = 0
    refused: str = ""
    reason: str = ""
    is_open: bool = False
    files: dict[str, list[Body]] = field(default_factory=dict)
    made: list[Body] = field(default_factory=list)
    looks: int = 0

    @property
    def asked(self) -> list[str]:
        """The keys of all requests that were uploaded, in their order."""
        return [str(line["custom_id"]) for lines in self.files.values() for line in lines]

    def __call__(self, seen: Seen) -> Canned | None:
        """The answer to a request of the batch API; None for any other."""
        parts = seen.path.partition("?")[0].split("/")[2:]
        match seen.method, parts:
            case "POST", ["files"]:
                name = f"file-{len(self.files)}"
                lines = re.search(rb"jsonl\r\n\r\n(.*?)\r\n--vidence", seen.raw, re.DOTALL)[1].splitlines()
                self.files[name] = [json.loads(line) for line in lines]
                return _said({"id": name})
            case "POST", ["batches"]:
                batch = {"id": f"batch-{len(self.made)}", "status": "in_progress", **seen.body}
                self.made.append(batch)
                return self._made(batch)
            case "GET", ["batches"]:
                return _said({"data": self.made})
            case "GET", ["batches", name]:
                return self._state(name)
            case "GET", ["files", name, "content"]:
                return Canned(status=200, body=self._results(name))
        return None

    def _made(self, batch: Body) -> Canned:
        is_lost, self.has_lost = self.has_lost, False
        return Canned(status=500) if is_lost else _said(batch)

    def _state(self, name: str) -> Canned:
        batch = next((one for one in self.made if one["id"] == name), None)
        if batch is None:
            return Canned(status=404)
        self.looks += 1
        if self.reason:
            return _said(batch | {"status": "failed", "errors": {"data": [{"message": self.reason}]}})
        if self.is_open or self.looks % 2:
            return _said(batch | {"request_counts": {"completed": 1, "failed": 0}})
        status = "expired" if self.n_expired and name == "batch-0" else "completed"
        return _said(batch | {"status": status, "output_file_id": batch["input_file_id"]})

    def _results(self, name: str) -> bytes:
        lines = self.files[name]
        if name == "file-0" and self.n_expired:
            lines = lines[self.n_expired :]
        return b"\n".join(json.dumps(self._result(line)).encode() for line in reversed(lines))

    def _result(self, line: Body) -> Body:
        if self.refused and self.refused in json.dumps(line["body"]):
            status, body = 400, {"error": {"message": "the request is refused"}}
        else:
            message = {"role": "assistant", "content": self.answer(line["body"])}
            status, body = 200, {"choices": [{"message": message, "finish_reason": "stop"}]}
            body["usage"] = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
        return {"custom_id": line["custom_id"], "response": {"status_code": status, "body": body}}


@dataclass(kw_only=True)
class MessageBatchApi(BatchApi):
    """The same as Anthropic has it: requests are in the body, nothing is named, results are at a route."""

    def __call__(self, seen: Seen) -> Canned | None:
        """The answer to a request of the batch API; None for any other."""
        match seen.method, seen.path.partition("?")[0].split("/")[4:]:
            case "POST", []:
                name = f"msgbatch-{len(self.made)}"
                self.files[name] = seen.body["requests"]
                self.made.append(self._batch(name, n_left=len(self.files[name])))
                return self._made(self.made[-1])
            case "GET", []:
                return _said({"data": self.made})
            case "GET", [name]:
                self.looks += 1
                is_open = self.is_open or self.looks % 2
                return _said(self._batch(name, n_left=len(self.files[name]) if is_open else 0))
            case "GET", [name, "results"]:
                return Canned(status=200, body=b"\n".join(map(self._line, self.files[name])))
        return None

    def _batch(self, name: str, *, n_left: int) -> Body:
        counts = {"processing": n_left, "succeeded": len(self.files[name]) - n_left}
        status = "in_progress" if n_left else "ended"
        made_at = "2030-01-01T00:00:00Z"
        return {"id": name, "processing_status": status, "request_counts": counts, "created_at": made_at}

    def _line(self, line: Body) -> bytes:
        content = [{"type": "text", "text": self.answer(line["params"])}]
        usage = {"input_tokens": 1_000_000, "output_tokens": 0}
        message = {"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"}
        result = {"type": "succeeded", "message": message | {"usage": usage}}
        if self.refused and self.refused in json.dumps(line["params"]):
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": "refused"}}
            result = {"type": "errored", "error": error}
        return json.dumps({"custom_id": line["custom_id"], "result": result}).encode()


@dataclass(kw_only=True)
class GeminiBatchApi(BatchApi):
    """The same as Gemini has it: a resumable upload, a batch under a name, results in a file."""

    @property
    def asked(self) -> list[str]:
        """The keys of all requests that were uploaded, in their order."""
        return [str(line["key"]) for lines in self.files.values() for line in lines]

    def __call__(self, seen: Seen) -> Canned | None:
        """The answer to a request of the batch API; None for any other."""
        path = seen.path.partition("?")[0]
        if path == "/upload/v1beta/files":
            return Canned(status=200, headers={"x-goog-upload-url": "http://other/up/1"}, body=b"{}")
        if path == "/up/1":
            name = f"files/in{len(self.files)}"
            self.files[name] = [json.loads(line) for line in seen.raw.splitlines()]
            return _said({"file": {"name": name}})
        if path.endswith(":batchGenerateContent"):
            about = seen.body["batch"]
            made = {"name": f"batches/b{len(self.made)}", "metadata": {"displayName": about["displayName"]}}
            self.made.append(made | {"from": about["inputConfig"]["fileName"]})
            return self._made(made)
        if path == "/v1beta/batches":
            return _said({"operations": self.made})
        if path.startswith("/v1beta/batches/"):
            self.looks += 1
            made = next(one for one in self.made if path.endswith(one["name"]))
            is_open = self.is_open or self.looks % 2
            state = {"state": "BATCH_STATE_RUNNING" if is_open else "BATCH_STATE_SUCCEEDED"}
            output = {} if is_open else {"response": {"responsesFile": made["from"]}}
            return _said({"name": made["name"], "done": not is_open, "metadata": state, **output})
        if path.startswith("/download/"):
            lines = self.files[path.removeprefix("/download/v1beta/").removesuffix(":download")]
            return Canned(status=200, body=b"\n".join(map(self._line, lines)))
        return None

    def _line(self, line: Body) -> bytes:
        if self.refused and self.refused in json.dumps(line["request"]):
            return json.dumps({"key": line["key"], "error": {"code": 3, "message": "refused"}}).encode()
        content = {"role": "model", "parts": [{"text": self.answer(line["request"])}]}
        usage = {"promptTokenCount": 1_000_000, "candidatesTokenCount": 0}
        response = {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}
        return json.dumps({"key": line["key"], "response": response}).encode()


def _said(body: Body) -> Canned:
    return Canned(status=200, body=json.dumps(body).encode())
