"""The billing service: invoices, payments, refunds, credits, subscriptions, and the postings behind them.

| table        | what                                     | rules |
|--------------|------------------------------------------|-------|
| invoice      | what is owed                             | voided only while open or overdue; overdue by the clock |
| invoice_line | what for                                 | |
| payment      | money captured from a card               | failed ones are listed as charges only |
| refund       | money given back on a payment            | at most captured minus refunded; 180 days; never a disputed payment |
| credit       | store credit                             | for an order at most its payments; else at most 10000 |
| subscription | a plan                                   | cancelled once, and not resumed |
| posting      | double entry: sums to zero per currency  | captured, refunded, credited, due have accounts (R7) |

Amounts are integers of minor units: 4250 is 42.50 USD, 4250 JPY or 4.250 KWD.
Near misses on purpose: `refund_order` takes the fields of `refund_payment` and gives store credit; `list_charges`
shows failed and duplicate charges, which `list_payments` does not.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from sandtrail.fakes.entities import Entity, Id, Instant, Money, Ref
from sandtrail.fakes.gateway import AtMost, Contains, OneOf, Tx
from sandtrail.fakes.operations import Service, operation
from sandtrail.fakes.paging import Cursor, Limit, crowd, page
from sandtrail.fakes.problems import Rejected
from sandtrail.ledgers.money import DECIMALS

CustomerId: TypeAlias = Annotated[str, Ref("customer")]
OrderId: TypeAlias = Annotated[str, Ref("order")]
PaymentId: TypeAlias = Annotated[str, Ref("payment")]
InvoiceId: TypeAlias = Annotated[str, Ref("invoice")]
SubscriptionId: TypeAlias = Annotated[str, Ref("subscription")]
AmountMinor: TypeAlias = Annotated[
    int, Money(), Field(ge=1, le=10**12, description="in minor units of the currency: 4250 for 42.50 USD")
]
Reason: TypeAlias = Annotated[str, Field(min_length=1, max_length=300)]
InvoiceStatus: TypeAlias = Literal["open", "overdue", "paid", "void"]

REFUND_WINDOW = timedelta(days=180)


class Invoice(Entity, table=True):
    """What a customer owes. `due` is what is left of `total`."""

    id: Annotated[str, Id("invoice")]
    tenant: str = "north"
    customer_id: Annotated[str, Ref("customer", index=True)]
    order_id: Annotated[str | None, Ref("order")] = None
    number: str
    total: Annotated[int, Money()] = 0
    due: Annotated[int, Money(account="receivable")] = 0
    currency: str = "USD"
    status: str = "open"
    due_at: Instant | None = None
    created_at: Instant


class InvoiceLine(Entity, table=True):
    """What an invoice is for."""

    id: Annotated[str, Id("invoice_line")]
    invoice_id: InvoiceId
    description: str
    quantity: int = 1
    amount: Annotated[int, Money()] = 0
    currency: str = "USD"


class Payment(Entity, table=True):
    """Money captured from a card."""

    id: Annotated[str, Id("payment")]
    tenant: str = "north"
    customer_id: Annotated[str, Ref("customer", index=True)]
    order_id: Annotated[str | None, Ref("order", index=True)] = None
    captured: Annotated[int, Money(account="captured")] = 0
    refunded: Annotated[int, Money(account="refunded")] = 0
    currency: str = "USD"
    status: str = "succeeded"
    card: str = "visa 4242"
    created_at: Instant


class Refund(Entity, table=True):
    """Money given back on a payment."""

    id: Annotated[str, Id("refund")]
    tenant: str
    customer_id: CustomerId
    payment_id: PaymentId
    amount: Annotated[int, Money()]
    currency: str
    reason: str | None = None
    created_at: Instant


class Credit(Entity, table=True):
    """Store credit: not money back."""

    id: Annotated[str, Id("credit")]
    tenant: str = "north"
    customer_id: CustomerId
    order_id: Annotated[str | None, Ref("order")] = None
    amount: Annotated[int, Money(account="store_credit")] = 0
    currency: str = "USD"
    reason: str | None = None
    created_at: Instant


class Subscription(Entity, table=True):
    """A plan. `renews_at` is when it would renew next."""

    id: Annotated[str, Id("subscription")]
    tenant: str = "north"
    customer_id: CustomerId
    plan: str
    price: Annotated[int, Money()] = 0
    currency: str = "USD"
    status: str = "active"
    renews_at: Instant | None = None


class Posting(Entity, table=True):
    """One side of a double entry; `entry` says what it belongs to."""

    id: Annotated[str, Id("posting")]
    entry: str
    account: str
    amount: Annotated[int, Money(account=None)]
    currency: str


class InvoiceLineView(BaseModel):
    """A line of an invoice."""

    description: str
    quantity: int
    amount: int


class InvoiceView(BaseModel):
    """An invoice with its lines."""

    id: InvoiceId
    customer_id: CustomerId
    order_id: Annotated[str | None, Ref("order")]
    number: str
    total: int
    due: int
    currency: str
    status: str
    due_at: Instant | None
    lines: list[InvoiceLineView]


class Invoices(BaseModel):
    """A page of invoices."""

    invoices: list[Invoice]
    next_cursor: Cursor | None


class PaymentView(BaseModel):
    """A payment. `amount` is what was captured."""

    id: PaymentId
    order_id: Annotated[str | None, Ref("order")]
    amount: int
    refunded: int
    currency: str
    status: str
    card: str
    created_at: Instant


class Payments(BaseModel):
    """A page of payments."""

    payments: list[PaymentView]
    next_cursor: Cursor | None


class ChargeView(BaseModel):
    """A charge. `duplicate_of` names an earlier one for the same order, amount and card."""

    payment_id: PaymentId
    order_id: Annotated[str | None, Ref("order")]
    amount: int
    currency: str
    status: str
    duplicate_of: Annotated[str | None, Ref("payment")]


class Charges(BaseModel):
    """All charges of a customer."""

    charges: list[ChargeView]


class Subscriptions(BaseModel):
    """A customer's subscriptions."""

    subscriptions: list[Subscription]


