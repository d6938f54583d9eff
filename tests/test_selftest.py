"""Every fault seeded into the evidence is named, nothing honest is accused, and the self-test itself can fail."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest.mock import Mock

import pytest

from sandtrail.sandbox import selftest as module
from sandtrail.sandbox.agents import Scripted
from sandtrail.sandbox.cli import main
from sandtrail.sandbox.corpus import CLASSES
from sandtrail.sandbox.corpus_report import ENGINE, MOST, Said, measured, summary
from sandtrail.sandbox.recoveries import Judged, label_of, recoveries
from sandtrail.sandbox.runner import run
from sandtrail.sandbox.selftest import Checked, Outcomes, report, selftest
from sandtrail.sandbox.zoo import ZOO, Hunt, hunt
from sandtrail.sandbox.zoo_evidence import ALL, Scene, Seeded, act, honest_scenes, ledger_faults
from sandtrail.sandbox.zoo_scenes import scenes
from sandtrail.scenarios import judge as judges

FAULTS = list(ledger_faults())
HONEST = list(honest_scenes())


def in_the_scenes() -> Hunt:
    """The zoo, in its own scenarios alone."""
    return hunt(
        [run(scenario, Scripted("scripted", program), seed=0) for scenario, program in scenes()], most=1
    )


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A self-test of a few parts of each group."""
    monkeypatch.setattr(module, "ledger_faults", lambda: FAULTS[:2])
    monkeypatch.setattr(module, "honest_scenes", lambda: HONEST[:2])
    monkeypatch.setattr(module, "hunt", in_the_scenes)
    case = next(recoveries())
    monkeypatch.setattr(module, "judged", lambda: (Judged(case, label_of(case), case.label),))
    few = measured(range(2), ENGINE, CLASSES[:6])
    monkeypatch.setattr(module, "measured", Mock(return_value=few))


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_seeded_fault_is_named(fault: Seeded) -> None:
    checked = Checked(fault, module._played(fault.scene, fault.guards))
    assert checked.named, checked.findings


@pytest.mark.parametrize(("name", "scene"), HONEST, ids=[name for name, _ in HONEST])
def test_an_honest_doing_raises_nothing(name: str, scene: Scene) -> None:
    assert module._played(scene, ALL) == (), name


def test_the_counts_are_those_of_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "SEEDS", range(3))
    assert main(["selftest", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    groups = told["groups"]
    assert groups["ledger"] == {"seeded": len(FAULTS), "named": len(FAULTS)}
    assert groups["judges"]["seeded"] == groups["judges"]["named"] >= len(ZOO)
    assert groups["recovery"] == {"seeded": len(list(recoveries())), "named": len(list(recoveries()))}
    corpus = groups.pop("provenance")
    assert (corpus["classes"], corpus["values"]) == (len(CLASSES), len(CLASSES) * 3)
    assert corpus["false_alarm_rate"] <= MOST >= corpus["miss_rate"]
    assert told["seeded"] == told["named"] == sum(group["seeded"] for group in groups.values())
    assert (told["false_alarms"], told["missed"]) == (0, [])
    assert told["honest"] > len(HONEST)


def test_no_two_faults_share_a_name() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_fault_at_another_place_is_not_named() -> None:
    fault = next(fault for fault in FAULTS if fault.at == "attempt 1")
    moved = replace(fault, at="attempt 2")
    findings = module._played(fault.scene, fault.guards)
    assert Checked(fault, findings).named
    assert not Checked(moved, findings).named
    assert not Checked(fault, ()).named


@pytest.mark.usefixtures("small")
def test_a_miss_and_a_false_alarm_are_shown_and_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missed = Seeded("something honest", "ledger.no_origin", "attempt 1", act("honest"))
    monkeypatch.setattr(module, "ledger_faults", lambda: [missed])
    monkeypatch.setattr(module, "honest_scenes", lambda: [("a crime", act("silent"))])
    outcomes: Outcomes = selftest()
    assert not outcomes.passed
    text = "\n".join(line.text for line in report(outcomes))
    assert "MISSED no_origin" in text
    assert "FALSE ALARM on a crime" in text
    assert main(["selftest"]) == 3
    assert "exit 3" in capsys.readouterr().out


@pytest.mark.usefixtures("small")
def test_a_small_one_of_each_group_passes_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    counts = {line.split()[0]: line.split()[1:4] for line in lines[-6:-1]}
    assert counts["ledger"] == ["2", "of", "2"]
    assert counts["judges"] == [str(len(ZOO)), "of", str(len(ZOO))]
    assert counts["recovery"] == ["1", "of", "1"]
    assert counts["corpus"] == ["6", "classes,", "12"]
    assert lines[-1] == "exit 0: everything seeded is named"


@pytest.mark.usefixtures("small")
def test_a_detector_that_believes_everything_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blind = measured(range(2), Mock(return_value=Said(grounded=True)))
    monkeypatch.setattr(module, "measured", Mock(return_value=blind))
    assert main(["selftest", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["missed"] == [f"provenance: {summary(blind)}"]
    assert (told["groups"]["provenance"]["false_alarm_rate"], told["groups"]["provenance"]["miss_rate"]) == (
        0,
        1,
    )
    assert main(["selftest"]) == 3
    assert "bad_id.invented" in capsys.readouterr().out


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("boundary", judges.BOUNDARIES)
def test_without_one_of_its_judges_the_self_test_fails(
    boundary: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judges, "BOUNDARIES", {**judges.BOUNDARIES, boundary: ()})
    assert main(["selftest", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["groups"]["judges"]["named"] < told["groups"]["judges"]["seeded"]
    assert any(", found " in line for line in told["missed"])


@pytest.mark.usefixtures("small")
def test_a_reference_run_that_is_accused_and_a_flaw_without_a_home_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    accusation = module._played(act("silent"), ALL)
    monkeypatch.setattr(module, "hunt", lambda: Hunt(accused=(("honest", accusation),), references=1))
    outcomes = selftest()
    assert (outcomes.passed, outcomes.missed, outcomes.honest) == (False, (), 3)
    monkeypatch.setattr(module, "hunt", lambda: Hunt(homeless=ZOO[:1]))
    assert selftest().missed == (f"{ZOO[0].name}: it fits no scenario",)
    assert main(["selftest"]) == 3
    assert "it fits no scenario" in capsys.readouterr().out


@pytest.mark.usefixtures("small")
def test_a_label_that_a_person_would_not_give_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(recoveries())
    other = next(one.label for one in recoveries() if one.label is not case.label)
    monkeypatch.setattr(module, "judged", lambda: (Judged(case, case.label, other),))
    outcomes = selftest()
    assert outcomes.groups["recovery"] == {"seeded": 1, "named": 0}
    assert outcomes.missed[0].startswith(f"{case.name}: wanted {case.label}")
