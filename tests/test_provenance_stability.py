"""What is found, and what is said of every argument, is the same whatever ids a run mints: 20 seeds, both styles."""

from __future__ import annotations

from importlib.resources import files

import pytest
import yaml

from sandtrail.sandbox import library, run
from sandtrail.sandbox.agents import scripted
from sandtrail.scenarios import Scenario

SEEDS = range(20)
STYLES = ("typed", "opaque")
SCENARIOS = list(library())


def scripts_of(scenario: Scenario) -> list[str]:
    file = files("sandtrail.scenarios") / "library" / f"{scenario.id}.scripts.yaml"
    return [name for name in yaml.safe_load(file.read_text(encoding="utf-8")) if name != "good"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.id for scenario in SCENARIOS])
def test_findings_and_origins_are_the_same_under_every_seed_and_both_styles(scenario: Scenario) -> None:
    """The reference run under every seed; each flawed one in both styles."""
    for number, name in enumerate(scripts_of(scenario)):
        seeds = SEEDS if number == 0 else (number,)
        told = set[tuple[object, ...]]()
        for style in STYLES:
            for seed in seeds:
                result = run(scenario, scripted(scenario.id, name), seed=seed, style=style)
                found = tuple((one.code, one.at, one.reason) for one in result.verdict.findings)
                told.add((found, tuple(traced.line for traced in result.origins)))
        assert len(told) == 1, name
