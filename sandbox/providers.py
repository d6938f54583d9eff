"""Model providers: what can be chosen, what goes wrong, and the record of every request.

    provider("anthropic:MODEL")  the agent: `agent_provider`, and what differs in `agent_anthropic`, `agent_openai`
    ProviderOptions          what a user may choose; key and base URL come from the SDK's own environment variables
    Prices                   what tokens cost; without them the cost of a request is not known
    RuntimeError
    └── ProviderError        no decision: the provider could not be reached or refused; says what to do next
        └── ToolsDropped     its server left the tools out of the prompt: the harness is at fault, not the model

Every HTTP request is on record as a ModelCall, the SDK's retries included, and so are those of a failed decision
(`ProviderError.requests`).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from sandtrail.ledgers.conversation import ModelCall, Usage
from sandtrail.ledgers.trees import as_object

if TYPE_CHECKING:
    from sandtrail.sandbox.agent_provider import ProviderAgent

# -- what a user chooses -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for a million tokens."""

    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0

    def cost(self, usage: Usage) -> int:
        """Millionths of a dollar.

        >>> Prices(input=3.0, output=15.0).cost(Usage(input=1000, output=10))
        3150
        """
        return round(
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        )


@dataclass(frozen=True, kw_only=True)
class ProviderOptions:
    """How a model is asked. What is None is not sent: the provider's own default holds.

    `thinking` is a budget in tokens, 0 for none, or "adaptive" (Anthropic); `effort` is the provider's word for how
    hard to think. `meta` offers ask_user and finish beside the catalog. `check_tools` off believes a server that
    does not count tools. `extra_body` is merged over the request.
    """

    model: str
    system: str = ""
    max_tokens: int = 4096
    temperature: float | None = None
    top_p: float | None = None
    thinking: int | Literal["adaptive"] | None = None
    effort: str | None = None
    cache: bool = True
    parallel: bool = True
    meta: bool = False
    prices: Prices | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    timeout: float = 300.0
    max_retries: int = 2
    check_tools: bool = True

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("an agent of a provider names its model: anthropic:MODEL or openai:MODEL")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens={self.max_tokens} leaves no room for an answer")
        if (
            isinstance(self.thinking, int)
            and self.thinking > 0
            and not 1024 <= self.thinking < self.max_tokens
        ):
            raise ValueError(
                f"thinking={self.thinking} is at least 1024 and below max_tokens={self.max_tokens}; 0 is none"
            )


def provider(name: str, options: ProviderOptions | None = None) -> ProviderAgent:
    """The agent of a name, `anthropic:MODEL` or `openai:MODEL`; the name's model goes before that of the options.

    Raises ValueError where it is no such name.
    """
    from sandtrail.sandbox.agent_anthropic import AnthropicAgent  # noqa: PLC0415  they need this module
    from sandtrail.sandbox.agent_openai import OpenAIAgent  # noqa: PLC0415  as above

    kinds: dict[str, Callable[[Any], ProviderAgent]] = {"anthropic": AnthropicAgent, "openai": OpenAIAgent}
    kind, _, model = name.partition(":")
    if kind not in kinds or not model:
        raise ValueError(f"agent {name!r} is no provider's; write anthropic:MODEL or openai:MODEL")
    return kinds[kind](replace(options, model=model) if options else ProviderOptions(model=model))


# -- what goes wrong ---------------------------------------------------------------------------------------


class ProviderError(RuntimeError):
    """A model provider gave no decision. `status` is 0 where there was no answer at all."""

    def __init__(self, text: str, *, status: int = 0, requests: Sequence[ModelCall] = ()) -> None:
        self.status, self.requests = status, tuple(requests)
        super().__init__(text)


class ToolsDropped(ProviderError):
    """The server reports fewer tokens than the tools it was sent have words."""


_KEY_LIKE = re.compile(r"\b(sk|key|Bearer)[-_ ][\w*.-]{4,}")


def said_by(body: object, secrets: Sequence[str]) -> str:
    """What a provider says of an error, in one line and without anything that looks like a key."""
    error = (as_object(body) or {}).get("error", body)
    text = (as_object(error) or {}).get("message", error)
    line = " ".join(str(text or "").split())
    for secret in secrets:
        line = line.replace(secret, "...")
    line = _KEY_LIKE.sub("...", line)
    return line if len(line) <= 300 else f"{line[:300]}..."


