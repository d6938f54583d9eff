"""The model lane: what becomes of requests to model providers.

    Block()              refused and on record, like every other host that no fake answers (the default)
    Script([...])        answered in process by a fake model that follows a script (sandbox/script.py)
    Record(*hosts)       let through to these hosts, and each request is on record

A lane is a value; the sandbox asks it: `answers(host, path)` first, then `lets(host)`. What neither takes is blocked.
"""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.wire_law import calls_in, results_in

if TYPE_CHECKING:
    from sandtrail.sandbox.script import Script


@dataclass(frozen=True, slots=True)
class Block:
    """No model is called."""

    def answers(self, host: str, path: str) -> bool:
        """False: there is no fake model."""
        return False

    def lets(self, host: str) -> bool:
        """False: nothing leaves."""
        return False


@dataclass(frozen=True)
class Record:
    """Requests to these hosts leave the sandbox; nothing else does. Headers are never kept."""

    hosts: tuple[str, ...]

    def __init__(self, *hosts: str) -> None:
        if not hosts:
            raise ValueError(
                "Record() lets nothing through; name the hosts, for example Record('api.anthropic.com')"
            )
        object.__setattr__(self, "hosts", hosts)

    def answers(self, host: str, path: str) -> bool:
        """False: the real model answers."""
        return False

    def lets(self, host: str) -> bool:
        """Whether requests to this host leave."""
        return host in self.hosts


Models: TypeAlias = "Block | Record | Script"


@dataclass(frozen=True)
class ModelRequest:
    """One request to a model provider. `size` is that of its body in bytes. Headers are never kept.

    Of one that left through `Record` there is no more; of one that a `Script` answered, what was asked and what it got:

    * provider   "anthropic" or "openai": the endpoint that was spoken to; `model` is the model that was asked for
    * messages   what was sent, as it was sent; `history` has in front of it what the fake holds of a message thread
    * tools      the names of the tools that the model was offered, in their order; `tools_digest` is the SHA-256 over
                 them as `catalog_digest` counts it, "" where there are none
    * retry      0, or the how-manieth repetition this is by the SDK's own count
    * status     of the answer; None where there was none (lost or blocked)
    * answered   what with: "text", "calls", "refusal", "cut", "invalid" (the conversation is not legal), "rate_limited",
                 "overloaded", "server_error", "lost" or "blocked"; `why` says why for "invalid" and "blocked"
    """

    method: str
    host: str
    path: str
    size: int
    _: KW_ONLY
    provider: str = ""
    model: str = ""
    stream: bool = False
    system: Any = field(default=None, repr=False)
    messages: tuple[Any, ...] = field(default=(), repr=False)
    history: tuple[Any, ...] = field(default=(), repr=False)
    tools: tuple[str, ...] = ()
    tools_digest: str = field(default="", repr=False)
    retry: int = 0
    status: int | None = None
    answered: str = ""
    why: str = ""

    def result(self, tool: str | None = None) -> Any:
        """What the latest call of a tool was answered (of any tool, without a name): parsed if it is JSON, else its text.

        Raises LookupError where the conversation has no such result.

        >>> call = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "get_order"}}]}
        >>> told = {"role": "tool", "tool_call_id": "c1", "content": '{"id": "ord_1"}'}
        >>> ModelRequest("POST", "api.openai.com", "/v1/chat/completions", 0, history=(call, told)).result("get_order")
        {'id': 'ord_1'}
        """
        called: dict[str, str] = {}
        found: list[tuple[str, Any]] = []
        for message in filter(None, map(as_object, self.history)):
            found += [(called.get(part.id, ""), part.content) for part in results_in(message)]
            called |= {part.id: part.tool for part in calls_in(message)}
        for name, content in reversed(found):
            if tool in {None, name}:
                return _parsed(content)
        known = ", ".join(dict.fromkeys(name for name, _ in found)) or "none"
        raise LookupError(f"result({tool!r}): no such result in what was sent; results there are of: {known}")


def _parsed(content: Any) -> Any:
    """A result's JSON value, or its text; of several blocks the texts together."""
    blocks = filter(None, map(as_object, as_list(content) or ()))
    text = content if isinstance(content, str) else "".join(str(block.get("text", "")) for block in blocks)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
