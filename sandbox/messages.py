"""What the two dialects of provider messages share; `messages_anthropic` and `messages_openai` say the rest.

    META_TOOLS            ask_user and finish; `offered` adds them to a catalog, `acted` reads what they say
    fresh                 an id of ours where a provider repeats one or gives none
    filler_of             what a call is answered that nobody carried out
    briefing_of           the system text of a request
    blocks_of, words_of   the parts of a content, and its words
    Open                  the calls of a transcript that wait for their results

With a meta tool a reply says what it is: a question, or the end. It need not be guessed from its words then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sandtrail.ledgers.conversation import (
    Briefed,
    Calls,
    Conversation,
    Decision,
    Declared,
    Malformed,
    Reply,
    ToolCall,
    Truncated,
)
from sandtrail.ledgers.specs import Catalog, ToolSpec
from sandtrail.ledgers.trees import as_list, as_object

NOT_CARRIED_OUT = "Not carried out."
CUT_OFF = "Not carried out: the answer was cut off at the limit of tokens."
TOLD = "The user was told."
NO_TEXT = "(no text)"
GO_ON = "Go on."


def _meta_tool(name: str, description: str, field: str) -> ToolSpec:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    return ToolSpec(name, description, schema)


META_TOOLS = (
    _meta_tool("ask_user", "Ask the user one question and wait for the answer.", "question"),
    _meta_tool("finish", "Give the user the final answer. Nothing is left to do.", "answer"),
)
_META = {"ask_user": ("question", Declared.QUESTION), "finish": ("answer", Declared.FINISH)}


def offered(catalog: Catalog, *, meta: bool = False) -> tuple[ToolSpec, ...]:
    """The tools to send. Raises ValueError where the catalog has a tool under a meta tool's name."""
    return Catalog(catalog.tools + META_TOOLS).tools if meta else catalog.tools


def digest_of(tools: object) -> str:
    """SHA-256 over tools as both SDKs write them."""
    return hashlib.sha256(
        json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    ).hexdigest()


def fresh(id: str, taken: Collection[str]) -> str:  # noqa: A002  the provider's word
    """The id, or one made from it that is not taken.

    >>> fresh("c1", ["c1", "c1_2"]), fresh("c1", []), fresh("", [])
    ('c1_3', 'c1', 'call')
    """
    base = id or "call"
    found, number = base, 1
    while found in taken:
        number += 1
        found = f"{base}_{number}"
    return found


def acted(calls: Sequence[ToolCall], text: str, *, meta: bool) -> Decision:
    """What calls decide: a lone meta tool is a declared reply; beside real calls it is not carried out."""
    real = tuple(call for call in calls if not (meta and call.tool in _META))
    if real:
        return Calls(real, text)
    field, declared = _META[calls[0].tool]
    said = calls[0].arguments.get(field)
    # A meta tool without its text is a call like any other: the agent is told that there is no such thing.
    return Reply(said, declared) if len(calls) == 1 and isinstance(said, str) else Calls(tuple(calls), text)


def malformed(reason: str, body: object) -> Malformed:
    """No decision, and the whole of what came instead."""
    return Malformed(reason, json.dumps(body, ensure_ascii=False, default=str))


def filler_of(decision: Decision) -> tuple[str, bool]:
    """What a call is answered that nobody carried out, and whether that is an error."""
    match decision:
        case Reply():
            return TOLD, False
        case Truncated():
            return CUT_OFF, True
        case _:
            return NOT_CARRIED_OUT, True


def briefing_of(conversation: Conversation, system: str = "") -> str:
    """The system text of a request: the agent's own, and what the conversation tells it.

    >>> briefing_of((Briefed("It is Monday."),), "You help.")
    'You help.\\n\\nIt is Monday.'
    """
    told = [message.text for message in conversation if isinstance(message, Briefed)]
    return "\n\n".join(text for text in (system, *told) if text)


class Open:
    """The calls of a transcript that wait for results, by id; those with the same id in their order."""

    def __init__(self) -> None:
        self._calls: dict[str, list[ToolCall]] = {}

    def add(self, calls: Iterable[ToolCall]) -> None:
        """Note calls that were made."""
        for call in calls:
            self._calls.setdefault(call.id, []).append(call)

    def answered(self, id: str) -> ToolCall:  # noqa: A002  the provider's word
        """The call a result belongs to. The last one of an id stays; a result of no call gets a call without a tool."""
        waiting = self._calls.get(id)
        if waiting is None:
            return ToolCall(id, "", {})
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


def calls_of(decision: Decision) -> tuple[ToolCall, ...]:
    """The calls in a decision, carried out or not."""
    return decision.calls if isinstance(decision, Calls | Truncated) else ()


def blocks_of(content: object) -> list[dict[str, Any]]:
    """The blocks of a content, which may be a plain text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [fields for block in as_list(content) or () if (fields := as_object(block)) and "type" in fields]


def words_of(content: object) -> str:
    """The words of a content; what has none is named."""
    return "\n".join(
        str(block.get("text", "")) if block["type"] == "text" else f"[{block['type']}]"
        for block in blocks_of(content)
    )
