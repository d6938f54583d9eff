"""What is known of the tool behind a call: the catalog at its step, its fact, and the scenario's name for it."""

from __future__ import annotations

from sandtrail.ledgers.specs import ToolSpec
from sandtrail.ledgers.trajectory import Made, Offer, ToolFact, Trajectory


def offer_of(trajectory: Trajectory, made: Made) -> Offer | None:
    """What was offered at a call's step; None where the trajectory does not say."""
    try:
        return trajectory.offer(made.step.number)
    except LookupError:
        return None


def fact_of(trajectory: Trajectory, made: Made) -> ToolFact:
    """What is known of a call's tool; of a tool that was not offered, its name alone."""
    offer = offer_of(trajectory, made)
    found = offer.tools.get(made.call.tool) if offer else None
    return found or ToolFact(made.call.tool)


def name_of(trajectory: Trajectory, made: Made) -> str:
    """What the scenario calls the tool of a call."""
    return fact_of(trajectory, made).name


def spec_of(trajectory: Trajectory, made: Made) -> ToolSpec | None:
    """What the model saw of a call's tool; None where it was not offered."""
    offer = offer_of(trajectory, made)
    return (
        next((tool for tool in offer.catalog.tools if tool.name == made.call.tool), None) if offer else None
    )
