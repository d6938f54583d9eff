"""The customer service: who somebody is, how to reach them, and what has been noted about them.

| table          | what                                   | rules |
|----------------|----------------------------------------|-------|
| customer       | the billing customer                   | closed ones keep their data; no update takes another's e-mail |
| address        | where they live                        | set as a whole; two-letter country |
| note           | what staff wrote                       | never changed, never removed |
| login          | the login principal, not the customer  | found by e-mail only |
| customer_cache | a replica, refreshed at midnight UTC   | bookkeeping: may be stale |
| handoff        | a conversation handed to a person      | |

Near misses on purpose: `lookup_customer_cache` may be stale, `find_customer` is a deprecated alias of
`search_customers`, `get_user` answers about logins, `get_customer_profile` is broad: it shows sums of orders and payments, never single ones.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import BaseModel, Field

from sandtrail.fakes.entities import Entity, Id, Instant, Ref
from sandtrail.fakes.gateway import Contains, Same, Tx
from sandtrail.fakes.operations import Service, operation
from sandtrail.fakes.paging import Cursor, Limit, crowd, page
from sandtrail.fakes.problems import Denied, Rejected

CustomerId: TypeAlias = Annotated[str, Ref("customer")]
Email: TypeAlias = Annotated[
    str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", max_length=254, description="an e-mail address")
]
Phone: TypeAlias = Annotated[str, Field(pattern=r"^\+?[0-9 ()/.-]{5,24}$", description="a phone number")]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=120)]
TenantName: TypeAlias = Annotated[
    str, Field(description="the tenant to look in; required if you serve several")
]


class Customer(Entity, table=True):
    """The billing customer."""

    id: Annotated[str, Id("customer")]
    tenant: str = "north"
    name: str
    email: str
    phone: str | None = None
    language: str = "en"
    status: str = "active"
    version: int = 1
    created_at: Instant


class Address(Entity, table=True):
    """Where a customer lives."""

    id: Annotated[str, Id("address")]
    customer_id: CustomerId
    line: str
    city: str
    postcode: str
    country: str = "US"


class Note(Entity, table=True):
    """What staff wrote about a customer."""

    id: Annotated[str, Id("note")]
    customer_id: CustomerId
    text: str
    author: str
    created_at: Instant


class Login(Entity, table=True):
    """A login principal: not the customer."""

    id: Annotated[str, Id("login")]
    tenant: str = "north"
    customer_id: CustomerId
    email: str
    last_seen_at: Instant | None = None


class CustomerCache(Entity, table=True):
    """A replica of contact data."""

    business: ClassVar[bool] = False

    id: Annotated[str, Id("customer_cache")]
    tenant: str = "north"
    customer_id: CustomerId
    name: str
    email: str
    phone: str | None = None
    created_at: Instant


class Handoff(Entity, table=True):
    """A conversation handed over to a person."""

    id: Annotated[str, Id("handoff")]
    tenant: str = "north"
    customer_id: Annotated[str | None, Ref("customer")] = None
    reason: str
    created_at: Instant


class CustomerMatches(BaseModel):
    """Customers that match."""

    customers: list[Customer]
    next_cursor: Cursor | None


class CachedContact(BaseModel):
    """Contact data as the cache holds it."""

    customer_id: CustomerId
    name: str
    email: str
    phone: str | None
    cached_at: Instant


class LoginView(BaseModel):
    """A login."""

    user_id: Annotated[str, Ref("login")]
    email: str
    last_seen_at: Instant | None


class Profile(BaseModel):
    """The broad view of a customer: sums of orders and payments (`paid_total` in `currency` only), never single ones."""

    customer: Customer
    address: Address | None
    notes: list[Note]
    orders_total: int
    paid_total: int
    currency: str | None


def tenant_for(tx: Tx, tenant: str | None) -> str | None:
    """The tenant to look in. Raises Rejected where one must be named, Denied for one the principal does not serve."""
    serves = tx.principal.tenants
    if tenant is None and len(serves) > 1:
        raise Rejected(
            "tenant.required",
            "You serve several tenants; say which one.",
            allowed=", ".join(serves),
            status=422,
        )
    if tenant is not None and tenant not in serves and "*" not in serves:
        raise Denied("tenant", "You do not serve this tenant.", allowed=", ".join(serves))
    return tenant if tenant is not None or "*" in serves else next(iter(serves))


class Customers(Service):
    """The customer service."""

    name = "customers"
    entities = (Customer, Address, Note, Login, CustomerCache, Handoff)

    # -- reads -----------------------------------------------------------------------------------------

    @operation("GET /v1/customers", access="read", scope="customers:read")
    def search_customers(
        self,
        tx: Tx,
        email: Email | None = None,
        phone: Phone | None = None,
        name: Name | None = None,
        tenant: TenantName | None = None,
        cursor: Cursor | None = None,
        limit: Limit = 20,
    ) -> CustomerMatches:
        """Find customer accounts by e-mail, phone or name. Give at least one of the three. Returns the matching
        customers with their ids. Not for invoices or orders (use search_invoices, search_orders)."""
        if email is None and phone is None and name is None:
            allowed = "email, phone or name"
            raise Rejected("search.empty", "Nothing to search for.", allowed=allowed, status=422)
        where = tenant_for(tx, tenant)
        wanted = {
            "email": email and Same(email),
            "phone": phone and _dialled(phone),
            "name": name and Contains(name),
            "tenant": where,
        }
        given = {key: value for key, value in wanted.items() if value is not None}
        found = page(tx, Customer, "customer", cursor=cursor, limit=limit, wanted=given)
        return CustomerMatches(customers=found.rows, next_cursor=found.next_cursor)

    @operation(
        "GET /v1/find-customer",
        access="read",
        scope="customers:read",
        deprecated="use search_customers.",
    )
    def find_customer(
        self,
        tx: Tx,
        email: Email | None = None,
        phone: Phone | None = None,
        name: Name | None = None,
        tenant: TenantName | None = None,
    ) -> CustomerMatches:
        """Find a customer by e-mail, phone or name. Returns the same data as search_customers."""
        return self.search_customers(tx, email=email, phone=phone, name=name, tenant=tenant)

    @operation("GET /v1/customers/{customer_id}", access="read", scope="customers:read")
    def get_customer(self, tx: Tx, customer_id: CustomerId) -> Customer:
        """Read one customer account by its id: name, contact data, status, version. Returns the customer."""
        return tx.get(Customer, customer_id)

    @operation("GET /v1/customers/{customer_id}/profile", access="read", scope="customers:read")
    def get_customer_profile(self, tx: Tx, customer_id: CustomerId) -> Profile:
        """Read the overview of a customer: contact data, address, notes, number of orders and the total paid.
        Returns sums only; for single payments use list_payments, for single orders list_orders."""
        customer = tx.get(Customer, customer_id)
        orders = _every(tx, "list_orders", "orders", customer_id)
        payments = _every(tx, "list_payments", "payments", customer_id)
        currency = payments[0].currency if payments else None
        return Profile(
            customer=customer,
            address=tx.find(Address, customer_id=customer_id),
            notes=tx.select(Note, customer_id=customer_id),
            orders_total=len(orders),
            paid_total=sum(
                payment.amount - payment.refunded for payment in payments if payment.currency == currency
            ),
            currency=currency,
        )

    @operation("GET /v1/customer-cache", access="read", scope="customers:read")
    def lookup_customer_cache(self, tx: Tx, email: Email) -> CachedContact:
        """Look up contact data in the nightly cache by e-mail. Fast, but up to a day old; not for decisions about
        the present state (use search_customers). Returns the cached contact data and when it was cached."""
        found = tx.find(CustomerCache, email=Same(email))
        if found is None:
            raise Rejected(
                "not_found",
                "The cache holds no such e-mail.",
                allowed="an e-mail as of last midnight",
                status=404,
            )
        return CachedContact(
            customer_id=found.customer_id,
            name=found.name,
            email=found.email,
            phone=found.phone,
            cached_at=found.created_at,
        )

    @operation("GET /v1/users", access="read", scope="customers:read")
    def get_user(self, tx: Tx, email: Email) -> LoginView:
        """Read the login principal for an e-mail. This is the authentication record, not the billing customer (use
        search_customers for that). Returns the user id and when it was last seen."""
        found = tx.find(Login, email=Same(email))
        if found is None:
            raise Rejected(
                "not_found",
                "There is no login with this e-mail.",
                allowed="the e-mail of a login",
                status=404,
            )
        return LoginView(user_id=found.id, email=found.email, last_seen_at=found.last_seen_at)

    # -- writes ----------------------------------------------------------------------------------------

    @operation(
        "PATCH /v1/customers/{customer_id}",
        access="write",
        scope="customers:write",
        undone_by="update_customer",
        versioned="customer_id",
    )
    def update_customer(
        self,
        tx: Tx,
        customer_id: CustomerId,
        email: Email | None = None,
        phone: Phone | None = None,
        name: Name | None = None,
    ) -> Customer:
        """Change a customer's e-mail, phone or name. Writes. Only what you give is changed. Returns the customer."""
        customer = _active(tx, customer_id)
        given = {
            key: value
            for key, value in {"email": email, "phone": phone and _dialled(phone), "name": name}.items()
            if value is not None
        }
        changed = {key: value for key, value in given.items() if getattr(customer, key) != value}
        if not changed:
            raise Rejected(
                "customer.unchanged", "Nothing would change.", allowed="a new email, phone or name"
            )
        if email is not None and tx.taken(
            Customer, besides=customer_id, email=Same(email), tenant=customer.tenant
        ):
            raise Rejected(
                "customer.email_taken",
                "Another customer has this e-mail.",
                allowed="an e-mail nobody else has",
            )
        facts: dict[str, Any] = {"customer": customer_id, **changed}
        with tx.effect("customer.updated", **facts):
            return tx.update(customer, **changed)

    @operation(
        "PUT /v1/customers/{customer_id}/address",
        access="write",
        scope="customers:write",
        undone_by="set_address",
    )
    def set_address(
        self,
        tx: Tx,
        customer_id: CustomerId,
        line: Name,
        city: Name,
        postcode: Annotated[str, Field(min_length=2, max_length=12)],
        country: Annotated[str, Field(pattern="^[A-Z]{2}$", description="ISO 3166 code, for example US")],
    ) -> Address:
        """Set a customer's postal address, replacing the one before. Writes. Not for the address of an order that is
        already placed (use change_order_address). Returns the address."""
        _active(tx, customer_id)
        old = tx.find(Address, customer_id=customer_id)
        if old is not None and (old.line, old.city, old.postcode, old.country) == (
            line,
            city,
            postcode,
            country,
        ):
            raise Rejected(
                "address.unchanged", "The customer already lives there.", allowed="another address"
            )
        with tx.effect("address.set", customer=customer_id):
            if old is None:
                return tx.insert(
                    Address, customer_id=customer_id, line=line, city=city, postcode=postcode, country=country
                )
            return tx.update(old, line=line, city=city, postcode=postcode, country=country)

    @operation(
        "POST /v1/customers/{customer_id}/notes",
        access="write",
        scope="customers:write",
        undone_by=None,
        idempotent=True,
    )
    def add_note(
        self, tx: Tx, customer_id: CustomerId, text: Annotated[str, Field(min_length=1, max_length=2000)]
    ) -> Note:
        """Add a note to a customer's account. Writes; notes cannot be changed or removed. Returns the note."""
        with tx.effect("note.added", customer=customer_id):
            return tx.insert(
                Note, customer_id=customer_id, text=text, author=tx.principal.subject, created_at=tx.now
            )

    @operation(
        "POST /v1/customers/{customer_id}/close",
        access="write",
        scope="customers:close",
        undone_by=None,
        versioned="customer_id",
    )
    def close_customer(self, tx: Tx, customer_id: CustomerId) -> Customer:
        """Close a customer account for good. Writes; cannot be undone. Refused while orders are open, a balance is
        due or store credit is left. Not for cancelling a subscription (use cancel_subscription). Returns the customer."""
        customer = _active(tx, customer_id)
        orders = _every(tx, "list_orders", "orders", customer_id)
        if any(order.status in {"placed", "packed", "shipped"} for order in orders):
            raise Rejected(
                "customer.open_orders",
                "The customer has open orders.",
                allowed="cancel or deliver them first",
            )
        balances: list[Any] = (
            tx.call("get_balance", customer_id=customer_id).balances if tx.offers("get_balance") else []
        )
        if any(balance.due or balance.credit for balance in balances):
            raise Rejected("customer.balance", "The customer has a balance.", allowed="settle it first")
        return tx.update(customer, status="closed", effect="customer.closed")

    @operation(
        "POST /v1/handoffs", access="write", scope="customers:handoff", undone_by=None, idempotent=True
    )
    def hand_over(
        self,
        tx: Tx,
        reason: Annotated[str, Field(min_length=1, max_length=500)],
        customer_id: CustomerId | None = None,
    ) -> Handoff:
        """Hand the conversation over to a person, saying why. Writes. For what you may not or cannot do yourself.
        Returns the hand-off."""
        tenant = tx.get(Customer, customer_id).tenant if customer_id is not None else tx.principal.tenants[0]
        with tx.effect("handoff.created", customer=customer_id):
            return tx.insert(
                Handoff, tenant=tenant, customer_id=customer_id, reason=reason, created_at=tx.now
            )

    # -- the world itself ------------------------------------------------------------------------------

    def on_seed(self, tx: Tx) -> None:
        """Keep phone numbers as they are dialled; give every customer a cache row that has none (a stale one, say)."""
        for customer in tx.select(Customer):
            if customer.phone is not None:
                tx.update(customer, phone=_dialled(customer.phone))
            if tx.find(CustomerCache, customer_id=customer.id) is None:
                tx.insert(
                    CustomerCache,
                    id=f"$customer_cache.{customer.id.partition('.')[2]}",
                    tenant=customer.tenant,
                    customer_id=customer.id,
                    name=customer.name,
                    email=customer.email,
                    phone=customer.phone,
                    created_at=tx.now,
                )

    def on_clock(self, tx: Tx, before: datetime, after: datetime) -> None:
        """Refresh the cache at midnight UTC."""
        if before.date() == after.date():
            return
        midnight = after.replace(hour=0, minute=0, second=0)
        for cached in tx.select(CustomerCache):
            customer = tx.get(Customer, cached.customer_id)
            seen = {"name": customer.name, "email": customer.email, "phone": customer.phone}
            tx.update(cached, created_at=midnight, **seen)

    def populate(self, tx: Tx, count: int) -> None:
        """Unnamed customers, each with an address."""
        for number in range(count):
            key = crowd("customer", number)
            email, phone = f"p{number:05d}@example.test", f"+1555{number:07d}"
            tx.insert(
                Customer, id=key, name=f"Person {number:05d}", email=email, phone=phone, created_at=tx.now
            )
            where = {"line": f"{number} Main Street", "city": "Springfield", "postcode": f"{10000 + number}"}
            tx.insert(Address, id=crowd("address", number), customer_id=key, **where)


def _active(tx: Tx, customer_id: str) -> Customer:
    customer = tx.get(Customer, customer_id)
    if customer.status == "closed":
        raise Rejected("customer.closed", f"{customer_id} is closed.", allowed="an active customer")
    return customer


def _dialled(phone: str) -> str:
    return re.sub(r"[ ()/.-]", "", phone)


def _every(tx: Tx, operation: str, field: str, customer_id: str) -> list[Any]:
    """All pages of another service's list; none where this world does not have it."""
    rows: list[Any] = []
    cursor: str | None = None
    while tx.offers(operation):
        found = tx.call(operation, customer_id=customer_id, limit=50, cursor=cursor)
        rows += getattr(found, field)
        cursor = found.next_cursor
        if cursor is None:
            break
    return rows
