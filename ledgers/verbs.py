"""What the name of a tool says of it: whether it sounds like a write.

A guess, and said to be one wherever it is used: a declared operation and a tool's own hint go before it.
"""

from __future__ import annotations

import re

from sandtrail.ledgers.naming import words_of

WRITES = frozenset(
    [
        "add",
        "append",
        "apply",
        "approve",
        "assign",
        "attach",
        "book",
        "buy",
        "cancel",
        "capture",
        "change",
        "charge",
        "close",
        "create",
        "credit",
        "deactivate",
        "delete",
        "disable",
        "discard",
        "edit",
        "enable",
        "exchange",
        "execute",
        "grant",
        "insert",
        "issue",
        "lock",
        "merge",
        "modify",
        "move",
        "open",
        "order",
        "patch",
        "pay",
        "place",
        "post",
        "publish",
        "purchase",
        "put",
        "redeem",
        "refund",
        "register",
        "reject",
        "remove",
        "rename",
        "replace",
        "report",
        "reset",
        "restore",
        "return",
        "revoke",
        "save",
        "schedule",
        "send",
        "set",
        "ship",
        "start",
        "stop",
        "submit",
        "subscribe",
        "swap",
        "transfer",
        "undo",
        "unlock",
        "unsubscribe",
        "update",
        "upgrade",
        "upload",
        "void",
        "withdraw",
        "write",
    ]
)
_READS = frozenset(
    [
        "browse",
        "calculate",
        "check",
        "compare",
        "compute",
        "convert",
        "count",
        "describe",
        "estimate",
        "fetch",
        "find",
        "get",
        "inspect",
        "list",
        "load",
        "locate",
        "look",
        "lookup",
        "open_page",
        "preview",
        "query",
        "quote",
        "read",
        "resolve",
        "retrieve",
        "search",
        "select",
        "show",
        "summarize",
        "think",
        "track",
        "validate",
        "verify",
        "view",
    ]
)
_HANDS_OVER = re.compile(r"human|hand_?over|hand_?off|escalat", re.IGNORECASE)


def verb_writes(name: str) -> tuple[bool, str]:
    """Whether the name of a tool sounds like a write: the first of its words that is a known verb decides."""
    if _HANDS_OVER.search(name):
        return False, "inferred: it hands over to a person"
    for word in words_of(name):
        if word in WRITES or word in _READS:
            return word in WRITES, f"inferred from the verb '{word}'"
    return False, "inferred: no verb of its name is known to write"
