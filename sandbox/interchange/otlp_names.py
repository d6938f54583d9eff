"""The attributes of GenAI spans that are read, by an explicit list of names; any other attribute is left alone.

    GenAI conventions   gen_ai.input.messages, gen_ai.output.messages, gen_ai.system_instructions, gen_ai.tool.*
                        (1.37 on); before that the events gen_ai.user.message, gen_ai.choice and their like
    OpenLLMetry         gen_ai.prompt.N.*, gen_ai.completion.N.*, llm.request.functions.N.*
    Pydantic AI         events, all_messages_events, tool_arguments, tool_response (version 1);
                        pydantic_ai.all_messages, pydantic_ai.new_message_index (from 2 on); model_request_parameters
    OpenInference       llm.input_messages.N.message.*, llm.output_messages.N.message.*, llm.tools.N.tool.json_schema,
                        tool.*, input.value, output.value

Sources: open-telemetry/semantic-conventions-genai docs/gen-ai (gen-ai-spans.md, gen-ai-events.md, execute-tool.md,
gen-ai-input-messages.json) and the events of semantic-conventions 1.36; pydantic/pydantic-ai _instrumentation.py and
models/instrumented.py; Arize-ai/openinference python/openinference-semantic-conventions trace/__init__.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.loose import first, objects, parsed, text_of, whole
from sandtrail.sandbox.interchange.offered import tools_in, united
from sandtrail.sandbox.interchange.recording import Tool
from sandtrail.sandbox.interchange.spans import Kind
from sandtrail.sandbox.interchange.spoken import Asked, Said, result_text, spoken

Attributes = Mapping[str, Any]
Event = tuple[str, Attributes]

OPERATION = "gen_ai.operation.name"
CONVERSATION = "gen_ai.conversation.id"
MODELS = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name")

_MODEL_WORK = {"chat", "text_completion", "generate_content", "completion", "completions"}
_AGENT_WORK = {"invoke_agent", "create_agent", "invoke_workflow"}
_INFERENCE = {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}

_HEARD = ("gen_ai.input.messages", "gen_ai.prompt")
_SAID = ("gen_ai.output.messages", "gen_ai.completion")
_SYSTEM = ("gen_ai.system_instructions",)
_ALL = ("pydantic_ai.all_messages", "all_messages_events")
_NEW = "pydantic_ai.new_message_index"
_LISTED = (("gen_ai.prompt", ""), ("llm.input_messages", "message"))
_ANSWERED = (("gen_ai.completion", ""), ("llm.output_messages", "message"))
_DEFINED = ("gen_ai.tool.definitions", "gen_ai.request.tools", "llm.request.functions", "llm.tools")

_TOOL_NAME = ("gen_ai.tool.name", "tool.name", "tool_name")
_CALL_ID = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "tool_call_id")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments", "gen_ai.tool.arguments", "input.value")
_RESULT = ("gen_ai.tool.call.result", "tool_response", "gen_ai.tool.result", "output.value")

_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.content.prompt": "prompt",
    "gen_ai.content.completion": "choice",
    "gen_ai.choice": "choice",
    "gen_ai.client.inference.operation.details": "details",
}


def kind_of(attributes: Attributes, name: str, events: Sequence[Event]) -> Kind:
    """What a span is of. One that does not say it is known by what it carries."""
    work = text_of(attributes.get(OPERATION))
    inference = _INFERENCE.get(text_of(attributes.get("openinference.span.kind")).upper())
    if work == "execute_tool" or inference == "tool" or name.startswith("running tool:"):
        return "tool"
    if work in _AGENT_WORK or inference == "agent":
        return "agent"
    if work in _MODEL_WORK or inference == "model":
        return "model"
    if has_history(attributes):
        return "agent"
    if any(
        known in attributes
        for known in ("gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "tool_arguments")
    ):
        return "tool"
    content = any(known in attributes for known in (*_HEARD, *_SAID)) or any(
        name in _EVENTS for name, _ in events
    )
    listed = any(f"{known}.0.role" in attributes for known in ("gen_ai.prompt", "gen_ai.completion"))
    return "model" if content or listed else "other"


# -- models and agents -------------------------------------------------------------------------------------


def messages_of(attributes: Attributes, events: Sequence[Event]) -> tuple[tuple[Said, ...], tuple[Said, ...]]:
    """What a model heard and what it said; of an agent with the whole history, what came before and what is its own."""
    for name in _ALL:
        if (history := spoken(attributes.get(name), "user")) or name in attributes:
            start = _new_from(attributes, history)
            return _with_system(attributes, history[:start]), history[start:]
    heard, said = _first(attributes, _HEARD, "user"), _first(attributes, _SAID, "assistant")
    heard = heard or _listed(attributes, _LISTED, "user")
    said = said or _listed(attributes, _ANSWERED, "assistant")
    if not heard and not said:
        heard, said = _of_events([*_inline(attributes), *events])
    if not heard and not said and text_of(attributes.get("openinference.span.kind")).upper() == "LLM":
        heard = spoken(attributes.get("input.value"), "user")
        said = spoken(attributes.get("output.value"), "assistant")
    return _with_system(attributes, heard), said


def has_history(attributes: Attributes) -> bool:
    """Whether a span holds a whole history, the messages of earlier runs among them."""
    return any(name in attributes for name in _ALL)


def _new_from(attributes: Attributes, history: tuple[Said, ...]) -> int:
    """The place in the history where this run begins. The index counts messages, and one may say several things."""
    index = whole(attributes.get(_NEW))
    recorded = as_list(parsed(attributes.get(_ALL[0]))) or []
    if not index or index < 0:
        return 0
    return min(len(spoken(recorded[:index], "user")), len(history))


def plain_of(attributes: Attributes) -> tuple[tuple[Said, ...], tuple[Said, ...]]:
    """The plain input and output of an agent's span."""
    asked, given = attributes.get("input.value"), attributes.get("output.value")
    heard = spoken(asked, "user") if asked is not None else ()
    return heard, spoken(given, "assistant") if given is not None else ()


