"""Trajectories in ATIF 1.x, Harbor's Agent Trajectory Interchange Format.

One document is one trajectory; a list of them, or `{"trajectory_set": [...]}`, is several. The trajectories of subagents
that are embedded are runs of their own. Results refer to calls of their own step (`source_call_id`); one without a
reference answers what is no tool call. Steps marked `is_copied_context` were taken over from an earlier trajectory.

Source: harborframework.com/docs/trajectory-format and the RFC behind it (rfcs/0001-trajectory-format.md, changes up to
v1.7); the models in NVIDIA/NeMo-Agent-Toolkit packages/nvidia_nat_atif/src/nat/atif (trajectory.py, step.py); the atif
package 1.8.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.loose import first, label, objects, text_of, whole
from sandtrail.sandbox.interchange.naming import Names, unreadable
from sandtrail.sandbox.interchange.offered import tools_in
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.spoken import Asked, Said, result_text
from sandtrail.sandbox.interchange.telling import Telling

FORMAT = "atif"

_VERSION = re.compile(r"ATIF-v1\.\d{1,3}")
_NESTED = 8


def recognises(value: object) -> bool:
    """Whether a JSON document is a trajectory of this format, or a set of them.

    >>> recognises({"schema_version": "ATIF-v1.6", "steps": []}), recognises({"messages": []})
    (True, False)
    """
    items = as_list(value)
    if items is not None:
        return bool(items) and _is_trajectory(items[0])
    fields = as_object(value)
    if fields is None:
        return False
    return as_list(fields.get("trajectory_set")) is not None or _is_trajectory(fields)


def _is_trajectory(value: object) -> bool:
    fields = as_object(value)
    if fields is None:
        return False
    if text_of(fields.get("schema_version")).upper().startswith("ATIF"):
        return True
    return "agent" in fields and any(
        "step_id" in step and "source" in step for step in objects(fields.get("steps"))
    )


def read(value: object, name: str) -> Iterator[Recording]:
    """The runs of a document; `name` stands in front of their ids. What is wrong is in their flaws."""
    names = Names(name)
    fields = as_object(value) or {}
    items = as_list(fields.get("trajectory_set", value))
    known = {id_ for one in objects(items) for id_ in _ids(one, ("trajectory_id",))}
    if items is None:
        yield from _trajectory(value, names, "", known, level=0)
    elif not items:
        yield unreadable(names, FORMAT, "", "a set of trajectories without a trajectory")
    for index, item in enumerate(items or ()):
        yield from _trajectory(item, names, f"/{index}", known, level=0)


def _ids(fields: Mapping[str, Any], keys: tuple[str, ...] = ("trajectory_id", "session_id")) -> set[str]:
    """What a trajectory is referred to by; until 1.6 that was the session."""
    return {text_of(fields.get(key)) for key in keys} - {""}


def _trajectory(
    value: object, names: Names, place: str, known: set[str], *, level: int
) -> Iterator[Recording]:
    fields = as_object(value)
    if fields is None:
        yield unreadable(names, FORMAT, place, f"a trajectory is an object, not {label(value, 40)}")
        return
    telling = Telling()
    if not _VERSION.fullmatch(version := text_of(fields.get("schema_version"))):
        said = label(version, 40) or "nothing"
        telling.add("trace.incomplete", "schema_version", f"ATIF-v1.x is read here, the file says {said}")
    embedded = as_list(fields.get("subagent_trajectories")) or []
    inside = known | {id_ for one in objects(embedded) for id_ in _ids(one)}
    _Steps(fields, telling, inside).read()
    agent = as_object(fields.get("agent")) or {}
    yield Recording(
        names.of(first(fields, "name", "trajectory_id", "session_id")),
        FORMAT,
        place,
        telling.conversation,
        tools_in(agent.get("tool_definitions")),
        flaws=telling.flaws(),
        recorded={key: agent[key] for key in ("name", "version", "model_name") if key in agent}
        | {key: fields[key] for key in ("schema_version", "session_id") if key in fields},
    )
    for index, one in enumerate(embedded if level < _NESTED else ()):
        yield from _trajectory(one, names, f"{place}/subagent_trajectories/{index}", inside, level=level + 1)


class _Steps:
    """The steps of one trajectory, told in their order."""

    def __init__(self, fields: Mapping[str, Any], telling: Telling, known: set[str]) -> None:
        self._fields = fields
        self._telling = telling
        self._known = known
        self._expected = 1

    def read(self) -> None:
        """All of them."""
        steps = as_list(self._fields.get("steps"))
        if not steps:
            self._telling.add("trace.incomplete", "steps", "a trajectory has a list of steps; there is none")
        for index, item in enumerate(steps or ()):
            step = as_object(item)
            if step is None:
                self._telling.add(
                    "wire.unreadable", f"steps/{index}", f"a step is an object, not {label(item, 40)}"
                )
            else:
                self._step(step, index + 1)
        if (more := self._fields.get("continued_trajectory_ref")) is not None:
            self._telling.add(
                "trace.incomplete", "continued_trajectory_ref", f"the run goes on in {label(more)}"
            )

    def _step(self, step: Mapping[str, Any], number: int) -> None:
        id_ = whole(step.get("step_id"))
        shown = label(step.get("step_id")) if step.get("step_id") is not None else str(number)
        at = f"step {shown}"
        if id_ is not None and id_ != self._expected:
            reason = f"step {label(self._expected)} was expected here: steps count from 1 without a gap"
            self._telling.add("trace.incomplete", at, reason)
        self._expected = (number if id_ is None else id_) + 1
        copied = step.get("is_copied_context") is True
        said = self._said(step, at)
        # No model was asked where llm_call_count is 0: the harness made this step.
        forced = whole(step.get("llm_call_count")) == 0
        self._telling.tell(said, at, copied=copied, forced=forced)
        self._observation(step, said, at, copied=copied)

    def _said(self, step: Mapping[str, Any], at: str) -> Said:
        message = step.get("message")
        source = step.get("source")
        text = result_text(message)
        if source == "agent":
            calls = tuple(_asked(call) for call in objects(step.get("tool_calls")))
            lost = message is None and not calls and step.get("observation") is None
            return Said("assistant", text, calls, bare=lost)
        if source not in ("user", "system"):
            reason = f"the source {label(source, 40)!r} is none of user, agent and system"
            self._telling.add("wire.unreadable", at, reason)
        if step.get("tool_calls"):
            self._telling.add("wire.unreadable", at, "only an agent's step has tool_calls")
        return Said("user" if source == "user" else "system", text, bare=message is None)

    def _observation(self, step: Mapping[str, Any], said: Said, at: str, *, copied: bool) -> None:
        results = list(objects((as_object(step.get("observation")) or {}).get("results")))
        # One call and one result without a reference: nothing else can be meant.
        lone = said.calls[0].id if len(said.calls) == 1 and len(results) == 1 else None
        for result in results:
            self._references(result, at)
            content = result.get("content")
            id_ = first(result, "source_call_id")
            failed = any(
                (as_object(flags) or {}).get("is_error") is True for flags in (result, result.get("extra"))
            )
            if id_ is None and lone is None:
                self._telling.aside(result_text(content), failed=failed)
                continue
            referred = bool(as_list(result.get("subagent_trajectory_ref")))
            answer = Said(
                "tool",
                result_text(content),
                call_id=text_of(lone if id_ is None else id_),
                failed=failed,
                bare=content is None and not referred,
            )
            self._telling.tell(answer, at, copied=copied)

    def _references(self, result: Mapping[str, Any], at: str) -> None:
        """A subagent's run is in this file, or it is missing."""
        for reference in objects(result.get("subagent_trajectory_ref")):
            if not _ids(reference) & self._known:
                where = label(first(reference, "trajectory_path", "trajectory_id", "session_id"))
                self._telling.add(
                    "trace.incomplete", at, f"the run of a subagent is not in this file: {where}"
                )


def _asked(call: Mapping[str, Any]) -> Asked:
    given = call.get("arguments")
    return Asked(
        text_of(call.get("tool_call_id")),
        text_of(call.get("function_name")),
        None if given is None else text_of(given),
    )
