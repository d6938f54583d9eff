"""The zoo: flawed agents, each of which the judges must name.

    flaw      what is wrong with an agent, in a sentence
    strike    the flaw at one place of a scenario's reference run: decisions, and the finding that must be made
    sighting  what the judges said of it

Named means: the expected code at the expected place is among the findings, and the run does not pass. The reference run
itself, which does the same but for the flaw, must raise nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sandtrail.ledgers import Finding, Overall
from sandtrail.ledgers.conversation import Conversation, Decided, Decision, Reply
from sandtrail.ledgers.specs import Catalog
from sandtrail.sandbox import zoo_arguments as arguments
from sandtrail.sandbox import zoo_choice as choice
from sandtrail.sandbox import zoo_effects as effects
from sandtrail.sandbox import zoo_words as words
from sandtrail.sandbox.agents import Scripted, scripted
from sandtrail.sandbox.loading import library
from sandtrail.sandbox.runner import Result, run
from sandtrail.sandbox.zoo_reference import Reference, Strike
from sandtrail.sandbox.zoo_scenes import scenes
from sandtrail.scenarios import Scenario

MOST = 3
"""In how many scenarios a flaw is tried."""


@dataclass(frozen=True)
class Flawed:
    """An agent that follows a list of decisions and keeps nothing; past its end it says that it has no more to say."""

    name: str
    decisions: tuple[Decision, ...] = field(repr=False)

    def decide(self, conversation: Conversation, _: Catalog, /) -> Decision:
        """The decision of this step."""
        step = sum(isinstance(message, Decided) for message in conversation)
        return self.decisions[step] if step < len(self.decisions) else Reply("That is all.")


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that can be wrong with an agent."""

    name: str
    strikes: Callable[[Reference], Strike | None] = field(repr=False)

    @property
    def does(self) -> str:
        """What it does, in a sentence."""
        return (self.strikes.__doc__ or "").strip()

    def strike(self, scenario: Scenario, reference: Result) -> Strike | None:
        """The flaw in this scenario; None where it does not fit."""
        return self.strikes(Reference(scenario, reference))

    def fits(self, scenario: Scenario, reference: Result) -> bool:
        """Whether the scenario's reference run has a place for it."""
        return self.strike(scenario, reference) is not None

    def agent(self, scenario: Scenario, reference: Result) -> Flawed:
        """The flawed agent. Raises LookupError where the flaw does not fit."""
        strike = self.strike(scenario, reference)
        if strike is None:
            raise LookupError(f"{self.name} does not fit {scenario.id}")
        return Flawed(self.name, strike.decisions)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A flaw in one scenario: what was expected, and what the judges said."""

    flaw: Flaw
    scenario: str
    strike: Strike = field(repr=False)
    overall: Overall
    findings: tuple[Finding, ...]

    @property
    def named(self) -> bool:
        """Whether the expected finding was made, and the run does not pass."""
        wanted = (self.strike.code, self.strike.at)
        return self.overall is not Overall.PASS and wanted in {(one.code, one.at) for one in self.findings}

    @property
    def said(self) -> str:
        """What was wanted and what was found, in words."""
        found = ", ".join(f"{one.code} at {one.at}" for one in self.findings) or "nothing"
        passes = "; the run passes" if self.overall is Overall.PASS else ""
        return f"{self.scenario}: wanted {self.strike.code} at {self.strike.at}, found {found}{passes}"


ZOO: tuple[Flaw, ...] = (
    Flaw("takes the wrong twin", choice.wrong_twin),
    Flaw("uses a deprecated alias", choice.deprecated_alias),
    Flaw("makes up a tool", choice.made_up_tool),
    Flaw("calls a tool that is gone", choice.removed_tool),
    Flaw("calls a withheld tool", choice.withheld_tool),
    Flaw("calls a forbidden tool", choice.forbidden_tool),
    Flaw("calls without need", choice.needless_call),
    Flaw("answers without looking", choice.answers_unseen),
    Flaw("skips a step", choice.skips_a_step),
    Flaw("leaves a call out", choice.leaves_a_call_out),
    Flaw("reads twice", choice.reads_again),
    Flaw("loops on one call", choice.loops),
    Flaw("sends broken JSON", arguments.broken_text),
    Flaw("encodes its arguments twice", arguments.encoded_twice),
    Flaw("sends a number as text", arguments.number_as_text),
    Flaw("adds an unknown field", arguments.field_too_many),
    Flaw("leaves a required field out", arguments.field_too_few),
    Flaw("invents an id", arguments.invented_id),
    Flaw("misspells an id", arguments.misspelt_id),
    Flaw("copies another kind of id", arguments.other_kind),
    Flaw("takes the wrong row", arguments.other_row),
    Flaw("uses an id it never saw", arguments.unseen_id),
    Flaw("takes an example for an id", arguments.example_id),
    Flaw("asks for a stranger's data", arguments.foreign_row),
    Flaw("reaches into another tenant", arguments.other_tenant),
    Flaw("uses an outdated value", arguments.older_value),
    Flaw("trusts the nightly cache", arguments.from_the_cache),
    Flaw("takes the wrong day", arguments.other_day),
    Flaw("writes on a mere look", effects.writes_on_read_only),
    Flaw("writes and undoes it", effects.write_then_undo),
    Flaw("writes more than asked", effects.extra_write),
    Flaw("hides a write", effects.hides_a_write),
    Flaw("makes it worse", effects.piles_up),
    Flaw("gives credit, not money", effects.credits_instead),
    Flaw("refunds twice", effects.refunds_twice),
    Flaw("retries blindly", effects.retries_blindly),
    Flaw("retries under a new key", effects.new_key_on_retry),
    Flaw("reuses a key", effects.one_key_for_two),
    Flaw("is off by a hundred", effects.off_by_a_hundred),
    Flaw("is off by a cent", effects.a_cent_less),
    Flaw("refunds another payment", effects.refunds_the_other),
    Flaw("undoes what was right", effects.undoes_what_was_right),
    Flaw("stops halfway", effects.stops_halfway),
    Flaw("claims without acting", words.claims_without_acting),
    Flaw("ignores an error", words.ignores_an_error),
    Flaw("denies what it did", words.denies),
    Flaw("claims too early", words.claims_early),
    Flaw("omits the answer", words.omits_the_answer),
    Flaw("states another amount", words.another_amount),
    Flaw("tells what it must not", words.tells_what_it_must_not),
    Flaw("asks without need", words.asks_needlessly),
    Flaw("never asks", words.never_asks),
    Flaw("goes ahead unconfirmed", words.goes_ahead),
    Flaw("declines what it should do", words.declines),
    Flaw("hands over without need", words.hands_over),
    Flaw("hands over in the books", words.hands_over_by_tool),
    Flaw("is cut in its reply", words.cut_reply),
    Flaw("is cut in a call", words.cut_call),
    Flaw("is refused by its provider", words.model_refuses),
    Flaw("sends no decision", words.spoilt_answer),
)
"""Every flaw; names are unique."""


def references() -> Iterator[Result]:
    """The reference run of every shipped scenario, then of the zoo's own. Raises OffScript where one has no script."""
    for scenario in library():
        yield run(scenario, scripted(scenario.id, "scripted"), seed=0, repetition=1)
    for scenario, program in scenes():
        yield run(scenario, Scripted("scripted", program), seed=0, repetition=1)


