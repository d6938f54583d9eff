"""Files, folders, datasets, catalogs beside a file, and the library: what is found, in which order, and what is not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from sandtrail.fakes.billing import Billing
from sandtrail.sandbox import library, load, loading
from sandtrail.sandbox.checking import check_world
from sandtrail.sandbox.choosing import chosen, once
from sandtrail.sandbox.cli import UsageError
from sandtrail.sandbox.loading import (
    CATALOG,
    SUFFIX,
    files_below,
    found,
    load_catalog,
    load_dataset,
    load_world,
    shipped,
    shipped_names,
)
from sandtrail.scenarios import BadScenario
from sandtrail.scenarios.parsing import parse_world
from sandtrail.scenarios.scenario import Place

TEXT = "scenario: {id}\nwhy: for a test\ntags: [{tag}]\nuser: {{says: Hi.}}\nexpect: {{read_only: true}}\n"


def write(folder: Path, name: str, *, tag: str = "mine", more: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}{SUFFIX}"
    file.write_text(TEXT.format(id=name, tag=tag) + more)
    return file


def cases(folder: Path, *lines: Mapping[str, object]) -> Path:
    file = folder / "cases.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


# -- the library -------------------------------------------------------------------------------------------


def test_the_library_is_in_order_and_each_file_is_named_after_its_scenario() -> None:
    ids = [scenario.id for scenario in library()]
    assert ids == sorted(shipped_names())
    assert all(scenario.place("scenario").file == f"{scenario.id}{SUFFIX}" for scenario in library())
    assert all(scenario.first_only is False for scenario in library())


def test_a_shipped_scenario_is_read_once() -> None:
    name = shipped_names()[0]
    assert shipped(name) is shipped(name)
    assert chosen([name])[0].scenario is shipped(name)
    assert chosen([name])[0].folder is None


def test_every_shipped_catalog_is_one() -> None:
    catalog = load_catalog("support@1", None, Place("here", 3))
    assert (catalog.name, catalog.version) == ("support", 1)
    assert load_catalog("support", None, Place("here", 3)) is catalog
    assert load_catalog("support.catalog.yaml", None, Place("here", 3)) is catalog
    with pytest.raises(BadScenario, match="the file has version 1") as error:
        load_catalog("support@2", None, Place("here", 3))
    assert str(error.value.place) == "here:3"


# -- files and folders -------------------------------------------------------------------------------------


def test_a_folder_is_searched_in_order_and_hidden_ones_are_left_out(tmp_path: Path) -> None:
    wanted = [write(tmp_path / "b", "one"), write(tmp_path / "b" / "deeper", "two"), write(tmp_path, "zero")]
    write(tmp_path / ".venv" / "lib", "three")
    write(tmp_path / "b" / ".hidden", "four")
    (tmp_path / "b" / "notes.yaml").write_text("not: a scenario")
    assert files_below(tmp_path) == sorted(wanted)
    loaded = list(found([str(tmp_path)]))
    assert [one.scenario.id for one in loaded] == [path.name.removesuffix(SUFFIX) for path in sorted(wanted)]
    assert [one.folder for one in loaded] == [path.parent for path in sorted(wanted)]


def test_a_folder_in_a_hidden_one_can_be_named(tmp_path: Path) -> None:
    write(tmp_path / ".hidden" / "mine", "one")
    assert [one.scenario.id for one in found([str(tmp_path / ".hidden" / "mine")])] == ["one"]


def test_what_is_nothing_of_the_kind_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text("a: b")
    with pytest.raises(FileNotFoundError, match=r"notes\.yaml: neither a folder, nor a file that ends in"):
        list(found([str(tmp_path / "notes.yaml")]))
    with pytest.raises(FileNotFoundError, match=r"no file below it ends in \.scenario\.yaml"):
        list(found([str(tmp_path)]))
    with pytest.raises(BadScenario, match="cannot be read: No such file or directory"):
        list(found([str(tmp_path / f"none{SUFFIX}")]))
    with pytest.raises(BadScenario, match="cannot be read: embedded null byte"):
        load(f"a\0b{SUFFIX}")
    with pytest.raises(BadScenario, match="cannot be read: File name too long"):
        load(f"{'x' * 300}{SUFFIX}")


def test_places_name_the_file_as_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, "one")
    assert str(load(file).place("why")) == f"{file}:2"
    monkeypatch.chdir(tmp_path)
    assert str(load(f"one{SUFFIX}").place("why")) == f"one{SUFFIX}:2"


# -- catalogs beside the file ------------------------------------------------------------------------------

OWN = "catalog: own\nversion: 3\ntools: [get_order, {tool: find, operation: search_orders}]\n"


@pytest.mark.parametrize("named", ["own", "own@3", f"own{CATALOG}"])
def test_a_catalog_beside_the_file_is_found_by_each_of_its_names(tmp_path: Path, named: str) -> None:
    (tmp_path / f"own{CATALOG}").write_text(OWN)
    scenario = load(write(tmp_path, "one", more=f"catalog: {{from: {named}}}\n"))
    assert scenario.catalog is not None
    assert scenario.catalog.key == "own@3"
    assert [tool.name for tool in scenario.catalog.tools] == ["get_order", "find"]


def test_a_catalog_in_a_folder_beside_the_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / f"own{CATALOG}").write_text(OWN)
    scenario = load(write(tmp_path, "one", more=f"catalog: {{from: below/own{CATALOG}}}\n"))
    assert scenario.catalog is not None
    assert scenario.catalog.key == "own@3"


@pytest.mark.parametrize("named", ["own", "own@3", f"own{CATALOG}", f"below/own{CATALOG}", "below/own@3"])
def test_a_shipped_scenario_finds_each_catalog_that_its_file_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    (tmp_path / "below").mkdir()
    for folder in (tmp_path, tmp_path / "below"):
        (folder / f"own{CATALOG}").write_text(OWN)
    file = write(tmp_path, "shipped-one", more=f"catalog: {{from: {named}}}\n")
    monkeypatch.setattr(loading, "_shipped", lambda: tmp_path)
    shipped.cache_clear()
    one, other = load(file), shipped("shipped-one")
    shipped.cache_clear()
    assert one.catalog is not None
    assert other.catalog is not None
    assert one.catalog.tools == other.catalog.tools
    assert (
        other.catalog.places["tools.find"].file == f"{named.partition('@')[0].removesuffix(CATALOG)}{CATALOG}"
    )


@pytest.mark.parametrize("named", ["below/nope", f"{'x' * 300}{CATALOG}", "a\\0b"])
def test_a_catalog_that_no_folder_has_is_told_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    file = write(tmp_path, "shipped-one", more=f'catalog: {{from: "{named}"}}\n')
    monkeypatch.setattr(loading, "_shipped", lambda: tmp_path)
    shipped.cache_clear()
    with pytest.raises(BadScenario) as beside:
        load(file)
    with pytest.raises(BadScenario) as out_of_the_library:
        shipped("shipped-one")
    assert beside.value.reason == out_of_the_library.value.reason


def test_a_catalog_beside_the_file_comes_before_a_shipped_one(tmp_path: Path) -> None:
    (tmp_path / f"support{CATALOG}").write_text(OWN.replace("catalog: own", "catalog: support"))
    scenario = load(write(tmp_path, "one", more="catalog: {from: support}\n"))
    assert scenario.catalog is not None
    assert scenario.catalog.version == 3


def test_a_catalog_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = write(tmp_path, "one", more="catalog: {from: own}\n")
    for version in (3, 4):
        (tmp_path / f"own{CATALOG}").write_text(OWN.replace("version: 3", f"version: {version}"))
        scenario = load(file)
        assert scenario.catalog is not None
        assert scenario.catalog.version == version


# -- datasets -----------------------------------------------------------------------------------------------

ONE = {"id": "one", "input": "Which orders?", "expected_tool": "search_orders"}
TWO = {"id": "two", "input": "Thanks.", "expected_tool": None, "category": "no tool"}


def test_a_dataset_is_a_case_a_line(tmp_path: Path) -> None:
    file = cases(tmp_path, ONE, TWO)
    one, two = load_dataset(file)
    assert (one.id, one.user.says, one.expect.first) == ("one", "Which orders?", ("search_orders",))
    assert (two.expect.first, two.first_only, str(two.place("expect.first"))) == ((), True, f"{file}:2")
    assert not one.expect.effects


def test_a_dataset_over_a_catalog_has_its_tools(tmp_path: Path) -> None:
    (tmp_path / f"own{CATALOG}").write_text(OWN)
    file = cases(tmp_path, {**ONE, "expected_tool": "find"})
    (loaded,) = found([str(file)], catalog="own@3")
    assert loaded.scenario.catalog is not None
    assert loaded.scenario.catalog.key == "own@3"
    with pytest.raises(BadScenario, match="there is no tool 'find'"):
        list(load_dataset(file))


def test_a_large_dataset_is_read_in_a_time_that_grows_with_it(tmp_path: Path) -> None:
    lines = [{**ONE, "id": f"case {number}"} for number in range(1500)]
    assert len(chosen([str(cases(tmp_path, *lines))], catalog="support@1")) == 1500


# -- worlds ---------------------------------------------------------------------------------------------------


def test_a_world_comes_from_a_world_file_or_a_scenario(tmp_path: Path) -> None:
    entity = "world:\n  $customer.lee: {name: Lee, email: lee@example.test}\n"
    plain = tmp_path / "plain.yaml"
    plain.write_text(entity)
    assert load_world(plain) == load_world(write(tmp_path, "one", more=entity))
    plain.write_text(f"{entity}user: {{says: Hi.}}\n")
    with pytest.raises(BadScenario, match="unknown key 'user'"):
        load_world(plain)


def test_a_world_is_checked_against_its_own_services() -> None:
    world, places = parse_world("world:\n  $order.a: {number: '1'}\n", "w.yaml")
    with pytest.raises(BadScenario, match="no entity kind 'order'") as error:
        check_world(world, places, [Billing])
    assert str(error.value.place) == "w.yaml:2"
    faulty, places = parse_world("world: {}\nfaults:\n  - {slow: get_order}\n", "w.yaml")
    with pytest.raises(BadScenario, match="no operation 'get_order'") as error:
        check_world(faulty, places, [Billing])
    assert str(error.value.place) == "w.yaml:3"


def test_a_world_that_calls_itself_too_often_is_told(tmp_path: Path) -> None:
    chain = "".join(f"  $customer.a{number}: {{like: $customer.a{number + 1}}}\n" for number in range(3000))
    last = "  $customer.a3000: {name: Lee, email: lee@example.test}\n"
    file = write(tmp_path, "one", more=f"world:\n{chain}{last}")
    with pytest.raises(BadScenario, match="cannot be made: RecursionError") as error:
        load(file)
    assert str(error.value.place) == f"{file}:6"


def test_what_comes_into_being_may_be_named_by_its_number(tmp_path: Path) -> None:
    file = write(tmp_path, "one")
    effect = "{effects: [{note.added: {customer: $customer.1, note: $note.2}}]}"
    file.write_text(file.read_text().replace("{read_only: true}", effect))
    assert load(file).expect.effects[0].facts == {"customer": "$customer.1", "note": "$note.2"}


# -- choosing -------------------------------------------------------------------------------------------------


def test_what_is_chosen_is_narrowed_by_tag_id_and_number(tmp_path: Path) -> None:
    for name, tag in (("a", "red"), ("b", "blue"), ("c", "red")):
        write(tmp_path, name, tag=tag)
    folder = [str(tmp_path)]
    assert [one.scenario.id for one in chosen(folder)] == ["a", "b", "c"]
    assert [one.scenario.id for one in chosen(folder, tags=["red"])] == ["a", "c"]
    assert [one.scenario.id for one in chosen(folder, tags=["red"], limit=1)] == ["a"]
    assert [one.scenario.id for one in chosen(folder, ids=["c", "b"])] == ["b", "c"]
    assert chosen(folder, tags=["red", "blue"]) == []
    with pytest.raises(UsageError, match="--sample-id d: no such scenario here"):
        chosen(folder, ids=["a", "d"])


def test_ids_are_unique_and_both_places_are_told(tmp_path: Path) -> None:
    one, two = write(tmp_path / "x", "same"), write(tmp_path / "y", "same")
    with pytest.raises(UsageError) as error:
        chosen([str(tmp_path)])
    assert f"{one}:1 and {two}:1; ids are unique in a run" in str(error.value)
    with pytest.raises(UsageError, match="'same' is that of several scenarios"):
        once([*found([str(one)]), *found([str(two)])])


def test_a_catalog_is_for_datasets_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--catalog is for selection datasets"):
        chosen([str(write(tmp_path, "one"))], catalog="support@1")
