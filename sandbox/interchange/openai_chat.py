"""Transcripts of OpenAI's Chat Completions: a list of messages, a request's body, a response's, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandtrail.ledgers.conversation import Briefed, Conversation
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.dialects import dialect_of, run_of
from sandtrail.sandbox.interchange.reading import bounded, from_law, missing, sound, told, unreadable
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.tools import offered
from sandtrail.sandbox.messages import words_of
from sandtrail.sandbox.messages_openai import read_messages
from sandtrail.sandbox.wire_law import openai_law

FORMAT = "openai"
_SYSTEM = ("system", "developer")
_SILENT = ("length", "content_filter")  # ends that may come with nothing at all


def recognises(value: object) -> bool:
    """Whether a document holds messages of this dialect."""
    run = run_of(value)
    return run is not None and dialect_of(run) == FORMAT


def read(value: object, name: str) -> Iterator[Recording]:
    """The one run in a document."""
    run = run_of(value)
    if run is None:
        yield unreadable(FORMAT, name, "no messages: a list of messages is wanted, or an object with one")
        return
    messages, flaws = sound(run.messages)
    tools, unfit = offered(run.around.get("tools", run.around.get("functions")))
    system, finish = run.around.get("system"), run.around.get("finish_reason")
    spoken = conversation_of(messages, finish if isinstance(finish, str) else None)
    brief = (Briefed(system),) if isinstance(system, str) and system else ()
    yield Recording(
        name,
        FORMAT,
        conversation=(*brief, *spoken),
        tools=tools,
        flaws=bounded([*flaws, *unfit, *flaws_in(messages)]),
    )


def conversation_of(messages: Sequence[Mapping[str, Any]], finish_reason: str | None = None) -> Conversation:
    """Sound messages as we speak, each system text where it stands: nobody has read it earlier.

    >>> conversation_of([{"role": "system", "content": "Help."}, {"role": "user", "content": "Hi."}])
    (Briefed(text='Help.'), UserSaid(text='Hi.', cause=''))
    """
    spoken = iter(told(read_messages(messages, finish_reason)))  # one for each message that is no system text
    return tuple(
        Briefed(words_of(message.get("content"))) if message.get("role") in _SYSTEM else next(spoken)
        for message in messages
    )


def flaws_in(messages: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """What is not legal in sound messages, and what was not recorded."""
    return (*from_law(openai_law(messages)), *missing(list(_absent(messages)), "messages or arguments"))


def _absent(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, message in enumerate(messages):
        calls = [fields for call in as_list(message.get("tool_calls")) or () if (fields := as_object(call))]
        acts = calls or any(message.get(name) for name in ("function_call", "refusal", "audio"))
        if message.get("content") is None and not acts and message.get("finish_reason") not in _SILENT:
            yield str(message.get("tool_call_id") or f"messages.{index}")
        for call in calls:
            function = as_object(call.get("function")) or as_object(call.get("custom")) or {}
            if function.get("arguments", function.get("input")) is None:
                yield str(call.get("id") or f"messages.{index}")
