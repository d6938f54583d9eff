"""Asking, declining and handing over, over the whole run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from trails import ASKED, attempt, books, call, effect, offer, one, reads, said, say, trail, writes

from sandtrail.ledgers import Ledger
from sandtrail.ledgers.conversation import Decided, Message, Refused
from sandtrail.scenarios import Contract
from sandtrail.scenarios.conduct import conduct
from sandtrail.scenarios.contract import Clarification, Norm

ASK = say("Which order do you mean?")
OFFERS = (offer(reads("get"), writes("add"), writes("hand_over")),)
HANDED = books((attempt(1, "hand_over"), (effect("handoff.created"),)))
MUST_ASK = Contract(clarification=Clarification.REQUIRED)


def found(
    contract: Contract,
    *messages: Message | Sequence[Message],
    ledger: Ledger | None = None,
    known: bool = True,
) -> list[tuple[str, str]]:
    offers = OFFERS if known else ()
    return said(conduct(contract, trail(ASKED, *messages, ledger=ledger, offers=offers)))


def test_nothing_is_demanded_and_nothing_is_said() -> None:
    assert found(Contract(), ASK, say("Done.")) == []


# -- asking ----------------------------------------------------------------------------------------------


def test_what_had_to_be_asked_was() -> None:
    assert found(MUST_ASK, one(call("get", 1)), ASK) == [("clarification.necessary", "step 2")]
    assert found(MUST_ASK, say("Shall I cancel it?")) == [("clarification.necessary", "step 1")]


def test_a_question_after_the_write_comes_too_late() -> None:
    assert found(MUST_ASK, one(call("add", 1)), ASK) == [("clarification.missing", "final")]
    assert found(MUST_ASK, one(call("add", 1)), ASK, known=False) == [("clarification.necessary", "step 2")]


def test_nobody_asked() -> None:
    assert found(MUST_ASK, say("Done.")) == [("clarification.missing", "final")]


@pytest.mark.parametrize(
    ("asks", "code"), [("order", "necessary"), ("ORDER", "necessary"), ("rder", "missing")]
)
def test_the_question_must_be_about_what_is_missing(asks: str, code: str) -> None:
    contract = Contract(clarification=Clarification.REQUIRED, asks=("color", asks))
    assert [one for one, _ in found(contract, ASK)] == [f"clarification.{code}"]


def test_a_missing_question_says_what_about() -> None:
    contract = Contract(clarification=Clarification.REQUIRED, asks=("color", "size"))
    (finding,) = conduct(contract, trail(ASKED, ASK))
    assert finding.reason == "the user had to be asked about color or size, and was not before a write"


# -- declining -------------------------------------------------------------------------------------------

DECLINE = Contract(refusal=Norm.EXPECTED)


def test_what_had_to_be_declined_was() -> None:
    assert found(DECLINE, say("I am not allowed to do that.")) == [("refusal.right", "final")]
    assert found(DECLINE, Decided(Refused())) == [("refusal.right", "final")]
    assert found(DECLINE, say("I am transferring you to a colleague.")) == [("refusal.right", "final")]
    assert found(DECLINE, say("Bye."), ledger=HANDED) == [("refusal.right", "final")]


def test_what_had_to_be_declined_was_not() -> None:
    assert found(DECLINE, say("It is done.")) == [("refusal.missing", "final")]
    assert found(Contract(refusal=Norm.ALLOWED), say("It is done.")) == []


# -- handing over ----------------------------------------------------------------------------------------

HAND = Contract(handoff=Norm.EXPECTED)
SAID = say("I am transferring you to a colleague.")


def test_a_hand_over_in_the_books_is_one() -> None:
    assert found(HAND, say("Bye."), ledger=HANDED) == [("handoff.right", "final")]


def test_saying_so_is_only_one_where_no_tool_does_it() -> None:
    assert found(HAND, SAID, known=False) == [("handoff.right", "final")]
    (finding,) = conduct(HAND, trail(ASKED, SAID, offers=OFFERS))
    assert (finding.code, "saying so is not doing it" in finding.reason) == ("handoff.missing", True)
    assert found(HAND, say("It is done.")) == [("handoff.missing", "final")]


# -- unsure ----------------------------------------------------------------------------------------------


def test_a_first_reply_that_cannot_be_read_is_told_where_it_matters() -> None:
    look = Contract(first=("get",))
    assert found(look, say("Let me check that for you.")) == [("reply.unsure", "step 1")]
    assert found(Contract(), say("Let me check that for you.")) == []
    assert found(look, one(call("get")), say("Let me check that for you.")) == []
    assert found(look, say("  ")) == []
