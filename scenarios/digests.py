"""What a scenario is, as one digest: equal where an agent meets the same world, tools, user and expectations.

Files, lines and what only people read (why it exists, tags, who has read it) are none of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any, cast

from sandtrail.scenarios.contract import ANY
from sandtrail.scenarios.scenario import Scenario

_FOR_PEOPLE = frozenset({"places", "why", "tags", "reviewed"})


def digest_of(scenario: Scenario) -> str:
    """SHA-256 over everything of a scenario that a run or its verdict may depend on."""
    text = json.dumps(_plain(scenario), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _plain(value: object) -> Any:
    """A value as JSON: objects as pairs in their order (that of entities and tools matters), a class by its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            one.name: _plain(getattr(value, one.name)) for one in fields(value) if one.name not in _FOR_PEOPLE
        }
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value)
        return [[str(key), _plain(item)] for key, item in pairs.items()]
    if isinstance(value, Set):
        return sorted(json.dumps(_plain(item), default=str) for item in cast("Set[object]", value))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return "(any)" if value is ANY else value
