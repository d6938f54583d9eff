"""Results of tau2-bench: `{info, tasks, simulations: [{id, task_id, trial, termination_reason, reward_info, messages}]}`.

The policy stands in `info.environment_info.policy`. Arguments are objects; parallel calls come as call, call, result,
result. Calls with `requestor: "user"` are those of the simulated user's own tools: no decisions of the agent, so they
and their results are left out. Source: sierra-research/tau2-bench, `data_model/message.py` and `simulation.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Decision,
    Malformed,
    Message,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trajectory import Ended
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.bodies import is_failure
from sandtrail.sandbox.interchange.reading import bounded, from_law, missing, sound, unreadable
from sandtrail.sandbox.interchange.recording import Recording, Tool
from sandtrail.sandbox.interchange.tau import reward_of, several_trials, task_name, text_of
from sandtrail.sandbox.interchange.tools import offered
from sandtrail.sandbox.messages import Open, calls_of, words_of
from sandtrail.sandbox.wire_law import openai_law

FORMAT = "tau2"

_ENDS = {
    "max_steps": Ended.MAX_STEPS,
    "too_many_errors": Ended.MAX_CALLS,
    "agent_error": Ended.AGENT_ERROR,
    "user_error": Ended.OFF_SCRIPT,
    "timeout": Ended.MAX_TIME,
    "infrastructure_error": Ended.PROVIDER_ERROR,
    "unexpected_error": Ended.PROVIDER_ERROR,
}


def recognises(value: object) -> bool:
    """Whether a document holds simulations, or is one of them."""
    fields = as_object(value)
    return fields is not None and (as_list(fields.get("simulations")) is not None or _is_one(fields))


def _is_one(fields: Mapping[str, Any]) -> bool:
    return "termination_reason" in fields and as_list(fields.get("messages")) is not None


def read(value: object, name: str) -> Iterator[Recording]:
    """The runs in a document."""
    fields = as_object(value) or {}
    simulations = [fields] if _is_one(fields) else as_list(fields.get("simulations")) or []
    if not simulations:
        yield unreadable(FORMAT, name, "simulations: a list of at least one run is wanted")
        return
    several = several_trials(simulations)
    environment = as_object((as_object(fields.get("info")) or {}).get("environment_info")) or {}
    tools, unfit = offered(environment.get("tool_defs"))
    tickets = dict(_tickets(fields.get("tasks")))
    for index, item in enumerate(simulations):
        place = "" if item is fields else f"/simulations/{index}"
        simulation = as_object(item)
        messages = as_list((simulation or {}).get("messages"))
        if simulation is None or messages is None:
            reason = "a simulation with task_id and messages (a list) is wanted"
            yield unreadable(FORMAT, f"{name}#{index + 1}", reason, at=place, place=place)
            continue
        brief = [environment.get("policy"), tickets.get(text_of(simulation.get("task_id")))]
        run = _Run("\n\n".join(text for text in brief if isinstance(text, str) and text))
        run.read(messages)
        id = f"{name}/{task_name(simulation, several=several)}"  # noqa: A001  a recording has one
        yield _recording(id, place, simulation, run, tools, [*unfit, *run.flaws])


def _recording(
    id: str,  # noqa: A002  a recording has one
    place: str,
    simulation: Mapping[str, Any],
    run: _Run,
    tools: tuple[Tool, ...] | None,
    flaws: Sequence[Finding],
) -> Recording:
    reason = text_of(simulation.get("termination_reason"))
    reward = (as_object(simulation.get("reward_info")) or {}).get("reward")
    return Recording(
        id,
        FORMAT,
        place,
        tuple(run.found),
        tools,
        flaws=bounded(flaws),
        ended=_ENDS.get(reason, Ended.DONE),
        reward=reward_of(reward),
        recorded={
            "task_id": text_of(simulation.get("task_id")),
            "trial": text_of(simulation.get("trial")),
            "termination_reason": reason,
        },
    )


def _tickets(tasks: object) -> Iterator[tuple[str, Any]]:
    """What an agent is told that works alone, without a user."""
    for task in as_list(tasks) or ():
        if fields := as_object(task):
            yield text_of(fields.get("id")), fields.get("ticket")


class _Run:
    """One simulation while it is read: what was said, and what is wrong with the recording."""

    def __init__(self, brief: str) -> None:
        self.found: list[Message] = [Briefed(brief)] if brief else []
        self.flaws: list[Finding] = []
        self._open = Open()

    def read(self, messages: Sequence[object]) -> None:
        """All messages, in order."""
        kept, flaws = sound(_flat(messages))
        mine = [_agents(message) for message in kept if message.get("requestor") != "user"]
        self.flaws += flaws
        self.flaws += from_law(openai_law(_chat(message) for message in mine))
        absent = [f"messages.{at}" for at, message in enumerate(mine) if _bare(message)]
        self.flaws += missing(absent, "messages")
        for message in mine:
            self._message(message)

    def _message(self, message: Mapping[str, Any]) -> None:
        match message["role"]:
            case "system":
                self.found.append(Briefed(words_of(message.get("content"))))
            case "assistant":
                decision = _decision(message)
                self._open.add(calls_of(decision))
                self.found.append(Decided(decision))
            case "tool":
                said = words_of(message.get("content"))
                failed = message.get("error") is True or is_failure(said)
                call = self._open.answered(str(message.get("id") or ""))
                self.found.append(Answered(call, said, is_error=failed))
            case _ if message.get("tool_calls") and not message.get("content"):
                pass  # the simulated user looks something up, and tells the agent later, if at all
            case _:
                self.found.append(UserSaid(words_of(message.get("content"))))


def _flat(messages: Sequence[object]) -> Iterator[object]:
    """Several results may come in one message."""
    for message in messages:
        several = as_list((as_object(message) or {}).get("tool_messages"))
        if several is None:
            yield message
        else:
            yield from several


def _agents(message: dict[str, Any]) -> dict[str, Any]:
    """The message without the calls that are not the agent's."""
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    theirs = [call for call in calls if call.get("requestor") == "user"]
    if message["role"] != "assistant" or not theirs:
        return message
    return {**message, "tool_calls": [call for call in calls if call not in theirs]}


