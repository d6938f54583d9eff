"""Small documents of each format that tracing products and harnesses write; names, ids and amounts are invented."""

from __future__ import annotations

import json
from typing import Any

from sandtrail.ledgers.trees import as_list, as_object

Json = dict[str, Any]

ASK = "What is the state of order 4412?"
TELL = "Order 4412 has shipped."
ORDER = '{"order_id": "ord_4412", "state": "shipped"}'
GET_ORDER: Json = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "One order.",
        "parameters": {"type": "object", "properties": {"number": {"type": "string"}}},
    },
}


# -- ATIF --------------------------------------------------------------------------------------------------


def step(number: int, source: str, message: Any = "", **more: Any) -> Json:
    """One step."""
    return {"step_id": number, "source": source, "message": message, **more}


def calling(number: int, *ids: str, results: list[Json] | None = None, **more: Any) -> Json:
    """A step of an agent that calls get_order, once for each id; answered unless the results are given."""
    calls = [
        {"tool_call_id": id_, "function_name": "get_order", "arguments": {"number": "4412"}} for id_ in ids
    ]
    answers = [{"source_call_id": id_, "content": ORDER} for id_ in ids] if results is None else results
    return step(number, "agent", "", tool_calls=calls, observation={"results": answers}, **more)


def trajectory(*steps: Json, **more: Any) -> Json:
    """A trajectory of Harbor's."""
    agent = {"name": "helper", "version": "1.2", "model_name": "m-1", "tool_definitions": [GET_ORDER]}
    return {"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": agent, "steps": list(steps), **more}


ATIF = trajectory(
    step(1, "system", "You help with orders."),
    step(2, "user", [{"type": "text", "text": ASK}]),
    calling(3, "c1", reasoning_content="look it up", metrics={"prompt_tokens": 9}),
    step(4, "agent", TELL),
    final_metrics={"total_steps": 4},
)


# -- OTLP --------------------------------------------------------------------------------------------------


def value(plain: Any) -> Json:
    """A value as OTLP writes it."""
    fields, items = as_object(plain), as_list(plain)
    if fields is not None:
        return {"kvlistValue": {"values": [{"key": key, "value": value(fields[key])} for key in fields]}}
    if items is not None:
        return {"arrayValue": {"values": [value(item) for item in items]}}
    if isinstance(plain, bool):
        return {"boolValue": plain}
    if isinstance(plain, int):
        return {"intValue": str(plain)}
    return {} if plain is None else {"stringValue": plain}


def span(id_: str, start: int, parent: str = "", trace: str = "t1", *, name: str = "", **more: Any) -> Json:
    """One span; its attributes come with `|`."""
    return {
        "traceId": trace,
        "spanId": id_,
        "parentSpanId": parent,
        "startTimeUnixNano": str(start),
        "name": name,
    } | more


def attributed(one: Json, attributes: Json) -> Json:
    """The span with these attributes, as OTLP writes them."""
    return one | {"attributes": [{"key": key, "value": value(attributes[key])} for key in attributes]}


def otlp(*spans: Json) -> Json:
    """An export request."""
    return {
        "resourceSpans": [
            {"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}
        ]
    }


def text(role: str, words: str) -> Json:
    """A message of the GenAI conventions."""
    return {"role": role, "parts": [{"type": "text", "content": words}]}


def part(id_: str = "c1", arguments: Any = None) -> Json:
    """A message with a call, in the conventions' shape."""
    given = {"number": "4412"} if arguments is None else arguments
    return {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": id_, "name": "get_order", "arguments": given}],
    }


def response(id_: str = "c1") -> Json:
    """The message that answers it."""
    return {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": id_, "response": json.loads(ORDER)}],
    }


def chat(heard: list[Json], said: list[Json], **more: Any) -> Json:
    """The attributes of a request to a model."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.input.messages": json.dumps(heard),
        "gen_ai.output.messages": json.dumps(said),
        **more,
    }


def executed(id_: str = "c1", **more: Any) -> Json:
    """The attributes of a tool's span."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.id": id_,
        "gen_ai.tool.call.arguments": '{"number":"4412"}',
        "gen_ai.tool.call.result": ORDER,
        **more,
    }


