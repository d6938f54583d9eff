"""The contract and the bindings of an envelope, in the words of public cases.

    {"intent": "write", "allowed_effects": [{"op", "target": "$pay", "amount_cents", "max"}],
     "arguments": {"refund_payment.payment_id": "$pay"}, "clarification": "required", ...}

    Names.read(bindings)         which raw id stands for which symbol: `$pay` of the kind payment is `$payment.pay`
    contract_of(given, names)    what it demands, as our contract; BadPart says where it cannot be read

Keys that no contract of ours has (trusted_sources, bindings_by) are the matter of who reads the envelope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from sandtrail.ledgers.bindings import Binding, Projection
from sandtrail.ledgers.specs import SYMBOL, Principal
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.reading import kind_of
from sandtrail.sandbox.reported import effect_name, facts_of
from sandtrail.scenarios.contract import (
    ArgumentsPolicy,
    Clarification,
    Contract,
    Contradiction,
    Stated,
    WantedArgument,
    WantedEffect,
)

_ASKING = {"forbidden": Clarification.NOT_NEEDED, "required": Clarification.REQUIRED}
Word = TypeVar("Word", bound=StrEnum)


class BadPart(ValueError):
    """A part of an envelope that cannot be read: where it stands, and what is wanted there."""

    def __init__(self, at: str, reason: str) -> None:
        self.at, self.reason = at, reason
        super().__init__(f"{at}: {reason}")


@dataclass(frozen=True)
class Names:
    """The bindings of an envelope, and the names that it gives them."""

    bindings: tuple[Binding, ...] = ()
    given: Mapping[str, str] | None = None

    @classmethod
    def read(cls, bindings: object) -> Names:
        """The bindings `{"$pay": {"kind": "payment", "value": "pay_7"}}`. Raises BadPart.

        >>> Names.read({"$pay": {"kind": "payment", "value": "pay_7"}}).bindings[0].symbol
        '$payment.pay'
        """
        fields = _object(bindings, "bindings")
        read = {name: _binding(name, entity) for name, entity in fields.items()}
        return cls(tuple(read.values()), {name: binding.symbol for name, binding in read.items()})

    def also(self, kind: str, raw: str) -> tuple[Names, str]:
        """The names with one entity more, and its symbol."""
        known = next((one.symbol for one in self.bindings if one.raw == raw), None)
        if known is not None:
            return self, known
        symbol = f"${kind}.{raw}"
        if not SYMBOL.fullmatch(symbol):
            raise BadPart("principal", f"{raw[:40]!r} cannot be named; an id of letters and digits is wanted")
        return Names((*self.bindings, Binding(symbol, raw, kind)), self.given), symbol

    def value(self, value: Any) -> Any:
        """A value of the envelope with symbols of ours in place of its names and of raw ids."""
        if isinstance(value, str) and value in (self.given or {}):
            return (self.given or {})[value]
        return Projection(self.bindings).value(value)


def _binding(name: str, entity: object) -> Binding:
    at = f"bindings/{name}"
    fields = _object(entity, at)
    kind, raw = fields.get("kind"), fields.get("value")
    if not isinstance(kind, str) or not isinstance(raw, str):
        raise BadPart(at, f"kind and value in text are wanted; got {kind_of(entity)}")
    symbol = name if SYMBOL.fullmatch(name) else f"${kind}.{name.lstrip('$')}"
    if not SYMBOL.fullmatch(symbol):
        raise BadPart(at, f"{symbol!r} is no symbol; write $name, and a kind in small letters")
    owner, tenant = fields.get("owner"), fields.get("tenant")
    return Binding(
        symbol,
        raw,
        kind,
        owner if isinstance(owner, str) else None,
        tenant if isinstance(tenant, str) else None,
    )


def principal_of(given: object, contract: Mapping[str, Any], names: Names) -> tuple[Principal | None, Names]:
    """Who acts, and the names with the customer in them. Raises BadPart."""
    fields = _object(given, "principal")
    tenant = fields.get("tenant", contract.get("tenant_scope"))
    scope = contract.get("data_scope")
    customer = fields.get("customer", (as_object(scope) or {}).get("customer_id"))
    if tenant is None and customer is None:
        return None, names
    symbol: str | None = None
    if customer is not None:
        names, symbol = names.also("customer", _text(customer, "principal/customer"))
    # Of a principal without a tenant nothing is known that a call could reach beyond.
    tenants = ("*",) if tenant is None else (_text(tenant, "principal/tenant"),)
    return Principal("agent", tenants=tenants, customer=symbol), names


# -- the contract ------------------------------------------------------------------------------------------


def contract_of(given: Mapping[str, Any], names: Names = Names(), tools: Iterable[str] = ()) -> Contract:
    """What an envelope demands. `tools` are the names that keys like `tool.argument` begin with. Raises BadPart.

    >>> contract_of({"intent": "read_only", "required_calls": ["get_order"]}).calls
    ('get_order',)
    """
    effects = tuple(wanted(one, names, at) for at, one in _each(given, "allowed_effects"))
    first = _texts(given, "allowed_first_tools") if "allowed_first_tools" in given else None
    try:
        return Contract(
            read_only=given.get("intent") == "read_only" and not effects,
            frozen=bool(given.get("freeze")),
            first=first,
            forbid=dict.fromkeys(_texts(given, "forbidden_tools"), "the case forbids it"),
            effects=effects,
            arguments=tuple(_arguments(given.get("arguments"), names, tuple(tools))),
            clarification=_ASKING.get(str(given.get("clarification")), Clarification.ALLOWED),
            states=tuple(_states(given.get("answer_must_state"))),
            calls=_texts(given, "required_calls"),
            arguments_policy=_word(ArgumentsPolicy, given.get("args_policy", "strict"), "args_policy"),
            closed=given.get("extra_args") == "forbid",
        )
    except Contradiction as error:
        raise BadPart(f"contract/{error.key}", str(error)) from None


def wanted(effect: object, names: Names = Names(), at: str = "allowed_effects") -> WantedEffect:
    """An effect that is allowed, as often as it says (`max`, once if it does not). Raises BadPart."""
    fields = _object(effect, f"contract/{at}")
    most = fields.get("max", 1)
    if not isinstance(fields.get("op"), str) or type(most) is not int or most < 1:
        raise BadPart(f"contract/{at}", f"op in text and max from 1 are wanted; got {kind_of(effect)}")
    facts = {name: names.value(value) for name, value in facts_of(fields).items()}
    return WantedEffect(effect_name(fields["op"]), facts, times=most)


def _arguments(given: object, names: Names, tools: tuple[str, ...]) -> Iterator[WantedArgument]:
    for key, value in _object(given, "contract/arguments").items():
        begun = [tool for tool in tools if key.startswith(f"{tool}.")]
        tool = max(begun, key=len) if begun else key.partition(".")[0]
        yield WantedArgument(tool, key[len(tool) + 1 :], names.value(value))


def _states(given: object) -> Iterator[Stated]:
    for what, stated in _object(given, "contract/answer_must_state").items():
        yield Stated(str(stated)[:200], near=(what[:6],))


# -- parts -------------------------------------------------------------------------------------------------


def _object(value: object, at: str) -> Mapping[str, Any]:
    """An object; none at all is an empty one."""
    if value is None:
        return {}
    fields = as_object(value)
    if fields is None:
        raise BadPart(at, f"an object is wanted; got {kind_of(value)}")
    return fields


def _each(given: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    value = given.get(key)
    items = [] if value is None else as_list(value)
    if items is None:
        raise BadPart(f"contract/{key}", f"a list is wanted; got {kind_of(value)}")
    for index, item in enumerate(items):
        yield f"{key}/{index}", item


def _texts(given: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(_text(item, f"contract/{at}") for at, item in _each(given, key))


def _text(value: object, at: str) -> str:
    if not isinstance(value, str) or not value:
        raise BadPart(at, f"a text is wanted; got {kind_of(value)}")
    return value


def _word(words: type[Word], value: object, key: str) -> Word:
    found = next((word for word in words if word == value), None)
    if found is None:
        raise BadPart(f"contract/{key}", f"one of {', '.join(words)} is wanted; got {kind_of(value)}")
    return found
