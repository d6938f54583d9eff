"""The law of tool calls in provider messages: which transcripts are legal, and where one is not.

    anthropic_law(messages)   tool_use blocks are answered by tool_result blocks in the very next message, first in it
    openai_law(messages)      tool_calls are answered by the `tool` messages right behind them
    calls_in, results_in      the calls and results of one message, whichever dialect they are written in

    wire.unpaired_tool_use    a call without its result where it has to stand
    wire.orphan_tool_result   a result without its call
    wire.duplicate_id         two calls with one id, or two results for one call
    wire.mixed_dialect        a message or a block of the other provider's shape

Results pair with calls by id, never by order. A call that ends a transcript is open, not unpaired; in a request it wants
its result (`request=True`). What is written in the other dialect is named once, and pairs like the rest, so that one
fault gives one flaw. The law reads tool calls only: what else a provider refuses (unknown roles, empty texts) is the
matter of the endpoints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sandtrail.ledgers.trees import as_list, as_object

Dialect: TypeAlias = Literal["anthropic", "openai"]

_FOREIGN_ROLES: Mapping[str, tuple[str, ...]] = {"anthropic": ("tool", "function", "developer"), "openai": ()}
_FOREIGN_FIELDS = {"anthropic": ("tool_calls", "function_call"), "openai": ()}
_FOREIGN_BLOCKS = {
    "anthropic": ("image_url", "input_audio", "refusal", "input_text", "output_text", "function_call_output"),
    "openai": ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"),
}
_HOW = {
    "anthropic": "the Messages API has tool_use blocks, and tool_result blocks in a user message",
    "openai": "Chat Completions have tool_calls, and messages with the role 'tool'",
}


@dataclass(frozen=True, slots=True)
class WireFlaw:
    """What is wrong with a transcript: the code of the finding, the place (`messages.3.content.0`), and words.

    `id` is that of the call it is about; "" where it is about none.
    """

    code: str
    at: str
    reason: str
    id: str = ""

    def __str__(self) -> str:
        return f"{self.code} at {self.at}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Part:
    """A call or a result in a message. `tool` is the name of a call's tool, `content` what a result says.

    `late` is set where something else stands in front of a tool_result in its message.
    """

    id: str
    at: str
    dialect: Dialect
    tool: str = ""
    content: Any = None
    late: bool = False


def calls_in(message: Mapping[str, Any], at: str = "") -> tuple[Part, ...]:
    """The calls of an assistant message; `at` is the place of the message.

    >>> calls_in({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "ping"}}]})[0].tool
    'ping'
    """
    if message.get("role") != "assistant":
        return ()
    used = (
        Part(str(block.get("id") or ""), f"{at}.content.{place}", "anthropic", str(block.get("name") or ""))
        for place, block in _objects(message.get("content"))
        if block.get("type") == "tool_use"
    )
    called = (
        Part(str(call.get("id") or ""), f"{at}.tool_calls.{place}", "openai", _function(call))
        for place, call in _objects(message.get("tool_calls"))
    )
    return (*used, *called)


def _function(call: Mapping[str, Any]) -> str:
    named = as_object(call.get("function")) or as_object(call.get("custom")) or {}
    return str(named.get("name") or "")


def results_in(message: Mapping[str, Any], at: str = "") -> tuple[Part, ...]:
    """The results in a message; `at` is its place."""
    if message.get("role") == "tool":
        return (Part(str(message.get("tool_call_id") or ""), at, "openai", content=message.get("content")),)
    return tuple(_tool_results(message, at))


def _tool_results(message: Mapping[str, Any], at: str) -> Iterator[Part]:
    late = False
    for place, block in _objects(message.get("content")):
        if block.get("type") == "tool_result":
            answered = str(block.get("tool_use_id") or "")
            yield Part(
                answered, f"{at}.content.{place}", "anthropic", content=block.get("content"), late=late
            )
        else:
            late = True


def _objects(value: object) -> Iterator[tuple[int, dict[str, Any]]]:
    for place, item in enumerate(as_list(value) or ()):
        if (found := as_object(item)) is not None:
            yield place, found


def anthropic_law(messages: Iterable[object], *, request: bool = False) -> tuple[WireFlaw, ...]:
    """What the Messages API would refuse of the tool calls in these messages, in their order.

    The ids of calls are unique in the whole transcript. `request` says that the messages are to be sent as they are, so
    that calls at their end want results too. Source: the API's own 400s, and the page "Handle tool calls" of its docs.

    >>> call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ping", "input": {}}]}
    >>> anthropic_law([call]), anthropic_law([call, {"role": "user", "content": "And?"}])[0].code
    ((), 'wire.unpaired_tool_use')
    """
    return _Law("anthropic").read(messages, request=request)


def openai_law(messages: Iterable[object], *, request: bool = False) -> tuple[WireFlaw, ...]:
    """What Chat Completions would refuse of the tool calls in these messages, in their order.

    Ids are unique in one message only: servers that number the calls of each answer from 0 are legal, since results
    stand right behind their calls. `request` as in `anthropic_law`.

    >>> openai_law([{"role": "tool", "tool_call_id": "c1", "content": "pong"}])[0].code
    'wire.orphan_tool_result'
    """
    return _Law("openai").read(messages, request=request)


class _Law:
    """One reading: the batch of calls that waits for results, and the flaws so far."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect: Dialect = dialect
        self._flaws: list[WireFlaw] = []
        self._waiting: dict[str, Part] = {}
        self._batch: set[str] = set()
        self._seen: set[str] = set()

    def read(self, messages: Iterable[object], *, request: bool) -> tuple[WireFlaw, ...]:
        for index, item in enumerate(messages):
            if (message := as_object(item)) is not None:
                self._message(message, f"messages.{index}")
        if request:
            self._close()
        return tuple(self._flaws)

    def _message(self, message: Mapping[str, Any], at: str) -> None:
        self._mixed(message, at)
        results = results_in(message, at)
        if not results or message.get("role") == "assistant":
            self._close()
        for result in results:
            self._settle(result)
        # `tool` messages come one by one, tool_result blocks all in one message.
        if message.get("role") == "user":
            self._close()
        for call in calls_in(message, at):
            self._open(call)

    def _open(self, call: Part) -> None:
        taken = self._seen if self._dialect == "anthropic" else self._batch
        if call.id in taken:
            self._flaw("duplicate_id", call, f"the id {call.id!r} is that of an earlier call; ids are unique")
        self._seen.add(call.id)
        self._batch.add(call.id)
        self._waiting[call.id] = call

    def _settle(self, result: Part) -> None:
        call = self._waiting.pop(result.id, None)
        if call is not None and result.late:
            self._unpaired(call, f"its result, {result.at}, stands behind other content; results come first")
        elif call is None and result.id in self._batch:
            self._flaw("duplicate_id", result, f"the call {result.id!r} has its result already")
        elif call is None:
            where = (
                "in the message before"
                if result.dialect == "anthropic"
                else "in the message with tool_calls before"
            )
            self._flaw("orphan_tool_result", result, f"a result for {result.id!r}, and no such call {where}")

    def _close(self) -> None:
        """No result can come any more for the calls that wait."""
        where = (
            "in the next message" if self._dialect == "anthropic" else "in a `tool` message right behind it"
        )
        for call in self._waiting.values():
            self._unpaired(call, f"it has no result {where}")
        self._waiting, self._batch = {}, set()

    def _unpaired(self, call: Part, why: str) -> None:
        self._flaw("unpaired_tool_use", call, f"the call {call.id!r} of {call.tool or 'no tool'}: {why}")

    def _mixed(self, message: Mapping[str, Any], at: str) -> None:
        mine, how = self._dialect, _HOW[self._dialect]
        role = message.get("role")
        if role in _FOREIGN_ROLES[mine]:
            self._foreign(at, f"the role {role!r} is not of this dialect; {how}")
        for name in _FOREIGN_FIELDS[mine]:
            if message.get(name):
                self._foreign(f"{at}.{name}", f"{name} is not of this dialect; {how}")
        for place, block in _objects(message.get("content")):
            if (kind := block.get("type")) in _FOREIGN_BLOCKS[mine]:
                self._foreign(f"{at}.content.{place}", f"a {kind} block is not of this dialect; {how}")

    def _foreign(self, at: str, reason: str) -> None:
        self._flaws.append(WireFlaw("wire.mixed_dialect", at, reason))

    def _flaw(self, code: str, part: Part, reason: str) -> None:
        self._flaws.append(WireFlaw(f"wire.{code}", part.at, reason, part.id))
