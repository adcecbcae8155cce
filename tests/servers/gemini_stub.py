"""A small server that speaks the Gemini API over loopback, with its File API, and fails on demand.

    with GeminiStub(answer="B") as server:
        ...  # ask server.base_url
    assert server.asked[0]["contents"][0]["parts"][0]["text"] == "Which?"

Uploads follow the resumable protocol: ``start`` gives an address, ``upload`` adds bytes at an offset,
``upload, finalize`` makes the file.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from servers.openai_stub import Body, Canned, OpenAIStub, Seen

SETTINGS = {
    "temperature", "topP", "topK", "maxOutputTokens", "seed", "responseMimeType", "responseJsonSchema",
    "responseLogprobs", "logprobs", "thinkingConfig", "mediaResolution",
}  # fmt: skip


def camel(value: object) -> object:
    """JSON with the names of fields in camel case; the API takes both ways of writing them."""
    if isinstance(value, list):
        return [camel(v) for v in value]
    if not isinstance(value, dict):
        return value
    kept = ("responseJsonSchema", "response_json_schema")
    return {_camel_name(k): v if k in kept else camel(v) for k, v in value.items()}


def _camel_name(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def blob_bytes(part: Body) -> bytes:
    """The bytes of a part that carries them; both alphabets of base64 are in use."""
    return base64.b64decode(part["inlineData"]["data"].replace("-", "+").replace("_", "/"), validate=True)


def refusal(status: int, word: str, message: str, *details: Body) -> bytes:
    """The body of an error as the API writes it."""
    error = {"code": status, "message": message, "status": word, "details": list(details)}
    return json.dumps({"error": error}).encode()


def content(*parts: Body, **candidate: object) -> bytes:
    """The body of a reply with these parts, for `Canned`."""
    said = {"content": {"parts": list(parts), "role": "model"}, "finishReason": "STOP", "index": 0}
    return json.dumps({"candidates": [said | candidate], "modelVersion": "stub"}).encode()


@dataclass(kw_only=True)
class StoredFile:
    """A file at the File API: `left` is how often it still says that it is being processed."""

    name: str
    mime_type: str
    size: int
    display_name: str = ""
    content: bytes = b""
    left: int = 0
    is_deleted: bool = False


@dataclass(kw_only=True)
class GeminiStub(OpenAIStub):
    """The server; a context manager. For the other fields see `OpenAIStub`.

    `thought` is what it thinks. `processing` is how often a file is not ready when it is asked for,
    `file_fails` the reason why a file cannot be processed, `expires` when files do. `letter_logps` None
    refuses requests for log-probabilities, as many models do.
    """

    thought: str = "hm"
    processing: int = 0
    file_fails: str = ""
    expires: str = "2999-01-01T00:00:00Z"
    blank_first: bool = False
    files: dict[str, StoredFile] = field(default_factory=dict)

    def __enter__(self) -> Self:
        super().__enter__()
        self.base_url = self.base_url.removesuffix("/v1")
        return self

    @property
    def asked(self) -> Sequence[Body]:
        """The bodies of the requests for content, with the names of fields in camel case."""
        return [camel(s.body) for s in self.requests if s.path.endswith(":generateContent")]

    @property
    def uploads(self) -> Sequence[Seen]:
        """The requests that carried pieces of files."""
        return [s for s in self.requests if s.path.startswith("/upload/session/")]

    def _reply(self, seen: Seen) -> Canned:
        if self.canned:
            return self.canned.popleft()
        chosen = self.canned_for(seen) if self.canned_for else None
        if chosen is not None:
            return chosen
        if seen.path.startswith("/upload/session/"):
            return self._take(seen)
        if self.key is not None and seen.headers.get("x-goog-api-key") != self.key:
            detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            said = f"API key not valid: {seen.headers.get('x-goog-api-key')}"
            return Canned(status=400, body=refusal(400, "INVALID_ARGUMENT", said, detail))
        path = seen.path.partition("?")[0]
        if seen.method == "POST" and re.fullmatch(r"/upload/v\w+/files", path):
            return self._start(seen)
        if found := re.fullmatch(r"/v\w+/(files/\w+)", path):
            return self._file(seen, found[1])
        if seen.method == "POST" and (found := re.fullmatch(r"/v\w+/models/([^/]+):generateContent", path)):
            return self._generate(camel(seen.body), found[1])
        return Canned(status=404, body=refusal(404, "NOT_FOUND", f"no route {seen.method} {seen.path}"))

    def _start(self, seen: Seen) -> Canned:
        headers = seen.headers
        assert headers["x-goog-upload-protocol"] == "resumable"
        assert headers["x-goog-upload-command"] == "start"
        number = len(self.files)
        self.files[f"files/f{number}"] = StoredFile(
            name=f"files/f{number}",
            mime_type=headers["x-goog-upload-header-content-type"],
            size=int(headers["x-goog-upload-header-content-length"]),
            display_name=camel(seen.body)["file"].get("displayName", ""),
            left=self.processing,
        )
        address = f"{self.base_url}/upload/session/f{number}"
        return Canned(
            status=200, body=b"", headers={"X-Goog-Upload-Status": "active", "X-Goog-Upload-URL": address}
        )

    def _take(self, seen: Seen) -> Canned:
        file = self.files["files/" + seen.path.rsplit("/", 1)[1]]
        assert int(seen.headers["x-goog-upload-offset"]) == len(file.content)
        file.content += seen.raw
        if seen.headers["x-goog-upload-command"] != "upload, finalize":
            return Canned(status=200, body=b"", headers={"X-Goog-Upload-Status": "active"})
        assert len(file.content) == file.size
        body = json.dumps({"file": self._told(file)}).encode()
        return Canned(
            status=200, body=body, headers={"X-Goog-Upload-Status": "final"}, delay_s=self.latency_s
        )

    def _file(self, seen: Seen, name: str) -> Canned:
        file = self.files.get(name)
        if file is None or file.is_deleted:
            said = f"You do not have permission to access the File {name} or it may not exist."
            return Canned(status=403, body=refusal(403, "PERMISSION_DENIED", said))
        if seen.method == "DELETE":
            file.is_deleted = True
            return Canned(status=200, body=b"{}")
        file.left = max(0, file.left - 1)
        return Canned(status=200, body=json.dumps(self._told(file)).encode())

    def _told(self, file: StoredFile) -> Body:
        state = "PROCESSING" if file.left else "FAILED" if self.file_fails else "ACTIVE"
        told = {
            "name": file.name,
            "displayName": file.display_name,
            "mimeType": file.mime_type,
            "sizeBytes": str(file.size),
            "createTime": "2026-01-01T00:00:00Z",
            "expirationTime": self.expires,
            "uri": f"{self.base_url}/v1/{file.name}",
            "state": state,
            "source": "UPLOADED",
        }
        return told | ({"error": {"code": 3, "message": self.file_fails}} if state == "FAILED" else {})

    def _generate(self, body: Body, model: str) -> Canned:
        broken = self._broken_rule(body)
        if broken is not None:
            return broken
        settings = body.get("generationConfig", {})
        said = self.answer(body) if callable(self.answer) else self.answer
        words = said.split(" ")
        thinking = settings.get("thinkingConfig", {})
        limit = settings.get("maxOutputTokens")
        if limit is not None:
            limit -= max(0, thinking.get("thinkingBudget", 0))
        is_cut = limit is not None and limit < len(words)
        parts = [{"text": self.thought, "thought": True}] if thinking.get("includeThoughts") else []
        parts.append({"text": " ".join(words[:limit]) if is_cut else said, "thoughtSignature": "c2ln"})
        usage = {"promptTokenCount": 7, "candidatesTokenCount": min(len(words), limit or len(words))}
        if thinking.get("includeThoughts"):
            usage["thoughtsTokenCount"] = 11
        candidate: Body = {
            "content": {"parts": parts, "role": "model"},
            "finishReason": "MAX_TOKENS" if is_cut else "STOP",
            "index": 0,
        }
        if settings.get("responseLogprobs"):
            candidate["logprobsResult"] = self._logprobs(settings["logprobs"])
        reply = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": f"{model}-001"}
        return Canned(status=200, body=json.dumps(reply).encode(), delay_s=self.latency_s)

    def _broken_rule(self, body: Body) -> Canned | None:
        """What the API would refuse."""
        unknown = body.keys() - {"contents", "generationConfig", "systemInstruction", "safetySettings"}
        unknown |= body.get("generationConfig", {}).keys() - SETTINGS
        if unknown:
            said = f"Invalid JSON payload received. Unknown name {sorted(unknown)}: Cannot find field."
            return Canned(status=400, body=refusal(400, "INVALID_ARGUMENT", said))
        if body.get("generationConfig", {}).get("responseLogprobs") and self.letter_logps is None:
            said = "Logprobs is not enabled for this model."
            return Canned(status=400, body=refusal(400, "INVALID_ARGUMENT", said))
        for part in body["contents"][0]["parts"]:
            uri = part.get("fileData", {}).get("fileUri", "")
            file = self.files.get("files/" + uri.rsplit("/", 1)[-1])
            if uri and (file is None or file.is_deleted):
                name = uri.rsplit("/", 1)[-1]
                said = f"You do not have permission to access the File {name} or it may not exist."
                return Canned(status=403, body=refusal(403, "PERMISSION_DENIED", said))
            if uri and file.left:
                said = f"The File {file.name} is not in an ACTIVE state and usage is not allowed."
                return Canned(status=400, body=refusal(400, "FAILED_PRECONDITION", said))
        return None

    def _logprobs(self, n_best: int) -> Body:
        logps: Mapping[str, float] = self.letter_logps or {}
        best = sorted(logps, key=lambda letter: -logps[letter])
        top = [{"token": t, "tokenId": i, "logProbability": logps[t]} for i, t in enumerate(best)][:n_best]
        blank = {"token": "\n", "tokenId": 99, "logProbability": -0.01}
        chosen = [blank, top[0]] if self.blank_first else [top[0]]
        tops = [{"candidates": top}]
        return {
            "chosenCandidates": chosen,
            "topCandidates": [{"candidates": [blank]}, *tops] if self.blank_first else tops,
        }