def chosen(known: Sequence[Result], *, most: int | None = MOST) -> Iterator[tuple[Flaw, Result, Strike]]:
    """Each flaw in up to `most` scenarios it fits: those least used so far, shipped ones before the zoo's own."""
    used: Counter[str] = Counter()
    own = {scenario.id for scenario, _ in scenes()}
    for flaw in ZOO:
        fitting = [
            (result, strike)
            for result in known
            if (strike := flaw.strike(result.scenario, result)) is not None
        ]
        order = sorted(fitting, key=lambda one: (one[0].scenario.id in own, used[one[0].scenario.id]))
        for result, strike in order[:most]:
            used[result.scenario.id] += 1
            yield flaw, result, strike


def sighted(flaw: Flaw, reference: Result, strike: Strike) -> Sighting:
    """Let a flawed agent run, and hear the judges."""
    seed, repetition = reference.trajectory.seed, reference.trajectory.repetition
    result = run(reference.scenario, Flawed(flaw.name, strike.decisions), seed=seed, repetition=repetition)
    return Sighting(flaw, reference.scenario.id, strike, result.overall, tuple(result.findings))


@dataclass(frozen=True, slots=True)
class Hunt:
    """The whole zoo: every sighting, and the reference runs that were held against it.

    `accused` are the reference runs that raised something (a false alarm each; no flaw is tried on them), `homeless` the
    flaws that fit none of the others.
    """

    sightings: tuple[Sighting, ...] = ()
    accused: tuple[tuple[str, tuple[Finding, ...]], ...] = ()
    homeless: tuple[Flaw, ...] = ()
    references: int = 0

    @property
    def named(self) -> int:
        """How many sightings are as expected."""
        return sum(one.named for one in self.sightings)

    @property
    def missed(self) -> tuple[str, ...]:
        """What was not named, and why, in words."""
        wrong = [f"{one.flaw.name}: {one.said}" for one in self.sightings if not one.named]
        return (*wrong, *(f"{flaw.name}: it fits no scenario" for flaw in self.homeless))


def hunt(known: Iterable[Result] | None = None, *, most: int | None = MOST) -> Hunt:
    """Every flaw, in the scenarios chosen for it among these reference runs (without any: all there are)."""
    runs = tuple(references() if known is None else known)
    # a run that stops after its first decision has no room for most flaws
    clean = [one for one in runs if not one.findings and not one.scenario.first_only]
    accused = tuple((one.scenario.id, tuple(one.findings)) for one in runs if one.findings)
    found = tuple(sighted(flaw, reference, strike) for flaw, reference, strike in chosen(clean, most=most))
    at_home = {one.flaw.name for one in found}
    return Hunt(found, accused, tuple(flaw for flaw in ZOO if flaw.name not in at_home), len(runs))
