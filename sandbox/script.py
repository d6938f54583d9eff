"""`Script`: the model lane that answers, so that an agent is tested as it is, with no model and no key.

    with Sandbox(spec, models=Script([call("list_payments", order_id="ord_1"), say("There are two.")])) as sandbox:
        run_my_agent()                                  its own Anthropic or OpenAI client, sync or async, streamed or not
        sandbox.model_requests                          what was asked: messages, tools, retries, and what it got
        assert sandbox.model_steps_left == 0            did the agent ask as often as the script thought

Every request takes the next step: one list, in the order in which requests arrive, under one lock, whichever provider
and thread they come from. Two conversations at a time share it, so give each a sandbox of its own, or write a step as a
function that looks at who asks.

    POST .../v1/messages            Anthropic   script_anthropic.py
    POST .../chat/completions       OpenAI      script_openai.py

A conversation that the provider would refuse gets its 400 and takes no step. With no step left, and where a step's
function raises, the request is blocked and on record; so is what goes to another path of these hosts, unless a respx
route of the test's own answers it (embeddings, say). Steps left
over are no error: read `sandbox.model_steps_left`; but a failure that never happened warns, as an unfired fault does.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from sandtrail.fakes.wire import Reply, Request
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.models import ModelRequest
from sandtrail.sandbox.script_anthropic import AnthropicMessages
from sandtrail.sandbox.script_openai import OpenAIChat
from sandtrail.sandbox.script_steps import (
    CutOff,
    Fails,
    Loses,
    Planned,
    Refuses,
    Says,
    ScriptedCall,
    Step,
    call,
    calls,
    cut_off,
    lost,
    overloaded,
    rate_limited,
    refuse,
    say,
    server_error,
)
from sandtrail.sandbox.script_wire import Asked, Endpoint, Wrong

_STEPS = (Says, ScriptedCall, Refuses, CutOff, Fails, Loses)
_PATHS = (AnthropicMessages.path, OpenAIChat.path)
_REMEDY = 'add one to Script([...]), for example say("Done.")'


@dataclass(frozen=True)
class Script:
    """A fake model that gives these answers, at these hosts. A value: each sandbox plays it from the start.

    A step is made with `say`, `call`, `calls`, `refuse`, `cut_off`, `rate_limited`, `overloaded`, `server_error` or
    `lost`, or is a function of the ModelRequest that it answers which gives one of these.
    """

    steps: tuple[Planned, ...]
    hosts: tuple[str, ...] = ("api.anthropic.com", "api.openai.com")

    def __init__(
        self, steps: Iterable[Planned], hosts: Sequence[str] = ("api.anthropic.com", "api.openai.com")
    ) -> None:
        object.__setattr__(self, "steps", tuple(steps))
        object.__setattr__(self, "hosts", (hosts,) if isinstance(hosts, str) else tuple(hosts))
        if not self.steps:
            raise ValueError(
                f"Script([]) answers nothing; {_REMEDY}, or leave models= out: requests are blocked then"
            )
        for place, step in enumerate(self.steps):
            if not callable(step):
                _checked(step, f"Script: step {place + 1}")
        for host in self.hosts:
            if not host or set(host) & set("/:@ ") or host != host.lower():
                raise ValueError(
                    f"Script: hosts are bare names in lower case such as 'api.openai.com', not {host!r}"
                )

    def answers(self, host: str, path: str) -> bool:
        """Whether requests to this place are answered here."""
        return host in self.hosts and path.endswith(_PATHS)

    @property
    def places(self) -> list[str]:
        """Where it answers, in words."""
        return [f"POST https://{host}...{path}" for host in self.hosts for path in _PATHS]

    def lets(self, host: str) -> bool:
        """False: nothing leaves."""
        return False


def _checked(step: Any, where: str) -> Step:
    """The step, if it is one. Raises TypeError with what to write instead."""
    parallel: tuple[Any, ...] = step.calls if isinstance(step, Says | CutOff) else ()
    words: Any = step.text if isinstance(step, Says | CutOff) else getattr(step, "words", "")
    fits = isinstance(words, str) and all(isinstance(made, ScriptedCall) for made in parallel)
    if isinstance(step, _STEPS) and fits:
        return step
    shown = f"{type(step).__name__} {step!r}"[:80]
    raise TypeError(f'{where} is no step but {shown}; write say("..."), call("tool", ...), or lost()')


@dataclass(frozen=True, slots=True)
class Played:
    """What became of one request: its record, and the reply; None where the request is to be blocked."""

    record: ModelRequest | None
    reply: Reply | None
    why: str = ""


class ScriptRun:
    """One playing of a script: where it is, and what its endpoints hold."""

    def __init__(self, script: Script) -> None:
        self._steps = script.steps
        self._endpoints: tuple[Endpoint, ...] = (AnthropicMessages(), OpenAIChat())
        self._next, self._number = 0, 0
        self._lock = threading.RLock()

    @property
    def left(self) -> tuple[Planned, ...]:
        """The steps that nothing has asked for yet."""
        return self._steps[self._next :]

    def play(self, host: str, request: Request, *, now: int) -> Played:
        """Answer a request to a place of the script; `now` is the world's time in Unix seconds."""
        endpoint = next(found for found in self._endpoints if request.path.endswith(found.path))
        if request.method != "POST":
            return Played(None, None, f"a Script answers POST here, not {request.method}")
        with self._lock:
            self._number += 1
            body = _body(request.body)
            record = _record(host, request, endpoint.provider, body or {})
            asked = (
                Wrong("The request body is no JSON object.")
                if body is None
                else endpoint.read(self._number, body, now=now)
            )
            if isinstance(asked, Wrong):
                refused = replace(
                    record, status=asked.status, answered="invalid", why=asked.why or asked.message
                )
                return Played(refused, endpoint.refuse(self._number, asked))
            return self._stepped(endpoint, asked, _seen(record, asked))

    def _stepped(self, endpoint: Endpoint, asked: Asked, record: ModelRequest) -> Played:
        """The next step's answer."""
        if not self.left:
            count = len(self._steps)
            return _blocked(record, f"all {count} step(s) of the Script are used up; {_REMEDY}")
        step = _resolved(self._steps[self._next], record, place=self._next + 1)
        if isinstance(step, str):
            return _blocked(record, step)
        self._next += 1
        reply, kind = _reply(endpoint, asked, step)
        return Played(replace(record, status=None if reply.lost else reply.status, answered=kind), reply)


