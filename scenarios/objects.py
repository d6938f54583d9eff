"""The things that a sentence lists at one verb, against the deeds of its kind.

    I cancelled your return and your order       return, order
    Your return and your order were cancelled    return, order
    I updated the phone number and the address   phone, address

What a deed happened to is read from the name of its effect (`return.cancelled`) and from the facts that are no ids (a
phone number). Only lists are read, and only where one of the things is among the deeds': the words of others may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sandtrail.scenarios.acts import Said
from sandtrail.scenarios.evidence import Deed

_FORMS = {
    "order": "order purchase",
    "return": "return",
    "subscription": "subscription plan membership",
    "account": "account profile",
    "invoice": "invoice bill",
    "payment": "payment charge",
    "booking": "booking reservation appointment",
    "address": "address",
    "email": "e-mail email",
    "phone": "phone telephone mobile",
    "name": "name",
    "note": "note remark",
    "credit": "credit voucher",
}
_THING = {form: thing for thing, forms in _FORMS.items() for form in forms.split()}
_ALSO = {"customer": "account", "mail": "email"}
"""What effects call some of these things."""

_NOUN = "|".join(sorted(_THING, key=len, reverse=True))
_ONE = (
    r"(?:(?:both|also|all) )?(?:(?:your|the|this|that|his|her|their|my|our|an|a) )?(?:(?!and\b|or\b)[a-z-]+ ){0,2}?"
    rf"(?:{_NOUN})s?(?: (?:address|number))?(?:,? (?:number |no\.? )?(?:\$\w+\.\w+|#?[\w-]*\d[\w-]*))?"
)
_JOIN = r"(?:, and |, as well as | and | as well as | plus | & |, )(?:also )?"
_END = r"(?=\s*(?:[.,;:!)]|$)|\s+(?:for|as|since|because|to|on|today|now|successfully|too|also|per|so|at|with)\b)"
_BE = r"(?: (?:was|were|is|are|has|have|been|now|both|all|just|already|successfully))+"


def listed(sentence: str, verb: str) -> tuple[str, ...]:
    """The things of a list at a verb, each once; empty where there is no list.

    >>> listed("I cancelled your return and your order 4412.", "cancelled"), listed("I cancelled your order.", "cancelled")
    (('return', 'order'), ())
    """
    said = re.escape(verb)
    after = re.search(rf"\b{said} (?P<list>{_ONE}(?:{_JOIN}{_ONE})+){_END}", sentence, re.IGNORECASE)
    before = re.search(
        rf"(?:^|[,;:.] |\band )(?P<list>{_ONE}(?:{_JOIN}{_ONE})+){_BE} {said}\b", sentence, re.IGNORECASE
    )
    found = after or before
    if found is None:
        return ()
    parts = (re.search(rf"\b({_NOUN})s?\b", part.lower()) for part in re.split(_JOIN, found["list"]))
    return tuple(dict.fromkeys(_THING[part[1]] for part in parts if part))


def wrong_object(sentence: str, said: Said, deeds: Sequence[Deed]) -> str | None:
    """What of a list at the act's verb none of these deeds happened to, in words; None where nothing is."""
    things = listed(sentence, said.word)
    done = frozenset[str]().union(*map(_things, deeds))
    missing = [thing for thing in things if thing not in done]
    if not missing or len(missing) == len(things):
        return None
    return f"{' and '.join(missing)} said, {', '.join(str(deed.effect) for deed in deeds)} in the books"


def _things(deed: Deed) -> frozenset[str]:
    told: Iterable[str] = re.split(r"[._:/-]", deed.effect.name.lower())
    facts = [
        name for name, value in deed.effect.facts.items() if value is not None and value not in deed.targets
    ]
    return frozenset(_ALSO.get(word, _THING.get(word, word)) for word in (*told, *facts))