def _with_system(attributes: Attributes, heard: tuple[Said, ...]) -> tuple[Said, ...]:
    told = [said.text for name in _SYSTEM for said in spoken(attributes.get(name), "system") if said.text]
    known = {said.text for said in heard if said.role == "system"}
    text = "\n".join(told)
    return heard if not text or text in known else (Said("system", text), *heard)


def _first(attributes: Attributes, names: Sequence[str], role: Any) -> tuple[Said, ...]:
    return next((found for name in names if (found := spoken(attributes.get(name), role))), ())


def _inline(attributes: Attributes) -> Iterator[Event]:
    """The events that Pydantic AI's version 1 writes into one attribute."""
    for event in objects(parsed(attributes.get("events"))):
        yield text_of(event.get("event.name")), event


def _of_events(events: Sequence[Event]) -> tuple[tuple[Said, ...], tuple[Said, ...]]:
    heard: list[Said] = []
    said: list[Said] = []
    for name, fields in events:
        body = as_object(parsed(first(fields, "gen_ai.event.content", "body"))) or fields
        match _EVENTS.get(name):
            case "details":
                heard.extend(_with_system(body, _first(body, _HEARD, "user")))
                said.extend(_first(body, _SAID, "assistant"))
            case "prompt":
                heard.extend(spoken(body.get("gen_ai.prompt"), "user"))
            case "choice":
                said.extend(_choice(body))
            case "system" | "user" | "assistant" | "tool" as role:
                content = body.get("content")
                listed = content if role == "tool" or as_list(parsed(content)) is None else parsed(content)
                heard.extend(spoken({"role": role, **body, "content": listed}, role))
            case _:
                pass
    return tuple(heard), tuple(said)


