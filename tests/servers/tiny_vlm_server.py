"""An OpenAI-compatible server on loopback for any image-text-to-text checkpoint.

It answers one request at a time in the plainest way (`processor`, `generate`, log-softmax), so that it
can serve as the reference for the product's own batched model. It knows text and ``image_url`` (data
URLs), ``seed``, ``temperature``, ``top_p``, ``max_tokens`` and ``logprobs``.
"""

import base64
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from servers.openai_stub import Body, Canned, OpenAIStub, Seen

if TYPE_CHECKING:
    import torch

DEFAULT_MAX_TOKENS = 16


def _conversation(messages: list[Body]) -> list[Body]:
    turns = []
    for message in messages:
        parts = message["content"]
        content = []
        for part in [{"type": "text", "text": parts}] if isinstance(parts, str) else parts:
            if part["type"] == "text":
                content.append({"type": "text", "text": part["text"]})
            else:
                data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                content.append({"type": "image", "image": Image.open(io.BytesIO(data)).convert("RGB")})
        turns.append({"role": message["role"], "content": content})
    return turns


class TinyVlmServer(OpenAIStub):
    """The server, a context manager; `bodies` are those of the requests, in order."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        super().__init__(canned_for=self._answered)
        self._processor = AutoProcessor.from_pretrained(folder, local_files_only=True)
        self._model = AutoModelForImageTextToText.from_pretrained(folder, local_files_only=True).eval()
        ends = self._model.generation_config.eos_token_id
        self._ends = set(ends if isinstance(ends, list) else [ends])

    @property
    def bodies(self) -> list[Body]:
        """What was asked."""
        return [seen.body for seen in self.requests]

    def _answered(self, seen: Seen) -> Canned:
        import torch

        body = seen.body
        inputs = self._processor.apply_chat_template(
            [_conversation(body["messages"])],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        n_input, temperature = inputs["input_ids"].shape[1], body.get("temperature", 1.0)
        how = {"temperature": temperature, "top_p": body.get("top_p", 1.0), "top_k": 0} if temperature else {}
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(body.get("seed", self.n_requests))  # without a seed each draw is another
            made = self._model.generate(
                **inputs,
                do_sample=bool(temperature),
                max_new_tokens=body.get("max_completion_tokens")
                or body.get("max_tokens", DEFAULT_MAX_TOKENS),
                output_logits=True,
                return_dict_in_generate=True,
                **how,
            )
        tokens = made.sequences[0, n_input:].tolist()
        end = next((k for k, token in enumerate(tokens) if token in self._ends), None)
        tokens = tokens if end is None else tokens[: end + 1]
        text = self._processor.tokenizer.decode(tokens, skip_special_tokens=True)
        choice: Body = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "length" if end is None else "stop",
        }
        if body.get("logprobs"):
            positions = zip(tokens, made.logits, strict=False)
            content = [self._position(token, at[0], body["top_logprobs"]) for token, at in positions]
            choice["logprobs"] = {"content": content}
        usage = {"prompt_tokens": n_input, "completion_tokens": len(tokens)}
        reply = {"object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}
        return Canned(status=200, body=json.dumps(reply).encode())

    def _position(self, token_id: int, logits: "torch.Tensor", n_best: int) -> Body:
        logps = logits.float().log_softmax(-1)

        def entry(i: int) -> Body:
            return {"token": self._processor.tokenizer.decode([i]), "logprob": float(logps[i])}

        return {**entry(token_id), "top_logprobs": [entry(i) for i in logps.topk(n_best).indices.tolist()]}
