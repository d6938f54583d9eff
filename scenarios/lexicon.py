"""The words for acts, and the effects that they may speak of.

A family ties words to effects: "credited" may speak of `credit.issued` or of `refund.created`. Effects of names that
no family covers get a family made of their own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

_LIGHT = (
    "done complete completed processed issued made created executed submitted initiated finalized finalised"
    " successful confirmed"
)
LIGHT = frozenset(_LIGHT.split())
"""Verbs that say that a noun's act was done: the refund was processed."""


@dataclass(frozen=True, slots=True)
class Family:
    """The words for one kind of act, and a pattern for the names of the effects it may leave.

    `past` and `base` are forms of its verbs, `nouns` name the act or its result, `light` are verbs that do these
    nouns beside the usual ones (LIGHT; `narrow`: only its own). A verb with `~` is two words: "handed~over" is read in
    "handed you over". `effects` is a pattern for a word in an effect's name.
    """

    past: tuple[str, ...]
    base: tuple[str, ...]
    nouns: tuple[str, ...]
    effects: str
    light: tuple[str, ...] = ()
    narrow: bool = False

    def covers(self, effect: str) -> bool:
        """Whether its words may speak of an effect of this name.

        >>> LEXICON["cancel"].covers("order.cancelled"), LEXICON["update"].covers("exchange.swapped")
        (True, False)
        """
        return re.search(rf"(?:^|[^a-z])(?:{self.effects})", effect) is not None

    def does(self, verb: str) -> bool:
        """Whether this verb says that one of its nouns was done."""
        return verb in self.light or (not self.narrow and verb in LIGHT)


Lexicon = Mapping[str, Family]


def _family(
    past: str, base: str, nouns: str, effects: str, light: str = "", *, narrow: bool = False
) -> Family:
    return Family(
        tuple(past.split()), tuple(base.split()), tuple(nouns.split()), effects, tuple(light.split()), narrow
    )


LEXICON: Lexicon = MappingProxyType(
    {
        "refund": _family(
            "refunded reimbursed sent~back paid~back", "refund reimburse", "refund refunds reimbursement",
            "refund|reimburse", "sent approved granted",
        ),
        "cancel": _family("cancelled canceled called~off", "cancel", "cancellation cancelation", "cancel"),
        "credit": _family(
            "credited", "credit", "credit credits voucher", "credit|refund|voucher", "added applied granted gave given"
        ),
        "update": _family(
            "updated changed corrected modified altered edited replaced", "update change correct modify edit",
            "update change", r"updat|chang|edit|modif|correct|patch|rename|set(?![a-z])|address|e?mail(?=[._]\w*chang)|phone",
        ),
        "close": _family(
            "closed deactivated deleted", "close deactivate delete", "closure deletion", "clos|delet|deactivat|remov"
        ),
        "note": _family(
            "noted", "", "note notes remark", "notes?(?![a-z])|comment",
            "added left wrote written put recorded saved attached appended",
        ),
        "place": _family(
            "placed~order", "", "order", r"order\w*\.(?:plac|creat|submit)|place", "placed submitted", narrow=True
        ),
        "return": _family("", "", "return", "returns?(?![a-z])", "registered opened arranged set~up filed approved"),
        "void": _family("voided annulled", "void", "", "void|annul"),
        "handoff": _family(
            "handed~over transferred escalated passed~on forwarded", "escalate transfer",
            "hand-off handoff handover escalation ticket", "hand.?o|transfer|escalat|ticket", "opened",
        ),
        "book": _family(
            "booked reserved scheduled", "book reserve schedule", "booking reservation appointment",
            "book|reserv|schedul|appointment", "registered arranged placed",
        ),
        "mail": _family("emailed e-mailed mailed", "", "e-mail email mail", "e?mail|messag|notif", "sent"),
        "restore": _family(
            "restored reinstated reopened", "restore reinstate reopen", "restoration", "restor|reinstat|reopen"
        ),
    }
)  # fmt: skip
"""The families that are known out of the box."""


def with_effects(lexicon: Lexicon, effects: Iterable[str]) -> Lexicon:
    """The lexicon, and a family of its own words for each effect that no family covers.

    >>> with_effects(LEXICON, ["parcel.swap", "refund.created"])["parcel.swap"].past
    ('swaped', 'swapped', 'swapd')
    """
    own: dict[str, Family] = dict(lexicon)
    for name in effects:
        if any(family.covers(name) for family in own.values()):
            continue
        *nouns, verb = re.split(r"[._:/-]", name.lower())
        past = (verb,) if verb.endswith("ed") else (f"{verb}ed", f"{verb}{verb[-1:]}ed", f"{verb}d")
        own[name] = Family(past, (verb,), tuple(noun for noun in nouns if noun), f"^{re.escape(name)}$")
    return own
