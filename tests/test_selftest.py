"""Every fault seeded into the evidence is named, nothing honest is accused, and the self-test itself can fail."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sandtrail.sandbox import selftest as module
from sandtrail.sandbox.cli import main
from sandtrail.sandbox.selftest import (
    Checked,
    Outcomes,
    Seeded,
    act,
    honest_scenes,
    ledger_faults,
    report,
    selftest,
)

FAULTS = list(ledger_faults())
HONEST = list(honest_scenes())


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_seeded_fault_is_named(fault: Seeded) -> None:
    checked = Checked(fault, module._played(fault.scene, fault.guards))
    assert checked.named, checked.findings


@pytest.mark.parametrize(("name", "scene"), HONEST, ids=[name for name, _ in HONEST])
def test_an_honest_doing_raises_nothing(name: str, scene: module.Scene) -> None:
    assert module._played(scene, module.ALL) == (), name


def test_the_counts_are_those_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["seeded"] == told["named"] == len(FAULTS) >= 24
    assert told["groups"] == {"ledger": {"seeded": len(FAULTS), "named": len(FAULTS)}}
    assert (told["false_alarms"], told["missed"]) == (0, [])


def test_no_two_faults_share_a_name() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_fault_at_another_place_is_not_named() -> None:
    fault = next(fault for fault in FAULTS if fault.at == "attempt 1")
    moved = replace(fault, at="attempt 2")
    findings = module._played(fault.scene, fault.guards)
    assert Checked(fault, findings).named
    assert not Checked(moved, findings).named
    assert not Checked(fault, ()).named


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
