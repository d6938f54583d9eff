"""The values that replies state against what was seen, and what a contract wants stated."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from talks import Talk, asked, reported, transcript

from sandtrail.ledgers import Grade
from sandtrail.ledgers.conversation import Briefed, Decided, Reply, UserSaid
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.scenarios.contract import Contract, Stated
from sandtrail.scenarios.mentions import amounts, counts, dates, names, sentences, unquoted
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