class Balance(BaseModel):
    """What is owed and what is credited in one currency."""

    currency: str
    due: int
    credit: int


class Balances(BaseModel):
    """A customer's balances by currency."""

    balances: list[Balance]


class Billing(Service):
    """The billing service."""

    name = "billing"
    entities = (Invoice, InvoiceLine, Payment, Refund, Credit, Subscription, Posting)

    # -- invoices --------------------------------------------------------------------------------------

    @operation("GET /v1/invoices", access="read", scope="billing:read")
    def list_invoices(
        self,
        tx: Tx,
        customer_id: CustomerId,
        status: InvoiceStatus | None = None,
        cursor: Cursor | None = None,
        limit: Limit = 20,
    ) -> Invoices:
        """List a customer's invoices, oldest first. Returns invoices with what is still due. Not for card payments
        (use list_payments)."""
        wanted = {"customer_id": customer_id} | ({} if status is None else {"status": status})
        found = page(tx, Invoice, "invoice", cursor=cursor, limit=limit, wanted=wanted)
        return Invoices(invoices=found.rows, next_cursor=found.next_cursor)

    @operation("GET /v1/invoice-search", access="read", scope="billing:read")
    def search_invoices(
        self,
        tx: Tx,
        number: Annotated[str, Field(min_length=1)],
        cursor: Cursor | None = None,
        limit: Limit = 20,
    ) -> Invoices:
        """Find invoices by invoice number, or a part of it. Returns invoices. Not for customers (use
        search_customers)."""
        found = page(tx, Invoice, "invoice", cursor=cursor, limit=limit, wanted={"number": Contains(number)})
        return Invoices(invoices=found.rows, next_cursor=found.next_cursor)

    @operation("GET /v1/invoices/{invoice_id}", access="read", scope="billing:read")
    def get_invoice(self, tx: Tx, invoice_id: InvoiceId) -> InvoiceView:
        """Read one invoice with its lines. Returns the invoice."""
        found = tx.get(Invoice, invoice_id)
        return _invoice_view(tx, found)

    @operation("POST /v1/invoices/{invoice_id}/void", access="write", scope="billing:write", undone_by=None)
    def void_invoice(self, tx: Tx, invoice_id: InvoiceId) -> InvoiceView:
        """Void an invoice that is not paid, so that nothing is due on it. Writes; cannot be undone. Not a refund.
        Returns the invoice."""
        invoice = tx.get(Invoice, invoice_id)
        if invoice.status not in {"open", "overdue"}:
            raise Rejected(
                "invoice.not_open", f"The invoice is {invoice.status}.", allowed="an open or overdue invoice"
            )
        with tx.effect("invoice.voided", invoice=invoice_id, amount=invoice.due, currency=invoice.currency):
            _post(tx, invoice_id, invoice.currency, receivable=-invoice.due, revenue=invoice.due)
            return _invoice_view(tx, tx.update(invoice, status="void", due=0))

    # -- payments --------------------------------------------------------------------------------------

    @operation("GET /v1/payments", access="read", scope="billing:read")
    def list_payments(
        self,
        tx: Tx,
        order_id: OrderId | None = None,
        customer_id: CustomerId | None = None,
        cursor: Cursor | None = None,
        limit: Limit = 20,
    ) -> Payments:
        """List the payments of an order or of a customer, oldest first: amount, what was refunded, status. Give
        exactly one of the two ids. Returns payments. Failed charges are not payments (use list_charges)."""
        if (order_id is None) == (customer_id is None):
            raise Rejected(
                "payments.one_of",
                "Give an order or a customer, not both.",
                allowed="order_id or customer_id",
                status=422,
            )
        of = {"order_id": order_id} if order_id is not None else {"customer_id": customer_id}
        wanted = {"status": OneOf(("succeeded", "disputed")), **of}
        found = page(tx, Payment, "payment", cursor=cursor, limit=limit, wanted=wanted)
        return Payments(payments=[_payment_view(row) for row in found.rows], next_cursor=found.next_cursor)

    @operation("GET /v1/payments/{payment_id}", access="read", scope="billing:read")
    def get_payment(self, tx: Tx, payment_id: PaymentId) -> PaymentView:
        """Read one payment by its payment id (never an order id). Returns the payment."""
        return _payment_view(tx.get(Payment, payment_id))

    @operation("GET /v1/charges", access="read", scope="billing:read")
    def list_charges(self, tx: Tx, customer_id: CustomerId) -> Charges:
        """List every charge of a customer's card, failed and duplicate ones included, oldest first. This is the tool
        for "was I charged twice?". Returns charges; duplicates name the charge they repeat."""
        seen: dict[tuple[str | None, int, str, str], str] = {}
        charges: list[ChargeView] = []
        for row in tx.select(Payment, customer_id=customer_id):
            what = (row.order_id, row.captured, row.currency, row.card)
            first = seen.get(what) if row.order_id and row.status != "failed" else None
            if row.status != "failed":
                seen.setdefault(what, row.id)
            charges.append(
                ChargeView(
                    payment_id=row.id,
                    order_id=row.order_id,
                    amount=row.captured,
                    currency=row.currency,
                    status=row.status,
                    duplicate_of=first,
                )
            )
        return Charges(charges=charges)

    @operation(
        "POST /v1/payments/{payment_id}/refunds",
        access="write",
        scope="billing:refund",
        undone_by=None,
        idempotent=True,
    )
    def refund_payment(
        self, tx: Tx, payment_id: PaymentId, amount_minor: AmountMinor, reason: Reason | None = None
    ) -> Refund:
        """Give money back on one payment, all of it or a part. Writes; cannot be undone. Takes a payment id, never an
        order id. At most what was captured minus what was refunded; within 180 days; not while disputed. For store
        credit use refund_order. Returns the refund."""
        payment = tx.get(Payment, payment_id)
        left = payment.captured - payment.refunded
        if payment.status == "disputed":
            raise Rejected(
                "refund.disputed", f"{payment_id} is disputed.", allowed="wait for the end of the dispute"
            )
        if payment.status != "succeeded":
            raise Rejected(
                "refund.not_captured",
                f"{payment_id} is {payment.status}.",
                allowed="a payment that succeeded",
            )
        if tx.now - payment.created_at > REFUND_WINDOW:
            raise Rejected(
                "refund.window",
                f"{payment_id} is older than {REFUND_WINDOW.days} days.",
                allowed="store credit",
            )
        if amount_minor > left:
            detail = f"{amount_minor} is more than the {left} minor {payment.currency} that are left on {payment_id}."
            raise Rejected(
                "refund.exceeds_captured",
                detail,
                allowed=f"1 to {left}" if left else "nothing: it is refunded in full",
            )
        with tx.effect("refund.created", payment=payment_id, amount=amount_minor, currency=payment.currency):
            refund = tx.insert(
                Refund,
                tenant=payment.tenant,
                customer_id=payment.customer_id,
                payment_id=payment_id,
                amount=amount_minor,
                currency=payment.currency,
                reason=reason,
                created_at=tx.now,
            )
            tx.update(payment, refunded=payment.refunded + amount_minor)
            _post(tx, refund.id, payment.currency, refunded=amount_minor, cash=-amount_minor)
        return refund

    @operation(
        "POST /v1/orders/{order_id}/refunds",
        access="write",
        scope="billing:refund",
        undone_by=None,
        idempotent=True,
    )
    def refund_order(
        self, tx: Tx, order_id: OrderId, amount_minor: AmountMinor, reason: Reason | None = None
    ) -> Credit:
        """Compensate a customer for an order with store credit. Writes; cannot be undone. Gives store credit, no money
        back (for money back use refund_payment). At most what was paid for the order. Returns the credit."""
        payments = tx.select(Payment, order_id=order_id, status="succeeded")
        if not payments:
            raise Rejected(
                "credit.nothing_paid", f"Nothing was paid for {order_id}.", allowed="an order with a payment"
            )
        first = payments[0]
        given = sum(row.amount for row in tx.select(Credit, order_id=order_id))
        left = sum(row.captured - row.refunded for row in payments if row.currency == first.currency) - given
        if amount_minor > left:
            detail = f"{amount_minor} is more than the {left} minor {first.currency} that may be credited for {order_id}."
            raise Rejected(
                "credit.exceeds_paid", detail, allowed=f"1 to {left}" if left > 0 else "nothing more"
            )
        return _credit(tx, first.customer_id, first.tenant, amount_minor, first.currency, reason, order_id)

    @operation(
        "POST /v1/customers/{customer_id}/credits",
        access="write",
        scope="billing:credit",
        undone_by=None,
        idempotent=True,
    )
    def issue_credit(
        self,
        tx: Tx,
        customer_id: CustomerId,
        amount_minor: AmountMinor,
        currency: Annotated[str, Field(pattern="^[A-Z]{3}$")],
        reason: Reason,
    ) -> Credit:
        """Give a customer store credit as goodwill, tied to no order. Writes; cannot be undone. At most 10000 minor
        units at a time. Not a refund. Returns the credit."""
        if currency not in DECIMALS:
            raise Rejected(
                "credit.currency", f"{currency} is not known.", allowed=", ".join(sorted(DECIMALS))
            )
        if amount_minor > 10_000:
            raise Rejected("credit.limit", f"{amount_minor} is above the limit.", allowed="1 to 10000")
        tenant = tx.principal.tenants[0]
        if tx.offers("get_customer"):
            tenant = tx.call("get_customer", customer_id=customer_id).tenant
        return _credit(tx, customer_id, tenant, amount_minor, currency, reason, None)

    @operation("GET /v1/balance", access="read", scope="billing:read")
    def get_balance(self, tx: Tx, customer_id: CustomerId) -> Balances:
        """Read what a customer owes and what store credit they have, by currency. Returns balances, no single rows."""
        due: dict[str, int] = {}
        credit: dict[str, int] = {}
        for invoice in tx.select(Invoice, customer_id=customer_id, status=OneOf(("open", "overdue"))):
            due[invoice.currency] = due.get(invoice.currency, 0) + invoice.due
        for given in tx.select(Credit, customer_id=customer_id):
            credit[given.currency] = credit.get(given.currency, 0) + given.amount
        found = sorted({*due, *credit})
        return Balances(
            balances=[Balance(currency=c, due=due.get(c, 0), credit=credit.get(c, 0)) for c in found]
        )

    # -- subscriptions ---------------------------------------------------------------------------------

    @operation("GET /v1/subscriptions", access="read", scope="billing:read")
    def list_subscriptions(self, tx: Tx, customer_id: CustomerId) -> Subscriptions:
        """List a customer's subscriptions. Returns subscriptions with plan, price, status and next renewal."""
        return Subscriptions(subscriptions=tx.select(Subscription, customer_id=customer_id))

    @operation(
        "POST /v1/subscriptions/{subscription_id}/cancel",
        access="write",
        scope="billing:write",
        undone_by=None,
    )
    def cancel_subscription(self, tx: Tx, subscription_id: SubscriptionId) -> Subscription:
        """Cancel a subscription, so that it does not renew. Writes; it cannot be resumed. Refunds nothing, and does not
        close the account (use close_customer). Returns the subscription."""
        found = tx.get(Subscription, subscription_id)
        if found.status != "active":
            raise Rejected(
                "subscription.not_active",
                f"{subscription_id} is {found.status}.",
                allowed="an active subscription",
            )
        return tx.update(found, status="cancelled", effect="subscription.cancelled")

    # -- the world itself ------------------------------------------------------------------------------

    def on_seed(self, tx: Tx) -> None:
        """Give the specification's money its postings, as one opening entry per currency and account."""
        opening: dict[tuple[str, str], int] = {}
        payments, given, invoices = tx.select(Payment), tx.select(Credit), tx.select(Invoice)
        amounts = [("captured", row.currency, row.captured) for row in payments]
        amounts += [("refunded", row.currency, row.refunded) for row in payments]
        amounts += [("store_credit", row.currency, row.amount) for row in given]
        amounts += [("receivable", row.currency, row.due) for row in invoices]
        for account, currency, amount in amounts:
            opening[account, currency] = opening.get((account, currency), 0) + amount
        for (account, currency), amount in opening.items():
            if amount:
                _post(tx, "opening", currency, **{account: amount, "equity": -amount})

    def on_clock(self, tx: Tx, before: datetime, after: datetime) -> None:
        """Open invoices become overdue when their day has come."""
        for invoice in tx.select(Invoice, status="open", due_at=AtMost(after)):
            tx.update(invoice, status="overdue", effect="invoice.overdue")

    def populate(self, tx: Tx, count: int) -> None:
        """A payment for each unnamed customer's order."""
        for number in range(count):
            of = {"customer_id": crowd("customer", number), "order_id": crowd("order", number)}
            tx.insert(Payment, id=crowd("payment", number), captured=1000 + number, created_at=tx.now, **of)
        total = sum(1000 + number for number in range(count))
        _post(tx, "opening", "USD", captured=total, equity=-total)


