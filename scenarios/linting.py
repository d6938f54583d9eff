"""What is wrong with a scenario itself, before any agent runs: contradictions, leaks, and what can never fail.

flaws(scenario)              contradictions between parts, expectations that are void, missing review
leaks(scenario, prompts)     expectation words in what an agent is told
oracle_conflicts(...)        what a reference run lacks of what the contract wants, or does beyond it
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from sandtrail.ledgers.entries import Effect
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import SYMBOL
from sandtrail.scenarios.contract import Clarification, Contract
from sandtrail.scenarios.effects import placed, times
from sandtrail.scenarios.scenario import Scenario

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
_FILLED_IN = re.compile(rf"\{{{SYMBOL.pattern}(\.\w+)?\}}")
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_WORDS = re.compile(r"\b(\d{1,2})\.? ([A-Za-z]{3,9}) (\d{4})\b")


def flaws(scenario: Scenario) -> Iterator[Finding]:
    """Contradictions and omissions of one scenario, each at its part."""
    if scenario.language != "en" and not scenario.reviewed:
        reason = f"the language is {scenario.language}, and nobody says to have read it; add reviewed: ..."
        yield Finding("case.contradiction", "language", reason)
    yield from contradictions(scenario.expect)
    expect, user = scenario.expect, scenario.user
    if expect.clarification is Clarification.REQUIRED and not (user.knows or user.chooses or user.silent):
        reason = "the agent has to ask, and the user knows nothing to answer; add knows, chooses or silent"
        yield Finding("case.contradiction", "user", reason)
    if expect.no_tool and (expect.calls or expect.writes_wanted):
        yield Finding(
            "case.contradiction", "expect.first", "no tool is to be called, and calls or effects are wanted"
        )


def contradictions(contract: Contract, texts: Iterable[str] = ()) -> Iterator[Finding]:
    """Days that the structured expectations name, against those in words: a run can satisfy only one of two.

    `texts` are assertions in free text; those of the contract's own answer are added.
    """
    said = " ".join([*texts, *(stated.text for stated in contract.states)])
    in_words = set(days_in(said))
    for wanted in contract.arguments:
        days = set(days_in(str(wanted.value)))
        if days and in_words and not days & in_words:
            shown, others = (
                sorted(days)[0].isoformat(),
                ", ".join(day.isoformat() for day in sorted(in_words)),
            )
            reason = f"{wanted.tool}.{wanted.name} is to be {shown}, and the text says {others}"
            yield Finding("case.contradiction", f"expect.arguments.{wanted.tool}.{wanted.name}", reason)


def days_in(text: str) -> Iterator[date]:
    """The days a text names.

    >>> [day.isoformat() for day in days_in("listed the slots of 12 May 2026, not of 2026-05-22")]
    ['2026-05-22', '2026-05-12']
    """
    numbers = [(int(y), int(m), int(d)) for y, m, d in _ISO.findall(text)]
    for day, word, year in _WORDS.findall(text):
        month = next((n for n, name in enumerate(MONTHS, start=1) if name.startswith(word.lower())), 0)
        numbers.append((int(year), month, int(day)))
    for year, month, day in numbers:
        try:
            yield date(year, month, day)
        except ValueError:
            continue


def leaks(scenario: Scenario, prompts: Sequence[str]) -> Iterator[Finding]:
    """Words of the expectations in what the agent is told: reasons, the scenario's id, symbols, names of tools."""
    expect = scenario.expect
    secrets = [scenario.id, scenario.why, *expect.distractors.values(), *expect.forbid.values()]
    secrets += [*expect.first_reasons.values(), *(wanted.name for wanted in expect.effects)]
    tools = {
        *(expect.first or ()),
        *expect.forbid,
        *expect.distractors,
        *expect.calls,
        *scenario.offer.rename.values(),
    }
    tools |= {wanted.tool for wanted in expect.arguments} | {rule.tool for rule in expect.order}
    for prompt in prompts:
        for secret in secrets:
            if len(secret) > 12 and secret.casefold() in prompt.casefold():
                yield Finding("case.contradiction", "user", f"the agent is told what is expected: {secret!r}")
        for tool in sorted(tools):
            if "_" in tool and re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", prompt):
                yield Finding("case.contradiction", "user", f"the agent is told the tool {tool}")
        for symbol in SYMBOL.findall(_FILLED_IN.sub("", prompt)):
            if symbol in scenario.world.entities:
                reason = f"the agent is told the symbol {symbol}; write {{{symbol}}} for its id"
                yield Finding("case.contradiction", "user", reason)


def oracle_conflicts(contract: Contract, reference: Sequence[Effect]) -> Iterator[Finding]:
    """Where the effects of a reference run and the contract disagree; the contract is what judges.

    A gold list that lacks a wanted effect would fail the agent that does what the task says.
    """
    found = placed(contract, tuple(reference))
    for number, wanted in enumerate(contract.effects):
        count = sum(one.line == number for one in found)
        if count < wanted.times:
            reason = f"the reference lacks {wanted}, which the contract wants {times(wanted.times)}"
            yield Finding("case.oracle_conflict", "reference", reason)
    for one in found:
        if one.line is None:
            reason = f"the reference does {one.effect}, which the contract does not allow"
            yield Finding("case.oracle_conflict", "reference", reason)
