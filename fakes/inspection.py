"""Looking at a world's rows with SQLModel: always at a copy, so that no session can touch the evidence."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool
from sqlmodel import Session

from sandtrail.fakes.store import Image


@contextmanager
def session(image: Image) -> Generator[Session]:
    """A session over a copy of an image, gone with the block."""
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.deserialize(image.data)
    engine = create_engine("sqlite://", creator=lambda: db, poolclass=StaticPool)
    try:
        with Session(engine) as opened:
            yield opened
    finally:
        engine.dispose()
        db.close()
