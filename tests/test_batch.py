"""Many runs: agents by name, the plan, several at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sandtrail.ledgers.saved import dump
from sandtrail.sandbox import library, run
from sandtrail.sandbox.agents import BlackBox, Deciding, Scripted
from sandtrail.sandbox.batch import Trial, performed, plan
from sandtrail.sandbox.loading import Loaded
from sandtrail.sandbox.registry import Agents, UnknownAgent
from sandtrail.sandbox.runner import Setting

LOADED = [Loaded(scenario) for scenario in list(library())[:4]]


def trials(agent: str = "lexical", *, seed: int = 3) -> list[Trial]:
    agents = Agents(agent)
    return plan(
        LOADED,
        [1, 2],
        lambda one, repetition: agents.for_trial(one, seed=seed, repetition=repetition),
        seed=seed,
    )


@pytest.mark.parametrize("agent", ["lexical", "random"])
def test_what_comes_of_a_run_does_not_depend_on_how_many_run_at_once(agent: str) -> None:
    alone = {trial.number: result for trial, result in performed(trials(agent), Setting())}
    together = {trial.number: result for trial, result in performed(trials(agent), Setting(), at_once=4)}
    assert alone.keys() == together.keys() == set(range(8))
    for number, result in alone.items():
        assert together[number].trajectory.conversation == result.trajectory.conversation
        assert together[number].verdict.findings == result.verdict.findings


@pytest.mark.parametrize("at_once", [1, 3])
def test_each_run_is_told_to_start_before_it_ends_and_once(at_once: int) -> None:
    events: list[tuple[str, int]] = []
    for trial, _ in performed(
        trials(), Setting(), at_once=at_once, starts=lambda one: events.append(("start", one.number))
    ):
        events.append(("end", trial.number))
    for number in range(8):
        assert events.count(("start", number)) == events.count(("end", number)) == 1
        assert events.index(("start", number)) < events.index(("end", number))


def test_leaving_early_tells_what_still_runs_to_stop() -> None:
    stop = threading.Event()
    runs = performed(trials(), Setting(cancel=stop), at_once=2)
    next(runs)
    runs.close()  # type: ignore[attr-defined]
    assert stop.is_set()


@pytest.mark.parametrize("name", ["lexical", "scripted", "do-nothing", "first-tool", "random"])
def test_the_built_in_agents_go_by_their_names(name: str) -> None:
    agent = Agents(name).for_trial(LOADED[0], seed=1, repetition=1)
    assert agent.name == name


def test_a_script_that_a_scenario_lacks_is_told_with_what_there_is() -> None:
    agents = Agents("wild")
    assert agents.by_script
    with pytest.raises(UnknownAgent, match="there are scripted"):
        agents.for_trial(LOADED[0], seed=1, repetition=1)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gemini:x", "there is no agent 'gemini:x'"),
        ("anthropic:", "is no provider's"),
        ("python:nope", "write python:module:callable"),
        ("python:no_such_module:agent", "No module named"),
        ("python:json:nope", "no attribute 'nope'"),
        ("python:json:__name__", "is no agent"),
        ("replay:/no/such/file", "No such file"),
    ],
)
def test_a_name_that_is_no_agent_says_why(name: str, reason: str) -> None:
    with pytest.raises(UnknownAgent, match=reason):
        Agents(name)


MODULE = """
def decide(conversation, catalog):
    return None

def box(message):
    return message

class Agent:
    name = "mine"

    def decide(self, conversation, catalog):
        return None
"""


def test_ones_own_agents_are_found_beside_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # pyright: ignore[reportUnknownMemberType]  untyped in pytest
    (tmp_path / "mine_to_test.py").write_text(MODULE)
    made = {
        name: Agents(f"python:mine_to_test:{name}").for_trial(LOADED[0], seed=1, repetition=1)
        for name in ("decide", "box", "Agent")
    }
    assert isinstance(made["decide"], Deciding)
    assert isinstance(made["box"], BlackBox)
    assert made["Agent"].name == "mine"


def test_a_saved_run_is_replayed(tmp_path: Path) -> None:
    scenario = LOADED[0].scenario
    recorded = run(scenario, Agents("scripted").for_trial(LOADED[0], seed=4, repetition=1), seed=4)
    file = tmp_path / "runs.jsonl"
    file.write_text(dump(recorded.trajectory) + "\n")
    agents = Agents(f"replay:{file}")
    again = run(scenario, agents.for_trial(LOADED[0], seed=4, repetition=1), seed=4)
    assert again.trajectory.made == recorded.trajectory.made
    with pytest.raises(UnknownAgent, match="holds no run of"):
        agents.for_trial(LOADED[1], seed=4, repetition=1)


def test_closing_without_a_provider_closes_nothing() -> None:
    agents = Agents("scripted")
    assert isinstance(agents.for_trial(LOADED[0], seed=1, repetition=1), Scripted)
    agents.close()
