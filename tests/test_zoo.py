"""Every flaw of the zoo fits something, is named where it strikes, and is missed where its judge is switched off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandtrail.ledgers import Overall
from sandtrail.ledgers.conversation import Reply
from sandtrail.ledgers.findings import CODES
from sandtrail.sandbox import zoo
from sandtrail.sandbox.agents import Scripted
from sandtrail.sandbox.runner import Result, run
from sandtrail.sandbox.zoo import ZOO, Flaw, Flawed, Hunt, chosen, hunt, references, sighted
from sandtrail.sandbox.zoo_reference import Strike
from sandtrail.sandbox.zoo_report import zoo_lines
from sandtrail.sandbox.zoo_scenes import scenes
from sandtrail.scenarios import judge as judges

SCENES = list(scenes())
OWN = [scenario.id for scenario, _ in SCENES]


@pytest.fixture(scope="module")
def known() -> tuple[Result, ...]:
    return tuple(references())


@pytest.fixture(scope="module")
def found(known: tuple[Result, ...]) -> Hunt:
    return hunt(known)


def of(name: str) -> Flaw:
    return next(flaw for flaw in ZOO if flaw.name == name)


def in_scene(name: str, scene: str) -> tuple[Flaw, Result, Strike]:
    scenario, program = next(one for one in SCENES if one[0].id == f"zoo-{scene}")
    reference, flaw = run(scenario, Scripted("scripted", program), seed=0, repetition=1), of(name)
    strike = flaw.strike(scenario, reference)
    assert strike is not None
    return flaw, reference, strike


def test_every_flaw_has_a_name_of_its_own_and_says_what_it_does() -> None:
    assert len({flaw.name for flaw in ZOO}) == len(ZOO) >= 26
    assert all(flaw.does.endswith(".") and "\n" not in flaw.does for flaw in ZOO)


@pytest.mark.parametrize("name", [flaw.name for flaw in ZOO])
def test_a_flaw_fits_something_and_is_named_there(name: str, found: Hunt) -> None:
    sightings = [one for one in found.sightings if one.flaw.name == name]
    assert 1 <= len(sightings) <= zoo.MOST
    assert [one.said for one in sightings if not one.named] == []
    assert all(one.strike.code in CODES for one in sightings)


def test_no_reference_run_is_accused(found: Hunt) -> None:
    assert found.accused == ()
    assert found.missed == ()


@pytest.mark.parametrize("scenario", OWN)
def test_the_scenes_of_the_zoo_pass_under_any_seed(scenario: str) -> None:
    scene, program = next(one for one in SCENES if one[0].id == scenario)
    for seed in range(3):
        result = run(scene, Scripted("scripted", program), seed=seed)
        assert result.overall is Overall.PASS
        assert result.findings == ()


def test_the_choice_is_the_same_every_time_and_prefers_shipped_scenarios(known: tuple[Result, ...]) -> None:
    first, again = (
        [(flaw.name, result.scenario.id, strike) for flaw, result, strike in chosen(known)] for _ in range(2)
    )
    assert first == again
    malformed = [scenario for name, scenario, _ in first if name == "sends broken JSON"]
    shipped = [one.scenario.id for one in known if one.scenario.id not in OWN]
    assert set(malformed[: len(shipped)]) <= set(shipped)


def test_a_flawed_agent_keeps_nothing() -> None:
    flaw, reference, _ = in_scene("is cut in a call", "two")
    agent = flaw.agent(reference.scenario, reference)
    runs = [run(reference.scenario, agent, seed=0, repetition=1) for _ in range(2)]
    assert runs[0].findings == runs[1].findings


def test_past_its_last_decision_a_flawed_agent_has_no_more_to_say() -> None:
    reference = in_scene("stops halfway", "moving")[1]
    result = run(reference.scenario, Flawed("mute", (Reply("Hello."),)), seed=0, repetition=1)
    assert list(result.trajectory.replies()) == ["Hello.", "That is all."]


def test_a_flaw_that_does_not_fit_says_so() -> None:
    flaw, reference = of("refunds twice"), in_scene("calls without need", "chat")[1]
    assert not flaw.fits(reference.scenario, reference)
    with pytest.raises(LookupError, match="refunds twice does not fit zoo-chat"):
        flaw.agent(reference.scenario, reference)


JUDGED_BY = [
    ("selection", "makes up a tool", "visit"),
    ("arguments", "takes the wrong day", "visit"),
    ("sequence", "loops on one call", "back"),
    ("effects", "writes on a mere look", "look"),
    ("conduct", "never asks", "cancel"),
    ("claims", "denies what it did", "back"),
]


@pytest.mark.parametrize(("boundary", "name", "scene"), JUDGED_BY)
def test_a_flaw_is_missed_where_its_judge_is_switched_off(
    boundary: str, name: str, scene: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaw, reference, strike = in_scene(name, scene)
    assert sighted(flaw, reference, strike).named
    monkeypatch.setattr(judges, "BOUNDARIES", {**judges.BOUNDARIES, boundary: ()})
    assert not sighted(flaw, reference, strike).named


def test_every_boundary_is_switched_off_once() -> None:
    assert {boundary for boundary, _, _ in JUDGED_BY} == judges.BOUNDARIES.keys()


def test_a_finding_at_another_place_or_in_a_run_that_passes_is_not_named() -> None:
    flaw, reference, strike = in_scene("loops on one call", "back")
    seen = sighted(flaw, reference, strike)
    assert seen.named
    assert not replace(seen, strike=replace(strike, at="call 9")).named
    assert not replace(seen, strike=replace(strike, code="run.empty")).named
    passing = replace(seen, overall=Overall.PASS)
    assert not passing.named
    assert passing.said.endswith("; the run passes")


def test_an_unclean_reference_is_a_false_alarm_and_no_place_for_a_flaw() -> None:
    reference = in_scene("calls without need", "chat")[1]
    spoilt = run(reference.scenario, Flawed("spoilt", ()), seed=0, repetition=1)
    looping = sighted(*in_scene("loops on one call", "back"))
    accused = replace(spoilt, verdict=replace(spoilt.verdict, findings=looping.findings))
    found = hunt([accused])
    assert [name for name, _ in found.accused] == ["zoo-chat"]
    assert (found.sightings, len(found.homeless), found.references) == ((), len(ZOO), 1)
    assert "makes up a tool: it fits no scenario" in found.missed


def test_the_report_has_a_line_for_each_flaw_within_80_columns(found: Hunt) -> None:
    lines = [line.text for line in zoo_lines(found)]
    assert len(lines) == len(ZOO)
    assert max(map(len, lines)) <= 80
    assert all(line.startswith("named ") for line in lines)


def test_the_report_says_what_was_missed_and_why() -> None:
    flaw, reference, strike = in_scene("loops on one call", "back")
    missed = replace(sighted(flaw, reference, strike), findings=())
    text = [line.text for line in zoo_lines(Hunt((missed,), homeless=(of("never asks"),)))]
    assert text[0].startswith("MISSED 0/1 loops on one call")
    assert text[1] == "       zoo-back: wanted run.loop at calls 3-4, found nothing"
    assert text[2:] == ["MISSED 0/0 never asks", "       it fits no scenario"]