def _bare(message: Mapping[str, Any]) -> bool:
    return message.get("content") is None and not message.get("tool_calls")


def _chat(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message as the law of Chat Completions reads it."""
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message.get("id"), "content": message.get("content")}
    if message["role"] == "assistant" and message.get("tool_calls"):
        return {
            "role": "assistant",
            "tool_calls": [
                {"id": call.get("id"), "function": {"name": call.get("name")}}
                for call in message["tool_calls"]
            ],
        }
    return {"role": message["role"]}


def _decision(message: Mapping[str, Any]) -> Decision:
    calls = tuple(_call(call, batch) for batch, call in enumerate(as_list(message.get("tool_calls")) or ()))
    text = words_of(message.get("content"))
    raw = as_object(message.get("raw_data")) or {}
    finish = raw.get("finish_reason")
    if finish == "content_filter":
        return Refused(text)
    if finish == "length":
        return Truncated(text, calls)
    if calls:
        return Calls(calls, text)
    if text.strip():
        return Reply(text)
    errors = [str(error) for error in as_list(message.get("errors")) or ()]
    why = errors[0].splitlines()[0][:200] if errors and errors[0] else "neither a text nor a call"
    return Malformed(why, "\n".join(errors))


def _call(call: Mapping[str, Any], batch: int) -> ToolCall:
    id, tool = str(call.get("id") or ""), str(call.get("name") or "")  # noqa: A001  the format's word
    arguments = call.get("arguments")
    if (fields := as_object(arguments)) is not None:
        return ToolCall(id, tool, fields, batch)
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall.read(id, tool, raw, batch=batch)