AGENT = {"gen_ai.operation.name": "invoke_agent"}
SEMCONV = otlp(
    attributed(span("chat2", 40, "root"), chat([text("user", ASK), part(), response()], [text("assistant", TELL)])),
    attributed(span("tool1", 30, "root"), executed()),
    attributed(span("chat1", 20, "root"), chat([text("user", ASK)], [part()], **{
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "You help with orders."}]),
        "gen_ai.tool.definitions": json.dumps([{"type": "function", **GET_ORDER["function"]}]),
    })),
    attributed(span("root", 10), AGENT),
)  # fmt: skip

_V1_CALL = {
    "role": "assistant",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"number": "4412"}'}}
    ],
}
_V1 = [
    {"event.name": "gen_ai.user.message", "content": ASK, "role": "user"},
    {"event.name": "gen_ai.assistant.message", **_V1_CALL},
    {"event.name": "gen_ai.tool.message", "content": ORDER, "role": "tool", "id": "c1", "name": "get_order"},
]
PYDANTIC_1 = {
    "spans": [
        {"trace_id": "t1", "span_id": "1", "start_timestamp": "2026-05-01T08:00:00Z", "name": "agent run", "attributes": {
            "all_messages_events": json.dumps([*_V1, {"event.name": "gen_ai.assistant.message", "role": "assistant", "content": TELL}])}},
        {"trace_id": "t1", "span_id": "2", "parent_span_id": "1", "start_timestamp": "2026-05-01T08:00:01Z", "name": "chat m-1", "attributes": {
            "gen_ai.operation.name": "chat", "events": json.dumps([_V1[0], {"event.name": "gen_ai.choice", "index": 0, "message": _V1_CALL}]),
            "model_request_parameters": json.dumps({"function_tools": [{"name": "get_order", "parameters_json_schema": {"type": "object"}}]})}},
        {"trace_id": "t1", "span_id": "3", "parent_span_id": "1", "start_timestamp": "2026-05-01T08:00:02Z", "name": "running tool: get_order",
            "attributes": {"gen_ai.tool.name": "get_order", "gen_ai.tool.call.id": "c1", "tool_arguments": '{"number":"4412"}', "tool_response": ORDER}},
    ]
}  # fmt: skip
PYDANTIC_2 = [
    {
        "context": {"trace_id": "t1", "span_id": "1"},
        "parent_id": None,
        "name": "invoke_agent helper",
        "attributes": {
            "pydantic_ai.all_messages": json.dumps(
                [
                    text("user", "Hello."),
                    text("assistant", "Hi."),
                    text("user", ASK),
                    part(),
                    response(),
                    text("assistant", TELL),
                ]
            ),
            "pydantic_ai.new_message_index": 2,
        },
    }
]

