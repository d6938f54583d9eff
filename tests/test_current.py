"""Which test is running, whoever asks."""

from __future__ import annotations

import contextvars
import threading

import pytest

from sandtrail.sandbox import current
from sandtrail.sandbox.current import Current, begun, running


@pytest.fixture(autouse=True)
def no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is outside of tests."""
    monkeypatch.setattr(current, "_RUNNING", [])


def in_a_thread() -> Current | None:
    found: list[Current | None] = []
    beside = threading.Thread(target=lambda: found.append(running()))
    beside.start()
    beside.join()
    return found[0]


def test_outside_of_a_test_there_is_none() -> None:
    assert running() is None


def test_a_thread_knows_the_test_that_began_it() -> None:
    one = Current()
    with begun(one):
        assert running() is in_a_thread() is one
    assert running() is in_a_thread() is None


def test_a_context_that_outlives_its_test_tells_the_test_that_runs() -> None:
    with begun(Current()):
        kept = contextvars.copy_context()
    two = Current()
    with begun(two):
        assert kept.run(running) is two
    assert kept.run(running) is None


def test_tests_that_run_at_once_in_contexts_of_their_own_are_told_apart() -> None:
    one, two = Current(), Current()
    with begun(one):
        ours = contextvars.copy_context()
        with begun(two):
            assert ours.run(running) is one
            assert running() is two
        assert running() is one


def test_two_tests_that_have_run_nothing_are_not_the_same() -> None:
    assert Current() != Current()
