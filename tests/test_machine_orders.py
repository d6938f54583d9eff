"""The order service against a model of its rules, over long random histories."""

from __future__ import annotations

from collections.abc import Mapping
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
    instant,
    maybe_keys,
    numbers,
    principals,
    shown,
)
from sandtrail.fakes.customers import Customer
from sandtrail.fakes.orders import Message, Order, OrderLine, Product, Return, Shipment, ShipmentEvent
from sandtrail.ledgers import Outcome, Principal
from worlds import ENTITIES, world

MORE: Mapping[str, Mapping[str, Any]] = {
    "$product.euro": {"name": "Euro lamp", "sku": "LAMP-E", "price": "10.00 EUR", "stock": 50},
    "$product.gone": {"name": "Gone mat", "sku": "MAT-0", "price": "1.00 USD"},
    "$product.free": {"name": "Leaflet", "sku": "L-0", "stock": 200},
    "$product.south": {"name": "South mat", "sku": "S-1", "price": "3.00 USD", "stock": 2, "tenant": "south"},
    "$order.packed": {
        "customer": "$customer.lee",
        "number": "4413",
        "total": "39.98 USD",
        "status": "packed",
    },
    "$order_line.packed": {
        "order": "$order.packed",
        "product": "$product.mat",
        "quantity": 2,
        "unit_price": "19.99 USD",
    },
    "$order.shipped": {"customer": "$customer.max", "number": "4414", "status": "shipped"},
    "$shipment.shipped": {"order": "$order.shipped", "tracking": "1Z1"},
    "$order.odd": {"customer": "$customer.max", "number": "4412", "status": "delivered"},
    "$order.edge": {"customer": "$customer.lee", "number": "4415", "status": "delivered"},
    "$shipment.edge_late": {"order": "$order.edge", "tracking": "1Z2", "delivered_at": "30 days ago"},
    "$shipment.edge_soon": {"order": "$order.edge", "tracking": "1Z3", "delivered_at": "50 days ago"},
    "$shipment_event.edge": {"shipment": "$shipment.edge_late", "what": "left", "created_at": "31 days ago"},
    "$order.south_done": {"customer": "$customer.sue", "number": "7002", "status": "delivered"},
    "$shipment.south_done": {"order": "$order.south_done", "tracking": "1Z4", "delivered_at": "1 day ago"},
    "$return.old": {"order": "$order.south_done", "reason": "too small", "status": "cancelled"},
}
RETURN_DAYS = 30
BASKET = [{"product_id": "$product.free", "quantity": 1}]

addresses = st.sampled_from(("1 Elm St, Salem", "2 Oak Ave, Salem", "Größer Weg 1 🎈"))
statuses = st.sampled_from((None, "placed", "packed", "shipped", "delivered", "cancelled"))
limits = st.sampled_from((1, 2, 20))
baskets = st.lists(st.tuples(numbers, st.sampled_from((1, 1, 2, 2, 3, 11))), min_size=1, max_size=2)
versions = st.sampled_from((None, None, None, 1, 2))