_OI = "llm.input_messages"
OPENINFERENCE = otlp(
    attributed(span("a", 1), {"openinference.span.kind": "AGENT", "input.value": ASK, "output.value": TELL}),
    attributed(span("l1", 2, "a"), {
        "openinference.span.kind": "LLM",
        f"{_OI}.0.message.role": "system", f"{_OI}.0.message.content": "You help with orders.",
        f"{_OI}.1.message.role": "user",
        f"{_OI}.1.message.contents.0.message_content.type": "text", f"{_OI}.1.message.contents.0.message_content.text": ASK,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_order",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"number": "4412"}',
        "llm.tools.0.tool.json_schema": json.dumps(GET_ORDER),
    }),
    attributed(span("x", 3, "a"), {
        "openinference.span.kind": "TOOL", "tool.name": "get_order", "input.value": '{"number": "4412"}', "output.value": ORDER,
    }),
    attributed(span("l2", 4, "a"), {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": TELL,
    }),
)  # fmt: skip
OPENLLMETRY = {
    "spans": [
        {"span_id": "1", "name": "openai.chat", "attributes": {
            "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASK,
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.0.id": "c1", "gen_ai.completion.0.tool_calls.0.name": "get_order",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"number": "4412"}',
            "llm.request.functions.0.name": "get_order", "llm.request.functions.0.parameters": '{"type": "object"}'}},
        {"span_id": "2", "name": "openai.chat", "attributes": {
            "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASK, "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.1.tool_calls.0.id": "c1", "gen_ai.prompt.1.tool_calls.0.name": "get_order",
            "gen_ai.prompt.1.tool_calls.0.arguments": '{"number": "4412"}', "gen_ai.prompt.2.role": "tool",
            "gen_ai.prompt.2.content": ORDER, "gen_ai.prompt.2.tool_call_id": "c1",
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": TELL}},
    ]
}  # fmt: skip


def event(name: str, **attributes: Any) -> Json:
    """An event of a span, with plain attributes."""
    return {"name": name, "attributes": attributes}


EVENTS = {
    "spans": [
        {"span_id": "1", "name": "chat m-1", "attributes": {"gen_ai.operation.name": "chat"}, "events": [
            event("gen_ai.system.message", content="You help with orders."),
            event("gen_ai.user.message", content=ASK),
            event("gen_ai.choice", index=0, finish_reason="tool_calls", message=json.dumps(_V1_CALL))]},
        {"span_id": "2", "name": "chat m-1", "attributes": {"gen_ai.operation.name": "chat"}, "events": [
            event("gen_ai.user.message", **{"gen_ai.event.content": json.dumps({"content": ASK})}),
            event("gen_ai.assistant.message", tool_calls=json.dumps(_V1_CALL["tool_calls"])),
            event("gen_ai.tool.message", id="c1", content=ORDER),
            event("gen_ai.choice", content=TELL, finish_reason="stop")]},
    ]
}  # fmt: skip


# -- Langfuse ----------------------------------------------------------------------------------------------


def observation(id_: str, type_: str, given: Any, out: Any, **more: Any) -> Json:
    """One observation."""
    plain: Json = {"id": id_, "traceId": "tr_1", "type": type_, "name": "get_order" if type_ == "TOOL" else "step",
            "startTime": f"2026-05-01T08:00:{int(id_[1:]):02}.000Z", "parentObservationId": None, "input": given, "output": out,
            "level": "DEFAULT", "statusMessage": None, "metadata": {}}  # fmt: skip
    return plain | more


_CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"number": "4412"}'}}
    ],
}
_USER = {"role": "user", "content": ASK}
OBSERVATIONS = [
    observation("o3", "GENERATION", {"messages": [_USER, _CALLING, {"role": "tool", "tool_call_id": "c1", "content": ORDER}]}, {"role": "assistant", "content": TELL}, parentObservationId="o0"),
    observation("o0", "AGENT", None, None),
    observation("o1", "GENERATION", {"messages": [_USER], "tools": [GET_ORDER]}, json.dumps({"choices": [{"message": _CALLING, "finish_reason": "tool_calls"}]}), parentObservationId="o0"),
    observation("o2", "TOOL", "{'number': '4412'}", {"content": ORDER, "type": "tool", "tool_call_id": "c1"}, parentObservationId="o0"),
]  # fmt: skip
LANGFUSE: Json = {"id": "tr_1", "name": "support", "input": ASK, "output": TELL, "observations": OBSERVATIONS}