def _post(tx: Tx, entry: str, currency: str, **amounts: int) -> None:
    """A double entry: the amounts sum to zero."""
    for account, amount in amounts.items():
        tx.insert(Posting, entry=entry, account=account, amount=amount, currency=currency)


def _credit(
    tx: Tx,
    customer_id: str,
    tenant: str,
    amount: int,
    currency: str,
    reason: str | None,
    order_id: str | None,
) -> Credit:
    with tx.effect("credit.issued", customer=customer_id, order=order_id, amount=amount, currency=currency):
        owner = {"tenant": tenant, "customer_id": customer_id, "order_id": order_id}
        credit = tx.insert(
            Credit, amount=amount, currency=currency, reason=reason, created_at=tx.now, **owner
        )
        _post(tx, credit.id, currency, store_credit=amount, goodwill=-amount)
    return credit


def _payment_view(row: Payment) -> PaymentView:
    return PaymentView(
        id=row.id,
        order_id=row.order_id,
        amount=row.captured,
        refunded=row.refunded,
        currency=row.currency,
        status=row.status,
        card=row.card,
        created_at=row.created_at,
    )


def _invoice_view(tx: Tx, row: Invoice) -> InvoiceView:
    lines = [
        InvoiceLineView(description=line.description, quantity=line.quantity, amount=line.amount)
        for line in tx.select(InvoiceLine, invoice_id=row.id)
    ]
    shown = {name: getattr(row, name) for name in InvoiceView.model_fields if name != "lines"}
    return InvoiceView(**shown, lines=lines)
