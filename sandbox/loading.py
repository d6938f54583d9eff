"""Files: scenarios, catalogs and selection datasets, read here, parsed by the scenarios layer, checked against the services.

load(path)       one scenario file          library()        the shipped scenarios
found(paths)     everything below paths     load_dataset()   a JSONL of first tools, over a catalog
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from sandtrail.fakes import SERVICES, Service
from sandtrail.ledgers import WorldSpec
from sandtrail.ledgers.spelling import near
from sandtrail.sandbox.checking import check_world, checked
from sandtrail.scenarios import BadScenario, Scenario, parse
from sandtrail.scenarios.catalogs import parse_catalog, parse_dataset
from sandtrail.scenarios.parsing import parse_world
from sandtrail.scenarios.scenario import CatalogFile, Place

SUFFIX = ".scenario.yaml"
CATALOG = ".catalog.yaml"
LARGEST = 2_000_000
"""The largest file that is read, in bytes."""


@dataclass(frozen=True)
class Loaded:
    """A scenario and the folder of its scripts; None for a shipped one."""

    scenario: Scenario
    folder: Path | None = None


def load(path: str | Path, *, services: Iterable[type[Service]] = SERVICES) -> Scenario:
    """The scenario in a file, checked against the services. Raises BadScenario with file and line."""
    file = Path(path)
    scenario = parse(_text(file), str(path))
    return checked(_with_catalog(scenario, file.parent), services)


def load_world(path: str | Path, *, services: Iterable[type[Service]] = SERVICES) -> WorldSpec:
    """The world of a scenario file, or of a world file, checked against the services. Raises BadScenario."""
    file = Path(path)
    if str(path).endswith(SUFFIX):
        return load(path, services=services).world
    world, places = parse_world(_text(file), str(path))
    check_world(world, places, services)
    return world


def library(*, services: Iterable[type[Service]] = SERVICES) -> Iterator[Scenario]:
    """The shipped scenarios, by id."""
    classes = tuple(services)
    return (shipped(name, services=classes) for name in shipped_names())


def shipped_names() -> tuple[str, ...]:
    """The ids of the shipped scenarios, in order."""
    names = (entry.name for entry in _shipped().iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)))


@lru_cache(maxsize=512)
def shipped(name: str, *, services: tuple[type[Service], ...] = SERVICES) -> Scenario:
    """One shipped scenario by its id; it is frozen, and read once."""
    entry = _shipped() / f"{name}{SUFFIX}"
    scenario = parse(entry.read_text(encoding="utf-8"), entry.name)
    return checked(_with_catalog(scenario, None), services)


def found(
    paths: Iterable[str], *, services: Iterable[type[Service]] = SERVICES, catalog: str = ""
) -> Iterator[Loaded]:
    """The scenarios of files, folders (searched below) and datasets (`.jsonl`). Raises BadScenario, FileNotFoundError."""
    for name in paths:
        path = Path(name)
        if path.is_dir():
            below = files_below(path)
            if not below:
                raise FileNotFoundError(f"{name}: no file below it ends in {SUFFIX}")
            yield from (Loaded(load(file, services=services), file.parent) for file in below)
        elif path.suffix == ".jsonl":
            yield from (
                Loaded(one, path.parent) for one in load_dataset(path, catalog=catalog, services=services)
            )
        elif name.endswith(SUFFIX):
            yield Loaded(load(path, services=services), path.parent)
        else:
            raise FileNotFoundError(f"{name}: neither a folder, nor a file that ends in {SUFFIX} or .jsonl")


def files_below(folder: Path) -> list[Path]:
    """The scenario files below a folder, those in hidden folders (.venv, .git) left out."""
    every = (file for file in folder.rglob(f"*{SUFFIX}"))
    return sorted(
        file for file in every if not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def load_dataset(
    path: str | Path, *, catalog: str = "", services: Iterable[type[Service]] = SERVICES
) -> Iterator[Scenario]:
    """The cases of a plain selection dataset, over a catalog (every operation where none is named)."""
    file = Path(path)
    for case in parse_dataset(_text(file), str(path)):
        offer = replace(case.offer, catalog=catalog)
        yield checked(_with_catalog(replace(case, offer=offer), file.parent), services)


def load_catalog(name: str, folder: Path | None, place: Place) -> CatalogFile:
    """The catalog of a name: a file `NAME.catalog.yaml` beside the scenario, or `support@1` out of the library.

    A shipped scenario (`folder` is None) is like any other: its folder is the library. Raises BadScenario at `place`
    where there is no such catalog, or the version is another.
    """
    wanted, _, version = name.removesuffix(CATALOG).partition("@")
    beside = Path(f"{wanted}{CATALOG}")
    if beside.is_absolute() or ".." in beside.parts:
        raise BadScenario(
            place, f"catalog {name!r}: a file beside the scenario is wanted, no path out of its folder"
        )
    if folder is not None and _is_file(folder / beside):
        catalog = _catalog(_text(folder / beside), str(folder / beside))
    elif _is_file(shipped_one := _shipped().joinpath(*beside.parts)):
        catalog = _catalog(shipped_one.read_text(encoding="utf-8"), beside.as_posix())
    else:
        names = [one.name.removesuffix(CATALOG) for one in _shipped().iterdir() if one.name.endswith(CATALOG)]
        raise BadScenario(
            place, f"there is no catalog {name!r}; one's own end in {CATALOG}{near(wanted, sorted(names))}"
        )
    if version and str(catalog.version) != version:
        raise BadScenario(place, f"catalog {name!r}: the file has version {catalog.version}")
    return catalog


@lru_cache(maxsize=64)
def _catalog(text: str, origin: str) -> CatalogFile:
    """A catalog is frozen, and read once for all the scenarios over it."""
    return parse_catalog(text, origin)


def _is_file(path: Path | Traversable) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _with_catalog(scenario: Scenario, folder: Path | None) -> Scenario:
    if not scenario.offer.catalog:
        return scenario
    return replace(
        scenario, catalog=load_catalog(scenario.offer.catalog, folder, scenario.place("catalog.from"))
    )


def _shipped() -> Traversable:
    return files("sandtrail.scenarios") / "library"


def _text(file: Path) -> str:
    """A file's text. Raises BadScenario where it cannot be read, is no UTF-8, or is too large."""
    try:
        body = file.read_bytes() if file.stat().st_size <= LARGEST else None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadScenario(Place(str(file), 1), f"cannot be read: {reason}") from None
    if body is None:
        raise BadScenario(Place(str(file), 1), f"the file is larger than {LARGEST} bytes")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise BadScenario(Place(str(file), line), "cannot be read: no UTF-8 text") from None
