"""The order service: products, orders, shipments, returns, and the outbox.

| table          | what                          | rules |
|----------------|-------------------------------|-------|
| product        | what can be bought            | no more is sold than there is |
| order          | placed, packed, shipped, delivered, cancelled | cancelled until packed; address changed until shipped |
| order_line     | product, quantity, unit price | |
| shipment       | a parcel                      | |
| shipment_event | where it was when             | |
| return         | open, cancelled               | within 30 days after delivery; one open per order |
| message        | the outbox: mail that left    | external: cannot be taken back |

Cancelling mails the customer and refunds nothing, and the tool says so.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from sqlmodel import Field as Column

from sandtrail.fakes.entities import INT64, Entity, Id, Instant, Money, Ref
from sandtrail.fakes.gateway import Contains, Tx
from sandtrail.fakes.operations import Service, operation
from sandtrail.fakes.paging import Cursor, Limit, crowd, page
from sandtrail.fakes.problems import Rejected

CustomerId: TypeAlias = Annotated[str, Ref("customer")]
OrderId: TypeAlias = Annotated[str, Ref("order")]
ProductId: TypeAlias = Annotated[str, Ref("product")]
ReturnId: TypeAlias = Annotated[str, Ref("return")]
OrderStatus: TypeAlias = Literal["placed", "packed", "shipped", "delivered", "cancelled"]

FIRST_NUMBER = 9001
RETURN_WINDOW = timedelta(days=30)


class Product(Entity, table=True):
    """What can be bought."""

    id: Annotated[str, Id("product")]
    tenant: str = "north"
    name: str
    sku: str
    price: Annotated[int, Money()] = 0
    currency: str = "USD"
    stock: int = 0


class Order(Entity, table=True):
    """An order. `address` is where it goes."""

    id: Annotated[str, Id("order")]
    tenant: str = "north"
    customer_id: Annotated[str, Ref("customer", index=True)]
    number: Annotated[str, Column(index=True)]
    status: str = "placed"
    total: Annotated[int, Money()] = 0
    currency: str = "USD"
    address: str | None = None
    version: int = 1
    created_at: Instant


class OrderLine(Entity, table=True):
    """What was ordered."""

    id: Annotated[str, Id("order_line")]
    order_id: Annotated[str, Ref("order", index=True)]
    product_id: ProductId
    quantity: int = 1
    unit_price: Annotated[int, Money()] = 0
    currency: str = "USD"


class Shipment(Entity, table=True):
    """A parcel."""

    id: Annotated[str, Id("shipment")]
    order_id: OrderId
    carrier: str = "UPS"
    tracking: str
    delivered_at: Instant | None = None


class ShipmentEvent(Entity, table=True):
    """Where a parcel was, and when."""

    id: Annotated[str, Id("shipment_event")]
    shipment_id: Annotated[str, Ref("shipment")]
    what: str
    created_at: Instant


class Return(Entity, table=True):
    """Goods on their way back."""

    id: Annotated[str, Id("return")]
    tenant: str = "north"
    customer_id: CustomerId
    order_id: OrderId
    reason: str
    status: str = "open"
    created_at: Instant


class Message(Entity, table=True):
    """A mail that has left."""

    id: Annotated[str, Id("message")]
    tenant: str = "north"
    customer_id: CustomerId
    channel: str = "mail"
    subject: str
    created_at: Instant


class Orders(BaseModel):
    """A page of orders."""

    orders: list[Order]
    next_cursor: Cursor | None


class Products(BaseModel):
    """A page of products."""

    products: list[Product]
    next_cursor: Cursor | None


class LineView(BaseModel):
    """A line of an order."""

    product_id: ProductId
    product: str
    quantity: int
    unit_price: int


class OrderView(BaseModel):
    """An order with its lines."""

    id: OrderId
    customer_id: CustomerId
    number: str
    status: str
    total: int
    currency: str
    address: str | None
    version: int
    created_at: Instant
    lines: list[LineView]


class TrackingEvent(BaseModel):
    """Where a parcel was."""

    what: str
    at: Instant


class Parcel(BaseModel):
    """A parcel and its way."""

    carrier: str
    tracking: str
    delivered_at: Instant | None
    events: list[TrackingEvent]


class Tracking(BaseModel):
    """The parcels of an order."""

    order_id: OrderId
    status: str
    parcels: list[Parcel]


class LineIn(BaseModel):
    """What to order."""

    model_config = ConfigDict(extra="forbid", strict=True)

    product_id: ProductId
    quantity: Annotated[int, Field(ge=1, le=100)]


class OrderBook(Service):
    """The order service."""

    name = "orders"
    entities = (Product, Order, OrderLine, Shipment, ShipmentEvent, Return, Message)

    # -- reads -----------------------------------------------------------------------------------------

    @operation("GET /v1/order-search", access="read", scope="orders:read")
    def search_orders(
        self,
        tx: Tx,
        number: Annotated[
            str,
            Field(
                min_length=1, max_length=40, description="the number printed on the order, for example 4412"
            ),
        ],
    ) -> Orders:
        """Find an order by its order number, as customers quote it. Returns matching orders with their ids. Not for
        payments (use list_payments with the order's id)."""
        return Orders(orders=tx.select(Order, number=number), next_cursor=None)

    @operation("GET /v1/orders", access="read", scope="orders:read")
    def list_orders(
        self,
        tx: Tx,
        customer_id: CustomerId,
        status: OrderStatus | None = None,
        cursor: Cursor | None = None,
        limit: Limit = 20,
    ) -> Orders:
        """List a customer's orders, oldest first, optionally of one status. Returns orders."""
        wanted = {"customer_id": customer_id} | ({} if status is None else {"status": status})
        found = page(tx, Order, "order", cursor=cursor, limit=limit, wanted=wanted)
        return Orders(orders=found.rows, next_cursor=found.next_cursor)

    @operation("GET /v1/orders/{order_id}", access="read", scope="orders:read")
    def get_order(self, tx: Tx, order_id: OrderId) -> OrderView:
        """Read one order with its lines, status and address. Returns the order. Shows no payments."""
        return _order_view(tx, tx.get(Order, order_id))

    @operation("GET /v1/orders/{order_id}/tracking", access="read", scope="orders:read")
    def track_shipment(self, tx: Tx, order_id: OrderId) -> Tracking:
        """Show where the parcels of an order are. Returns parcels with their events, oldest first."""
        order = tx.get(Order, order_id)
        parcels = [
            Parcel(
                carrier=parcel.carrier,
                tracking=parcel.tracking,
                delivered_at=parcel.delivered_at,
                events=[
                    TrackingEvent(what=e.what, at=e.created_at)
                    for e in tx.select(ShipmentEvent, shipment_id=parcel.id)
                ],
            )
            for parcel in tx.select(Shipment, order_id=order_id)
        ]
        return Tracking(order_id=order_id, status=order.status, parcels=parcels)

    @operation("GET /v1/products", access="read", scope="orders:read")
    def search_products(
        self,
        tx: Tx,
        name: Annotated[str, Field(min_length=1, max_length=80)],
        cursor: Cursor | None = None,
        limit: Limit = 20,
    ) -> Products:
        """Find products by name. Returns products with present price and stock; prices of the past are not kept."""
        found = page(tx, Product, "product", cursor=cursor, limit=limit, wanted={"name": Contains(name)})
        return Products(products=found.rows, next_cursor=found.next_cursor)

    # -- writes ----------------------------------------------------------------------------------------

    @operation(
        "POST /v1/orders",
        access="write",
        scope="orders:write",
        undone_by="cancel_order",
        external=("mail.sent",),
        idempotent=True,
    )
    def place_order(
        self,
        tx: Tx,
        customer_id: CustomerId,
        lines: Annotated[list[LineIn], Field(min_length=1, max_length=20)],
        address: Annotated[str, Field(min_length=5, max_length=300)],
    ) -> OrderView:
        """Place an order for a customer and mail them a confirmation. Writes, and the mail cannot be taken back.
        Returns the order."""
        wanted: dict[str, int] = {}
        for line in lines:
            wanted[line.product_id] = wanted.get(line.product_id, 0) + line.quantity
        products = {key: tx.get(Product, key) for key in wanted}
        currencies = {product.currency for product in products.values()}
        if len(currencies) > 1:
            raise Rejected(
                "order.currencies",
                "The products have different currencies.",
                allowed="one currency per order",
            )
        for key, quantity in wanted.items():
            if products[key].stock < quantity:
                raise Rejected(
                    "order.stock",
                    f"There are {products[key].stock} of {key} left.",
                    allowed="a smaller quantity",
                )
        tenant = _tenant(tx, customer_id, products)
        total = sum(products[key].price * quantity for key, quantity in wanted.items())
        if total > INT64:
            raise Rejected(
                "order.total", "The total is beyond what can be kept.", allowed="a smaller quantity"
            )
        with tx.effect("order.placed", customer=customer_id, amount=total, currency=currencies.pop()):
            order = self._placed(tx, customer_id, tenant, products, wanted, address)
        _mail(tx, order, "Your order")
        return _order_view(tx, order)

    def _placed(
        self,
        tx: Tx,
        customer_id: str,
        tenant: str,
        products: dict[str, Product],
        wanted: dict[str, int],
        address: str,
    ) -> Order:
        number = FIRST_NUMBER
        while tx.taken(Order, number=str(number)):
            number += 1
        order = tx.insert(
            Order,
            tenant=tenant,
            customer_id=customer_id,
            number=str(number),
            total=sum(products[key].price * quantity for key, quantity in wanted.items()),
            currency=next(iter(products.values())).currency,
            address=address,
            created_at=tx.now,
        )
        for key, quantity in wanted.items():
            product = products[key]
            of = {"order_id": order.id, "product_id": key, "currency": product.currency}
            tx.insert(OrderLine, quantity=quantity, unit_price=product.price, **of)
            tx.update(product, stock=product.stock - quantity)
        return order

    @operation(
        "POST /v1/orders/{order_id}/cancel",
        access="write",
        scope="orders:write",
        undone_by=None,
        external=("mail.sent",),
        versioned="order_id",
        idempotent=True,
    )
    def cancel_order(
        self,
        tx: Tx,
        order_id: OrderId,
        reason: Annotated[str, Field(min_length=1, max_length=300)] | None = None,
    ) -> OrderView:
        """Cancel an order that is not packed yet and mail the customer. Writes; cannot be undone. Refunds nothing (use
        refund_payment for money back). Not for sending goods back (use create_return). Returns the order."""
        order = tx.get(Order, order_id)
        if order.status != "placed":
            raise Rejected(
                "order.not_cancellable",
                f"{order_id} is {order.status}.",
                allowed="an order that is not packed yet",
            )
        with tx.effect("order.cancelled", order=order_id, reason=reason):
            cancelled = tx.update(order, status="cancelled")
            for line in tx.select(OrderLine, order_id=order_id):
                product = tx.get(Product, line.product_id)
                tx.update(product, stock=product.stock + line.quantity)
        _mail(tx, order, "Your order was cancelled")
        return _order_view(tx, cancelled)

    @operation(
        "PATCH /v1/orders/{order_id}/address",
        access="write",
        scope="orders:write",
        undone_by="change_order_address",
        versioned="order_id",
    )
    def change_order_address(
        self, tx: Tx, order_id: OrderId, address: Annotated[str, Field(min_length=5, max_length=300)]
    ) -> OrderView:
        """Change where one order goes, until it is shipped. Writes. The customer's own address stays as it is (use
        set_address for that). Returns the order."""
        order = tx.get(Order, order_id)
        if order.status not in {"placed", "packed"}:
            raise Rejected(
                "order.shipped", f"{order_id} is {order.status}.", allowed="an order that is not shipped yet"
            )
        if order.address == address:
            raise Rejected("order.unchanged", "The order already goes there.", allowed="another address")
        with tx.effect("order.address_changed", order=order_id, address=address):
            return _order_view(tx, tx.update(order, address=address))

    @operation(
        "POST /v1/orders/{order_id}/returns",
        access="write",
        scope="orders:write",
        undone_by="cancel_return",
        idempotent=True,
    )
    def create_return(
        self, tx: Tx, order_id: OrderId, reason: Annotated[str, Field(min_length=1, max_length=300)]
    ) -> Return:
        """Register that a delivered order comes back, within 30 days after delivery. Writes. Refunds nothing yet.
        Returns the return."""
        order = tx.get(Order, order_id)
        delivered = [
            parcel.delivered_at for parcel in tx.select(Shipment, order_id=order_id) if parcel.delivered_at
        ]
        if order.status != "delivered" or not delivered:
            raise Rejected(
                "return.not_delivered", f"{order_id} is {order.status}.", allowed="a delivered order"
            )
        if tx.now - max(delivered) > RETURN_WINDOW:
            raise Rejected(
                "return.window",
                f"{order_id} was delivered more than {RETURN_WINDOW.days} days ago.",
                allowed="nothing",
            )
        if tx.find(Return, order_id=order_id, status="open") is not None:
            raise Rejected("return.open", f"{order_id} has an open return.", allowed="one return at a time")
        with tx.effect("return.created", order=order_id):
            owner = {"tenant": order.tenant, "customer_id": order.customer_id, "order_id": order_id}
            return tx.insert(Return, reason=reason, created_at=tx.now, **owner)

    @operation(
        "POST /v1/returns/{return_id}/cancel", access="write", scope="orders:write", undone_by="create_return"
    )
    def cancel_return(self, tx: Tx, return_id: ReturnId) -> Return:
        """Cancel a return that is open. Writes. Returns the return."""
        found = tx.get(Return, return_id)
        if found.status != "open":
            raise Rejected("return.not_open", f"{return_id} is {found.status}.", allowed="an open return")
        return tx.update(found, status="cancelled", effect="return.cancelled")

    # -- the world itself ------------------------------------------------------------------------------

    def populate(self, tx: Tx, count: int) -> None:
        """An order with one line for each unnamed customer."""
        lamp = tx.insert(
            Product, id=crowd("product", 0), name="Desk lamp", sku="LAMP-1", price=1000, stock=count
        )
        for number in range(count):
            key = crowd("order", number)
            customer = crowd("customer", number)
            tx.insert(
                Order,
                id=key,
                customer_id=customer,
                number=str(100000 + number),
                total=1000 + number,
                created_at=tx.now,
            )
            tx.insert(
                OrderLine,
                id=crowd("order_line", number),
                order_id=key,
                product_id=lamp.id,
                unit_price=1000 + number,
            )


def _tenant(tx: Tx, customer_id: str, products: dict[str, Product]) -> str:
    """The tenant of an order: its customer's. Raises Rejected for a closed customer or another tenant's products."""
    tenants = {product.tenant for product in products.values()}
    if tx.offers("get_customer"):
        customer = tx.call("get_customer", customer_id=customer_id)
        if customer.status == "closed":
            raise Rejected("customer.closed", f"{customer_id} is closed.", allowed="an active customer")
        tenants.add(customer.tenant)
    if len(tenants) > 1:
        raise Rejected(
            "order.tenants",
            "The products belong to another tenant than the customer.",
            allowed="one tenant per order",
        )
    return tenants.pop()


def _mail(tx: Tx, order: Order, subject: str) -> None:
    """Send the customer a mail: an effect of its own, since it cannot be taken back."""
    with tx.effect("mail.sent", external=True, customer=order.customer_id, subject=subject):
        tx.insert(
            Message,
            tenant=order.tenant,
            customer_id=order.customer_id,
            subject=f"{subject} {order.number}",
            created_at=tx.now,
        )


def _order_view(tx: Tx, order: Order) -> OrderView:
    lines = [
        LineView(
            product_id=line.product_id,
            product=tx.get(Product, line.product_id).name,
            quantity=line.quantity,
            unit_price=line.unit_price,
        )
        for line in tx.select(OrderLine, order_id=order.id)
    ]
    shown = {name: getattr(order, name) for name in OrderView.model_fields if name != "lines"}
    return OrderView(**shown, lines=lines)
