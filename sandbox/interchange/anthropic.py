"""Transcripts of the Anthropic Messages API: a list of messages, a request's body, a response's, or both."""

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
from sandtrail.sandbox.messages_anthropic import read_messages, system_of
from sandtrail.sandbox.wire_law import anthropic_law

FORMAT = "anthropic"


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
    tools, unfit = offered(run.around.get("tools"))
    system = run.around.get("system")
    stop = run.around.get("stop_reason")
    yield Recording(
        name,
        FORMAT,
        conversation=conversation_of(messages, system, stop if isinstance(stop, str) else None),
        tools=tools,
        flaws=bounded([*flaws, *unfit, *flaws_in(messages)]),
    )


def conversation_of(
    messages: Sequence[Mapping[str, Any]], system: object = None, stop_reason: str | None = None
) -> Conversation:
    """Sound messages as we speak; the system text, which stands beside them in this dialect, comes first.

    >>> conversation_of([{"role": "user", "content": "Hi."}], "Help.")
    (Briefed(text='Help.'), UserSaid(text='Hi.', cause=''))
    """
    texts = (words_of(sound([{"role": "system", "content": system}])[0][0]["content"]), system_of(messages))
    brief = "\n".join(text for text in texts if text)
    spoken = told(read_messages(messages, stop_reason))
    return (Briefed(brief), *spoken) if brief else spoken


def flaws_in(messages: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """What is not legal in sound messages, and what was not recorded."""
    spoken = [message for message in messages if message.get("role") != "system"]
    return (*from_law(anthropic_law(spoken)), *missing(list(_absent(messages)), "messages or arguments"))


def _absent(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, message in enumerate(messages):
        content = message.get("content")
        if content is None and message.get("stop_reason") != "refusal":
            yield f"messages.{index}"
        for block in as_list(content) or ():
            fields = as_object(block) or {}
            bare = fields.get("input") is None and not fields.get("partial_json")
            if fields.get("type") == "tool_use" and bare:
                yield str(fields.get("id") or f"messages.{index}")
