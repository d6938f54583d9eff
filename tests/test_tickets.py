"""A service of one's own, written as the documentation writes it, lives in a world like the shipped ones."""

# The short forms are the claim of this file, and type checkers cannot follow them: Id["ticket"] names no type.
# mypy: disable-error-code="name-defined, type-arg, arg-type"
# pyright: reportUndefinedVariable=false, reportInvalidTypeArguments=false, reportArgumentType=false
# ruff: noqa: F821  the same, to a linter

from collections.abc import Callable

import pytest

from sandtrail.fakes import SERVICES, Entity, Id, Ref, Rejected, Service, Tx, World, operation
from sandtrail.fakes.operations import Parameter
from sandtrail.ledgers import Access, Outcome, WorldSpec
from sandtrail.ledgers.specs import OperationFact, Risk, Slot, TableFact
from worlds import ENTITIES, LEE, SUPPORT


class Ticket(Entity, table=True):
    id: Id["ticket"]
    customer_id: Ref["customer"]
    status: str = "open"


class Tickets(Service):
    name = "tickets"

    @operation("POST /v1/tickets/{ticket_id}/close", access="write", undone_by="reopen_ticket")
    def close_ticket(self, tx: Tx, ticket_id: Ref["ticket"]) -> Ticket:
        """Close a ticket. Not for merging tickets (use merge_tickets). Returns the ticket."""
        ticket = tx.get(Ticket, ticket_id)
        if ticket.status == "closed":
            raise Rejected("ticket.already_closed", f"{ticket_id} is closed", allowed="reopen it first")
        return tx.update(ticket, status="closed", effect="ticket.closed")

    @operation("POST /v1/tickets/{ticket_id}/reopen", access="write", undone_by="close_ticket")
    def reopen_ticket(self, tx: Tx, ticket_id: Ref["ticket"]) -> Ticket:
        """Open a closed ticket again. Returns the ticket."""
        ticket = tx.get(Ticket, ticket_id)
        if ticket.status != "closed":
            raise Rejected("ticket.not_closed", f"{ticket_id} is {ticket.status}", allowed="a closed ticket")
        return tx.update(ticket, status="open", effect="ticket.reopened")


BROKEN = "$ticket.broken"
TICKETS = {
    BROKEN: {"customer": "$customer.lee"},
    "$ticket.max": {"customer": "$customer.max", "status": "closed"},
}


def together() -> World:
    """A world of the shipped services and this one."""
    return World.open(WorldSpec({**ENTITIES, **TICKETS}, principal=SUPPORT), 7, services=(*SERVICES, Tickets))


def alone() -> World:
    """A world of this service only: the customers that its tickets name live elsewhere."""
    return World.open(WorldSpec(TICKETS, principal=SUPPORT), 7, services=[Tickets])


worlds = pytest.mark.parametrize("opened", [together, alone])


@worlds
def test_a_ticket_is_closed(opened: Callable[[], World]) -> None:
    with opened() as here:
        answer = here.call("close_ticket", ticket_id=here.id(BROKEN))
        assert answer.ok
        ticket = answer.json()
        assert (ticket["id"], ticket["status"]) == (here.id(BROKEN), "closed")
        assert here.symbol(ticket["customer_id"]) == "$customer.lee"
        assert "$" not in answer.text
        assert here.ledger.effects("ticket.closed") == [{"ticket": BROKEN}]
        assert [str(change) for change in here.ledger.changes()] == [
            "~ ticket $ticket.broken  status open -> closed"
        ]
        assert here.ledger.verify() == []


@worlds
def test_a_closed_ticket_is_not_closed_again_and_the_answer_names_the_raw_id(
    opened: Callable[[], World],
) -> None:
    with opened() as here:
        raw = here.id(BROKEN)
        here.call("close_ticket", ticket_id=raw)
        answer = here.call("close_ticket", ticket_id=raw)
        assert (answer.status, answer.json()["rule"]) == (409, "ticket.already_closed")
        assert answer.json()["detail"] == f"{raw} is closed"
        assert answer.json()["allowed"] == "reopen it first"
        assert "$" not in answer.text
        (refused,) = here.ledger.attempts(outcome="rejected")
        assert (refused.rule, refused.seq) == ("ticket.already_closed", 2)
        assert BROKEN in (refused.detail or "")
        assert len(here.ledger.effects("ticket.closed")) == 1
        assert here.ledger.verify() == []