def _choice(body: Attributes) -> tuple[Said, ...]:
    """An answer: a message in the event's body, or the fields themselves."""
    if "gen_ai.completion" in body:
        return spoken(body["gen_ai.completion"], "assistant")
    message = as_object(parsed(body.get("message")))
    if message is None:
        content = first(body, "message", "content")
        message = {"content": content, "tool_calls": parsed(body.get("tool_calls"))}
    finish = text_of(body.get("finish_reason"))
    return spoken({"role": "assistant", "finish_reason": finish, **message}, "assistant")


# -- numbered attributes -----------------------------------------------------------------------------------


def numbered(attributes: Attributes, prefix: str) -> list[Any]:
    """The list that numbered attributes write out: `p.0.role`, `p.0.tool_calls.1.name`; in the order of the numbers.

    >>> numbered({"p.0.role": "user", "p.1.calls.0.name": "ping"}, "p")
    [{'role': 'user'}, {'calls': [{'name': 'ping'}]}]
    """
    root: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            node = root
            *path, leaf = name[len(prefix) + 1 :].split(".")[:_SEGMENTS]
            for step in path:
                below = as_object(node.get(step))
                node[step] = below = {} if below is None else below
                node = below
            node.setdefault(leaf, value)
    return as_list(_as_lists(root)) or []


_SEGMENTS = 12


def _as_lists(node: Any) -> Any:
    fields = as_object(node)
    if fields is None:
        return node
    inner = {name: _as_lists(value) for name, value in fields.items()}
    if inner and all(name.isascii() and name.isdigit() and len(name) < 10 for name in inner):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner


def _listed(attributes: Attributes, names: Sequence[tuple[str, str]], role: Any) -> tuple[Said, ...]:
    for prefix, inner in names:
        items = [as_object(item) or {} for item in numbered(attributes, prefix)]
        messages = [(as_object(item.get(inner)) or item) if inner else item for item in items]
        if found := tuple(said for message in messages for said in spoken(_unfolded(message), role)):
            return found
    return ()


def _unfolded(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message whose parts and calls have their names once more in front of their fields."""
    parts = [(as_object(part.get("message_content")) or part) for part in objects(message.get("contents"))]
    found = {**message, "content": parts} if parts and message.get("content") is None else dict(message)
    if "function_call_name" in found:
        call = {"name": found["function_call_name"], "arguments": found.get("function_call_arguments_json")}
        found["function_call"] = call
    return found


# -- tools -------------------------------------------------------------------------------------------------


def tools_of(attributes: Attributes) -> tuple[Tool, ...] | None:
    """The tools that were offered to a model."""
    found: list[Tool] = []
    for name in _DEFINED:
        found.extend(tools_in(attributes.get(name)) or ())
        for item in numbered(attributes, name):
            fields = as_object(item) or {}
            inner = as_object(fields.get("tool")) or fields
            found.extend(tools_in(inner.get("json_schema", inner)) or ())
    parameters = as_object(parsed(attributes.get("model_request_parameters"))) or {}
    for name in ("function_tools", "output_tools"):
        found.extend(tools_in(parameters.get(name)) or ())
    return united(found)


def call_of(attributes: Attributes, name: str) -> Asked:
    """The call a tool's span carried out."""
    given = first(attributes, *_ARGUMENTS)
    tool = first(attributes, *_TOOL_NAME)
    named = name.removeprefix("execute_tool").removeprefix("running tool:").strip()
    return Asked(
        text_of(first(attributes, *_CALL_ID)),
        text_of(tool) if tool is not None else named,
        None if given is None else text_of(given),
    )


def result_of(attributes: Attributes, *, failed: bool, why: str) -> Said:
    """What the call was answered. The result may be a message of LangChain's with the text in it."""
    given = first(attributes, *_RESULT)
    told = as_object(parsed(given)) or {}
    content = given
    if "content" in told and ("tool_call_id" in told or told.get("type") == "tool"):
        content = told["content"]
        failed = failed or told.get("status") == "error"
    if content is None and failed:
        return Said("tool", why or "(failed; no reason recorded)", failed=True)
    return Said("tool", result_text(content), failed=failed, bare=content is None)