def _resolved(planned: Planned, record: ModelRequest, *, place: int) -> Step | str:
    """The step, from the test's own function where it is one; words where that gave none."""
    if isinstance(planned, _STEPS):
        return planned
    try:
        return _checked(planned(record), f"what step {place} of the Script gave")
    except Exception as error:  # noqa: BLE001  whatever a test's own function raises
        return f"step {place} of the Script: {type(error).__name__}: {error}"


def is_failure(planned: Planned) -> bool:
    """Whether a step is a planned failure: one that never happened proves nothing."""
    return isinstance(planned, Fails | Loses)


def _blocked(record: ModelRequest, why: str) -> Played:
    return Played(replace(record, answered="blocked", why=why), None, why)


def _reply(endpoint: Endpoint, asked: Asked, step: Step) -> tuple[Reply, str]:
    """The reply that a step makes, and its kind on record."""
    match step:
        case Loses():
            return Reply(504, {}, b"", lost=True), "lost"
        case Fails():
            return endpoint.fail(asked.number, step), step.kind
        case ScriptedCall():
            return endpoint.speak(asked, Says("", (step,))), "calls"
        case Refuses():
            return endpoint.speak(asked, step), "refusal"
        case CutOff():
            return endpoint.speak(asked, step), "cut"
        case Says():
            return endpoint.speak(asked, step), "calls" if step.calls else "text"
        case _ as never:
            assert_never(never)


# -- what is on record -------------------------------------------------------------------------------------


def _body(body: bytes) -> dict[str, Any] | None:
    try:
        return as_object(json.loads(body))
    except (ValueError, RecursionError):
        return None


def _record(host: str, request: Request, provider: str, body: Mapping[str, Any]) -> ModelRequest:
    """What was asked; of its headers only the count of repetitions."""
    retry = request.headers.get("x-stainless-retry-count", "")
    messages, tools = tuple(as_list(body.get("messages")) or ()), tuple(as_list(body.get("tools")) or ())
    return ModelRequest(
        request.method,
        host,
        request.path,
        len(request.body),
        provider=provider,
        model=str(body.get("model", "")),
        stream=body.get("stream") is True,
        system=body.get("system"),
        messages=messages,
        history=messages,
        tools=tuple(map(_name, tools)),
        tools_digest=_digest(tools),
        retry=int(retry) if retry.isascii() and retry.isdigit() else 0,
    )


def _seen(record: ModelRequest, asked: Asked) -> ModelRequest:
    """The record with what a message thread adds."""
    return replace(
        record,
        system=asked.body.get("system"),
        history=asked.history,
        tools=tuple(map(_name, asked.tools)),
        tools_digest=_digest(asked.tools),
    )


def _name(tool: Any) -> str:
    """A tool's name in either dialect; a toolset without one by its type."""
    fields = as_object(tool) or {}
    named = as_object(fields.get(str(fields.get("type", "")))) or fields
    return str(named.get("name") or fields.get("type", ""))


def _digest(tools: tuple[Any, ...]) -> str:
    if not tools:
        return ""
    written = json.dumps(list(tools), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()


__all__ = [
    "ModelRequest",
    "Planned",
    "Played",
    "Script",
    "ScriptRun",
    "ScriptedCall",
    "Step",
    "call",
    "calls",
    "cut_off",
    "is_failure",
    "lost",
    "overloaded",
    "rate_limited",
    "refuse",
    "say",
    "server_error",
]
