"""For users who own the loop themselves: the tools in a provider's shape, and the answers to what a model called.

history += sandbox.answer(reply)        the assistant turn, and the turn(s) with every result
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from sandtrail.ledgers.conversation import Calls, Decided, Message
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox import messages_anthropic, messages_openai
from sandtrail.sandbox.toolbox import Toolbox

if TYPE_CHECKING:
    from sandtrail.fakes import World
    from sandtrail.ledgers import Principal

Dialect = Literal["anthropic", "openai"]


def tools_in(dialect: Dialect, box: Toolbox) -> list[dict[str, Any]]:
    """The tools as a provider takes them. Raises ValueError for a dialect that there is not."""
    if dialect == "anthropic":
        return messages_anthropic.tools_of(box.catalog, cache=False)
    if dialect == "openai":
        return messages_openai.tools_of(box.catalog)
    raise ValueError(f"tools({dialect!r}): there are the dialects 'anthropic' and 'openai'")


def answered(
    reply: object, box: Toolbox, world: World, principal: Principal
) -> tuple[list[dict[str, Any]], list[Message]]:
    """The messages that follow a provider's reply, and the same as a conversation keeps it.

    `reply` is what the SDK returned, or its body as a dictionary. Raises ValueError where it is neither.
    """
    body = _body(reply)
    adapter = messages_openai if "choices" in body else messages_anthropic
    decided: Decided = adapter.decode(body)
    said: list[Message] = [decided]
    if isinstance(decided.decision, Calls):
        said += [box.act(world, call, principal) for call in decided.decision.calls]
    return adapter.messages_of(tuple(said)), said


def _body(reply: object) -> dict[str, Any]:
    dump: Any = getattr(reply, "model_dump", None)
    body = as_object(dump(mode="json", exclude_unset=True) if callable(dump) else _plain(reply))
    if body is None or not ({"content", "choices"} & body.keys()):
        raise ValueError(
            f"answer({type(reply).__name__}): wanted what messages.create or chat.completions.create returned"
        )
    return body


def _plain(reply: object) -> object:
    return dict(cast("Mapping[str, Any]", reply)) if isinstance(reply, Mapping) else reply
