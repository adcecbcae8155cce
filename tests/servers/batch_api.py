"""OpenAI's batch API over loopback, for `OpenAIStub.canned_for`: files, batches, results, faults."""

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
        has_lost: whether the answer to the first creation is lost.
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
                return Canned(status=500) if self.has_lost and len(self.made) == 1 else _said(batch)
            case "GET", ["batches"]:
                return _said({"data": self.made})
            case "GET", ["batches", name]:
                return self._state(name)
            case "GET", ["files", name, "content"]:
                return Canned(status=200, body=self._results(name))
        return None

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


def _said(body: Body) -> Canned:
    return Canned(status=200, body=json.dumps(body).encode())
