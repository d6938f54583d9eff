"""The meeting of a scenario, an agent and a world: it runs, records, judges and reports."""

from sandtrail.sandbox.errors import BlockedRequest, BooksDisagree, FrozenElsewhere, UnfiredFault, UnreadBlocks
from sandtrail.sandbox.models import Block, Record
from sandtrail.sandbox.sandbox import Sandbox

__all__ = [
    "Block",
    "BlockedRequest",
    "BooksDisagree",
    "FrozenElsewhere",
    "Record",
    "Sandbox",
    "UnfiredFault",
    "UnreadBlocks",
]
