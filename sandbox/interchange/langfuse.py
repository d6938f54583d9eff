"""Traces exported from Langfuse.

    {"id", "input", "output", "observations": [...]}           a trace of the public API
    {"trace": {..., "observations"?}, "observations": [...]}   the download of the web page
    {"data": [...]}, a list, or one object a line               several traces, or rows of the observations table

Observations form a tree (`parentObservationId`): GENERATION is a request to a model, TOOL a call, AGENT an agent; SPAN and
the others are structure. Inputs and outputs are what the SDK was given, so any provider's messages, or their JSON text.
Where they are null although something ran (as the download of the older web page leaves them), nothing can be judged.

Source: api.reference.langfuse.com (Trace, ObservationsView; cloud.langfuse.com/generated/api/openapi.yml);
langfuse.com/docs "Observation types"; langfuse/langfuse issue 15337 and pull request 13033 for the download.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.loose import first, label, literal, moment, parsed, text_of
from sandtrail.sandbox.interchange.naming import Names, unreadable
from sandtrail.sandbox.interchange.offered import tools_in, united
from sandtrail.sandbox.interchange.otlp_names import result_of
from sandtrail.sandbox.interchange.recording import Recording, Tool
from sandtrail.sandbox.interchange.spans import Kind, Span
from sandtrail.sandbox.interchange.spoken import Asked, Said, spoken
from sandtrail.sandbox.interchange.telling import flaw
from sandtrail.sandbox.interchange.threads import runs_of

FORMAT = "langfuse"

_KINDS: Mapping[str, Kind] = {"GENERATION": "model", "TOOL": "tool", "AGENT": "agent"}
_TYPES = {
    "GENERATION", "TOOL", "SPAN", "AGENT", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
}  # fmt: skip
_CALL_IDS = ("tool_call_id", "toolCallId", "gen_ai.tool.call.id", "call_id")


def recognises(value: object) -> bool:
    """Whether a JSON document is an export of this product.

    >>> recognises({"id": "t", "observations": []}), recognises({"type": "TOOL", "traceId": "t", "id": "o"})
    (True, True)
    """
    items = as_list(value)
    if items is not None:
        return bool(items) and _is_one(as_object(items[0]) or {})
    fields = as_object(value) or {}
    data = as_list(fields.get("data"))
    return _is_one(fields) or (bool(data) and _is_one(as_object(data[0] if data else None) or {}))


def _is_one(fields: Mapping[str, Any]) -> bool:
    trace = as_object(fields.get("trace")) or fields
    if as_list(trace.get("observations")) is not None or as_list(fields.get("observations")) is not None:
        return True
    return first(fields, "traceId", "trace_id") is not None and text_of(fields.get("type")).upper() in _TYPES


@dataclass
class _Trace:
    """One trace while its parts are gathered: its own fields and its observations."""

    id: str
    place: str
    fields: Mapping[str, Any]
    observations: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    unread: list[str] = field(default_factory=list[str])


def read(value: object, name: str) -> Iterator[Recording]:
    """The runs of a document; `name` stands in front of their ids. What is wrong is in their flaws."""
    names = Names(name)
    document = as_object(value)
    data = as_list(document.get("data")) if document is not None else as_list(value)
    items = [value] if data is None else data
    traces: dict[str, _Trace] = {}
    for index, item in enumerate(items):
        place = "" if data is None else f"/{index}"
        fields = as_object(item)
        if fields is None:
            yield unreadable(names, FORMAT, place, f"a trace is an object, not {label(item, 40)}")
        else:
            _gather(traces, fields, place)
    if not items:
        yield unreadable(names, FORMAT, "", "a list without a trace")
    for trace in traces.values():
        yield from _recordings(trace, names)


def _gather(traces: dict[str, _Trace], fields: Mapping[str, Any], place: str) -> None:
    if text_of(fields.get("type")).upper() in _TYPES and "observations" not in fields:  # a row of the table
        id_ = text_of(first(fields, "traceId", "trace_id"))
        traces.setdefault(f"row {id_}", _Trace(id_, place, {})).observations.append(fields)
        return
    own = as_object(fields.get("trace")) or fields
    trace = traces[f"{place} trace"] = _Trace(text_of(own.get("id")), place, own)
    inner, outer = as_list(own.get("observations")), as_list(fields.get("observations"))
    seen: set[str] = set()
    for item in [*(outer or ()), *(inner or () if own is not fields else ())]:
        observation = as_object(item)
        if observation is None:  # a list of traces names its observations only
            trace.unread.append(label(item, 60))
        elif (id_ := text_of(observation.get("id"))) not in seen or not id_:
            seen.add(id_)
            trace.observations.append(observation)


def _recordings(trace: _Trace, names: Names) -> Iterator[Recording]:
    spans = [_span(fields, number) for number, fields in enumerate(trace.observations, 1)]
    whole = _whole(trace)
    empty = _hollow(trace.observations) if not any(_has_content(span) for span in (*spans, whole)) else ()
    for run in runs_of([*spans, whole]):
        flaws = _unread(trace)
        if empty:
            flaws += (flaw("trace.no_content", ", ".join(empty), "inputs and outputs are null"),)
        elif not spans:
            reason = "no observations: what the agent called is not in this file"
            flaws += (flaw("trace.incomplete", "observations", reason), *run.flaws)
        else:
            flaws += run.flaws
        yield Recording(
            names.of("/".join(part for part in (trace.id, label(run.scope)) if part)),
            FORMAT,
            trace.place,
            run.conversation,
            run.tools,
            run.registry,
            flaws=tuple(dict.fromkeys(flaws)),
            ended=run.ended,
            recorded={
                key: trace.fields[key] for key in ("name", "sessionId", "tags") if trace.fields.get(key)
            },
        )


def _unread(trace: _Trace) -> tuple[Finding, ...]:
    if not trace.unread:
        return ()
    shown = ", ".join(trace.unread[:10])
    return (
        flaw(
            "trace.incomplete",
            f"observations {shown}",
            "named, and not in this file; export the trace itself",
        ),
    )


def _has_content(span: Span) -> bool:
    return bool(span.heard or span.said) or (
        span.call is not None
        and (span.call.raw is not None or (span.result is not None and not span.result.bare))
    )


def _hollow(observations: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """The ids of what ran without a trace of its content; structure is named only where there is nothing else."""
    ran = [one for one in observations if text_of(one.get("type")).upper() in _KINDS]
    return tuple(
        label(one.get("id")) or f"observation {index}" for index, one in enumerate(ran or observations, 1)
    )


def _whole(trace: _Trace) -> Span:
    """The trace itself: its plain input and output."""
    heard = spoken(trace.fields.get("input"), "user")
    said = spoken(trace.fields.get("output"), "assistant")
    return Span(trace.id or "trace", "", "other", 0, heard, said, weak=True)


# -- observations ------------------------------------------------------------------------------------------


def _span(fields: Mapping[str, Any], number: int) -> Span:
    kind = _KINDS.get(text_of(fields.get("type")).upper(), "other")
    id_ = text_of(fields.get("id")) or f"observation {number}"
    parent = text_of(first(fields, "parentObservationId", "parent_observation_id"))
    start = moment(first(fields, "startTime", "start_time"))
    failed = fields.get("level") == "ERROR"
    why = label(first(fields, "statusMessage", "status_message"), 300)
    heard: tuple[Said, ...] = ()
    said: tuple[Said, ...] = ()
    tools: tuple[Tool, ...] | None = None
    if kind == "model":
        heard, tools = _request(fields)
        said = spoken(fields.get("output"), "assistant")
    if kind != "tool":
        return Span(id_, parent, kind, start, heard, said, failed=failed, why=why, tools=tools)
    attributes = {"gen_ai.tool.call.result": fields.get("output")}
    result = result_of(attributes, failed=failed, why=why)
    return Span(id_, parent, kind, start, call=_call(fields), result=result, failed=failed, why=why)


def _request(fields: Mapping[str, Any]) -> tuple[tuple[Said, ...], tuple[Tool, ...] | None]:
    """The messages and the tools of a request. The LangChain handler lists a tool as a message of the role tool."""
    given = parsed(fields.get("input"))
    request = as_object(given) or {}
    parameters = as_object(parsed(first(fields, "modelParameters", "model_parameters"))) or {}
    listed = as_list(given) or as_list(request.get("messages")) or []
    defined = [item for item in listed if _defines(item)]
    found = [
        *(tools_in(request.get("tools")) or ()),
        *(tools_in(parameters.get("tools")) or ()),
        *(tool for item in defined for tool in tools_in((as_object(item) or {}).get("content")) or ()),
    ]
    told = [item for item in listed if not _defines(item)] if defined else fields.get("input")
    return spoken(told, "user"), united(found)


def _defines(item: object) -> bool:
    fields = as_object(item) or {}
    content = as_object(fields.get("content")) or {}
    return fields.get("role") == "tool" and as_object(content.get("function")) is not None


def _call(fields: Mapping[str, Any]) -> Asked:
    """The call of a TOOL. Its id stands in the metadata, or in the message that answered it."""
    metadata = as_object(parsed(fields.get("metadata"))) or {}
    attributes = as_object(metadata.get("attributes")) or {}
    answer = as_object(parsed(fields.get("output"))) or {}
    given = fields.get("input")
    id_ = next(
        (found for one in (metadata, attributes, answer) if (found := first(one, *_CALL_IDS)) is not None), ""
    )
    raw = None if given is None else literal(text_of(given))
    call = Asked(text_of(id_), text_of(fields.get("name")), raw)
    inner = as_object(parsed(raw)) or {}
    # The call itself as LangChain passes it on: {"name", "args", "id", "type": "tool_call"}.
    if inner.get("type") == "tool_call" and "args" in inner:
        return replace(call, id=text_of(inner.get("id")) or call.id, raw=text_of(inner["args"]))
    return call
