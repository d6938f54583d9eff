"""Eval logs of Inspect AI, dumped as JSON (`inspect log dump`, or logs written in the format json).

    {"version", "status", "eval", "samples": [{"id", "epoch", "messages", "scores", "error"?, "limit"?}]}

A sample in an epoch is a run; one sample alone (as in the parts of an .eval archive) is read too. Long texts stand in
`attachments` and are put back. Assistant messages that the dataset brought along (`source: input`) are context. A sample
with an error is the harness's matter; a log that did not succeed may lack samples, or parts of them.

Source: inspect.aisi.org.uk/eval-logs.html and reference/inspect_ai.log.html (log version 2);
UKGovernmentBEIS/inspect_ai src/inspect_ai/log/_log.py, model/_chat_message.py, tool/_tool_call.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sandtrail.ledgers.trajectory import Ended
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.loose import first, label, objects, text_of
from sandtrail.sandbox.interchange.naming import Names, unreadable
from sandtrail.sandbox.interchange.offered import tools_in, united
from sandtrail.sandbox.interchange.recording import Recording, Tool
from sandtrail.sandbox.interchange.spans import Span
from sandtrail.sandbox.interchange.spoken import spoken
from sandtrail.sandbox.interchange.telling import Telling
from sandtrail.sandbox.interchange.threads import runs_of

FORMAT = "inspect"

_LIMITS = {
    "message": Ended.MAX_STEPS, "turn": Ended.MAX_TURNS, "token": Ended.MAX_TOKENS, "context": Ended.MAX_TOKENS,
    "time": Ended.MAX_TIME, "working": Ended.MAX_TIME, "cost": Ended.MAX_COST, "operator": Ended.CANCELLED,
}  # fmt: skip
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ATTACHED = "attachment://"
_DEPTH = 40


def recognises(value: object) -> bool:
    """Whether a JSON document is an eval log, a sample of one, or a list of these.

    >>> recognises({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": []})
    True
    >>> recognises({"samples": []})
    False
    """
    items = as_list(value)
    fields = as_object(items[0]) if items else as_object(value)
    return fields is not None and (_is_log(fields) or _is_sample(fields))


def _is_log(fields: Mapping[str, Any]) -> bool:
    return "status" in fields and as_object(fields.get("eval")) is not None


def _is_sample(fields: Mapping[str, Any]) -> bool:
    return "epoch" in fields and "id" in fields and ("messages" in fields or "target" in fields)


def read(value: object, name: str) -> Iterator[Recording]:
    """The runs of a document; `name` stands in front of their ids. What is wrong is in their flaws."""
    names = Names(name)
    items = as_list(value)
    if items is not None and not items:
        yield unreadable(names, FORMAT, "", "a list without a log")
    for index, item in enumerate([value] if items is None else items):
        place = "" if items is None else f"/{index}"
        fields = as_object(item)
        if fields is None:
            yield unreadable(names, FORMAT, place, f"an eval log is an object, not {label(item, 40)}")
        elif _is_sample(fields) and not _is_log(fields):
            yield _sample(fields, {}, names, place)
        else:
            yield from _log(fields, names, place)


def _log(log: Mapping[str, Any], names: Names, place: str) -> Iterator[Recording]:
    samples = as_list(log.get("samples"))
    if not samples:
        yield _empty(log, names, place)
    for index, item in enumerate(samples or ()):
        here = f"{place}/samples/{index}"
        sample = as_object(item)
        if sample is None:
            yield unreadable(names, FORMAT, here, f"a sample is an object, not {label(item, 40)}")
        else:
            yield _sample(sample, log, names, here)


def _empty(log: Mapping[str, Any], names: Names, place: str) -> Recording:
    telling = Telling()
    status = label(log.get("status"), 40) or "no status"
    telling.add("trace.incomplete", "samples", f"the log has no samples (status: {status})")
    if (error := log.get("error")) is not None:
        telling.add("trace.errored", "error", _reason(error))
    return Recording(names.of(""), FORMAT, place, flaws=telling.flaws(), recorded=_recorded(log))


def _sample(sample: Mapping[str, Any], log: Mapping[str, Any], names: Names, place: str) -> Recording:
    telling = Telling()
    epoch = label(sample.get("epoch"), 20)
    own = label(sample.get("id"), 80) + (f" epoch {epoch}" if epoch not in ("", "1") else "")
    attached = as_object(sample.get("attachments")) or {}
    _messages(sample, attached, telling)
    ended = _ended(sample)
    conversation, tools = telling.conversation, _tools(sample)
    if not conversation:
        conversation = _of_events(sample, attached, telling)
    if (error := sample.get("error")) is not None:
        telling.add("trace.errored", f"sample {own}", _reason(error))
    elif not conversation:
        telling.add("trace.incomplete", f"sample {own}", "the sample has no messages")
    elif text_of(log.get("status") or "success") != "success" and not sample.get("scores"):
        status = label(log.get("status"), 40)
        telling.add(
            "trace.incomplete",
            f"sample {own}",
            f"the eval ended with the status {status} before this was scored",
        )
    return Recording(
        names.of(own),
        FORMAT,
        place,
        conversation,
        tools,
        flaws=telling.flaws(),
        ended=ended,
        reward=_reward(sample),
        recorded=_recorded(log),
    )


def _messages(sample: Mapping[str, Any], attached: Mapping[str, Any], telling: Telling) -> None:
    """The messages of a sample, told in their order."""
    messages = as_list(sample.get("messages")) or []
    final = _stop(sample)
    last = max((index for index, item in enumerate(messages) if _speaker(item) == "assistant"), default=-1)
    for index, item in enumerate(messages):
        message = as_object(item)
        at = f"message {index + 1}"
        if message is None:
            telling.add("wire.unreadable", at, f"a message is an object, not {label(item, 40)}")
            continue
        if index == last and final:
            message = {**message, "stop_reason": final}
        copied = message.get("role") == "assistant" and message.get("source") == "input"
        for said in spoken(_attach(message, attached, 0), "user"):
            telling.tell(said, at, copied=copied)


def _speaker(item: object) -> str:
    return text_of((as_object(item) or {}).get("role"))


def _stop(sample: Mapping[str, Any]) -> str:
    """Why the model stopped for the last time, where that was not of its own will."""
    output = as_object(sample.get("output")) or {}
    reason = next((text_of(choice.get("stop_reason")) for choice in objects(output.get("choices"))), "")
    return reason if reason in ("max_tokens", "model_length", "content_filter") else ""


def _of_events(sample: Mapping[str, Any], attached: Mapping[str, Any], telling: Telling) -> Any:
    """The conversation out of the model events, where the messages are missing."""
    spans: list[Span] = []
    for number, event in enumerate(objects(sample.get("events"))):
        if event.get("event") == "model":
            heard = spoken(_attach(event.get("input"), attached, 0), "user")
            said = spoken(_attach(event.get("output"), attached, 0), "assistant")
            spans.append(Span(f"event {number + 1}", "", "model", number, heard, said))
    if not spans:
        return ()
    run = runs_of(spans)[0]
    for found in run.flaws:
        telling.add(found.code, found.at, found.reason)
    return run.conversation


def _tools(sample: Mapping[str, Any]) -> tuple[Tool, ...] | None:
    """What was offered; only the events of the model say so."""
    models = (event for event in objects(sample.get("events")) if event.get("event") == "model")
    return united(tool for event in models for tool in tools_in(event.get("tools")) or ())


def _attach(value: Any, attached: Mapping[str, Any], depth: int) -> Any:
    """The value with its attachments put back."""
    if not attached or depth > _DEPTH:
        return value
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return attached.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, list):
        return [_attach(item, attached, depth + 1) for item in value]  # pyright: ignore[reportUnknownVariableType]
    fields = as_object(value)
    return (
        value
        if fields is None
        else {name: _attach(item, attached, depth + 1) for name, item in fields.items()}
    )


def _ended(sample: Mapping[str, Any]) -> Ended:
    if sample.get("error") is not None:
        return Ended.AGENT_ERROR
    limit = sample.get("limit")
    kind = text_of(first(as_object(limit) or {}, "type")) or text_of(limit)
    return _LIMITS.get(kind, Ended.DONE)


def _reward(sample: Mapping[str, Any]) -> float | None:
    """What the only scorer gave; several, or one that gave several values, are no one number."""
    scores = as_object(sample.get("scores")) or {}
    if len(scores) != 1:
        return None
    value = (as_object(next(iter(scores.values()))) or {}).get("value")
    if isinstance(value, str):
        return _GRADES.get(value)
    return (
        float(value)
        if isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**15)
        else None
    )


def _recorded(log: Mapping[str, Any]) -> dict[str, Any]:
    run = as_object(log.get("eval")) or {}
    return {key: run[key] for key in ("task", "model", "run_id", "created") if key in run} | {
        key: log[key] for key in ("status", "version") if key in log
    }


def _reason(error: object) -> str:
    fields = as_object(error) or {}
    return label(fields.get("message", error), 300) or "an error without a message"
