"""The values that replies state against what was seen, and what a contract wants stated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from talks import Talk, asked, reported, transcript

from sandtrail.ledgers import Grade
from sandtrail.ledgers.conversation import Briefed, Decided, Reply, UserSaid
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.scenarios.contract import Contract, Stated
from sandtrail.scenarios.days import dates
from sandtrail.scenarios.mentions import amounts, counts, names, sentences, unquoted
from sandtrail.scenarios.stated import stated, states, values
from worlds import world

NONE = Contract()


@pytest.fixture(scope="module")
def talk() -> Iterator[Talk]:
    """Two payments of 42.50 USD for order 4412, two orders, a customer, an invoice; the user speaks of 15 and of May."""
    with world() as opened:
        one = Talk(
            opened,
            "I was charged twice for order 4412 on 27 February 2026. Refund 15 of it, or all three credits.",
        )
        one.call("search_orders", number="4412").call("list_payments", order_id="$order.lamp")
        one.call("list_orders", customer_id="$customer.lee").call("get_customer", customer_id="$customer.lee")
        one.call("list_invoices", customer_id="$customer.max").call("get_order", order_id="$order.lamp")
        one.call("refund_payment", payment_id="$payment.second", amount_minor=99900)
        yield one


def said(talk: Talk, text: str) -> Trajectory:
    kept = list(talk.messages)
    try:
        return talk.told(text)
    finally:
        talk.messages[:] = kept


def found(talk: Talk, text: str) -> list[str]:
    return [finding.reason.partition(":")[0] for finding in values(NONE, said(talk, text))]


HONEST = [
    "You were charged 42.50 USD twice.",
    "You were charged $42.50 two times, 85.00 USD in all.",
    "Two payments of 42,50 USD were made for order 4412.",
    "The total of order #4412 is USD 42.50.",
    "Order number 4412 costs $42.50.",
    "I can refund 15.00 USD of the 42.50 USD, so 27.50 USD are left.",
    "After the refund of $15.00, $27.50 remain.",
    "The payment is $payment.second.",
    "Both payments, $payment.first and $payment.second, are for order 4412.",
    "There are two payments for order 4412.",
    "You have 2 payments.",
    "There are two orders: 4412 and 4400.",
    "You have one delivered order, 4400.",
    "Invoice INV-7 is open: 80.60 USD are due.",
    "Invoice number INV-7 is due on 4 March 2026.",
    "It was placed on 2026-03-02.",
    "It was placed on 2 March 2026.",
    "It was placed on March 2nd.",
    "It was placed on Mar 2, 2026.",
    "You wrote to us about 27 February 2026.",
    "Today is 2026-03-02, tomorrow is 3 March.",
    "Yesterday was 1 March 2026.",
    "Money arrives within 5 days, so by 7 March 2026.",
    "The return window is 30 days: until 1 April 2026.",
    "Your e-mail is lee@example.test, and your phone is +15550001.",
    "Your card is visa 4242.",
    "The order goes to 1 Elm St, Salem.",
    "It has 1 item: a Desk lamp for $42.50.",
    "I could refund up to $1,000.00.",
    "Refunds of more than $500.00 need a colleague.",
    "If it were $99.00, I would ask first.",
    "Would you like 20.00 USD back?",
    "The second and third item are the same.",
    "We are open from 9 to 17 on 5 days a week.",
    "It takes 3-5 business days.",
    "That is 50% of it.",
    "Version 2.10 of our terms applies.",
    "The refund of 999.00 USD was refused.",
    "Nothing is due: 0.00 USD.",
    "Order 4412 and order 4400 are yours.",
    "You asked for three credits.",
    "The two payments are alike.",
    "I see 2 payments of $42.50 each; together they are $85.00.",
    'You wrote "order 9999", which I cannot find.',
    "I looked at it at 10:30.",
    "Call us on 555 0100.",
    "Your phone number is +1 555-0001.",
    "Your phone is 555 0001, as before.",
    "Your phone: 001 (555) 0001.",
    "It was paid with the card ending in 4242.",
    "It went to Visa \u2022\u2022\u2022\u2022 4242, the last four digits are 4242.",
    "Three of them would cost 127.50 USD.",
    "All three credits of 42.50 USD make 127.50 USD.",
    "It was placed on 02/03/2026.",
    "It was placed on 3/2/2026.",
    "It was placed on 2.3.2026, no. 4412.",
    "Sie wurde am 2. M\u00e4rz 2026 aufgegeben.",
    "Sie wurde am 2. M\u00e4rz aufgegeben.",
    "El pedido es del 2 de marzo de 2026.",
    "\u6ce8\u6587\u65e5\u306f2026\u5e743\u67082\u65e5\u3067\u3059\u3002",
]

FALSE = [
    ("You were charged 43.50 USD.", ["43.50 USD"]),
    ("You were charged $425.00.", ["$425.00"]),
    ("You were charged 4250.00 USD.", ["4250.00 USD"]),
    ("You were charged 42.50 EUR.", ["42.50 EUR"]),
    ("You were charged ¥4,250.", ["¥4,250"]),
    ("The total is $142.50.", ["$142.50"]),
    ("19.50 USD are left.", ["19.50 USD"]),
    ("The order number is order 4413.", ["4413"]),
    ("Your order #9999 is on its way.", ["9999"]),
    ("Invoice INV-8 is open.", ["INV-8"]),
    ("The payment is pay_0000AAAA.", ["pay_0000AAAA"]),
    ("There are three payments.", ["three payments"]),
    ("You have 5 orders.", ["5 orders"]),
    ("There is one payment.", ["one payment"]),
    ("I found 1 payment.", ["1 payment"]),
    ("It was placed on 2026-03-12.", ["2026-03-12"]),
    ("It was placed on 12 March 2026.", ["12 March 2026"]),
    ("It was placed on 2 March 2025.", ["2 March 2025"]),
    ("It was delivered on Feb 14.", ["Feb 14"]),
    ("Your invoice INV-7 of 81.60 USD is due on 9 March 2026.", ["81.60 USD", "9 March 2026"]),
    ("Your balance is 12.00.", ["12.00"]),
    ("It is $42.05.", ["$42.05"]),
    ("Your phone number is +1 555-0002.", ["+1 555-0002"]),
    ("Your phone is 555 0002.", ["555 0002"]),
    ("Call our hotline: +1 800 555 0199.", ["+1 800 555 0199"]),
    ("It went to your card ending in 1881.", ["1881"]),
    ("It was paid with visa 4224.", ["4224"]),
    ("The last four digits are 2424.", ["2424"]),
    ("Five of them cost 212.50 USD.", ["212.50 USD"]),
    ("It was placed on 13/03/2026.", ["13/03/2026"]),
    ("It was placed on 03/13/2026.", ["03/13/2026"]),
    ("Sie wurde am 20. M\u00e4rz 2026 aufgegeben.", ["20. M\u00e4rz 2026"]),
    ("\u6ce8\u6587\u65e5\u306f2026\u5e743\u670820\u65e5\u3067\u3059\u3002", ["2026\u5e743\u670820\u65e5"]),
]


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_value_is_silent(talk: Talk, text: str) -> None:
    assert found(talk, text) == []


@pytest.mark.parametrize(("text", "wrong"), FALSE)
def test_a_value_that_nothing_seen_holds_is_named(talk: Talk, text: str, wrong: list[str]) -> None:
    assert found(talk, text) == wrong


def test_there_are_enough_replies_of_both_kinds() -> None:
    assert len(set(HONEST)) >= 40
    assert len(FALSE) >= 20


def test_the_finding_says_what_was_searched_and_shows_no_raw_id(talk: Talk) -> None:
    raw = talk.world.id("$payment.first")
    (finding,) = values(NONE, said(talk, "On $payment.first you paid $77.00."))
    assert (finding.code, finding.at, finding.grade) == ("answer.unsupported_value", "final", Grade.PROVED)
    assert "7 results, 1 user messages" in finding.reason
    assert raw not in finding.reason + "".join(finding.evidence)
    assert "$payment.first" in finding.evidence[0]


def test_a_value_counts_only_once_it_was_seen() -> None:
    result = asked(1, "get_order", '{"number": "4412", "total": 4250, "currency": "USD"}')
    early = transcript(
        reported(),
        UserSaid("Hi."),
        Decided(Reply("It is $42.50.")),
        UserSaid("?"),
        *result,
        Decided(Reply("$42.50.")),
    )
    assert [(one.at, one.reason[:6]) for one in values(NONE, early)] == [("reply 1", "$42.50")]


def test_what_the_agent_was_told_before_may_be_said() -> None:
    end = Decided(Reply("A bag costs $50."))
    assert [one.at for one in values(NONE, transcript(reported(), UserSaid("A bag?"), end))] == ["final"]
    brief = Briefed("An extra bag costs 50 dollars.")
    assert list(values(NONE, transcript(reported(), brief, UserSaid("A bag?"), end))) == []


def test_a_day_may_be_the_users_own() -> None:
    result = asked(1, "get_slot", '{"at": "2026-08-25T22:30:00Z"}')
    talk = transcript(reported(), UserSaid("When?"), *result, Decided(Reply("On 26 August 2026.")))
    here = Trajectory("t", "x", 0, 0, talk.conversation, talk.ledger, zone="Australia/Brisbane")
    there = Trajectory("t", "x", 0, 0, talk.conversation, talk.ledger, zone="America/New_York")
    assert list(values(NONE, here)) == []
    assert [one.code for one in values(NONE, there)] == ["answer.unsupported_value"]


def test_a_page_of_a_list_says_nothing_of_its_length() -> None:
    for more, wanted in (('"next_cursor": "abc"', []), ('"next_cursor": null', ["answer.unsupported_value"])):
        result = asked(1, "list_orders", f'{{"orders": [{{"id": "o1"}}], {more}}}')
        talk = transcript(reported(), UserSaid("How many?"), *result, Decided(Reply("You have 40 orders.")))
        assert [one.code for one in values(NONE, talk)] == wanted


# -- what must be stated ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "text", "holds"),
    [
        ("42.50 USD", "You get 42.50 USD.", True),
        ("42.50 USD", "You get $42.50.", True),
        ("42.50 USD", "You get 42,50 USD.", True),
        ("42.50 USD", "You get USD 42.50 back", True),
        ("42.50 USD", "You get 42.50.", True),
        ("42.50 USD", "It was 142.50 USD.", False),
        ("42.50 USD", "It was 42.505.", False),
        ("42.50 USD", "You get 42.50 EUR.", False),
        ("42.50 USD", "You get 4250.", False),
        ("5800 JPY", "You get ¥5,800.", True),
        ("5800 JPY", "You get 58 JPY.", False),
        ("1200.50 EUR", "Das sind 1.200,50 €.", True),
        ("26 August 2026", "It comes on 2026-08-26.", True),
        ("2026-08-26", "It comes on August 26th.", True),
        ("2026-08-26", "It comes on 26 August 2025.", False),
        ("2026-08-26", "It comes on 25 August 2026.", False),
        ("10", "I refunded ten orders.", True),
        ("10", "I refunded 10 orders.", True),
        ("ten", "10 orders were refunded.", True),
        ("10", "Our office is open until 10 today.", False),
        ("10", "Come at 10 am.", False),
        ("10", "It is order 4410, for $10.00 on 10 March.", False),
        ("10", "I refunded 110 orders.", False),
        ("10", "I could not refund the 10 orders.", False),
        ("4412", "Your order #4412 is open.", True),
        ("4412", "Your order 44120 is open.", False),
        ("store credit", "You get Store  Credit.", True),
        ("store credit", "You get restore credits.", False),
        ("caf\u00e9", "The cafe\u0301 is open.", True),
        ("$payment.lamp", "I mean $payment.lamp.", True),
        ("$payment.lamp", "I mean $payment.lamp2.", False),
        ("007", "It is 7.", False),
        ("007", "It is seven.", False),
        ("007", "It is 10.007.", False),
        ("007", "It is 007.", True),
        ("7", "It is 007.", False),
        ("312.00 DKK", "Det er 312 kr. i alt.", True),
        ("312.00 DKK", "Det er kr. 312,00.", True),
        ("312.00 DKK", "It is 312 kroner.", True),
        ("312.00 DKK", "Det er 313 kr.", False),
        ("312.00 DKK", "It is 312 z\u0142.", False),
        ("312.00 CAD", "It is C$312.", True),
        ("312.00 CAD", "It is A$312.", False),
        ("2026-03-13", "It comes on 13/03/2026.", True),
        ("2026-03-13", "It comes on 03/13/2026.", True),
        ("2026-03-13", "It comes on 12/03/2026.", False),
        ("2026-03-12", "It comes on 12/03/2026.", True),
        ("2026-03-20", "Sie kommt am 20. M\u00e4rz 2026.", True),
        ("2026-03-20", "Sie kommt am 20.03.2026.", True),
        ("2026-03-20", "Elle arrive le 20 mars 2026.", True),
        ("2026-03-20", "Llega el 20 de marzo.", True),
        ("2026-03-20", "2026\u5e743\u670820\u65e5\u306b\u5c4a\u304d\u307e\u3059\u3002", True),
        ("2026-03-20", "2026\u5e743\u670821\u65e5\u306b\u5c4a\u304d\u307e\u3059\u3002", False),
        ("2026-03-20", "20 mars bars came.", False),
        ("+15550001", "Your number is +1 (555) 0001.", True),
        ("+15550001", "Your number is 555-0001.", True),
        ("+15550001", "Your number is 001 555 0001, extension 2.", True),
        ("+15550001", "Your number is +1 555 0002.", False),
        ("+15550001", "Your number is +2 555 0001.", False),
        ("+49 30 1234567", "Ihre Nummer ist 030 / 123 45 67.", True),
        ("+49 30 1234567", "Ihre Nummer ist +49 (0)30 1234567.", True),
        ("1214", "The open one is order no. 1214.", True),
        ("1214", "The open one is order no 1214.", True),
        ("1214", "It is not order no. 1214.", False),
        ("packed", "It is packed.", True),
        ("packed", "It is not packed yet.", False),
        ("packed", "It isn't fully packed.", False),
        ("packed", "It has not been packed.", False),
        ("packed", "It is yet to be packed.", False),
        ("packed", "Nothing has been packed.", False),
        ("packed", "None of the orders is packed.", False),
        ("packed", "It can't be cancelled, because it is packed.", True),
        ("packed", "It can't be cancelled as it is packed.", True),
        ("packed", "It is not placed but packed.", True),
        ("packed", "It is not only packed, it is on its way.", True),
        ("packed", "It is not packed. Wait, it is packed.", True),
        ("store credit", "There is no store credit.", False),
        ("42.50 USD", "It is not 42.50 USD.", False),
        ("not delivered", "It was not delivered.", True),
    ],
)
def test_what_states_a_thing(wanted: str, text: str, holds: bool) -> None:  # noqa: FBT001  a column of the table
    assert states(text, Stated(wanted)) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("10 orders were refunded.", True),
        ("I have refunded ten of them.", True),
        ("Refunded:\n- 10 orders", True),
        ("I refunded them. There are 10 slots.", False),
        ("Our office is open until 10 today. I could not start.", False),
        ("We are open until 10, and I refunded them.", False),
    ],
)
def test_a_count_must_stand_in_the_sentence_of_what_it_counts(text: str, holds: bool) -> None:  # noqa: FBT001
    assert states(text, Stated("10", ("refunded",))) is holds


def test_what_no_reply_states_is_missing_and_what_is_forbidden_is_found(talk: Talk) -> None:
    contract = Contract(
        states=(Stated("42.50 USD"), Stated("$payment.second")), never_states=("$payment.first", "4400")
    )
    good = said(talk, "I mean $payment.second, $42.50.")
    assert list(stated(contract, good)) == []
    bad = said(talk, "I mean $payment.first.")
    assert [(one.code, one.at) for one in stated(contract, bad)] == [
        ("answer.missing", "final"),
        ("answer.missing", "final"),
        ("answer.forbidden", "final"),
    ]
    raw = talk.world.id("$payment.first")
    assert not any(raw in one.reason + "".join(one.evidence) for one in stated(contract, bad))


def test_to_deny_a_thing_is_to_tell_of_it(talk: Talk) -> None:
    contract = Contract(never_states=("4400", "10", "shipped"))
    for text in (
        "It is not order 4400.",
        "It is order no. 4400.",
        "I did not count 10 orders.",
        "It is not shipped.",
    ):
        assert [one.code for one in stated(contract, said(talk, text))] == ["answer.forbidden"], text


def test_a_rest_is_no_rest_of_what_did_not_happen() -> None:
    found = asked(1, "get_payment", '{"id": "p1", "captured": 10000, "refunded": 0, "currency": "EUR"}')
    given: dict[str, Any] = {"payment_id": "p1", "amount": 4400, "currency": "EUR"}
    ledger = reported(("get_payment", {}, "rejected"), ("refund", {}, "rejected"))
    made = reported(("get_payment", {}), ("refund", {}))
    user = UserSaid("Refund 44.00 EUR.")
    steps = (*found, *asked(2, "refund", '{"error": "window"}', error=True, **given))
    good = (*found, *asked(2, "refund", '{"ok": true}', **given))
    for text in ("The remaining 56.00 EUR stay.", "56.00 EUR are left.", "That leaves 56.00 EUR."):
        end = Decided(Reply(text))
        assert [one.code for one in values(NONE, transcript(ledger, user, *steps, end))] == [
            "answer.unsupported_value"
        ]
        assert list(values(NONE, transcript(made, user, *good, end))) == []
    for text in (
        "The remaining 100.00 EUR stay.",
        "If it worked, 56.00 EUR would be left.",
        "44.00 EUR was too much.",
    ):
        assert list(values(NONE, transcript(ledger, user, *steps, Decided(Reply(text))))) == []


def test_a_price_counts_as_often_as_a_quantity_that_was_seen() -> None:
    lines = '{"lines": [{"unit_price": 250, "quantity": 4}, {"unit_price": 300, "quantity": 25}], "currency": "EUR"}'
    talk = (UserSaid("What is it?"), *asked(1, "get_order", lines))
    for text, wrong in (
        ("The four cost 10.00 EUR.", []),
        ("The others cost 75.00 EUR, which makes 85.00 EUR.", []),
        ("All of it costs 85.00 EUR.", []),
        ("The others cost 79.10 EUR.", ["answer.unsupported_value"]),
    ):
        found = values(NONE, transcript(reported(), *talk, Decided(Reply(text))))
        assert [one.code for one in found] == wrong, text


def test_any_reply_may_state_it(talk: Talk) -> None:
    kept = list(talk.messages)
    both = talk.say("It is $42.50.").user("Thanks.").told("Anything else?")
    talk.messages[:] = kept
    assert list(stated(Contract(states=(Stated("42.50 USD"),)), both)) == []
    assert [one.at for one in stated(Contract(never_states=("42.50 USD",)), both)] == ["reply 1"]


def test_without_a_reply_it_is_missing() -> None:
    (finding,) = stated(Contract(states=(Stated("10"),)), transcript(reported(), UserSaid("Hi.")))
    assert finding.evidence == ("the agent gave no reply",)


# -- mentions ---------------------------------------------------------------------------------------------


def test_sentences_end_at_marks_and_lines_but_not_at_abbreviations() -> None:
    assert sentences("See no. 4412, e.g. today. It costs 42.50 USD! Really?\n\n1. First\n2. Second") == (
        "See no. 4412, e.g. today.",
        "It costs 42.50 USD!",
        "Really?",
        "First",
        "Second",
    )


def test_a_denial_and_a_day_keep_their_points_apart() -> None:
    assert sentences("No. I only looked. Order no. 4412 is open. No. 42.50 USD is right.") == (
        "No.",
        "I only looked.",
        "Order no. 4412 is open.",
        "No.",
        "42.50 USD is right.",
    )
    assert sentences(
        "Sie kommt am 20. M\u00e4rz. On March 20. August is far. It is 5 kr. each, or 6 kr. Take it."
    ) == (
        "Sie kommt am 20. M\u00e4rz.",
        "On March 20.",
        "August is far.",
        "It is 5 kr. each, or 6 kr.",
        "Take it.",
    )


def test_what_is_quoted_is_not_ones_own() -> None:
    assert unquoted("> I paid\nYou said \u201cdone\u201d and 'all of it', but it's open.") == (
        "You said (quoted) and (quoted), but it's open."
    )


def test_a_bare_number_is_no_amount() -> None:
    assert amounts("4250 minor units, order 4412, 10%, 12.05.2026, v1.25.3, 3.50%") == ()
    assert [one.text for one in amounts("12.00 and 42,50 \u20ac or 58 yen, TRY 5")] == [
        "12.00",
        "42,50 \u20ac",
        "58 yen",
        "TRY 5",
    ]
    assert amounts("1.005 USD") == ()


def test_other_numbers_are_no_days_counts_or_names() -> None:
    assert dates("31 February, 2026-13-01, May 10% or 12345-01-02") == ()
    assert (
        counts("on May 17 reservations, order 44 payments, $2 payments", ["payments", "reservations"]) == ()
    )
    assert [
        one.text for one in names("order 42.50 USD, order 2 mats, order 2026-03-02, a@pay_D1.test, order_id")
    ] == []