def counts_no_tools(reported: int, words: int, tools: Sequence[object]) -> bool:
    """Whether a count of prompt tokens proves that tools were left out. In doubt it does not.

    Tokens have at most about 6 characters of prose, and a tool at least 3 tokens however it is rendered; a large
    catalog takes a token for each 16 characters of its JSON at the very least. A count that is too small for the
    words alone is an estimate of something else, and proves nothing.

    >>> counts_no_tools(20, 90, [{"name": "get_order"}] * 8), counts_no_tools(24, 90, [{"name": "get_order"}] * 8)
    (True, False)
    """
    size = len(json.dumps(tools, default=str))
    least = 3 * len(tools)
    if size >= 2000:
        least = max(least, words // 6 + size // 16)
    return 0 < reported < least and words <= 6 * reported


# -- requests on record ------------------------------------------------------------------------------------


def _now(clock: Callable[[], float] = time.perf_counter) -> float:
    """Real time: a frozen clock is swapped where a module names it, not where a default holds it."""
    return clock()


WATCH: ContextVar[Callable[[Mapping[str, Any]], None] | None] = ContextVar("sandtrail_payloads", default=None)
"""Who is handed each request's payload, where somebody asked for them."""


class RequestLog:
    """The requests of one decision, while they are made. `secrets` are taken out of what is handed on."""

    def __init__(
        self,
        asked: str,
        usage_of: Callable[[Mapping[str, Any]], Usage],
        secrets: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.calls: list[ModelCall] = []
        self._asked, self._usage_of, self._secrets, self._since = asked, usage_of, secrets, 0.0
        self._unanswered: bytes | None = None

    def sent(self, body: bytes = b"") -> None:
        """A request goes out. It stays as it is where nothing comes back."""
        self.settle()
        self._since, self._unanswered = _now(), body
        self.calls.append(ModelCall(self._asked, status=0))

    def came(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        """Its response is read."""
        try:
            fields = as_object(json.loads(content)) or {}
        except (ValueError, RecursionError):
            fields = {}
        self.calls[-1] = ModelCall(
            asked=self._asked,
            got=str(fields.get("model") or ""),
            status=status,
            usage=self._usage_of(as_object(fields.get("usage")) or {}),
            seconds=_now() - self._since,
            id=headers.get("request-id") or headers.get("x-request-id") or str(fields.get("id") or ""),
        )
        self._hand_on(status, content)

    def settle(self) -> None:
        """The time of a request that nothing came back for."""
        if self.calls and not self.calls[-1].status:
            self.calls[-1] = replace(self.calls[-1], seconds=_now() - self._since)
            self._hand_on(0, b"")

    def _hand_on(self, status: int, response: bytes) -> None:
        """The payload of the last request, once; with status 0 where nothing came back."""
        watch, request, self._unanswered = WATCH.get(), self._unanswered, None
        if watch is not None and request is not None:
            watch({"request": self._read(request), "status": status, "response": self._read(response)})

    def _read(self, body: bytes) -> Any:
        """A body as JSON, or as the text that it is."""
        text = body.decode("utf-8", "replace")
        for secret in self._secrets():
            text = text.replace(secret, "...")
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError):
            return text


LOG: ContextVar[RequestLog] = ContextVar("sandtrail_model_requests")
"""The log of the decision that is being made; retries happen deep in an SDK, in the same context."""


def hooks() -> dict[str, list[Callable[[Any], Any]]]:
    """Event hooks of an HTTP client that keep the log."""

    def sent(request: Any) -> None:
        LOG.get().sent(request.read())

    def came(response: Any) -> None:
        LOG.get().came(response.status_code, response.headers, response.read())

    return {"request": [sent], "response": [came]}


def async_hooks() -> dict[str, list[Callable[[Any], Any]]]:
    """The same for an async client."""

    async def sent(request: Any) -> None:
        LOG.get().sent(await request.aread())

    async def came(response: Any) -> None:
        LOG.get().came(response.status_code, response.headers, await response.aread())

    return {"request": [sent], "response": [came]}


def tokens(value: object) -> int:
    """A count of tokens; servers leave some out, or send null."""
    return value if isinstance(value, int) and value > 0 else 0
