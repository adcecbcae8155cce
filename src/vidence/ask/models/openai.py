"""Every server that speaks the OpenAI chat-completions protocol: ``openai:NAME?base_url=ADDRESS``.

OpenAI itself, vLLM, SGLang, llama.cpp, Ollama, LM Studio and gateways all do. Images go as data
URLs, a whole video as ``video_url``. With ``api=responses`` the Responses API is spoken instead.
"""

import os
from typing import get_args

import msgspec

from vidence.ask.models.answers import Server
from vidence.ask.models.chat import OPENAI_HOST, ChatDialect, Effort, Settings
from vidence.ask.models.http import (
    Caller,
    HttpModel,
    bearer,
    check_address,
    check_extra,
    identity_of,
    read_key,
)
from vidence.ask.models.responses import ResponsesDialect
from vidence.errors import UsageError

OPENAI_ADDRESS = "https://api.openai.com/v1"


def _check(settings: Settings, dialect: type[ChatDialect], server: Server) -> None:
    """See that the options go together.

    Raises:
        UsageError: they do not.
    """
    owner = f"openai:{settings.name}"
    is_chat = settings.api == "chat"
    own = dialect.own_fields | {
        field
        for field, is_set in (
            ("reasoning_effort", settings.reasoning_effort and is_chat),
            ("chat_template_kwargs", settings.thinking_budget is not None),
            (dialect.schema_field, settings.structured == "on"),
        )
        if is_set
    }
    check_extra(owner, settings.extra, own=own)
    if is_chat and settings.reasoning_summary:
        raise UsageError(f"{owner}: reasoning_summary needs api=responses")
    if not is_chat and (settings.max_tokens_field or settings.thinking_budget is not None):
        raise UsageError(
            f"{owner}: the Responses API knows neither thinking_budget nor max_tokens_field; "
            "use reasoning_effort, or api=chat"
        )
    if settings.thinking_budget is not None and server.host == OPENAI_HOST:
        efforts = ", ".join(get_args(Effort))
        raise UsageError(f"{owner}: OpenAI takes no thinking_budget; use reasoning_effort ({efforts})")


def _max_tokens_field(settings: Settings, server: Server) -> str:
    if settings.api == "responses":
        return "max_output_tokens"
    reasons = server.host == OPENAI_HOST or settings.reasoning_effort  # such models refuse the older name
    return settings.max_tokens_field or ("max_completion_tokens" if reasons else "max_tokens")


def create(settings: Settings) -> HttpModel:
    """The model of that name behind an OpenAI-compatible server; nothing is sent yet.

    Raises:
        UsageError: options that exclude each other, an address or a key that can be none.
    """
    server = Server(
        address=check_address(settings.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_ADDRESS),
        key_env=settings.api_key_env,
        key=read_key(settings.api_key_env, example="OPENAI_API_KEY"),
    )
    kind = ResponsesDialect if settings.api == "responses" else ChatDialect
    _check(settings, kind, server)
    used = msgspec.structs.replace(
        settings, base_url=server.address, max_tokens_field=_max_tokens_field(settings, server)
    )
    identity = identity_of("openai", used)
    caller = Caller(server, headers=bearer(server.key), max_answer_mb=settings.max_answer_mb)
    return HttpModel(kind(server, used), caller, settings, identity=identity)
