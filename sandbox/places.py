"""Files that are written for their owner alone."""

from __future__ import annotations

import os
from pathlib import Path


class BadStore(ValueError):
    """A place that is no store, or one that cannot be read or written; the message says what to do."""


def private_file(path: Path) -> None:
    """Make the file where there is none, readable to its owner alone, before anybody writes. Raises BadStore, OSError."""
    if path.is_dir():
        raise BadStore(f"{path}: it is a folder; name a file in it")
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