# What goes into a model, what comes out, and the messages that answer its call.
DIALECTS: tuple[tuple[Any, Any, Any], ...] = (
    (  # Anthropic
        {"system": "Help.", "messages": [{"role": "user", "content": ASK}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "look"}, {"type": "tool_use", "id": "c1", "name": "get_order", "input": {"number": "4412"}}], "stop_reason": "tool_use"},
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": ORDER}]}]}],
    ),
    (  # OpenAI Responses
        {"instructions": "Help.", "input": [{"role": "user", "content": [{"type": "input_text", "text": ASK}]}]},
        {"output": [{"type": "reasoning", "summary": ["look"]}, {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "get_order", "arguments": '{"number": "4412"}'}]},
        [{"type": "function_call_output", "call_id": "c1", "output": ORDER}],
    ),
    (  # LangChain
        [{"type": "system", "content": "Help."}, {"type": "human", "content": ASK}],
        {"generations": [[{"message": {"type": "ai", "content": "", "tool_calls": [{"name": "get_order", "args": {"number": "4412"}, "id": "c1"}], "additional_kwargs": {"tool_calls": [{"id": "c1", "function": {"name": "get_order", "arguments": '{"number": "4412"}'}}]}}}]]},
        [{"type": "tool", "content": ORDER, "tool_call_id": "c1", "name": "get_order", "status": "success"}],
    ),
    (  # LangChain, serialised
        [{"lc": 1, "type": "constructor", "id": ["SystemMessage"], "kwargs": {"type": "system", "content": "Help."}}, {"lc": 1, "type": "constructor", "kwargs": {"type": "human", "content": ASK}}],
        {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [{"id": "c1", "function": {"name": "get_order", "arguments": '{"number": "4412"}'}}]}},
        [{"role": "tool", "content": ORDER, "tool_call_id": "c1"}],
    ),
    (  # Gemini, which gives calls no ids
        {"systemInstruction": {"parts": [{"text": "Help."}]}, "contents": [{"role": "user", "parts": [{"text": ASK}]}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "get_order", "args": {"number": "4412"}}}]}, "finishReason": "STOP"}]},
        [{"role": "user", "parts": [{"functionResponse": {"name": "get_order", "response": json.loads(ORDER)}}]}],
    ),
    (  # the AI SDK
        [{"role": "system", "content": "Help."}, {"role": "user", "content": [{"type": "text", "text": ASK}]}],
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "get_order", "input": {"number": "4412"}}]},
        [{"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "get_order", "output": {"type": "json", "value": json.loads(ORDER)}}]}],
    ),
    (  # OpenAI before there were tools
        [{"role": "system", "content": "Help."}, {"role": "user", "content": ASK}],
        {"role": "assistant", "content": None, "function_call": {"name": "get_order", "arguments": '{"number": "4412"}'}},
        [{"role": "function", "name": "get_order", "content": ORDER}],
    ),
)  # fmt: skip


# -- Inspect -----------------------------------------------------------------------------------------------


def sample(*messages: Json, **more: Any) -> Json:
    """One sample in one epoch."""
    return {
        "id": 7,
        "epoch": 1,
        "input": ASK,
        "target": "shipped",
        "messages": list(messages),
        "scores": {"match": {"value": "C"}},
    } | more


def log(*samples: Json, **more: Any) -> Json:
    """An eval log."""
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "orders", "model": "m-1"},
        "samples": list(samples),
    } | more


MESSAGES: tuple[Json, ...] = (
    {"id": "m1", "role": "system", "content": "You help with orders."},
    {"id": "m2", "role": "user", "source": "input", "content": ASK},
    {"id": "m3", "role": "assistant", "source": "generate", "content": [{"type": "reasoning", "reasoning": "look"}],
     "tool_calls": [{"id": "c1", "function": "get_order", "arguments": {"number": "4412"}, "type": "function"}]},
    {"id": "m4", "role": "tool", "tool_call_id": "c1", "function": "get_order", "content": "attachment://abc"},
    {"id": "m5", "role": "assistant", "source": "generate", "content": TELL},
)  # fmt: skip
_MODEL = {
    "event": "model",
    "input": [MESSAGES[0], MESSAGES[1]],
    "tools": [{"name": "get_order", "description": "One order.", "parameters": {"type": "object"}}],
    "output": {"choices": [{"message": MESSAGES[2], "stop_reason": "tool_calls"}]},
}
INSPECT = log(sample(*MESSAGES, attachments={"abc": ORDER}, events=[_MODEL]))

DOCUMENTS: tuple[tuple[str, Any], ...] = (
    ("atif", ATIF),
    ("otlp", SEMCONV),
    ("otlp", PYDANTIC_1),
    ("otlp", PYDANTIC_2),
    ("otlp", OPENINFERENCE),
    ("otlp", OPENLLMETRY),
    ("otlp", EVENTS),
    ("langfuse", LANGFUSE),
    ("inspect", INSPECT),
)
