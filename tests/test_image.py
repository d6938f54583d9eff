"""Templates of worlds: made once for each text of a specification, and kept within a bound of memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from sandtrail.fakes import SERVICES, image
from sandtrail.fakes.image import Shelf, Template, template
from sandtrail.fakes.store import Image, Schema
from sandtrail.ledgers import WorldSpec
from sandtrail.sandbox import library

if TYPE_CHECKING:
    from sandtrail.fakes.image import ServiceClasses

NONE: ServiceClasses = ()
EMPTY = Schema(())


def of(size: int) -> Template:
    return Template(Image(EMPTY, bytes(size)), {}, {})


def key(name: str) -> tuple[str, ServiceClasses]:
    return name, NONE


def names(shelf: Shelf) -> str:
    """The kept ones of a, b, c, d; each look makes it the one used last, in this order."""
    return "".join(name for name in "abcd" if shelf.find(key(name)) is not None)


def test_what_was_not_used_for_longest_goes_first() -> None:
    shelf = Shelf(30)
    for name in "abc":
        shelf.keep(key(name), of(10))
    assert shelf.find(key("a")) is not None
    shelf.keep(key("d"), of(10))
    assert names(shelf) == "acd"


def test_the_room_is_in_bytes_so_that_a_large_world_takes_the_place_of_many() -> None:
    shelf = Shelf(30)
    for name in "abc":
        shelf.keep(key(name), of(10))
    shelf.keep(key("d"), of(25))
    assert (names(shelf), len(shelf)) == ("d", 1)
    shelf.keep(key("a"), of(5))
    assert names(shelf) == "ad"


def test_one_that_is_larger_than_the_room_is_kept_until_the_next() -> None:
    shelf = Shelf(30)
    shelf.keep(key("a"), of(100))
    assert names(shelf) == "a"
    shelf.keep(key("b"), of(10))
    assert names(shelf) == "b"


def test_one_that_two_threads_have_made_counts_once() -> None:
    shelf = Shelf(30)
    for _ in range(5):
        shelf.keep(key("a"), of(10))
    shelf.keep(key("b"), of(20))
    assert names(shelf) == "ab"


def test_no_template_of_the_library_is_made_twice_however_often_all_of_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worlds = [scenario.world for scenario in library()]
    texts = {world.seed_text for world in worlds}
    made: list[str] = []

    def counted(spec: WorldSpec, classes: ServiceClasses) -> Template:
        made.append(spec.seed_text)
        return of(229_376)

    monkeypatch.setattr(image, "_TEMPLATES", Shelf(image.ROOM))
    monkeypatch.setattr(image, "_made", counted)
    for _ in range(3):
        for world in worlds:
            template(world, SERVICES)
    assert sorted(made) == sorted(texts)
    assert len(texts) > 64


def test_the_size_that_the_room_is_reckoned_with_is_that_of_a_shipped_world() -> None:
    world = next(iter(library())).world
    assert len(template(world, SERVICES).image.data) == pytest.approx(229_376, rel=0.5)
    assert template(replace(world, zone="Asia/Tokyo"), SERVICES) is template(world, SERVICES)


def test_threads_that_want_the_same_world_get_equal_ones() -> None:
    world = replace(next(iter(library())).world, population=3)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(partial(template, classes=SERVICES), [world] * 8))
    assert len({one.image.data for one in found}) == 1
