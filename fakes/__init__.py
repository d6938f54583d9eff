"""The world an agent acts on: three fake services over one recorded store, and what a service of your own needs."""

from sandtrail.fakes.answers import Answer, AnswerLost
from sandtrail.fakes.billing import Billing
from sandtrail.fakes.customers import Customers
from sandtrail.fakes.entities import Entity, Id, Instant, Money, Ref
from sandtrail.fakes.gateway import AtLeast, AtMost, Contains, OneOf, Same, Tx
from sandtrail.fakes.operations import Service, operation
from sandtrail.fakes.orders import OrderBook
from sandtrail.fakes.problems import NotFound, Rejected
from sandtrail.fakes.world import World

SERVICES: tuple[type[Service], ...] = (Customers, Billing, OrderBook)
"""The shipped services."""

__all__ = [
    "SERVICES",
    "Answer",
    "AnswerLost",
    "AtLeast",
    "AtMost",
    "Billing",
    "Contains",
    "Customers",
    "Entity",
    "Id",
    "Instant",
    "Money",
    "NotFound",
    "OneOf",
    "OrderBook",
    "Ref",
    "Rejected",
    "Same",
    "Service",
    "Tx",
    "World",
    "operation",
]
