"""What should happen: scenarios, contracts, and the pure judges."""

from sandtrail.scenarios.contract import Contract, WantedArgument, WantedEffect
from sandtrail.scenarios.judges import judge
from sandtrail.scenarios.parsing import BadScenario, parse
from sandtrail.scenarios.scenario import Scenario

__all__ = ["BadScenario", "Contract", "Scenario", "WantedArgument", "WantedEffect", "judge", "parse"]