@worlds
def test_reopening_undoes_closing(opened: Callable[[], World]) -> None:
    with opened() as here:
        raw, before = here.id(BROKEN), here.rows(Ticket)
        assert here.call("reopen_ticket", ticket_id=raw).json()["rule"] == "ticket.not_closed"
        here.call("close_ticket", ticket_id=raw)
        assert here.rows(Ticket) != before
        here.call("reopen_ticket", ticket_id=raw)
        assert here.rows(Ticket) == before
        assert [attempt.operation for attempt in here.ledger.writes()] == ["close_ticket", "reopen_ticket"]
        assert not here.ledger.read_only
        assert not here.ledger.unchanged("tickets")
        assert here.ledger.verify() == []


@worlds
def test_an_unknown_ticket_is_not_found(opened: Callable[[], World]) -> None:
    with opened() as here:
        assert here.call("close_ticket", ticket_id="tick_00000000").json()["rule"] == "not_found"
        assert here.call("close_ticket", ticket_id=5).json()["errors"] == [
            {"pointer": "/ticket_id", "detail": "text is wanted"}
        ]
        assert here.ledger.read_only


@worlds
def test_the_books_know_the_table_and_the_service(opened: Callable[[], World]) -> None:
    with opened() as here:
        assert here.ledger.tables["ticket"] == TableFact("ticket", "tickets", ("id", "customer_id", "status"))
        assert here.ledger.unchanged("tickets")
        (binding,) = [binding for binding in here.ledger.bindings if binding.symbol == BROKEN]
        assert (binding.kind, binding.owner, binding.raw) == ("ticket", "$customer.lee", here.id(BROKEN))


@worlds
def test_time_faults_and_resets_work_as_for_the_shipped_services(opened: Callable[[], World]) -> None:
    with opened() as here:
        here.faults.lose_answer("close_ticket")
        with pytest.raises(TimeoutError):
            here.call("close_ticket", ticket_id=here.id(BROKEN))
        assert here.rows(Ticket, id=BROKEN)[0].status == "closed"
        here.advance("1 day")
        assert here.ledger.verify() == []
        here.reset()
        assert here.rows(Ticket, id=BROKEN)[0].status == "open"


def test_a_customer_closes_no_ticket_of_somebody_else() -> None:
    with together() as here:
        assert (
            here.call("close_ticket", ticket_id=here.id("$ticket.max"), principal=LEE).json()["rule"]
            == "not_found"
        )
        assert here.call("close_ticket", ticket_id=here.id(BROKEN), principal=LEE).ok
        assert [attempt.outcome for attempt in here.ledger.attempts()] == [Outcome.DENIED, Outcome.OK]


def test_a_ticket_of_nobody_cannot_be_seeded_where_customers_live() -> None:
    spec = WorldSpec({BROKEN: {"customer": "$customer.lee"}})
    with pytest.raises(ValueError, match=r"\$customer\.lee is not defined"):
        World.open(spec, services=(*SERVICES, Tickets))


def test_ids_of_other_services_are_no_tickets() -> None:
    with together() as here:
        assert here.call("close_ticket", ticket_id=here.id("$order.lamp")).json()["rule"] == "not_found"


def test_shipped_services_are_as_they_were() -> None:
    with together() as here:
        here.call("close_ticket", ticket_id=here.id(BROKEN))
        assert here.call("refund_payment", payment_id=here.id("$payment.second"), amount_minor=4250).ok
        assert here.ledger.unchanged("customers")
        assert here.ledger.unchanged("orders")
        assert len(here.ledger.writes()) == len(["close_ticket", "refund_payment"])
        assert here.ledger.verify() == []


@worlds
def test_the_tool_is_what_was_declared(opened: Callable[[], World]) -> None:
    with opened() as here:
        close = here.operation("close_ticket")
        assert close.tool.name == "close_ticket"
        assert (
            close.tool.description
            == "Close a ticket. Not for merging tickets (use merge_tickets). Returns the ticket."
        )
        assert close.tool.input_schema == {
            "type": "object",
            "additionalProperties": False,
            "required": ["ticket_id"],
            "properties": {"ticket_id": {"type": "string"}},
        }
        assert close.parameters == (
            Parameter("ticket_id", "path", Slot(kind="ticket", risk=Risk.HIGH), required=True),
        )
        assert (close.verb, close.path) == ("POST", "/v1/tickets/{ticket_id}/close")
        assert close.fact == OperationFact("close_ticket", "tickets", Access.WRITE, "reopen_ticket")
        assert here.operation("reopen_ticket").fact.undone_by == "close_ticket"
        assert [tool.name for tool in here.catalog.tools][-2:] == ["close_ticket", "reopen_ticket"]
