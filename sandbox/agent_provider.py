"""What the agents of all model providers have in common.

    decide, adecide   one request through the official SDK (which retries), decoded into a Decided
    close             the connections
    configuration, catalog_digest     how the model is asked, and the bytes of its tools, for the record

The SDK and its client are loaded at the first decision: one client for all threads, one for each event loop. The
body goes out by the SDK's own `post`, since its typed methods no longer know every field (temperature) and warn or
refuse by the model's name; what comes back is read as it came.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar
from urllib.parse import urlsplit

from sandtrail.ledgers.conversation import Answered, Conversation, Decided, ModelCall, Reply, Usage, UserSaid
from sandtrail.ledgers.specs import Catalog
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.messages import briefing_of, calls_of, digest_of
from sandtrail.sandbox.providers import (
    LOG,
    ProviderError,
    ProviderOptions,
    RequestLog,
    ToolsDropped,
    async_hooks,
    counts_no_tools,
    hooks,
    said_by,
)

_AFTER = {
    400: "look at the options and extra_body",
    402: "there is nothing left to pay with",
    413: "shorten the conversation or the catalog",
    429: "wait, or ask less at a time",
    503: "the provider is overloaded: try again later",
    529: "the provider is overloaded: try again later",
}


class ProviderAgent(ABC):
    """An agent that asks a model."""

    provider: ClassVar[str]
    path: ClassVar[str]
    key: ClassVar[str]
    url: ClassVar[str]

    def __init__(self, options: ProviderOptions) -> None:
        self.options = options
        self._lock = threading.Lock()
        self._made: Any = None
        self._loops = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any]()
        self._checked: set[str] = set()
        self._knows_tools = False

    def __repr__(self) -> str:
        return f"<agent {self.name}>"

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{self.provider}:{self.options.model}"

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Decided:
        """The next decision. Raises ProviderError where there is none."""
        with self._recorded() as log:
            client = self._client()
            body = self._body(conversation, catalog, client)
            answer = client.post(self.path, cast_to=object, body=body)
        return self._decided(answer, log, conversation, catalog, body)

    async def adecide(self, conversation: Conversation, catalog: Catalog, /) -> Decided:
        """As `decide`, without holding up the event loop."""
        with self._recorded() as log:
            client = self._client_of(asyncio.get_running_loop())
            body = self._body(conversation, catalog, client)
            answer = await client.post(self.path, cast_to=object, body=body)
        return self._decided(answer, log, conversation, catalog, body)

    def close(self) -> None:
        """Close the connections. A later decision opens new ones. (Async ones close after each response.)"""
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made.close()

    @property
    def configuration(self) -> dict[str, Any]:
        """How the model is asked, for the record: the host, the SDK, every option. No key, no header, no text of the user's.

        The system text is told by its digest, and so is any text in `extra_body`: a gateway may take a key there.
        """
        options = self.options
        named = {name: getattr(options, name) for name in ProviderOptions.__dataclass_fields__}
        del named["model"], named["system"]
        prices = None if options.prices is None else asdict(options.prices)
        made = {
            "provider": self.provider,
            "model": options.model,
            "host": self._host(),
            "sdk": self._sdk_version(),
            "system_digest": _digest(options.system) if options.system else "",
            "options": {**named, "prices": prices, "extra_body": _without_texts(dict(options.extra_body))},
        }
        return _sendable(made)

    def catalog_digest(self, catalog: Catalog, /) -> str:
        """SHA-256 over the tools of a request, as they are sent; empty where none are."""
        if "tools" in self.options.extra_body:  # they go out in place of the catalog's
            return digest_of(_sendable({"tools": self.options.extra_body["tools"]})["tools"])
        return self.digest(catalog)

    # -- what the dialects say

    @abstractmethod
    def sdk(self) -> tuple[Any, Any, Any]:
        """The SDK's module, imported now, and its client and async client."""

    @abstractmethod
    def request(self, conversation: Conversation, catalog: Catalog, base_url: str) -> dict[str, Any]:
        """The body of a request, but for what is the same everywhere."""

    @abstractmethod
    def digest(self, catalog: Catalog) -> str:
        """SHA-256 over a catalog's tools as `request` has them."""

    @abstractmethod
    def decode(self, body: object, taken: frozenset[str]) -> Decided:
        """What a response decides."""

    @abstractmethod
    def usage(self, fields: Mapping[str, Any]) -> Usage:
        """The tokens that a response reports."""

    # -- clients

    def _client(self) -> Any:
        with self._lock:
            if self._made is None:
                sdk, kind, _ = self.sdk()
                http = sdk.DefaultHttpxClient(event_hooks=hooks(), timeout=self.options.timeout)
                weakref.finalize(self, http.close)
                self._made = kind(http_client=http, max_retries=self.options.max_retries)
            return self._made

    def _client_of(self, loop: asyncio.AbstractEventLoop) -> Any:
        """The client of an event loop. It keeps no connection: a loop that ends could not close it any more."""
        with self._lock:
            if loop not in self._loops:
                import httpx2  # noqa: PLC0415  heavy; the SDKs bring it

                sdk, _, kind = self.sdk()
                http = sdk.DefaultAsyncHttpxClient(
                    event_hooks=async_hooks(),
                    timeout=self.options.timeout,
                    limits=httpx2.Limits(max_keepalive_connections=0),
                )
                self._loops[loop] = kind(http_client=http, max_retries=self.options.max_retries)
            return self._loops[loop]

    # -- one decision

    def _body(self, conversation: Conversation, catalog: Catalog, client: Any) -> dict[str, Any]:
        options = self.options
        sampling = {"temperature": options.temperature, "top_p": options.top_p}
        body: dict[str, Any] = {
            "model": options.model,
            **self.request(conversation, catalog, str(client.base_url)),
            **{name: value for name, value in sampling.items() if value is not None},
            **options.extra_body,
        }
        return _sendable(body)

    @contextmanager
    def _recorded(self) -> Generator[RequestLog]:
        log = RequestLog(self.options.model, self._priced, self._secrets)
        token = LOG.set(log)
        try:
            yield log
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001  whatever an SDK raises: a user wants to know what to do next
            log.settle()
            raise self._refused(error, log.calls) from None
        finally:
            LOG.reset(token)

    def _priced(self, fields: Mapping[str, Any]) -> Usage:
        usage, prices = self.usage(fields), self.options.prices
        return usage if prices is None or not fields else replace(usage, cost=prices.cost(usage))

    def _decided(
        self,
        answer: object,
        log: RequestLog,
        conversation: Conversation,
        catalog: Catalog,
        body: Mapping[str, Any],
    ) -> Decided:
        fields = as_object(answer)
        if fields is None or fields.get("error") is not None:
            said = (
                "what is no JSON object"
                if fields is None
                else f"an error: {said_by(fields, self._secrets())}"
            )
            text = f"{self.name}: {self._place()} answered {said}; is {self.url} right?"
            raise ProviderError(text, status=log.calls[-1].status, requests=log.calls)
        taken = {
            call.id
            for message in conversation
            if isinstance(message, Decided)
            for call in calls_of(message.decision)
        }
        decided = replace(self.decode(fields, frozenset(taken)), requests=tuple(log.calls))
        self._check_tools(decided, conversation, catalog, as_list(body.get("tools")) or [])
        return decided

    def _check_tools(
        self, decided: Decided, conversation: Conversation, catalog: Catalog, tools: list[Any]
    ) -> None:
        """Once for each catalog; a server that has made one call knows of tools, whatever it counts."""
        decision = decided.decision
        if calls_of(decision) or (isinstance(decision, Reply) and decision.declared):
            self._knows_tools = True
        if self._knows_tools or not self.options.check_tools or catalog.digest in self._checked:
            return
        self._checked.add(catalog.digest)
        usage = decided.requests[-1].usage
        reported = usage.input + usage.cache_read + usage.cache_write
        said = [message.text for message in conversation if isinstance(message, UserSaid | Answered)]
        words = sum(map(len, [briefing_of(conversation, self.options.system), *said]))
        if counts_no_tools(reported, words, tools):
            raise ToolsDropped(
                f"{self.name}: {self._place()} counts {reported} tokens for a prompt with {len(tools)} tools: it left "
                "them out, and this run says nothing about the model. Use a server (or chat template) that takes "
                "tools; if it takes them without counting them, say check_tools=False",
                status=decided.requests[-1].status,
                requests=decided.requests,
            )

    # -- what went wrong

    def _refused(self, error: Exception, requests: list[ModelCall]) -> ProviderError:
        status = getattr(error, "status_code", 0)
        return ProviderError(
            f"{self.name}: {self._why(error, status, requests)}", status=status, requests=requests
        )

    def _why(self, error: Exception, status: int, requests: list[ModelCall]) -> str:
        place, kind = self._place(), type(error).__name__
        tried = f" after {len(requests)} requests" if len(requests) > 1 else ""
        if status in (401, 403):  # without what the provider says: it quotes the key
            return f"{place} refused the key ({status}); check {self.key}"
        if status:
            said = said_by(getattr(error, "body", None), self._secrets())
            if status == 404:
                return f"{place} knows no such model or path (404: {said}); check the name, and {self.url}"
            return f"{place} answered {status}{tried}: {said}; {_AFTER.get(status, 'try again later')}"
        if kind == "APITimeoutError":
            return f"no answer from {place} within {self.options.timeout:g} s{tried}; is the server up at {self.url}?"
        if kind == "APIConnectionError":
            cause = said_by(str(error.__cause__ or error), self._secrets())
            return f"no connection to {place}{tried} ({cause}); is the server up at {self.url}?"
        if isinstance(error, ValueError) and requests:
            return f"{place} answered what is no JSON; is {self.url} right?"
        text = said_by(str(error), self._secrets())
        if "authentication method" in text or "Missing credentials" in text:
            return f"there is no key; set {self.key} (any text will do for a local server)"
        return f"the SDK cannot ask {place}: {kind}: {text}"

    def _secrets(self) -> list[str]:
        """What must not be shown. Longest first: one may be a part of another."""
        family = self.key.split("_")[0]
        found: list[str] = []
        for name, value in os.environ.items():
            if name.startswith(family) and any(
                word in name for word in ("KEY", "TOKEN", "SECRET", "HEADERS")
            ):
                found += [value, *(line.partition(":")[2].strip() for line in value.splitlines())]
        return sorted({value for value in found if len(value) >= 6}, key=len, reverse=True)

    def _host(self) -> str:
        """The host that is asked, without what stands around it in a URL; empty for the provider's own."""
        try:
            return urlsplit(os.environ.get(self.url, "")).netloc.rpartition("@")[2]
        except ValueError:
            return ""

    def _sdk_version(self) -> str:
        try:
            return f"{self.provider} {version(self.provider)}"
        except PackageNotFoundError:
            return ""

    def _place(self) -> str:
        """The base URL without what may be secret in it."""
        try:
            parts = urlsplit(os.environ.get(self.url, ""))
        except ValueError:
            return "the base URL"
        if not parts.netloc:
            return f"the API of {self.provider}"
        return said_by(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", self._secrets())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _without_texts(value: Any) -> Any:
    """A JSON value with eight digits of a digest for each text: enough to tell two apart, too few to find one.

    >>> _without_texts({"seed": 7, "user": "lee"})
    {'seed': 7, 'user': 'sha256:1508b697'}
    """
    if (named := as_object(value)) is not None:
        return {name: _without_texts(one) for name, one in named.items()}
    if (listed := as_list(value)) is not None:
        return [_without_texts(one) for one in listed]
    return (
        value
        if value is None or isinstance(value, bool | int | float)
        else f"sha256:{_digest(str(value))[:8]}"
    )


def _sendable(body: dict[str, Any]) -> dict[str, Any]:
    """The body, or, where it holds what JSON or UTF-8 does not (NaN, half a surrogate pair), what is nearest to it."""
    try:
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace").decode()
        return as_object(json.loads(text, parse_constant=lambda _: None)) or {}
    return body
