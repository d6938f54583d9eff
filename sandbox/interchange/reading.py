"""What the readers of all formats share: how a flaw is said, and how untrusted messages are made safe to read.

sound(messages)     messages of which every reader may rely on: an object, a role in text, a content it can read
told(conversation)  the conversation with the errors that are hidden in bodies told as errors
from_law(flaws)     what the law of tool calls found, as findings
missing(places)     one finding for all parts whose content was not recorded
unreadable(...)     a recording of what is no transcript
bounded(flaws)      no more flaws than anybody reads
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sandtrail.ledgers.conversation import Answered, Conversation
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.bodies import is_failure
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.wire_law import WireFlaw

MOST_FLAWS = 50
"""So many flaws of one recording are told one by one; the rest is counted."""


def told(conversation: Iterable[Any]) -> Conversation:
    """The conversation, with each result marked as an error whose body tells of one."""
    return tuple(
        replace(message, is_error=True)
        if isinstance(message, Answered) and not message.is_error and is_failure(message.text)
        else message
        for message in conversation
    )


# -- flaws -------------------------------------------------------------------------------------------------


def from_law(flaws: Iterable[WireFlaw]) -> tuple[Finding, ...]:
    """What is not legal, at the id of the call it is about, or else at its place."""
    return tuple(Finding(flaw.code, flaw.id or flaw.at, flaw.reason) for flaw in flaws)


def missing(places: Sequence[str], what: str) -> tuple[Finding, ...]:
    """One finding for everything that was not recorded; none where nothing is missing.

    >>> missing(["c1", "c2"], "results")[0].at
    'c1, c2'
    """
    if not places:
        return ()
    shown = ", ".join(places[:8]) + (f" and {len(places) - 8} more" if len(places) > 8 else "")
    return (Finding("trace.no_content", shown, f"{what} were not recorded: the content is null or absent"),)


def unreadable(
    format: str,  # noqa: A002  the word of the whole package
    name: str,
    reason: str,
    *,
    at: str = "",
    place: str = "",
) -> Recording:
    """A recording of which nothing could be read, and why."""
    flaw = Finding("wire.unreadable", at or place or name, reason)
    return Recording(id=name, format=format, place=place, flaws=(flaw,))


def bounded(flaws: Sequence[Finding]) -> tuple[Finding, ...]:
    """The first flaws, and how many more there are: of garbage nobody reads a thousand lines."""
    if len(flaws) <= MOST_FLAWS:
        return tuple(flaws)
    rest = len(flaws) - MOST_FLAWS
    more = Finding(flaws[MOST_FLAWS].code, flaws[MOST_FLAWS].at, f"and {rest} more flaws from here on")
    return (*flaws[:MOST_FLAWS], more)


def kind_of(value: object) -> str:
    """A JSON value in words, for a flaw.

    >>> kind_of({"b": 1, "a": 2}), kind_of([]), kind_of(None), kind_of(True)
    ('an object with b, a', 'an empty list', 'null', 'true or false')
    """
    fields, items = as_object(value), as_list(value)
    if fields is not None:
        names = [name[:30] for name in list(fields)[:6]]
        return f"an object with {', '.join(names)}" if names else "an empty object"
    if items is not None:
        return f"a list that begins with {_short(items[0])}" if items else "an empty list"
    return _short(value)


def _short(value: object) -> str:
    nouns = (("true or false", bool), ("a number", int | float), ("a text", str), ("a list", list))
    if (fields := as_object(value)) is not None:
        return kind_of(fields)
    return next((noun for noun, kind in nouns if isinstance(value, kind)), "null")


# -- messages ----------------------------------------------------------------------------------------------


def sound(messages: Iterable[object], at: str = "messages") -> tuple[list[dict[str, Any]], list[Finding]]:
    """The messages that can be read, and a flaw for each part that cannot. What is sound is not copied."""
    kept: list[dict[str, Any]] = []
    flaws: list[Finding] = []
    for index, item in enumerate(messages):
        place = f"{at}.{index}"
        message = as_object(item)
        if message is None or not isinstance(message.get("role"), str):
            got = kind_of(item) if message is None else f"the role {kind_of(message.get('role'))}"
            flaws.append(
                Finding("wire.unreadable", place, f"a message is an object with a role in text; got {got}")
            )
            continue
        repairs = dict(_repairs(message, place, flaws))
        kept.append({**message, **repairs} if repairs else message)
    return kept, flaws


def _repairs(message: Mapping[str, Any], place: str, flaws: list[Finding]) -> Iterator[tuple[str, Any]]:
    """The fields of a message that have to be another value to be read at all."""
    content = message.get("content")
    if (blocks := as_list(content)) is not None:
        fit = _blocks(blocks, f"{place}.content", flaws)
        if fit is not blocks:
            yield "content", fit
    elif content is not None and not isinstance(content, str):
        flaws.append(_unfit(f"{place}.content", "a text or a list of blocks", content))
        yield "content", None
    for name in ("stop_reason", "finish_reason"):
        if message.get(name) is not None and not isinstance(message[name], str):
            yield name, None
    calls = message.get("tool_calls")
    if calls is not None:
        listed = as_list(calls)
        objects = [call for call in listed or () if as_object(call) is not None]
        if listed is None or len(objects) != len(listed):
            flaws.append(_unfit(f"{place}.tool_calls", "a list of calls, each an object,", calls))
            yield "tool_calls", objects


def _blocks(blocks: list[Any], place: str, flaws: list[Finding]) -> list[Any]:
    """The blocks that can be read; the same list where all can."""
    read = [_block(block, f"{place}.{at}", flaws) for at, block in enumerate(blocks)]
    same = all(one is other for one, other in zip(read, blocks, strict=True))
    return blocks if same else [block for block in read if block is not None]


def _block(block: object, place: str, flaws: list[Finding]) -> dict[str, Any] | None:
    """A block that can be read: a bare text is one, a text that is null says nothing."""
    if isinstance(block, str):
        return {"type": "text", "text": block}
    fields = as_object(block)
    if fields is None or not isinstance(fields.get("type"), str):
        flaws.append(_unfit(place, "a block with a type in text", block))
        return None
    if fields["type"] == "text" and not isinstance(fields.get("text"), str):
        return {**fields, "text": ""}
    if "partial_json" in fields and not isinstance(fields["partial_json"], str):
        return {name: value for name, value in fields.items() if name != "partial_json"}
    if (inner := as_list(fields.get("content"))) is not None:
        fit = _blocks(inner, f"{place}.content", flaws)
        if fit is not inner:
            return {**fields, "content": fit}
    return fields


def _unfit(place: str, wanted: str, got: object) -> Finding:
    return Finding("wire.unreadable", place, f"{wanted} is wanted; got {kind_of(got)}")
