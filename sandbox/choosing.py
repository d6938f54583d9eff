"""Which scenarios a command is about: ids of shipped ones, files, folders, datasets, narrowed by tag, id and number."""

from __future__ import annotations

from collections.abc import Sequence

from sandtrail.ledgers.spelling import near
from sandtrail.sandbox.cli import UsageError
from sandtrail.sandbox.loading import SUFFIX, Loaded, found, shipped, shipped_names
from sandtrail.scenarios.scenario import Place


def chosen(
    named: Sequence[str],
    *,
    tags: Sequence[str] = (),
    ids: Sequence[str] = (),
    limit: int | None = None,
    catalog: str = "",
) -> list[Loaded]:
    """The scenarios. Raises UsageError for a name that is none, BadScenario for a file that cannot be used."""
    if catalog and not any(name.endswith(".jsonl") for name in named):
        raise UsageError("--catalog is for selection datasets (.jsonl); a scenario names its own catalog")
    names = shipped_names()
    every: list[Loaded] = []
    for name in named or names:
        if name in names:
            every.append(Loaded(shipped(name)))
            continue
        try:
            every += found([name], catalog=catalog)
        except FileNotFoundError as error:
            if any(char in name for char in "/\\."):
                raise UsageError(str(error)) from None
            raise UsageError(
                f"there is no scenario {name!r}{near(name, names)}; sandtrail list shows all, files end in {SUFFIX}"
            ) from None
    once(every)
    known = {one.scenario.id for one in every}
    for name in ids:
        if name not in known:
            raise UsageError(f"--sample-id {name}: no such scenario here{near(name, known)}")
    kept = [one for one in every if not ids or one.scenario.id in ids]
    kept = [one for one in kept if set(tags) <= set(one.scenario.tags)]
    return kept[:limit]


def once(every: Sequence[Loaded]) -> None:
    """Refuse scenarios that share an id: reports could not tell them apart. Raises UsageError."""
    places: dict[str, Place] = {}
    for scenario in (one.scenario for one in every):
        place = scenario.place("scenario")
        if scenario.id in places:
            raise UsageError(
                f"the id {scenario.id!r} is that of several scenarios, at {places[scenario.id]} and {place}; "
                "ids are unique in a run"
            )
        places[scenario.id] = place
