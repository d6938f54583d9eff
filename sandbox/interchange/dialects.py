"""Where the messages of a run stand in a document, and whose dialect they are written in.

run_of(value)    the messages with what stands around them, or None: a list, a request, a response, both, a state
dialect_of(run)  "anthropic", "openai", "responses" or "langchain"; plain texts alone are read as openai's
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sandtrail.ledgers.trees import as_list, as_object

LANGCHAIN_TYPES = frozenset(
    {"human", "ai", "tool", "system", "function", "developer", "chat", "remove"}
    | {f"{kind}MessageChunk" for kind in ("AI", "Human", "Tool", "System", "Chat", "Function")}
    | {f"{kind}Message" for kind in ("AI", "Human", "Tool", "System", "Chat", "Function")}
)
"""The values of `type` in a message of LangChain; JavaScript's dumps carry the names of classes."""

RESPONSES_TYPES = frozenset(
    {
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "reasoning",
        "item_reference",
        "mcp_call",
        "web_search_call",
        "file_search_call",
        "computer_call",
        "code_interpreter_call",
    }
)
"""Items of the Responses API that no other dialect has; its messages look like anybody's."""

_BLOCKS = {
    "tool_use": "anthropic",
    "tool_result": "anthropic",
    "thinking": "anthropic",
    "redacted_thinking": "anthropic",
    "image_url": "openai",
    "input_audio": "openai",
    "refusal": "openai",
    "input_text": "responses",
    "output_text": "responses",
}
_ORDER = ("langchain", "responses", "anthropic", "openai")


@dataclass(frozen=True, slots=True)
class Run:
    """The messages of one run. `around` is what stands beside them: system, tools, stop_reason."""

    messages: list[Any]
    around: Mapping[str, Any] = field(default_factory=dict[str, Any])


Fields: TypeAlias = Mapping[str, Any]


def run_of(value: object) -> Run | None:
    """The messages in a document, wherever they stand.

    >>> run_of({"messages": [{"role": "user", "content": "Hi."}], "system": "Help."}).around["system"]
    'Help.'
    >>> run_of({"rows": []}) is None
    True
    """
    if (items := as_list(value)) is not None:
        return Run(items) if any(_is_message(item) for item in items) else None
    fields = as_object(value)
    if fields is None:
        return None
    for found in (_exchange(fields), _listed(fields), _answer(fields)):
        if found is not None:
            return found
    state = as_object(fields.get("values"))  # a snapshot of LangGraph's state
    return _listed(state) if state is not None else None


def _listed(fields: Fields) -> Run | None:
    messages = as_list(fields.get("messages"))
    if messages is not None:
        response = as_object(fields.get("response"))
        return Run([*messages, *_said(response)] if response else messages, fields)
    output = as_list(fields.get("output"))
    if output is not None and (fields.get("object") == "response" or "input" in fields):
        given = fields.get("input")
        before = [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given) or []
        return Run([*before, *output], fields)
    for name in ("input", "items", "data"):
        items = as_list(fields.get(name))
        if items and any(_is_message(item) for item in items):
            return Run(items, fields)
    return None


def _exchange(fields: Fields) -> Run | None:
    """A request and its response, as proxies log them."""
    request = as_object(fields.get("request"))
    response = as_object(fields.get("response"))
    inner = _listed(request) if request is not None else None
    if request is None or inner is None:
        return None
    answered = _said(response or {}) or as_list((response or {}).get("output")) or []
    return Run([*inner.messages, *answered], {**fields, **request})


def _answer(fields: Fields) -> Run | None:
    said = _said(fields)
    return Run(said, fields) if said else None


def _said(response: Fields) -> list[Any]:
    """The message of a response's body."""
    if response.get("role") == "assistant" and response.get("type") == "message":
        return [response]
    choices = as_list(response.get("choices")) or [None]
    choice = as_object(choices[0]) or {}
    message = as_object(choice.get("message"))
    if message is None:
        return []
    return [{"role": "assistant", **message, "finish_reason": choice.get("finish_reason")}]


def _is_message(item: object) -> bool:
    fields = as_object(item)
    if fields is None:
        return False
    return isinstance(fields.get("role"), str) or _langchain(fields) or _responses(fields)


def _langchain(message: Fields) -> bool:
    kind = message.get("type")
    if "lc" in message and ("kwargs" in message or "id" in message):
        return True
    if "additional_kwargs" in message or "invalid_tool_calls" in message:
        return True
    if "role" not in message:
        return (
            isinstance(kind, str) and kind in LANGCHAIN_TYPES and ("content" in message or "data" in message)
        )
    return message["role"] in ("human", "ai") or any(
        "args" in call
        for one in as_list(message.get("tool_calls")) or ()
        if (call := as_object(one)) is not None
    )


def _responses(item: Fields) -> bool:
    kind = item.get("type")
    return isinstance(kind, str) and kind in RESPONSES_TYPES and "role" not in item


def dialect_of(run: Run) -> str:
    """Whose dialect the messages are written in: who has most of the signs.

    >>> dialect_of(Run([{"role": "tool", "tool_call_id": "c1", "content": "{}"}]))
    'openai'
    """
    signs = Counter(sign for item in run.messages for sign in _signs(item))
    for dialect in _ORDER[:2]:  # nobody else has these signs by accident
        if signs[dialect]:
            return dialect
    if signs["anthropic"] != signs["openai"]:
        return "anthropic" if signs["anthropic"] > signs["openai"] else "openai"
    tools = as_list(run.around.get("tools")) or [None]
    beside = "system" in run.around or "input_schema" in (as_object(tools[0]) or {})
    return "anthropic" if beside or run.around.get("type") == "message" else "openai"


def _signs(item: object) -> Iterator[str]:
    message = as_object(item)
    if message is None:
        return
    if _langchain(message):
        yield "langchain"
    if _responses(message):
        yield "responses"
    if message.get("role") in ("tool", "function", "developer") or message.get("tool_calls"):
        yield "openai"
    for block in as_list(message.get("content")) or ():
        kind = (as_object(block) or {}).get("type")
        if isinstance(kind, str) and kind in _BLOCKS:
            yield _BLOCKS[kind]
