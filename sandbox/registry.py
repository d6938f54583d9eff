"""Agents by name, as the command line and the pytest plugin choose them.

lexical (the default), scripted, any other script of a scenario, do-nothing, first-tool, random,
replay:FILE, anthropic:MODEL, openai:MODEL, python:module:callable
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandtrail.ledgers.spelling import near
from sandtrail.sandbox.agents import Agent, BlackBox, OffScript, Replay, scripted
from sandtrail.sandbox.loading import Loaded

if TYPE_CHECKING:
    from sandtrail.sandbox.providers import ProviderOptions

BUILT_IN = ("lexical", "scripted", "do-nothing", "first-tool", "random")
KINDS = ("anthropic:MODEL", "openai:MODEL", "python:module:callable", "replay:FILE")


class UnknownAgent(LookupError):
    """There is no agent of this name; the message says which there are."""


@dataclass
class Agents:
    """Makes the agent of a name, one for each scenario and repetition where it needs one; providers are made once."""

    name: str
    options: ProviderOptions | None = None
    _made: dict[str, Any] = field(default_factory=dict[str, Any], init=False, repr=False)

    def __post_init__(self) -> None:
        kind, _, rest = self.name.partition(":")
        if kind in {"anthropic", "openai"}:
            from sandtrail.sandbox.providers import provider  # noqa: PLC0415  only where a model is asked

            try:
                self._made["agent"] = provider(self.name, self.options)
            except (ValueError, ImportError) as error:
                raise UnknownAgent(str(error)) from None
        elif kind == "python":
            self._made["agent"] = _imported(rest)
        elif kind == "replay":
            self._made["recorded"] = _recorded(rest)
        elif ":" in self.name:
            raise UnknownAgent(f"there is no agent {self.name!r}; there are {', '.join((*BUILT_IN, *KINDS))}")

    @property
    def by_script(self) -> bool:
        """Whether it is a script of each scenario: then not every scenario need have one."""
        return ":" not in self.name and self.name not in {*BUILT_IN}

    def for_trial(self, loaded: Loaded, *, seed: int, repetition: int) -> Agent | BlackBox:
        """The agent for one run. Raises UnknownAgent where the scenario has no script of this name."""
        if "agent" in self._made:
            return self._made["agent"]  # type: ignore[no-any-return]
        if "recorded" in self._made:
            return self._replay(loaded, repetition)
        floors = {"do-nothing": "DoNothing", "first-tool": "FirstTool", "random": "RandomTool"}
        if self.name in floors:
            module = importlib.import_module("sandtrail.sandbox.floors")
            make: Callable[..., Agent] = getattr(module, floors[self.name])
            return make(seed + repetition) if self.name == "random" else make()
        if self.name == "lexical":
            from sandtrail.sandbox.lexical import Lexical  # noqa: PLC0415  only where it is asked for

            return Lexical()
        try:
            return scripted(loaded.scenario.id, self.name, folder=loaded.folder)
        except OffScript as error:
            names = ", ".join((*BUILT_IN, *KINDS))
            close = near(self.name, BUILT_IN)
            hint = close if "did you mean" in close else ""
            raise UnknownAgent(f"{error}{hint}; agents are {names}, or a script of the scenario") from None

    def _replay(self, loaded: Loaded, repetition: int) -> Replay:
        recorded = self._made["recorded"].get((loaded.scenario.id, repetition))
        if recorded is None:
            raise UnknownAgent(f"{self.name} holds no run of {loaded.scenario.id}, repetition {repetition}")
        return Replay(recorded)

    def close(self) -> None:
        """Close what a provider's agent holds open."""
        close = getattr(self._made.get("agent"), "close", None)
        if callable(close):
            close()


def _imported(path: str) -> Agent | BlackBox:
    """The agent at `module:callable`; the working directory is looked in too."""
    from sandtrail.sandbox.runner import as_agent  # noqa: PLC0415  it needs this module's siblings

    name, _, attribute = path.partition(":")
    if not name or not attribute:
        raise UnknownAgent(
            f"agent python:{path}: write python:module:callable, for example python:my_agent:decide"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(name)
        for step in attribute.split("."):
            found = getattr(found, step)
        return as_agent(found() if isinstance(found, type) else found)
    except Exception as error:  # whatever somebody's module raises as it is imported or made
        kind = "" if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: "
        raise UnknownAgent(f"agent python:{path}: {kind}{error}") from error


def _recorded(path: str) -> dict[tuple[str, int], Any]:
    """The trajectories of a file, a JSON line each, by scenario and repetition."""
    from sandtrail.ledgers.saved import BadTrajectory, load  # noqa: PLC0415  only for replays

    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        runs = [load(line) for line in lines if line.strip()]
    except (OSError, UnicodeDecodeError, BadTrajectory) as error:
        raise UnknownAgent(f"replay:{path}: {error}") from None
    return {(one.scenario, one.repetition): one for one in runs}
