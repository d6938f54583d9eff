"""GenAI spans in OTLP-JSON, and the same spans as plain objects (console exporters, queries of tracing products).

    {"resourceSpans": [{"scopeSpans": [{"spans": [...]}]}]}    attributes as [{"key", "value": {"stringValue"}}]
    {"spans": [...]} or a list of spans                       attributes as an object

A trace is a run; a subagent's conversation in it is a run of its own. Which attributes are read: `otlp_names`.

Source: opentelemetry.io/docs/specs/otlp "JSON Protobuf Encoding" and opentelemetry-proto trace/v1 (names in camelCase,
64-bit numbers as text); the JSON of the console exporters of the Python SDK.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange import otlp_names as names_of
from sandtrail.sandbox.interchange.loose import TOO_DEEP, first, label, moment, objects, parsed, text_of
from sandtrail.sandbox.interchange.naming import Names, unreadable
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.spans import Span
from sandtrail.sandbox.interchange.threads import runs_of

FORMAT = "otlp"

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start_timestamp")
_VALUES = ("stringValue", "boolValue", "intValue", "doubleValue", "bytesValue")
_DEPTH = 64
_FAILED = {"2", "ERROR", "STATUS_CODE_ERROR"}


def recognises(value: object) -> bool:
    """Whether a JSON document holds spans.

    >>> recognises({"resourceSpans": []}), recognises([{"span_id": "1", "attributes": {}}]), recognises([])
    (True, True, False)
    """
    items = as_list(value)
    if items is not None:
        head = as_object(items[0]) if items else None
        return head is not None and (_is_span(head) or any(name in head for name in _RESOURCES))
    fields = as_object(value) or {}
    if any(as_list(fields.get(name)) is not None for name in _RESOURCES):
        return True
    spans = as_list(fields.get("spans"))
    return spans is not None and (not spans or any(_is_span(span) for span in objects(spans[:1])))


def _is_span(fields: Mapping[str, Any]) -> bool:
    named = first(fields, "spanId", "span_id") is not None or "span_id" in (
        as_object(fields.get("context")) or {}
    )
    return named and ("attributes" in fields or "name" in fields)


def read(value: object, name: str) -> Iterator[Recording]:
    """The runs of a document; `name` stands in front of their ids. What is wrong is in their flaws."""
    names = Names(name)
    traces: dict[str, list[Span]] = {}
    models: dict[str, set[str]] = {}
    count = 0
    for fields in _spans(value):
        count += 1
        trace = text_of(
            first(fields, "traceId", "trace_id") or (as_object(fields.get("context")) or {}).get("trace_id")
        )
        attributes = attributes_of(fields.get("attributes"))
        traces.setdefault(trace, []).append(_span(fields, attributes, count))
        models.setdefault(trace, set()).update(
            text_of(attributes[key]) for key in names_of.MODELS if key in attributes
        )
    if not count:
        yield unreadable(names, FORMAT, "", "no span is in the document")
    telling = {trace for trace, spans in traces.items() if any(span.kind != "other" for span in spans)}
    for trace, spans in traces.items():
        if trace not in telling and telling:
            continue  # of another service: nothing in it is an agent's
        for run in runs_of(spans):
            yield Recording(
                names.of("/".join(part for part in (trace, label(run.scope)) if part)),
                FORMAT,
                trace,
                run.conversation,
                run.tools,
                run.registry,
                flaws=run.flaws,
                ended=run.ended,
                recorded={"models": sorted(models[trace])} if models[trace] else {},
            )


def _spans(value: object) -> Iterator[Mapping[str, Any]]:
    """The spans of a document, in its order."""
    documents = as_list(value)
    for document in objects([value] if documents is None else documents):
        resources = first(document, *_RESOURCES)
        if resources is None and "spans" not in document:
            yield document
            continue
        yield from objects(document.get("spans"))
        for resource in objects(resources):
            for scope in objects(first(resource, *_SCOPES)):
                yield from objects(scope.get("spans"))


def _span(fields: Mapping[str, Any], attributes: Mapping[str, Any], number: int) -> Span:
    context = as_object(fields.get("context")) or {}
    title = text_of(first(fields, "name", "span_name"))
    events = [
        (text_of(event.get("name")), attributes_of(event.get("attributes")))
        for event in objects(fields.get("events"))
    ]
    kind = names_of.kind_of(attributes, title, events)
    heard, said = names_of.messages_of(attributes, events) if kind in ("model", "agent") else ((), ())
    seeded = names_of.has_history(attributes)
    weak = kind == "agent" and not heard and not said
    if weak:
        heard, said = names_of.plain_of(attributes)
    failed, why = _failure(fields, events)
    above = first(fields, "parentSpanId", "parent_span_id", "parent_id", "parent")
    return Span(
        text_of(first(fields, "spanId", "span_id") or context.get("span_id")) or f"span {number}",
        text_of((as_object(above) or {}).get("span_id") if as_object(above) is not None else above),
        kind,
        moment(first(fields, *_STARTS)),
        heard,
        said,
        names_of.call_of(attributes, title) if kind == "tool" else None,
        names_of.result_of(attributes, failed=failed, why=why) if kind == "tool" else None,
        failed,
        why,
        names_of.tools_of(attributes) if kind in ("model", "agent") else None,
        weak,
        seeded,
    )


def _failure(fields: Mapping[str, Any], events: Sequence[names_of.Event]) -> tuple[bool, str]:
    """Whether a span says that it failed, and why."""
    status = as_object(fields.get("status")) or {}
    code = text_of(first(status, "code", "status_code") or first(fields, "otel_status_code")).upper()
    failed = code.rpartition(".")[2] in _FAILED
    said = first(status, "message", "description") or first(fields, "otel_status_message")
    thrown = next((one.get("exception.message") for name, one in events if name == "exception"), None)
    return failed, label(said if said else thrown, 300) if failed else ""


def attributes_of(value: object, depth: int = 0) -> dict[str, Any]:
    """Attributes as an object, whether they are written as one or as OTLP's list of keys and values.

    >>> attributes_of([{"key": "a", "value": {"intValue": "5"}}, {"key": "b", "value": {"stringValue": "x"}}])
    {'a': 5, 'b': 'x'}
    """
    whole = parsed(value)
    plain = as_object(whole)
    if plain is not None:
        return plain
    return {text_of(item.get("key")): _plain(item.get("value"), depth) for item in objects(whole)}


def _plain(value: object, depth: int) -> Any:
    """What a value of OTLP holds. Text stays text."""
    fields = as_object(value)
    if fields is None:
        return value
    if depth > _DEPTH:
        return TOO_DEEP
    for name in _VALUES:
        if name in fields:
            found = fields[name]
            return _number(found) if name == "intValue" else found
    if "arrayValue" in fields:
        return [
            _plain(item, depth + 1) for item in objects((as_object(fields["arrayValue"]) or {}).get("values"))
        ]
    if "kvlistValue" in fields:
        return attributes_of((as_object(fields["kvlistValue"]) or {}).get("values"), depth + 1)
    return None


def _number(value: object) -> Any:
    if not isinstance(value, str) or len(value) > 30:
        return value
    try:
        return int(value)
    except ValueError:
        return value
