"""What happened: the values that every layer speaks, and the three books. Standard library only."""

from sandtrail.ledgers.bindings import Binding, Projection
from sandtrail.ledgers.book import Ledger, Proof, Records
from sandtrail.ledgers.entries import Attempt, Change, Effect, Page
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import Catalog, Fault, FaultPlan, Principal, ToolSpec, WorldSpec
from sandtrail.ledgers.words import Access, Delivery, Grade, Outcome, Overall, Severity

__all__ = [
    "Access",
    "Attempt",
    "Binding",
    "Catalog",
    "Change",
    "Delivery",
    "Effect",
    "Fault",
    "FaultPlan",
    "Finding",
    "Grade",
    "Ledger",
    "Outcome",
    "Overall",
    "Page",
    "Principal",
    "Projection",
    "Proof",
    "Records",
    "Severity",
    "ToolSpec",
    "WorldSpec",
]
