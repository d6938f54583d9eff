"""Agents by name: which there are, what is made for each run, and what is said of a name that is none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from sandtrail.ledgers.saved import dump
from sandtrail.sandbox import run
from sandtrail.sandbox.agents import BlackBox, Deciding, Replay, Scripted, scripted
from sandtrail.sandbox.floors import DoNothing, FirstTool, RandomTool
from sandtrail.sandbox.lexical import Lexical
from sandtrail.sandbox.loading import Loaded, shipped
from sandtrail.sandbox.registry import BUILT_IN, Agents, UnknownAgent

NAME = "refund-the-second-charge"
LOADED = Loaded(shipped(NAME))


def made(name: str, *, seed: int = 1, repetition: int = 1) -> Any:
    return Agents(name).for_trial(LOADED, seed=seed, repetition=repetition)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("lexical", Lexical),
        ("scripted", Scripted),
        ("careless", Scripted),
        ("do-nothing", DoNothing),
        ("first-tool", FirstTool),
        ("random", RandomTool),
    ],
)
def test_a_name_makes_its_agent(name: str, kind: type) -> None:
    assert isinstance(made(name), kind)
    assert made(name).name == name


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_is_built_in_needs_no_script(name: str) -> None:
    assert not Agents(name).by_script


def test_a_script_of_a_scenario_is_one_by_script() -> None:
    assert Agents("careless").by_script


def test_a_random_agent_is_that_of_its_seed_and_repetition() -> None:
    def outcome(seed: int, repetition: int) -> list[str]:
        calls = run(LOADED.scenario, made("random", seed=seed, repetition=repetition), seed=1).calls()
        return [f"{one.call.tool} {one.call.text}" for one in calls]

    assert outcome(3, 1) == outcome(3, 1)
    assert len({tuple(outcome(seed, 1)) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lexcal", "did you mean lexical?"),
        ("wild", "there is no script 'wild' for refund-the-second-charge; there are"),
        ("wild", "agents are lexical, scripted, do-nothing"),
        ("gemini:x", "there is no agent 'gemini:x'; there are lexical, "),
        ("anthropic:", "anthropic:"),
        ("python:", "write python:module:callable"),
        ("python:mine", "write python:module:callable"),
        ("python::decide", "write python:module:callable"),
        ("python:no_such_module:decide", "No module named 'no_such_module'"),
        ("python:json:no_such_name", "has no attribute 'no_such_name'"),
        ("python:json:decoder.no_such_name", "has no attribute 'no_such_name'"),
        ("python:json:__name__", "agent python:json:__name__: "),
        ("replay:/nowhere.jsonl", "replay:/nowhere.jsonl: "),
    ],
)
def test_a_name_that_is_none_is_told_with_those_that_are(name: str, said: str) -> None:
    with pytest.raises(UnknownAgent) as error:
        made(name)
    assert said in str(error.value)


OWN = """\
from sandtrail.ledgers.conversation import Reply

def decide(conversation, catalog):
    return Reply("Hi.")

def answer(message):
    return "Hi."

class Careful:
    name = "careful"

    def decide(self, conversation, catalog):
        return Reply("Hi.")

class Broken(Careful):
    def __init__(self):
        raise RuntimeError("no key")
"""


def test_an_agent_of_ones_own_is_found_beside_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agents_of_mine.py").write_text(OWN)
    (tmp_path / "spoilt_agent.py").write_text("def decide(:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert isinstance(made("python:agents_of_mine:decide"), Deciding)
    assert isinstance(made("python:agents_of_mine:answer"), BlackBox)
    assert made("python:agents_of_mine:Careful").name == "careful"
    with pytest.raises(UnknownAgent, match="Broken: RuntimeError: no key"):
        made("python:agents_of_mine:Broken")
    with pytest.raises(UnknownAgent, match="spoilt_agent:decide: SyntaxError: "):
        made("python:spoilt_agent:decide")


def test_a_recorded_run_is_replayed_for_its_scenario_and_repetition_only(tmp_path: Path) -> None:
    recorded = run(LOADED.scenario, scripted(NAME, "scripted"), seed=5, repetition=2)
    file = tmp_path / "runs.jsonl"
    file.write_text(f"\n{dump(recorded.trajectory)}\n")
    replay = made(f"replay:{file}", repetition=2)
    assert isinstance(replay, Replay)
    again = run(LOADED.scenario, replay, seed=5, repetition=2)
    assert again.outcome == recorded.outcome
    with pytest.raises(UnknownAgent, match=f"holds no run of {NAME}, repetition 1"):
        made(f"replay:{file}")
    for body in (b"{", b"\xff"):
        file.write_bytes(body)
        with pytest.raises(UnknownAgent, match=r"runs\.jsonl: "):
            made(f"replay:{file}")


def test_closing_closes_what_an_agent_holds_open() -> None:
    class Holding:
        closed = 0

        def close(self) -> None:
            self.closed += 1

    agents, held = Agents("lexical"), Holding()
    agents.close()
    agents._made["agent"] = held
    agents.close()
    assert held.closed == 1
