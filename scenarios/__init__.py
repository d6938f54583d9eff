"""What should happen: scenarios, contracts, and the pure judges."""

from sandtrail.scenarios.contract import Contract, WantedArgument, WantedEffect
from sandtrail.scenarios.nodes import BadScenario
from sandtrail.scenarios.parsing import parse
from sandtrail.scenarios.scenario import Scenario, User

__all__ = ["BadScenario", "Contract", "Scenario", "User", "WantedArgument", "WantedEffect", "parse"]
