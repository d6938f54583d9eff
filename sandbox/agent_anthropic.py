"""The agent `anthropic:MODEL`: the Messages API through the official SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandtrail.ledgers.conversation import Conversation, Decided, Usage
from sandtrail.ledgers.specs import Catalog
from sandtrail.sandbox import messages_anthropic as dialect
from sandtrail.sandbox.agent_provider import ProviderAgent
from sandtrail.sandbox.messages import briefing_of
from sandtrail.sandbox.providers import ProviderOptions, tokens


class AnthropicAgent(ProviderAgent):
    """Asks the Anthropic Messages API, or a server that speaks it (ANTHROPIC_BASE_URL)."""

    provider = "anthropic"
    path = "/v1/messages"
    key = "ANTHROPIC_API_KEY"
    url = "ANTHROPIC_BASE_URL"

    def __init__(self, options: ProviderOptions) -> None:
        if options.thinking and (options.temperature is not None or options.top_p is not None):
            raise ValueError(
                "a model that thinks takes no temperature and no top_p; leave them out, or thinking=0"
            )
        super().__init__(options)

    def sdk(self) -> tuple[Any, Any, Any]:
        """The module, and its clients."""
        import anthropic  # noqa: PLC0415  heavy, and only needed once a model is asked

        return anthropic, anthropic.Anthropic, anthropic.AsyncAnthropic

    def request(self, conversation: Conversation, catalog: Catalog, base_url: str) -> dict[str, Any]:
        """The body. The tools carry a cache breakpoint: they are the same for all steps of all runs."""
        options = self.options
        body: dict[str, Any] = {"max_tokens": options.max_tokens}
        if system := briefing_of(conversation, options.system):
            body["system"] = system
        if tools := dialect.tools_of(catalog, cache=options.cache, meta=options.meta):
            body["tools"] = tools
            if not options.parallel:
                body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        body["messages"] = dialect.messages_of(conversation)
        if options.thinking == "adaptive":
            body["thinking"] = {"type": "adaptive"}
        elif options.thinking:
            body["thinking"] = {"type": "enabled", "budget_tokens": options.thinking}
        elif options.thinking == 0:
            body["thinking"] = {"type": "disabled"}
        if options.effort:
            body["output_config"] = {"effort": options.effort}
        return body

    def digest(self, catalog: Catalog) -> str:
        """SHA-256 over a catalog's tools as `request` has them; empty where there are none."""
        return dialect.catalog_digest(catalog, cache=self.options.cache, meta=self.options.meta)

    def decode(self, body: object, taken: frozenset[str]) -> Decided:
        """What a response decides."""
        return dialect.decode(body, taken=taken, meta=self.options.meta)

    def usage(self, fields: Mapping[str, Any]) -> Usage:
        """The tokens of a response; `input` counts what is neither read from the cache nor written to it."""
        return Usage(
            tokens(fields.get("input_tokens")),
            tokens(fields.get("output_tokens")),
            tokens(fields.get("cache_read_input_tokens")),
            tokens(fields.get("cache_creation_input_tokens")),
        )
