"""Put requests to `openai:` models in tests: the model of a stub, a question, its replies."""

from servers.model_asks import ask, maker, shape
from servers.openai_stub import Canned, OpenAIStub
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.contracts import Request
from vidence.records import Prompt, Reply, Sampling, TextPart

__all__ = ["ask", "ask_stub", "create", "model_for", "shape", "text_request"]

create = maker("model", "openai")


def text_request(**sampling: object) -> Request:
    prompt = Prompt(parts=(TextPart(text="Which?"),), choices=("red", "green", "blue"))
    return Request(item_id="q1", prompt=prompt, sampling=Sampling(**sampling))


def model_for(server: OpenAIStub, options: str = "") -> HttpModel:
    spec = parse_spec(f"openai:tiny?base_url={server.base_url}&timeout_s=10&{options}")
    return create(spec.argument, spec.options)


def ask_stub(canned: Canned, request: Request | None = None) -> Reply:
    with OpenAIStub() as server:
        server.canned.append(canned)
        return ask(model_for(server), request or text_request())[0]
