"""Results of tau-bench: `[{task_id, trial, reward, info, traj: [messages of Chat Completions]}]`.

`traj[0]` is the policy. Results pair with calls by order (ids repeat), only the first call of a message was carried
out, and an error is a plain text: `Error: ...`. Source: sierra-research/tau-bench, `run.py` and `tool_calling_agent.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandtrail.ledgers.conversation import Answered, Briefed, Calls, Conversation, Message, ToolCall
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.bodies import is_failure
from sandtrail.sandbox.interchange.reading import bounded, missing, sound, unreadable
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.messages import words_of
from sandtrail.sandbox.messages_openai import read_messages

FORMAT = "tau"


def recognises(value: object) -> bool:
    """Whether a document is one result or a list of them."""
    return any(as_list((as_object(item) or {}).get("traj")) is not None for item in _results(value)[:3])


def read(value: object, name: str) -> Iterator[Recording]:
    """The runs in a document."""
    results = _results(value)
    several = several_trials(results)
    single = as_list(value) is None
    for index, item in enumerate(results):
        place = "" if single else f"/{index}"
        result = as_object(item)
        traj = as_list((result or {}).get("traj"))
        if result is None or traj is None:
            reason = "a result with task_id and traj (a list of messages) is wanted"
            yield unreadable(FORMAT, f"{name}#{index + 1}", reason, at=place or name, place=place)
            continue
        conversation, flaws = _read(traj)
        yield Recording(
            f"{name}/{task_name(result, several=several)}",
            FORMAT,
            place,
            conversation,
            flaws=bounded(flaws),
            reward=reward_of(result.get("reward")),
            recorded={"task_id": text_of(result.get("task_id")), "trial": text_of(result.get("trial"))},
        )


def _results(value: object) -> Sequence[Any]:
    items = as_list(value)
    return [value] if items is None else items


def several_trials(results: Sequence[Any]) -> bool:
    """Whether a task was run more than once."""
    tasks = Counter(text_of((as_object(item) or {}).get("task_id")) for item in results)
    return any(count > 1 for count in tasks.values())


def task_name(result: Mapping[str, Any], *, several: bool) -> str:
    """What a run is called: its task, and the trial where there are several.

    >>> task_name({"task_id": 27, "trial": 1}, several=True), task_name({"task_id": "27"}, several=False)
    ('task-27.1', 'task-27')
    """
    task = f"task-{text_of(result.get('task_id')) or 'unnamed'}"
    trial = text_of(result.get("trial"))
    return f"{task}.{trial}" if trial and (several or trial != "0") else task


def text_of(value: object) -> str:
    """A short text or a whole number as text; "" for anything else."""
    return str(value)[:80] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def reward_of(value: object) -> float | None:
    """The mark that the benchmark gave."""
    return float(value) if isinstance(value, int | float) and abs(value) < 10**9 else None


def _read(traj: Sequence[object]) -> tuple[Conversation, list[Finding]]:
    messages, flaws = sound(traj, "traj")
    found: list[Message] = []
    waiting: ToolCall | None = None
    absent: list[str] = []
    for index, message in enumerate(messages):
        role = message["role"]
        if message.get("content") is None and not message.get("tool_calls"):
            absent.append(f"traj.{index}")
        if role == "system":
            found.append(Briefed(words_of(message.get("content"))))
        elif role == "tool":
            call = waiting or ToolCall(str(message.get("tool_call_id") or ""), "", {})
            if waiting is None:
                flaws.append(_orphan(call.id or f"traj.{index}"))
            said = words_of(message.get("content"))
            found.append(Answered(call, said, is_error=is_failure(said)))
            waiting = None
        else:
            if waiting is not None:
                flaws.append(_unpaired(waiting))
            (read,) = read_messages([message])
            found.append(read)
            waiting = _carried_out(read)
    return tuple(found), [*flaws, *missing(absent, "messages")]


def _carried_out(message: Message) -> ToolCall | None:
    """The call that the benchmark carried out: the first of a message."""
    decision = getattr(message, "decision", None)
    return decision.calls[0] if isinstance(decision, Calls) else None


def _orphan(at: str) -> Finding:
    return Finding("wire.orphan_tool_result", at, "a result, and no call before it that waits for one")


def _unpaired(call: ToolCall) -> Finding:
    return Finding(
        "wire.unpaired_tool_use", call.id, f"the call of {call.tool or 'no tool'} has no result behind it"
    )
