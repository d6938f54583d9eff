"""The agent `openai:MODEL`: the Chat Completions API through the official SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sandtrail.ledgers.conversation import Conversation, Decided, Usage
from sandtrail.ledgers.specs import Catalog
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox import messages_openai as dialect
from sandtrail.sandbox.agent_provider import ProviderAgent
from sandtrail.sandbox.providers import ProviderError, ProviderOptions, tokens


class OpenAIAgent(ProviderAgent):
    """Asks the OpenAI Chat Completions API, or a server that speaks it (OPENAI_BASE_URL)."""

    provider = "openai"
    path = "/chat/completions"
    key = "OPENAI_API_KEY"
    url = "OPENAI_BASE_URL"

    def __init__(self, options: ProviderOptions) -> None:
        if options.thinking is not None:
            raise ValueError("thinking is Anthropic's option; say effort='low' (or what the model knows)")
        super().__init__(options)

    def sdk(self) -> tuple[Any, Any, Any]:
        """The module, and its clients. Raises ProviderError where it is not installed."""
        try:
            import openai  # noqa: PLC0415  heavy, optional, and only needed once a model is asked
        except ImportError:
            raise ProviderError(
                f"{self.name} needs the OpenAI SDK; pip install 'sandtrail[openai]'"
            ) from None
        return openai, openai.OpenAI, openai.AsyncOpenAI

    def request(self, conversation: Conversation, catalog: Catalog, base_url: str) -> dict[str, Any]:
        """The body. OpenAI's newer models refuse `max_tokens`, other servers do not know its successor."""
        options = self.options
        home = (urlsplit(base_url).hostname or "").endswith("openai.com")
        body: dict[str, Any] = {"max_completion_tokens" if home else "max_tokens": options.max_tokens}
        if tools := dialect.tools_of(catalog, meta=options.meta):
            body["tools"] = tools
            if not options.parallel:
                body["parallel_tool_calls"] = False
        body["messages"] = dialect.messages_of(conversation, system=options.system)
        if options.effort:
            body["reasoning_effort"] = options.effort
        return body

    def digest(self, catalog: Catalog) -> str:
        """SHA-256 over a catalog's tools as `request` has them; empty where there are none."""
        return dialect.catalog_digest(catalog, meta=self.options.meta)

    def decode(self, body: object, taken: frozenset[str]) -> Decided:
        """What a response decides."""
        return dialect.decode(body, taken=taken, meta=self.options.meta)

    def usage(self, fields: Mapping[str, Any]) -> Usage:
        """The tokens of a response. `prompt_tokens` counts cached ones too; `input` does not."""
        details = as_object(fields.get("prompt_tokens_details")) or {}
        read, written = tokens(details.get("cached_tokens")), tokens(details.get("cache_write_tokens"))
        prompt = tokens(fields.get("prompt_tokens"))
        return Usage(max(prompt - read - written, 0), tokens(fields.get("completion_tokens")), read, written)