class OrdersMachine(ServiceMachine):
    """Products, orders, parcels, returns and the outbox."""

    entities: ClassVar = {**ENTITIES, **MORE}
    watched: ClassVar = (Customer, Product, Order, OrderLine, Shipment, ShipmentEvent, Return, Message)
    id_arguments: ClassVar = {
        "cancel_order": ("order_id", "order", {"reason": "changed my mind"}),
        "cancel_return": ("return_id", "return", {}),
        "change_order_address": ("order_id", "order", {"address": "1 Elm St, Salem"}),
        "create_return": ("order_id", "order", {"reason": "too small"}),
        "get_order": ("order_id", "order", {}),
        "list_orders": ("customer_id", "customer", {}),
        "place_order": ("customer_id", "customer", {"lines": BASKET, "address": "1 Elm St, Salem"}),
        "track_shipment": ("order_id", "order", {}),
    }

    def view(self, order: Row) -> Fields:
        """An order as answers show it."""
        lines = [
            {
                "product_id": line["product_id"],
                "product": self.tables[Product][line["product_id"]]["name"],
                "quantity": line["quantity"],
                "unit_price": line["unit_price"],
            }
            for line in self.tables[OrderLine].values()
            if line["order_id"] == order["id"]
        ]
        return {name: value for name, value in shown(order).items() if name != "tenant"} | {"lines": lines}

    def mailed(self, order: Row, subject: str) -> None:
        """The mail that leaves with an order's change."""
        owner = {name: order[name] for name in ("tenant", "customer_id")}
        text = f"{subject} {order['number']}"
        self.add(Message, "message", **owner, channel="mail", subject=text, created_at=self.now)

    def named(self, symbol: str, by: Principal, version: int | None = None) -> Row:
        """The order that an argument names, at the version the client holds."""
        row = self.row(Order, symbol, by)
        if version is not None and version != row["version"]:
            raise No("version", 412, Outcome.CONFLICT)
        return row

    # -- reads -----------------------------------------------------------------------------------------

    @rule(number=numbers, status=statuses, limit=limits, by=principals)
    def list_orders(self, number: int, status: str | None, limit: int, by: Principal) -> None:
        symbol = self.pick(Customer, number)

        def rows() -> list[Fields]:
            self.row(Customer, symbol, by)
            mine = self.seen(Order, by, customer_id=symbol)
            return [shown(row) for row in mine if status in {None, row["status"]}]

        sent = {"customer_id": self.world.id(symbol), "status": status, "limit": limit}
        self.pages("list_orders", sent, by, "orders", rows)

    @rule(name=st.sampled_from(("lamp", "MAT", "a", "nothing")), limit=limits, by=principals)
    def search_products(self, name: str, limit: int, by: Principal) -> None:
        def rows() -> list[Fields]:
            offered = [row for row in self.tables[Product].values() if row["tenant"] in by.tenants]
            return [shown(row) for row in offered if name.lower() in row["name"].lower()]

        self.pages("search_products", {"name": name, "limit": limit}, by, "products", rows)

    @rule(number=numbers, by=principals)
    def search_orders(self, number: int, by: Principal) -> None:
        printed = self.tables[Order][self.pick(Order, number)]["number"]

        def model() -> Fields:
            return {
                "orders": [shown(row) for row in self.seen(Order, by, number=printed)],
                "next_cursor": None,
            }

        self.ask("search_orders", model, {"number": printed}, by=by)

    @rule(number=numbers, by=principals)
    def get_order(self, number: int, by: Principal) -> None:
        symbol = self.pick(Order, number)
        sent = {"order_id": self.world.id(symbol)}
        self.ask("get_order", lambda: self.view(self.row(Order, symbol, by)), sent, by=by)

    @rule(number=numbers, by=principals)
    def track_shipment(self, number: int, by: Principal) -> None:
        symbol = self.pick(Order, number)

        def model() -> Fields:
            order = self.row(Order, symbol, by)
            parcels: list[Fields] = [
                {
                    "carrier": parcel["carrier"],
                    "tracking": parcel["tracking"],
                    "delivered_at": instant(parcel["delivered_at"]),
                    "events": [
                        {"what": event["what"], "at": instant(event["created_at"])}
                        for event in self.tables[ShipmentEvent].values()
                        if event["shipment_id"] == parcel["id"]
                    ],
                }
                for parcel in self.tables[Shipment].values()
                if parcel["order_id"] == symbol
            ]
            return {"order_id": symbol, "status": order["status"], "parcels": parcels}

        self.ask("track_shipment", model, {"order_id": self.world.id(symbol)}, by=by)

    # -- writes ----------------------------------------------------------------------------------------

    @rule(number=numbers, basket=baskets, address=addresses, by=principals, key=maybe_keys)
    def place_order(
        self, number: int, basket: list[tuple[int, int]], address: str, by: Principal, key: str | None
    ) -> None:
        customer = self.pick(Customer, number)
        tenant = self.tables[Customer][customer]["tenant"]
        # What an order across tenants does is the claim of a test of its own, below.
        offered = [symbol for symbol, row in self.tables[Product].items() if row["tenant"] == tenant]
        lines = [(offered[product % len(offered)], quantity) for product, quantity in basket]

        def model() -> Fields:
            self.row(Customer, customer, by)
            wanted: dict[str, int] = {}
            for product, quantity in lines:
                wanted[product] = wanted.get(product, 0) + quantity
            products = {symbol: self.tables[Product][symbol] for symbol in wanted}
            currencies = {product["currency"] for product in products.values()}
            if len(currencies) > 1:
                raise No("order.currencies")
            if any(products[symbol]["stock"] < quantity for symbol, quantity in wanted.items()):
                raise No("order.stock")
            order = self.add(
                Order,
                "order",
                tenant=tenant,
                customer_id=customer,
                number="?",
                status="placed",
                total=sum(products[symbol]["price"] * quantity for symbol, quantity in wanted.items()),
                currency=currencies.pop(),
                address=address,
                version=1,
                created_at=self.now,
            )
            for symbol, quantity in wanted.items():
                products[symbol]["stock"] -= quantity
                price = {"unit_price": products[symbol]["price"], "currency": order["currency"]}
                of = {"order_id": order["id"], "product_id": symbol}
                self.add(OrderLine, "order_line", **of, quantity=quantity, **price)
            self.mailed(order, "Your order")
            return {name: value for name, value in self.view(order).items() if name != "number"}

        sent_lines = [
            {"product_id": self.world.id(product), "quantity": quantity} for product, quantity in lines
        ]
        sent = {"customer_id": self.world.id(customer), "lines": sent_lines, "address": address}
        self.ask("place_order", model, sent, by=by, key=key)

    @invariant()
    def learn_numbers(self) -> None:
        """How orders are numbered is not said anywhere, so the model takes over what the service chose."""
        for symbol, row in self.tables[Order].items():
            if row["number"] == "?":
                row["number"] = self.world.rows(Order, id=symbol)[0].number
                assert row["number"].isdigit()
        for row in self.tables[Message].values():
            if row["subject"].endswith("?"):
                row["subject"] = self.world.rows(Message, id=row["id"])[0].subject
                orders = self.seen(Order, self.world.spec.principal, customer_id=row["customer_id"])
                assert row["subject"] in {f"Your order {order['number']}" for order in orders}

    @rule(
        number=numbers,
        reason=st.sampled_from((None, "late")),
        version=versions,
        by=principals,
        key=maybe_keys,
    )
    def cancel_order(
        self, number: int, reason: str | None, version: int | None, by: Principal, key: str | None
    ) -> None:
        placed = [row["id"] for row in self.tables[Order].values() if row["status"] == "placed"]
        symbol = placed[-1] if placed and number % 2 else self.pick(Order, number // 2)

        def model() -> Fields:
            order = self.named(symbol, by, version)
            if order["status"] != "placed":
                raise No("order.not_cancellable")
            order.update(status="cancelled", version=order["version"] + 1)
            for line in self.tables[OrderLine].values():
                if line["order_id"] == symbol:
                    self.tables[Product][line["product_id"]]["stock"] += line["quantity"]
            self.mailed(order, "Your order was cancelled")
            return self.view(order)

        sent = {"order_id": self.world.id(symbol), "reason": reason, "if_version": version}
        self.ask("cancel_order", model, sent, by=by, key=key)

    @rule(number=numbers, address=addresses, version=versions, by=principals)
    def change_order_address(self, number: int, address: str, version: int | None, by: Principal) -> None:
        symbol = self.pick(Order, number)

        def model() -> Fields:
            order = self.named(symbol, by, version)
            if order["status"] not in {"placed", "packed"}:
                raise No("order.shipped")
            if order["address"] == address:
                raise No("order.unchanged")
            order.update(address=address, version=order["version"] + 1)
            return self.view(order)

        sent = {"order_id": self.world.id(symbol), "address": address, "if_version": version}
        self.ask("change_order_address", model, sent, by=by)

    @rule(number=numbers, reason=st.sampled_from(("too small", "broken")), by=principals, key=maybe_keys)
    def create_return(self, number: int, reason: str, by: Principal, key: str | None) -> None:
        symbol = self.pick(Order, number)

        def model() -> Fields:
            order = self.row(Order, symbol, by)
            parcels = [row for row in self.tables[Shipment].values() if row["order_id"] == symbol]
            delivered: list[datetime] = [
                row["delivered_at"] for row in parcels if row["delivered_at"] is not None
            ]
            if order["status"] != "delivered" or not delivered:
                raise No("return.not_delivered")
            if self.now > max(delivered) + timedelta(days=RETURN_DAYS):
                raise No("return.window")
            if any(
                row["order_id"] == symbol and row["status"] == "open" for row in self.tables[Return].values()
            ):
                raise No("return.open")
            owner = {name: order[name] for name in ("tenant", "customer_id")}
            made = {"order_id": symbol, "reason": reason, "status": "open", "created_at": self.now}
            return shown(self.add(Return, "return", **owner, **made))

        self.ask(
            "create_return", model, {"order_id": self.world.id(symbol), "reason": reason}, by=by, key=key
        )

    @rule(number=numbers, by=principals)
    def cancel_return(self, number: int, by: Principal) -> None:
        symbol = self.pick(Return, number)

        def model() -> Fields:
            row = self.row(Return, symbol, by)
            if row["status"] != "open":
                raise No("return.not_open")
            row["status"] = "cancelled"
            return shown(row)

        self.ask("cancel_return", model, {"return_id": self.world.id(symbol)}, by=by)


TestOrders = OrdersMachine.TestCase
TestOrders.settings = STEPS


def test_an_order_never_crosses_tenants() -> None:
    with world() as opened:
        line = {"product_id": opened.id("$product.lamp"), "quantity": 1}
        sent = {"customer_id": opened.id("$customer.sue"), "lines": [line], "address": "9 South St"}
        answer = opened.call("place_order", sent)
        placed = opened.rows(Order, customer_id="$customer.sue")
        assert {order.tenant for order in placed} == {"south"}, answer.text


def test_no_two_orders_have_the_same_number() -> None:
    with world() as opened:
        line = {"product_id": opened.id("$product.lamp"), "quantity": 1}
        for customer in ("$customer.max", "$customer.lee", "$customer.max", "$customer.max"):
            sent = {"customer_id": opened.id(customer), "lines": [line], "address": "1 Elm St"}
            assert opened.call("place_order", sent).ok
        numbers = [order.number for order in opened.rows(Order)]
        assert sorted(numbers) == sorted(set(numbers))
