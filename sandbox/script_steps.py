"""The steps of a script: each is one answer that the fake model gives, in words that hold for both providers.

    Step = Says | ScriptedCall | Refuses | CutOff | Fails | Loses      a closed union of frozen values

    say("Hello.")                                   text
    call("list_payments", order_id="ord_1")         one call
    calls(call("a"), call("b"))                     parallel calls
    say("Let me look.", call("a"), call("b"))       text beside calls
    call("refund_payment", '{"amount": ')           the arguments' text as it is: malformed JSON, a list, "{}" in quotes
    refuse("I can't help with that.")               Anthropic: stop_reason "refusal"; OpenAI: message.refusal
    cut_off("I was about to")                       the limit of tokens: max_tokens, finish_reason "length"
    cut_off("", call("refund_payment", ...))        the same, in the middle of the last call's arguments
    rate_limited(), overloaded(), server_error()    429, 529 (OpenAI: 503), 500
    lost()                                          no answer within the client's time limit

A step may also be a function of the ModelRequest it answers that gives a step: ids in results can be used then.

    lambda sent: call("refund_payment", payment_id=sent.result("list_payments")["payments"][1]["id"])
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox.models import ModelRequest

Failure: TypeAlias = Literal["rate_limited", "overloaded", "server_error"]


@dataclass(frozen=True)
class ScriptedCall:
    """A call that the fake model makes. Arguments that are a text are sent as that text, JSON or not.

    `id` is the provider's id of the call; None draws a fresh one. Give one to test what repeated ids do to an agent.
    """

    tool: str
    arguments: Mapping[str, Any] | str
    id: str | None = None

    def __post_init__(self) -> None:
        if not self.tool:
            raise ValueError("call(''): a call has the name of a tool, for example call('get_order')")
        _ = self.text  # what is no JSON is refused here, where the test is written

    @property
    def text(self) -> str:
        """The arguments as the model writes them.

        >>> call("get_order", number=4412).text
        '{"number": 4412}'
        """
        if isinstance(self.arguments, str):
            return self.arguments
        try:
            return json.dumps(dict(self.arguments), ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"call({self.tool!r}): {error}; arguments are JSON values, or the text to send"
            ) from None

    @property
    def object(self) -> dict[str, Any]:
        """The arguments as the object that Anthropic's answers have outside of streams; {} where the text is none."""
        try:
            return as_object(json.loads(self.text)) or {}
        except ValueError:
            return {}


@dataclass(frozen=True, slots=True)
class Says:
    """A whole answer: text, calls, or both. Neither is an empty answer, which models do give."""

    text: str
    calls: tuple[ScriptedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Refuses:
    """The model declines. Anthropic's content is empty then, and `words` the explanation in its stop_details."""

    words: str


@dataclass(frozen=True, slots=True)
class CutOff:
    """The answer ends at the limit of tokens. Of the last call's arguments `kept` characters of their text remain."""

    text: str
    calls: tuple[ScriptedCall, ...] = ()
    kept: int | None = None

    def __post_init__(self) -> None:
        if self.kept is not None and (not self.calls or not 0 <= self.kept <= len(self.calls[-1].text)):
            have = f"{len(self.calls[-1].text)} are there" if self.calls else "there is no call"
            raise ValueError(
                f"cut_off(kept={self.kept}): characters of the last call's arguments remain; {have}"
            )

    @property
    def left(self) -> str:
        """What remains of the last call's arguments: half of their text where it was not said. Needs a call."""
        text = self.calls[-1].text
        return text[: len(text) // 2 if self.kept is None else self.kept]

    @property
    def left_object(self) -> dict[str, Any]:
        """The arguments that came through whole.

        >>> cut_off("", call("refund", payment_id="p1", amount=5), kept=22).left_object
        {'payment_id': 'p1'}
        """
        whole = list(self.calls[-1].object.items())
        for count in range(len(whole), 0, -1):
            start = dict(whole[:count])
            if self.left.startswith(json.dumps(start, ensure_ascii=False).removesuffix("}")):
                return start
        return {}


@dataclass(frozen=True, slots=True)
class Fails:
    """An HTTP error in place of an answer. `retry_after` is in seconds; None sends no such header."""

    kind: Failure
    retry_after: float | None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Failure):
            raise ValueError(f"Fails({self.kind!r}): there are {', '.join(get_args(Failure))}")
        if self.retry_after is not None and not 0 <= self.retry_after < math.inf:
            raise ValueError(f"retry_after={self.retry_after}: seconds from 0 on, or None for no such header")

    @property
    def headers(self) -> dict[str, str]:
        """When to come again: in whole seconds, and in milliseconds, which both SDKs prefer.

        >>> rate_limited(retry_after=1.5).headers
        {'retry-after': '2', 'retry-after-ms': '1500'}
        """
        if self.retry_after is None:
            return {}
        return {
            "retry-after": str(math.ceil(self.retry_after)),
            "retry-after-ms": f"{self.retry_after * 1000:g}",
        }


@dataclass(frozen=True, slots=True)
class Loses:
    """The answer never comes: the client runs into its time limit at once, without waiting for it."""


Step: TypeAlias = Says | ScriptedCall | Refuses | CutOff | Fails | Loses
Planned: TypeAlias = Step | Callable[[ModelRequest], Step]


def call(tool: str, arguments: Mapping[str, Any] | str | None = None, /, **named: Any) -> ScriptedCall:
    """A call of a tool. A text in place of arguments is sent as it is.

    >>> call("get_order", order_id="ord_1"), call("get_order", '{"order_id": ').text
    (ScriptedCall(tool='get_order', arguments={'order_id': 'ord_1'}, id=None), '{"order_id": ')
    """
    if isinstance(arguments, str):
        if named:
            raise ValueError(f"call({tool!r}): a text is all of the arguments; leave {', '.join(named)} out")
        return ScriptedCall(tool, arguments)
    return ScriptedCall(tool, {**(arguments or {}), **named})


def calls(*parallel: ScriptedCall) -> Says:
    """Calls that the model makes in one answer. Raises ValueError where there are none."""
    if not parallel:
        raise ValueError("calls() calls nothing; write calls(call('a'), call('b'))")
    return Says("", parallel)


def say(text: str, *beside: ScriptedCall) -> Says:
    """A text, with calls beside it where some are given."""
    return Says(text, beside)


def refuse(words: str = "I can't help with that.") -> Refuses:
    """The model declines, and the provider says so in a field of its own."""
    return Refuses(words)


def cut_off(text: str, *beside: ScriptedCall, kept: int | None = None) -> CutOff:
    """An answer cut at the limit of tokens: in its text, or after `kept` characters of the last call's arguments."""
    return CutOff(text, beside, kept)


def rate_limited(*, retry_after: float | None = 0.001) -> Fails:
    """429. The SDKs come again after `retry_after` seconds: at once, so that a test does not wait for them."""
    return Fails("rate_limited", retry_after)


def overloaded(*, retry_after: float | None = 0.001) -> Fails:
    """Anthropic's 529 overloaded_error, OpenAI's 503."""
    return Fails("overloaded", retry_after)


def server_error(*, retry_after: float | None = 0.001) -> Fails:
    """500."""
    return Fails("server_error", retry_after)


def lost() -> Loses:
    """No answer. The SDKs wait about half a second before they ask again: set max_retries=0 where that is too long."""
    return Loses()
