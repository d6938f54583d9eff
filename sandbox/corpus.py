"""A labelled corpus of arguments: where did this value come from, as a careful person would say.

    CLASSES     every class: its name, why it is labelled so, whether it is bad, and the function that makes one
    specimens   every class once for each seed
    specimen    one class at one seed

A specimen is a short trajectory and one argument in it. Names, ids and amounts follow from the seed; so does whether it
plays in our own world or in a foreign transcript, and in which of its dialects (`corpus_tools`). The labels are made with
the scene, and by nothing that judges: whoever changes a detector leaves this alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import NamedTuple, TypeAlias

from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.sandbox import corpus_bad_ids as bad_ids
from sandtrail.sandbox import corpus_bad_money as bad_money
from sandtrail.sandbox import corpus_ids as ids
from sandtrail.sandbox import corpus_money as money
from sandtrail.sandbox import corpus_people as people
from sandtrail.sandbox import corpus_rest as rest
from sandtrail.sandbox import corpus_time as times
from sandtrail.sandbox.corpus_parts import Ambiguous, Label
from sandtrail.sandbox.corpus_scene import Scene

Make: TypeAlias = Callable[[Scene], Label]
SALTS = 60
"""How often a specimen is made again before a class is said to have none for a seed."""


class Class(NamedTuple):
    """One class of arguments: what it is called, why it is labelled so, and how a specimen is made."""

    name: str
    why: str
    bad: bool
    make: Make


@dataclass(frozen=True)
class Specimen:
    """One argument with its label: `call` (from 1), `pointer`, whether it is bad, which verdicts are right for it."""

    cls: str
    seed: int
    trajectory: Trajectory
    call: int
    pointer: str
    bad: bool
    verdicts: frozenset[str]

    @property
    def known(self) -> bool:
        """Whether our own services say what the slots are, or a foreign transcript leaves it to be read."""
        return self.seed % 2 == 0


def _classes(area: str, module: ModuleType, names: Iterable[str], *, bad: bool) -> Iterator[Class]:
    for name in names:
        make: Make = getattr(module, name)
        yield Class(f"{area}.{name}", (make.__doc__ or "").strip(), bad, make)


_GOOD_IDS = (
    "from_result", "order_from_result", "only_one", "from_user", "from_system", "object_key", "with_hash",
    "other_case", "from_error", "of_nobody", "twice", "in_a_list", "after_a_write", "in_lines",
    "note_with_right_id", "own_key", "earlier_turn",
)  # fmt: skip
_BAD_IDS = (
    "invented", "invented_first", "invented_number", "schema_example", "placeholder", "one_off", "two_off",
    "transposed", "cut_short", "order_as_payment", "customer_as_order", "minted_from_another", "other_row",
    "only_one_but_not_that", "payment_of_another", "sibling", "known_later", "never_shown", "carried_on",
    "said_by_the_agent", "strangers_note", "wrong_id_in_note",
)  # fmt: skip
_GOOD_MONEY = (
    "from_result", "major_from_minor", "said_with_sign", "said_with_code", "said_with_comma", "said_in_words",
    "number_word_money", "yen", "total_of_list", "total_of_lines", "sum_of_subset", "difference", "what_is_left",
    "quantity_times_price", "percent_of", "percent_said", "from_error", "proposed_and_taken", "part_said",
    "same_as_before",
)  # fmt: skip
_BAD_MONEY = (
    "invented", "invented_refund", "invented_round", "hundred_times_more", "hundred_times_less",
    "thousand_times_more", "said_in_the_main_unit", "yen_by_hundred", "of_another_payment", "stale_price",
    "wrong_percent", "invented_percent", "one_too_many", "miscounted", "misread",
)  # fmt: skip
_GOOD_TIME = (
    "month_name", "with_year", "day_first", "german_month", "tomorrow", "tomorrow_elsewhere", "next_weekday",
    "in_some_weeks", "time_of_day", "day_and_time", "from_instant", "from_result", "birth_date",
)  # fmt: skip
_BAD_TIME = (
    "invented", "wrong_day_elsewhere", "swapped", "wrong_weekday", "wrong_year", "day_off", "night_for_day",
    "invented_birth_date",
)  # fmt: skip
_GOOD_PEOPLE = (
    "phone", "email", "email_from_result", "new_email", "name_composed", "name_part", "name_in_other_case",
    "without_accents", "address_abbreviated", "address_part", "address_joined", "state_code", "country_code",
    "changed_email", "back_again",
)  # fmt: skip
_BAD_PEOPLE = (
    "invented_email", "misspelt_email", "invented_phone", "invented_name", "invented_address",
    "invented_postcode", "email_of_another", "stale_email", "stale_phone", "stale_status",
)  # fmt: skip
_GOOD_REST = (
    "number_word", "flag", "enum_value", "enum_said", "schema_default", "one_of_it", "currency", "german",
    "left_out", "tenant", "reason", "voucher", "product_name",
)  # fmt: skip
_BAD_REST = ("invented_voucher", "invented_tenant", "invented_reason_id")

CLASSES: tuple[Class, ...] = (
    *_classes("id", ids, _GOOD_IDS, bad=False),
    *_classes("money", money, _GOOD_MONEY, bad=False),
    *_classes("time", times, _GOOD_TIME, bad=False),
    *_classes("people", people, _GOOD_PEOPLE, bad=False),
    *_classes("rest", rest, _GOOD_REST, bad=False),
    *_classes("bad_id", bad_ids, _BAD_IDS, bad=True),
    *_classes("bad_money", bad_money, _BAD_MONEY, bad=True),
    *_classes("bad_time", times, _BAD_TIME, bad=True),
    *_classes("bad_people", people, _BAD_PEOPLE, bad=True),
    *_classes("bad_rest", rest, _BAD_REST, bad=True),
)
"""Every class, the legitimate ones first."""

CENTS = frozenset({"bad_money.invented", "bad_money.invented_refund"})
"""The classes on which accidental derivation is measured: amounts to the cent that are nowhere."""


def specimens(seeds: Iterable[int], classes: Iterable[Class] = CLASSES) -> Iterator[Specimen]:
    """Every class once for each seed.

    >>> next(specimens(range(1))).cls
    'id.from_result'
    """
    chosen = tuple(classes)
    for seed in seeds:
        for one in chosen:
            yield specimen(one, seed)


def specimen(one: Class, seed: int) -> Specimen:
    """The specimen of a class at a seed; the same at every call. LookupError where every salt was ambiguous."""
    for salt in range(SALTS):
        scene = Scene(seed, Random(f"{one.name}:{seed}:{salt}"))
        try:
            label = one.make(scene)
        except Ambiguous:
            continue
        scene.say("That is done. Is there anything else?")
        return Specimen(
            one.name, seed, scene.trajectory(), label.call, label.pointer, one.bad, label.verdicts
        )
    raise LookupError(f"{one.name} at seed {seed}: {SALTS} salts, and each was ambiguous")
