"""The billing service against a model of its rules, over long random histories."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines import (
    STEPS,
    Fields,
    No,
    Row,
    ServiceMachine,
    maybe_keys,
    numbers,
    principals,
    shown,
)
from sandtrail.fakes.billing import Credit, Invoice, InvoiceLine, Payment, Posting, Refund, Subscription
from sandtrail.fakes.customers import Customer
from sandtrail.fakes.orders import Order
from sandtrail.ledgers import Principal
from worlds import ENTITIES, world

MORE: dict[str, dict[str, Any]] = {
    "$customer.sid": {"name": "Sid South", "email": "sid@example.test", "tenant": "south"},
    "$payment.failed": {"order": "$order.lamp", "captured": "42.50 USD", "status": "failed"},
    "$payment.part": {"order": "$order.done", "captured": "19.99 USD", "refunded": "9.99 USD"},
    "$payment.edge": {"customer": "$customer.max", "captured": "10.00 USD", "created_at": "180 days ago"},
    "$payment.twin": {"order": "$order.lamp", "captured": "42.50 USD", "card": "amex 0005"},
    "$invoice.paid": {"customer": "$customer.max", "number": "INV-8", "total": "7.00 USD", "status": "paid"},
    "$invoice.yen": {"customer": "$customer.max", "number": "INV-70", "total": "500 JPY", "due": "500 JPY"},
    "$invoice.south": {
        "customer": "$customer.sue",
        "number": "inv-9",
        "total": "3.00 USD",
        "due": "1.00 USD",
        "due_at": "in 1 hour",
    },
    "$subscription.south": {"customer": "$customer.sue", "plan": "plus", "price": "9.99 USD"},
    "$credit.lee": {"customer": "$customer.lee", "amount": "2.00 USD"},
}
GOODWILL_LIMIT = 10_000
REFUND_DAYS = 180

amounts = st.sampled_from((1, 100, 200, 500, 1000, 1001, 1999, 4250, 4251, 8500, 10_000, 10_001, 10**12))
reasons = st.sampled_from((None, "broken", "zu spät 🎈"))
statuses = st.sampled_from((None, "open", "overdue", "paid", "void"))
limits = st.sampled_from((1, 2, 3, 20))


class BillingMachine(ServiceMachine):
    """Invoices, payments, refunds, credits, subscriptions and the postings behind them."""

    entities: ClassVar = {**ENTITIES, **MORE}
    watched: ClassVar = (Customer, Order, Invoice, InvoiceLine, Payment, Refund, Credit, Subscription)
    id_arguments: ClassVar = {
        "get_balance": ("customer_id", "customer", {}),
        "get_invoice": ("invoice_id", "invoice", {}),
        "get_payment": ("payment_id", "payment", {}),
        "issue_credit": (
            "customer_id",
            "customer",
            {"amount_minor": 5, "currency": "USD", "reason": "sorry"},
        ),
        "list_charges": ("customer_id", "customer", {}),
        "list_payments": ("order_id", "order", {}),
        "list_subscriptions": ("customer_id", "customer", {}),
        "refund_order": ("order_id", "order", {"amount_minor": 5}),
        "refund_payment": ("payment_id", "payment", {"amount_minor": 5}),
        "void_invoice": ("invoice_id", "invoice", {}),
        "cancel_subscription": ("subscription_id", "subscription", {}),
    }

    def time_passed(self, before: datetime) -> None:
        del before
        for row in self.tables[Invoice].values():
            if row["status"] == "open" and row["due_at"] is not None and row["due_at"] <= self.now:
                row["status"] = "overdue"

    # -- invoices --------------------------------------------------------------------------------------

    @rule(number=numbers, status=statuses, limit=limits, by=principals)
    def list_invoices(self, number: int, status: str | None, limit: int, by: Principal) -> None:
        symbol = self.pick(Customer, number)

        def rows() -> list[Fields]:
            self.row(Customer, symbol, by)
            mine = self.seen(Invoice, by, customer_id=symbol)
            return [shown(row) for row in mine if status in {None, row["status"]}]

        sent = {"customer_id": self.world.id(symbol), "status": status, "limit": limit}
        self.pages("list_invoices", sent, by, "invoices", rows)

    @rule(text=st.sampled_from(("INV-7", "inv", "8", "nothing")), limit=limits, by=principals)
    def search_invoices(self, text: str, limit: int, by: Principal) -> None:
        def rows() -> list[Fields]:
            return [shown(row) for row in self.seen(Invoice, by) if text.lower() in row["number"].lower()]

        self.pages("search_invoices", {"number": text, "limit": limit}, by, "invoices", rows)

    def invoice_view(self, row: Row) -> Fields:
        lines = [line for line in self.tables[InvoiceLine].values() if line["invoice_id"] == row["id"]]
        view = [{name: line[name] for name in ("description", "quantity", "amount")} for line in lines]
        return {n: v for n, v in shown(row).items() if n not in {"tenant", "created_at"}} | {"lines": view}

    @rule(number=numbers, by=principals)
    def get_invoice(self, number: int, by: Principal) -> None:
        symbol = self.pick(Invoice, number)
        self.ask(
            "get_invoice",
            lambda: self.invoice_view(self.row(Invoice, symbol, by)),
            {"invoice_id": self.world.id(symbol)},
            by=by,
        )

    @rule(number=numbers, by=principals)
    def void_invoice(self, number: int, by: Principal) -> None:
        symbol = self.pick(Invoice, number)

        def model() -> Fields:
            row = self.row(Invoice, symbol, by)
            if row["status"] not in {"open", "overdue"}:
                raise No("invoice.not_open")
            row.update(status="void", due=0)
            return self.invoice_view(row)

        self.ask("void_invoice", model, {"invoice_id": self.world.id(symbol)}, by=by)

    # -- payments --------------------------------------------------------------------------------------

    def payment_view(self, row: Row) -> Fields:
        hidden = {"tenant", "customer_id", "captured"}
        return {n: v for n, v in shown(row).items() if n not in hidden} | {"amount": row["captured"]}

    @rule(number=numbers, by=principals)
    def get_payment(self, number: int, by: Principal) -> None:
        symbol = self.pick(Payment, number)
        self.ask(
            "get_payment",
            lambda: self.payment_view(self.row(Payment, symbol, by)),
            {"payment_id": self.world.id(symbol)},
            by=by,
        )

    @rule(order=st.none() | numbers, customer=st.none() | numbers, limit=limits, by=principals)
    def list_payments(self, order: int | None, customer: int | None, limit: int, by: Principal) -> None:
        of_order = None if order is None else self.pick(Order, order)
        of_customer = None if customer is None else self.pick(Customer, customer)

        def rows() -> list[Fields]:
            wanted: Row = {}
            if of_order is not None:
                wanted["order_id"] = self.row(Order, of_order, by)["id"]
            if of_customer is not None:
                wanted["customer_id"] = self.row(Customer, of_customer, by)["id"]
            if len(wanted) != 1:
                raise No("payments.one_of", 422)
            mine = self.seen(Payment, by, **wanted)
            return [self.payment_view(row) for row in mine if row["status"] != "failed"]

        sent: Fields = {"limit": limit}
        if of_order is not None:
            sent["order_id"] = self.world.id(of_order)
        if of_customer is not None:
            sent["customer_id"] = self.world.id(of_customer)
        self.pages("list_payments", sent, by, "payments", rows)

    @rule(number=numbers, by=principals)
    def list_charges(self, number: int, by: Principal) -> None:
        symbol = self.pick(Customer, number)

        def model() -> Fields:
            self.row(Customer, symbol, by)
            charges: list[Fields] = []
            for row in self.seen(Payment, by, customer_id=symbol):
                earlier = [
                    charge["payment_id"]
                    for charge in charges
                    if charge["status"] != "failed"
                    and all(
                        self.tables[Payment][charge["payment_id"]][n] == row[n]
                        for n in ("captured", "currency", "card", "order_id")
                    )
                ]
                is_repeat = row["status"] != "failed" and row["order_id"] is not None and earlier
                charges.append(
                    {
                        "payment_id": row["id"],
                        "order_id": row["order_id"],
                        "amount": row["captured"],
                        "currency": row["currency"],
                        "status": row["status"],
                        "duplicate_of": earlier[0] if is_repeat else None,
                    }
                )
            return {"charges": charges}

        self.ask("list_charges", model, {"customer_id": self.world.id(symbol)}, by=by)

    @rule(number=numbers, amount=amounts, reason=reasons, by=principals, key=maybe_keys)
    def refund_payment(
        self, number: int, amount: int, reason: str | None, by: Principal, key: str | None
    ) -> None:
        symbol = self.pick(Payment, number)

        def model() -> Fields:
            row = self.row(Payment, symbol, by)
            if row["status"] == "disputed":
                raise No("refund.disputed")
            if row["status"] != "succeeded":
                raise No("refund.not_captured")
            if self.now - row["created_at"] > timedelta(days=REFUND_DAYS):
                raise No("refund.window")
            if amount > row["captured"] - row["refunded"]:
                raise No("refund.exceeds_captured")
            row["refunded"] += amount
            owner = {name: row[name] for name in ("tenant", "customer_id", "currency")}
            made = {"payment_id": symbol, "amount": amount, "reason": reason, "created_at": self.now}
            return shown(self.add(Refund, "refund", **owner, **made))

        sent = {"payment_id": self.world.id(symbol), "amount_minor": amount, "reason": reason}
        self.ask("refund_payment", model, sent, by=by, key=key)

    def credited(
        self, customer: str, order: str | None, amount: int, currency: str, reason: str | None
    ) -> Fields:
        """Store credit in the tenant of whom it is given to."""
        tenant = self.tables[Customer][customer]["tenant"]
        owner = {"tenant": tenant, "customer_id": customer, "order_id": order}
        made = {"amount": amount, "currency": currency, "reason": reason, "created_at": self.now}
        return shown(self.add(Credit, "credit", **owner, **made))

    @rule(number=numbers, amount=amounts, reason=reasons, by=principals, key=maybe_keys)
    def refund_order(
        self, number: int, amount: int, reason: str | None, by: Principal, key: str | None
    ) -> None:
        symbol = self.pick(Order, number)

        def model() -> Fields:
            order = self.row(Order, symbol, by)
            paid = self.seen(Payment, by, order_id=symbol, status="succeeded")
            if not paid:
                raise No("credit.nothing_paid")
            given = sum(row["amount"] for row in self.tables[Credit].values() if row["order_id"] == symbol)
            if amount > sum(row["captured"] - row["refunded"] for row in paid) - given:
                raise No("credit.exceeds_paid")
            return self.credited(order["customer_id"], symbol, amount, paid[0]["currency"], reason)

        sent = {"order_id": self.world.id(symbol), "amount_minor": amount, "reason": reason}
        self.ask("refund_order", model, sent, by=by, key=key)

    @rule(
        number=numbers,
        amount=amounts,
        currency=st.sampled_from(("USD", "JPY")),
        by=principals,
        key=maybe_keys,
    )
    def issue_credit(self, number: int, amount: int, currency: str, by: Principal, key: str | None) -> None:
        symbol = self.pick(Customer, number)

        def model() -> Fields:
            self.row(Customer, symbol, by)
            if amount > GOODWILL_LIMIT:
                raise No("credit.limit")
            return self.credited(symbol, None, amount, currency, "sorry")

        sent = {
            "customer_id": self.world.id(symbol),
            "amount_minor": amount,
            "currency": currency,
            "reason": "sorry",
        }
        self.ask("issue_credit", model, sent, by=by, key=key)

    @rule(number=numbers, by=principals)
    def get_balance(self, number: int, by: Principal) -> None:
        symbol = self.pick(Customer, number)

        def model() -> Fields:
            self.row(Customer, symbol, by)
            sums: defaultdict[str, Row] = defaultdict(lambda: {"due": 0, "credit": 0})
            for invoice in self.seen(Invoice, by, customer_id=symbol):
                if invoice["status"] in {"open", "overdue"}:
                    sums[invoice["currency"]]["due"] += invoice["due"]
            for credit in self.seen(Credit, by, customer_id=symbol):
                sums[credit["currency"]]["credit"] += credit["amount"]
            return {"balances": [{"currency": currency, **sums[currency]} for currency in sorted(sums)]}

        self.ask("get_balance", model, {"customer_id": self.world.id(symbol)}, by=by)

    # -- subscriptions ---------------------------------------------------------------------------------

    @rule(number=numbers, by=principals)
    def list_subscriptions(self, number: int, by: Principal) -> None:
        symbol = self.pick(Customer, number)

        def model() -> Fields:
            self.row(Customer, symbol, by)
            return {"subscriptions": [shown(row) for row in self.seen(Subscription, by, customer_id=symbol)]}

        self.ask("list_subscriptions", model, {"customer_id": self.world.id(symbol)}, by=by)

    @rule(number=numbers, by=principals)
    def cancel_subscription(self, number: int, by: Principal) -> None:
        symbol = self.pick(Subscription, number)

        def model() -> Fields:
            row = self.row(Subscription, symbol, by)
            if row["status"] != "active":
                raise No("subscription.not_active")
            row["status"] = "cancelled"
            return shown(row)

        self.ask("cancel_subscription", model, {"subscription_id": self.world.id(symbol)}, by=by)

    # -- what must hold --------------------------------------------------------------------------------

    @invariant()
    def money_adds_up(self) -> None:
        """The postings sum to zero per currency, and each account holds what its column holds."""
        posted: defaultdict[tuple[str, str], int] = defaultdict(int)
        total: defaultdict[str, int] = defaultdict(int)
        for row in self.world.rows(Posting):
            posted[row.account, row.currency] += row.amount
            total[row.currency] += row.amount
        assert not any(total.values())
        held: defaultdict[tuple[str, str], int] = defaultdict(int)
        columns = (
            (Payment, "captured", "captured"),
            (Payment, "refunded", "refunded"),
            (Credit, "amount", "store_credit"),
            (Invoice, "due", "receivable"),
        )
        for entity, column, account in columns:
            for row in self.tables[entity].values():
                held[account, row["currency"]] += row[column]
        accounts = {account for _, _, account in columns}
        assert {key: sum_ for key, sum_ in posted.items() if sum_ and key[0] in accounts} == {
            key: sum_ for key, sum_ in held.items() if sum_
        }


TestBilling = BillingMachine.TestCase
TestBilling.settings = STEPS


def test_goodwill_for_a_customer_without_payments_stays_in_their_tenant() -> None:
    with world(
        entities={"$customer.sid": {"name": "Sid", "email": "sid@example.test", "tenant": "south"}}
    ) as opened:
        sent = {
            "customer_id": opened.id("$customer.sid"),
            "amount_minor": 5,
            "currency": "USD",
            "reason": "sorry",
        }
        assert opened.call("issue_credit", sent).ok
        assert [row.tenant for row in opened.rows(Credit)] == ["south"]
